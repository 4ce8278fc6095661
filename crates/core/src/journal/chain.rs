//! Verifying the chain: every entry follows the one before it and is what its hash says (`coordination §5.7`).
//!
//! What the chain alone cannot show: that everything was rewritten with new hashes, that the tail was cut off
//! together with the head, that an entry was added by somebody who could write. Those take a checkpoint that
//! somebody else holds.

use alloc::vec::Vec;
use core::fmt;

use super::entry::{ENTRY_LIMITS, HashMember, Head, check_members};
use super::merkle::Frontier;
use super::row::Row;
use super::scan::{Link, scan_entry};
use crate::hash::{Hash, hex, sha256};
use crate::json::{Object, Text, Tree, Value, parse_lossless, write_canonical_into};

/// What is wrong with a journal. The codes are those of `coordination §5.7`, and two for the blobs of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCode {
    /// The journal is not that of the workspace asked for
    WorkspaceNotFound,
    /// The sequence is not the next one
    SequenceGap,
    /// The entry names another predecessor
    PrevHashMismatch,
    /// The entry is not what its hash says
    EventHashMismatch,
    /// The payload is not JSON
    PayloadUnparseable,
    /// The prefix asked for is longer than the journal
    MissingEvents,
    /// The journal does not end where its head says
    HeadMismatch,
    /// A blob is not what its digest says
    BlobMismatch,
    /// No entry names the blob that stands before it
    BlobUnnamed,
}

impl FailureCode {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::WorkspaceNotFound,
        Self::SequenceGap,
        Self::PrevHashMismatch,
        Self::EventHashMismatch,
        Self::PayloadUnparseable,
        Self::MissingEvents,
        Self::HeadMismatch,
        Self::BlobMismatch,
        Self::BlobUnnamed,
    ];

    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::WorkspaceNotFound => "workspace_not_found",
            Self::SequenceGap => "sequence_gap",
            Self::PrevHashMismatch => "prev_hash_mismatch",
            Self::EventHashMismatch => "event_hash_mismatch",
            Self::PayloadUnparseable => "payload_unparseable",
            Self::MissingEvents => "missing_events",
            Self::HeadMismatch => "head_mismatch",
            Self::BlobMismatch => "blob_mismatch",
            Self::BlobUnnamed => "blob_unnamed",
        }
    }
}

/// The first thing that is wrong with a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong
    pub code: FailureCode,
    /// With which entry: the sequence that it states, or the first one missing. `None` if it is about no entry
    pub sequence: Option<u64>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sequence {
            Some(sequence) => write!(f, "{} at sequence {sequence}", self.code.code()),
            None => f.write_str(self.code.code()),
        }
    }
}

impl core::error::Error for Failure {}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether nothing is wrong
    pub ok: bool,
    /// How many entries are in order, counted until the first failure
    pub checked_events: u64,
    /// The sequence of the last entry that is in order
    pub head_sequence: u64,
    /// Its hash
    pub head_hash: Hash,
    /// What is wrong
    pub first_failure: Option<Failure>,
    /// The Merkle root over the entries that are in order, if it was asked for
    pub root: Option<Hash>,
    /// The first entry whose epoch differs from the one before it. The chain allows that (`coordination §5.7`);
    /// no tool does it.
    pub epoch_changed_at: Option<u64>,
}

impl Report {
    /// The report as results show it: `ok`, `checked_events`, `head_sequence`, `head_hash`, and where there is
    /// something to say `failure`, `failed_sequence`, `root` and `epoch_changed_at`.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_object())
    }

    pub(super) fn to_object(&self) -> Object {
        let failure = self.first_failure;
        Object::new()
            .with("ok", self.ok)
            .with("checked_events", self.checked_events)
            .with("head_sequence", self.head_sequence)
            .with("head_hash", hex(&self.head_hash))
            .with_some("failure", failure.map(|failure| failure.code.code()))
            .with_some("failed_sequence", failure.and_then(|failure| failure.sequence))
            .with_some("root", self.root.map(|root| hex(&root)))
            .with_some("epoch_changed_at", self.epoch_changed_at)
    }
}

