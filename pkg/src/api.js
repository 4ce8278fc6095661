// Everything that every entry exports.

import { guarded } from './ready.js';
import * as rules from './rules.js';

export { BailiwickError } from './boundary.js';
export * from './constants.js';
export { JournalVerifier, verifyJournal } from './journal.js';

export const validateOrder = guarded(rules.validateOrder);
export const validateReport = guarded(rules.validateReport);
export const validateChildOrder = guarded(rules.validateChildOrder);
export const validateChildBudgets = guarded(rules.validateChildBudgets);
export const validateOwnCost = guarded(rules.validateOwnCost);
export const heldBySubOrders = guarded(rules.heldBySubOrders);
export const hasInvalid = guarded(rules.hasInvalid);
export const isWorkOrder = guarded(rules.isWorkOrder);
export const isWorkReport = guarded(rules.isWorkReport);
export const orderSpecFor = guarded(rules.orderSpecFor);
export const reportSpecFor = guarded(rules.reportSpecFor);
