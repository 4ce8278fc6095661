// Everything that every entry exports.

import { BailiwickError } from './boundary.js';
import { guarded } from './ready.js';
import * as rules from './rules.js';

export { BailiwickError };
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
export const canonicalize = guarded(rules.canonicalize);
export const toolAllowed = guarded(rules.toolAllowed);
export const patternCovered = guarded(rules.patternCovered);
export const effectReferences = guarded(rules.effectReferences);
export const nextState = guarded(rules.nextState);
export const allowedActions = guarded(rules.allowedActions);
export const isTerminal = guarded(rules.isTerminal);
export const summarize = guarded(rules.summarize);
export const lastSeq = guarded(rules.lastSeq);
export const journalPreimage = guarded(rules.journalPreimage);
export const journalHash = guarded(rules.journalHash);
export const verifyPage = guarded(rules.verifyPage);
// The small build has no passes: the arithmetic of their signatures is half as large as all other rules together.
export const verifyPasses = guarded(rules['verifyPasses'] ?? absent);
export const runPassVector = guarded(rules['runPassVector'] ?? absent);
export const leafHash = guarded(rules.leafHash);
export const merkleRoot = guarded(rules.merkleRoot);
export const proveInclusion = guarded(rules.proveInclusion);
export const proveConsistency = guarded(rules.proveConsistency);
export const verifyInclusion = guarded(rules.verifyInclusion);
export const verifyConsistency = guarded(rules.verifyConsistency);

function absent() {
  throw new BailiwickError('not_in_this_build', 'this build has no passes, import `bailiwick/full`');
}