/// A head as its columns hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredHead<'a> {
    /// The sequence it states
    pub sequence: u64,
    /// The hash it states
    pub hash: &'a str,
}

/// Verifies a journal, entry by entry, in memory that does not grow with it.
///
/// Stops at the first failure: later entries are not looked at.
#[derive(Debug, Clone)]
pub struct Verifier {
    head: Head,
    /// The head's hash as text, as the next entry must state it
    head_text: [u8; 64],
    checked: u64,
    prefix: Option<u64>,
    failure: Option<Failure>,
    tree: Option<Frontier>,
    epoch_id: Vec<u8>,
    epoch_changed_at: Option<u64>,
    scratch: Vec<u8>,
}

impl Default for Verifier {
    fn default() -> Self {
        Self::new()
    }
}

impl Verifier {
    /// A verifier that starts before the first entry.
    pub fn new() -> Self {
        Self::after(Head::GENESIS)
    }

    /// A verifier that starts after entries that were verified before.
    pub fn after(head: Head) -> Self {
        Self {
            head,
            head_text: hex_text(&head.hash),
            checked: 0,
            prefix: None,
            failure: None,
            tree: None,
            epoch_id: Vec::new(),
            epoch_changed_at: None,
            scratch: Vec::new(),
        }
    }

    /// Verify the entries up to `sequence` only; a journal that is shorter fails.
    #[must_use]
    pub fn up_to(mut self, sequence: u64) -> Self {
        self.prefix = Some(sequence);
        self
    }

    /// Compute the Merkle root too, on top of a tree over the entries before: an empty one at the start.
    #[must_use]
    pub fn with_tree(mut self, tree: Frontier) -> Self {
        self.tree = Some(tree);
        self
    }

    /// The last entry that is in order.
    pub fn head(&self) -> Head {
        self.head
    }

    /// What is wrong so far.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Whether no further entry can change the report.
    pub fn is_settled(&self) -> bool {
        self.failure.is_some() || self.prefix.is_some_and(|prefix| self.head.sequence >= prefix)
    }

    /// Verifies the next entry, given in columns.
    ///
    /// # Errors
    ///
    /// The first [`Failure`], now and ever after.
    pub fn push(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        if self.is_settled() {
            return self.settled();
        }
        self.check_place(row.sequence, row.prev_hash.as_bytes())?;
        let mut preimage = core::mem::take(&mut self.scratch);
        preimage.clear();
        let result = match row.write_preimage(&mut preimage) {
            Ok(()) => self.check_hash(row.hash.as_bytes(), row.epoch_id.as_bytes(), [&preimage, &[]]),
            Err(_) => self.fail(FailureCode::PayloadUnparseable, Some(row.sequence)),
        };
        self.scratch = preimage;
        result
    }

    /// Verifies the next entry, given as the bytes that were hashed and their hash, as Bailiwick's stores keep it.
    ///
    /// # Errors
    ///
    /// The first [`Failure`], now and ever after. Bytes that are no entry, or not in canonical form, are an
    /// [`FailureCode::EventHashMismatch`]: they cannot be what was hashed.
    pub fn push_preimage(&mut self, preimage: &[u8], hash: &Hash) -> Result<(), Failure> {
        if self.is_settled() {
            return self.settled();
        }
        let hash = hex_text(hash);
        if let Some(link) = scan_entry(preimage, HashMember::Outside) {
            self.check_place(link.sequence, link.prev_hash)?;
            return self.check_hash(&hash, link.epoch_id, link.preimage);
        }
        let tree = parse_lossless(preimage, &ENTRY_LIMITS).unwrap_or(Tree::Null);
        let object = tree.as_object().filter(|object| check_members(object, HashMember::Outside).is_ok());
        let Some(object) = object else {
            return self.fail(FailureCode::EventHashMismatch, Some(self.next_sequence()));
        };
        let text = |name| text_of(object, name).unwrap_or_default();
        self.check_place(sequence_of(object).unwrap_or_default(), text("prev_hash"))?;
        let mut canonical = Vec::with_capacity(preimage.len());
        write_canonical_into(&tree, &mut canonical);
        if canonical != preimage {
            return self.fail(FailureCode::EventHashMismatch, Some(self.next_sequence()));
        }
        self.check_hash(&hash, text("epoch_id"), [preimage, &[]])
    }

