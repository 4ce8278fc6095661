//! The published schemas, as the files in `schemas/` hold them.

/// A work order (`spec work-orders §2`).
pub const WORK_ORDER: &str = include_str!("../../../schemas/work-order.json");

/// A work report (`spec work-orders §3`).
pub const WORK_REPORT: &str = include_str!("../../../schemas/work-report.json");

/// An event of an order (`spec work-orders §7.3`).
pub const EVENT: &str = include_str!("../../../schemas/work-event.json");

/// An entry of a journal.
pub const JOURNAL_ENTRY: &str = include_str!("../../../schemas/journal-entry.json");

/// A line of a journal export.
pub const JOURNAL_EXPORT: &str = include_str!("../../../schemas/journal-export.json");

/// The claims of a delegation pass.
pub const PASS: &str = include_str!("../../../schemas/pass.json");

/// The claims of the proof that a call comes from a pass's holder.
pub const PASS_PROOF: &str = include_str!("../../../schemas/pass-proof.json");

/// The claims of a list of revoked passes.
pub const PASS_REVOCATIONS: &str = include_str!("../../../schemas/pass-revocations.json");