    /// Verifies the next entry.
    pub(super) fn push_link(&mut self, link: &Link<'_>) -> Result<(), Failure> {
        if self.is_settled() {
            return self.settled();
        }
        self.check_place(link.sequence, link.prev_hash)?;
        self.check_hash(link.hash, link.epoch_id, link.preimage)
    }

    /// Notes a failure that was found elsewhere, unless there is one already.
    pub(super) fn fail(&mut self, code: FailureCode, sequence: Option<u64>) -> Result<(), Failure> {
        Err(*self.failure.get_or_insert(Failure { code, sequence }))
    }

    /// The sequence that the next entry must have.
    pub(super) fn next_sequence(&self) -> u64 {
        self.head.sequence.saturating_add(1)
    }

    fn settled(&self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), Err)
    }

    fn check_place(&mut self, sequence: u64, prev_hash: &[u8]) -> Result<(), Failure> {
        if self.head.sequence.checked_add(1) != Some(sequence) {
            return self.fail(FailureCode::SequenceGap, Some(sequence));
        }
        if prev_hash != self.head_text {
            return self.fail(FailureCode::PrevHashMismatch, Some(sequence));
        }
        Ok(())
    }

    /// Checks an entry whose place is right, and takes it in.
    fn check_hash(&mut self, hash: &[u8], epoch_id: &[u8], preimage: [&[u8]; 2]) -> Result<(), Failure> {
        let [before, after] = preimage;
        let sequence = self.next_sequence();
        let digest = sha256(&[before, after]);
        let text = hex_text(&digest);
        if hash != text {
            return self.fail(FailureCode::EventHashMismatch, Some(sequence));
        }
        if self.epoch_changed_at.is_none() && self.epoch_id != epoch_id {
            if self.checked > 0 {
                self.epoch_changed_at = Some(sequence);
            }
            self.epoch_id = epoch_id.to_vec();
        }
        if let Some(tree) = &mut self.tree {
            tree.push(sha256(&[&[0], before, after]));
        }
        self.head = Head { sequence, hash: digest };
        self.head_text = text;
        self.checked = self.checked.saturating_add(1);
        Ok(())
    }

    /// Compares the end of the journal with where its head says it ends, and reports.
    ///
    /// The head is not looked at when only a prefix was to be verified.
    pub fn finish(mut self, head: Option<&StoredHead<'_>>) -> Report {
        match (self.failure, self.prefix, head) {
            (Some(_), _, _) => {}
            (None, Some(prefix), _) => {
                if self.head.sequence < prefix {
                    self.failure =
                        Some(Failure { code: FailureCode::MissingEvents, sequence: self.head.sequence.checked_add(1) });
                }
            }
            (None, None, Some(head)) => {
                if head.sequence != self.head.sequence || head.hash.as_bytes() != self.head_text {
                    self.failure = Some(Failure { code: FailureCode::HeadMismatch, sequence: None });
                }
            }
            (None, None, None) => {}
        }
        Report {
            ok: self.failure.is_none(),
            checked_events: self.checked,
            head_sequence: self.head.sequence,
            head_hash: self.head.hash,
            first_failure: self.failure,
            root: self.tree.map(|tree| tree.root()),
            epoch_changed_at: self.epoch_changed_at,
        }
    }
}

/// A member's bytes, if it is a string.
pub(super) fn text_of<'a, S: Text>(object: &'a Object<S>, name: &str) -> Option<&'a [u8]> {
    match object.get(name)? {
        Tree::String(text) => Some(text.as_ref()),
        _ => None,
    }
}

/// The member `sequence`, if it is an integer.
pub(super) fn sequence_of<S: Text>(object: &Object<S>) -> Option<u64> {
    object.get("sequence").and_then(Tree::as_number).and_then(|number| number.to_u64())
}

/// Lower-case hexadecimal, without an allocation.
fn hex_text(hash: &Hash) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for ([high, low], byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(hash) {
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or_default();
        (*high, *low) = (digit(byte >> 4), digit(byte & 15));
    }
    text
}
