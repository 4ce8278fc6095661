//! Verifying exports, piece by piece.
//!
//! Two kinds of bad news are kept apart: a journal that was tampered with is a finding, in the [`ExportReport`];
//! a file that cannot be read is an [`ExportError`].

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::chain::{Failure, FailureCode, Report, StoredHead, Verifier, sequence_of, text_of};
use super::document::verify_document;
use super::entry::{ENTRY_LIMITS, EntryError, HashMember, check_members};
use super::export::{
    DOCUMENT_BYTES, DOCUMENT_FORMAT, EXPORT_FORMAT, ExportedBlob, Header, Journal, MAX_LINE_BYTES, blob_digest, fault,
};
use super::merkle::Frontier;
use super::row::Row;
use super::scan::{Link, scan_entry};
use crate::hash::{Hash, hex};
use crate::json::{LosslessText, Object, ReadError, ReadErrorKind, Tree, Value, parse_lossless, write_canonical_into};

/// More blobs than an entry of the largest size can name.
const MAX_BLOBS_OF_AN_ENTRY: usize = 256;

/// Hears of everything in an export that is in order, as it goes by: to replay it, to count it, to show it.
pub trait Listener {
    /// A blob that is what its digest says. Whether the next entry names it is not known yet.
    fn blob(&mut self, blob: &ExportedBlob<'_>) {
        let _ = blob;
    }

    /// An entry of one of our exports, as [`super::Entry::read`] reads it.
    fn entry(&mut self, text: &[u8]) {
        let _ = text;
    }

    /// An entry of a public journal.
    fn row(&mut self, row: &Row<'_>) {
        let _ = row;
    }
}

/// Nobody listens.
impl Listener for () {}

/// What verification of an export found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportReport {
    /// The workspace whose journal it is
    pub workspace_id: String,
    /// Which of the workspace's journals it is; `None` for a document
    pub journal: Option<Journal>,
    /// How many blobs are in order
    pub blobs: u64,
    /// The line of the first failure, if it is about a line
    pub failed_line: Option<u64>,
    /// The chain
    pub chain: Report,
}

impl ExportReport {
    /// The report as results show it: the members of [`Report::to_value`] and those of the export.
    pub fn to_value(&self) -> Value {
        let mut object = self.chain.to_object();
        object.insert("workspace_id", &self.workspace_id);
        object.insert_some("journal", self.journal.map(Journal::name));
        object.insert("blobs", self.blobs);
        object.insert_some("failed_line", self.failed_line);
        Value::Object(object)
    }
}

/// Why an export cannot be read at all, which is something else than a journal that was tampered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportError {
    /// In which line, from 1; `None` for a member of a document, whose path says where it is
    pub line: Option<u64>,
    /// What is wrong
    pub kind: ExportErrorKind,
}

/// What can be wrong with an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportErrorKind {
    /// There is nothing in it
    Empty,
    /// It is something else
    OtherFormat,
    /// It is not JSON
    Json(ReadError),
    /// The line is longer than [`MAX_LINE_BYTES`]
    LineTooLong,
    /// The document is longer than the caller allows
    DocumentTooLong {
        /// Bytes allowed
        limit: usize,
    },
    /// The line is neither an entry nor a blob
    OtherLine,
    /// The line is no entry, although its hash is right
    Entry(EntryError),
    /// A member is missing, unknown or of the wrong form
    Member {
        /// Of what
        of: &'static str,
        /// The member's name
        member: String,
        /// What would be accepted
        expected: &'static str,
    },
    /// More blobs than one entry can name
    TooManyBlobs,
}

impl ExportError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match &self.kind {
            ExportErrorKind::Empty => "export_empty",
            ExportErrorKind::OtherFormat => "export_format",
            ExportErrorKind::Json(_) => "export_json",
            ExportErrorKind::LineTooLong => "export_line_too_long",
            ExportErrorKind::DocumentTooLong { .. } => "export_too_long",
            ExportErrorKind::OtherLine => "export_line",
            ExportErrorKind::Entry(_) | ExportErrorKind::Member { .. } => "export_member",
            ExportErrorKind::TooManyBlobs => "export_blobs",
        }
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, &self.kind) {
            (Some(line), ExportErrorKind::Json(error)) => write!(f, "line {line} column {}: ", error.column)?,
            (Some(line), _) => write!(f, "line {line}: ")?,
            (None, _) => {}
        }
        match &self.kind {
            ExportErrorKind::Empty => write!(f, "nothing there, expected {ACCEPTED}"),
            ExportErrorKind::OtherFormat => write!(f, "no journal, expected {ACCEPTED}"),
            ExportErrorKind::Json(error) => error.kind.fmt(f),
            ExportErrorKind::LineTooLong => write!(f, "too long, at most {MAX_LINE_BYTES} bytes are accepted"),
            ExportErrorKind::DocumentTooLong { limit } => {
                write!(f, "the document is too long, at most {limit} bytes are accepted")
            }
            ExportErrorKind::OtherLine => f.write_str("expected an entry, or a blob"),
            ExportErrorKind::Entry(error) => error.fmt(f),
            ExportErrorKind::Member { of, member, expected } => {
                write!(f, "member `{member}` of the {of}: expected {expected}")
            }
            ExportErrorKind::TooManyBlobs => {
                write!(f, "too many blobs, at most {MAX_BLOBS_OF_AN_ENTRY} are accepted before an entry")
            }
        }
    }
}

impl core::error::Error for ExportError {}

const ACCEPTED: &str =
    "JSON Lines of format `bailiwick.journal-export/1` or a document of format `coordination-journal/1`";

/// Verifies an export that is in memory.
///
/// # Errors
///
/// [`ExportError`] if it cannot be read.
pub fn verify_export(bytes: &[u8]) -> Result<ExportReport, ExportError> {
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES);
    verifier.push(bytes);
    verifier.finish()
}

/// Verifies an export that arrives in chunks of any size.
///
/// Needs memory for a line of our own exports, whatever their length; a document is collected as a whole, within
/// the caller's limit. What is wrong with the journal is in the report; what cannot be read is an error.
#[derive(Debug)]
pub struct ExportVerifier {
    document_bytes: usize,
    workspace_id: Option<String>,
    chain: Verifier,
    form: Form,
    /// The line, or the document, as far as it has arrived
    buffer: Vec<u8>,
    /// Complete lines so far
    lines: u64,
    /// Blobs since the last entry
    pending: Vec<Hash>,
    blobs: u64,
    failed_line: Option<u64>,
    error: Option<ExportError>,
}

/// What kind of file it is.
#[derive(Debug)]
enum Form {
    /// Nothing but white space so far
    Unknown,
    /// Ours
    Lines(Header),
    /// A document that begins after this many lines
    Document { skipped: u64 },
}

/// Why nothing more is looked at.
enum Stop {
    Failed,
    Unreadable(ExportErrorKind),
}

impl From<Failure> for Stop {
    fn from(_: Failure) -> Self {
        Self::Failed
    }
}

impl From<ExportErrorKind> for Stop {
    fn from(kind: ExportErrorKind) -> Self {
        Self::Unreadable(kind)
    }
}

impl ExportVerifier {
    /// A verifier that takes our exports of any length, and documents of up to `document_bytes`.
    pub fn new(document_bytes: usize) -> Self {
        Self {
            document_bytes,
            workspace_id: None,
            chain: Verifier::new(),
            form: Form::Unknown,
            buffer: Vec::new(),
            lines: 0,
            pending: Vec::new(),
            blobs: 0,
            failed_line: None,
            error: None,
        }
    }

    /// Expect the journal of this workspace; another's fails.
    #[must_use]
    pub fn for_workspace(mut self, workspace_id: impl Into<String>) -> Self {
        self.workspace_id = Some(workspace_id.into());
        self
    }

    /// Verify the entries up to `sequence` only; a journal that is shorter fails.
    #[must_use]
    pub fn up_to(mut self, sequence: u64) -> Self {
        self.chain = self.chain.up_to(sequence);
        self
    }

    /// Compute the Merkle root too.
    #[must_use]
    pub fn with_root(mut self) -> Self {
        self.chain = self.chain.with_tree(Frontier::new());
        self
    }

    /// Takes the next bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.push_to(chunk, &mut ());
    }

    /// Takes the next bytes; `listener` hears what is in order.
    pub fn push_to(&mut self, chunk: &[u8], listener: &mut dyn Listener) {
        let mut rest = chunk;
        while !self.is_settled() {
            match split_line(rest) {
                Some((line, after)) if !self.is_document() => {
                    self.end_line(line, listener);
                    rest = after;
                }
                _ => return self.collect(rest),
            }
        }
    }

    /// Reports, once everything has arrived.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if it cannot be read.
    pub fn finish(self) -> Result<ExportReport, ExportError> {
        self.finish_to(&mut ())
    }

    /// Reports, once everything has arrived; `listener` hears what is in order.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if it cannot be read.
    pub fn finish_to(mut self, listener: &mut dyn Listener) -> Result<ExportReport, ExportError> {
        if !self.is_settled() && !self.is_document() && !self.buffer.is_empty() {
            self.end_line(&[], listener);
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        match core::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown => Err(ExportError { line: Some(1), kind: ExportErrorKind::Empty }),
            Form::Lines(header) => Ok(self.finish_lines(&header)),
            Form::Document { skipped } => {
                verify_document(&self.buffer, skipped, self.chain, self.workspace_id.as_deref(), listener)
            }
        }
    }

    fn finish_lines(mut self, header: &Header) -> ExportReport {
        if !self.pending.is_empty() && !self.chain.is_settled() {
            // The failure is in the report.
            let _ = self.chain.fail(FailureCode::BlobUnnamed, None);
        }
        ExportReport {
            workspace_id: header.workspace_id.clone(),
            journal: Some(header.journal),
            blobs: self.blobs,
            failed_line: self.failed_line,
            chain: self.chain.finish(Some(&StoredHead { sequence: header.head_sequence, hash: &header.head_hash })),
        }
    }

    fn is_document(&self) -> bool {
        matches!(self.form, Form::Document { .. })
    }

    /// Whether nothing that may follow can change the result.
    fn is_settled(&self) -> bool {
        self.error.is_some() || (matches!(self.form, Form::Lines(_)) && self.chain.is_settled())
    }

    /// Keeps bytes until the line or the document is complete.
    fn collect(&mut self, bytes: &[u8]) {
        let length = self.buffer.len().saturating_add(bytes.len());
        if matches!(self.form, Form::Unknown) && length > MAX_LINE_BYTES {
            self.form = Form::Document { skipped: self.lines };
        }
        let kind = match self.form {
            Form::Document { .. } if length > self.document_bytes => {
                ExportErrorKind::DocumentTooLong { limit: self.document_bytes }
            }
            Form::Lines(_) if length > MAX_LINE_BYTES => ExportErrorKind::LineTooLong,
            _ => return self.buffer.extend_from_slice(bytes),
        };
        self.buffer = Vec::new();
        self.error = Some(ExportError { line: self.lines.checked_add(1), kind });
    }

    /// Takes a line whose last part is `end`.
    fn end_line(&mut self, end: &[u8], listener: &mut dyn Listener) {
        if self.buffer.is_empty() {
            return self.take_line(end, listener);
        }
        self.collect(end);
        if self.is_document() {
            return self.collect(b"\n");
        }
        if self.error.is_some() {
            return;
        }
        let mut line = core::mem::take(&mut self.buffer);
        self.take_line(&line, listener);
        if !self.is_document() {
            line.clear();
            self.buffer = line;
        }
    }

    fn take_line(&mut self, line: &[u8], listener: &mut dyn Listener) {
        let number = self.lines.saturating_add(1);
        match self.read_line(line, listener) {
            Ok(()) => {}
            Err(Stop::Failed) => self.failed_line = Some(number),
            Err(Stop::Unreadable(kind)) => self.error = Some(ExportError { line: Some(number), kind }),
        }
        self.lines = number;
    }

    fn read_line(&mut self, line: &[u8], listener: &mut dyn Listener) -> Result<(), Stop> {
        if matches!(self.form, Form::Unknown) {
            return self.read_first_line(line);
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(ExportErrorKind::LineTooLong.into());
        }
        if let Some(link) = scan_entry(line, HashMember::Inside) {
            self.take_link(&link)?;
            listener.entry(line);
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        match parse_lossless(line, &ENTRY_LIMITS).map_err(ExportErrorKind::Json)? {
            Tree::Object(object) if object.contains("blob") => self.take_blob(&object, listener),
            Tree::Object(object) if object.contains("sequence") => {
                self.take_entry(object)?;
                listener.entry(line);
                Ok(())
            }
            _ => Err(ExportErrorKind::OtherLine.into()),
        }
    }

    /// Learns from the first line what kind of file it is.
    fn read_first_line(&mut self, line: &[u8]) -> Result<(), Stop> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let object = match parse_lossless(line, &ENTRY_LIMITS) {
            Ok(Tree::Object(object)) => object,
            Ok(_) => return Err(ExportErrorKind::OtherFormat.into()),
            Err(error) => match error.kind {
                // The line is the beginning of a document, or a whole one that is too large for a header.
                ReadErrorKind::UnexpectedEnd { .. }
                | ReadErrorKind::TooLong { .. }
                | ReadErrorKind::StringTooLong { .. }
                | ReadErrorKind::TooManyMembers { .. } => {
                    self.begin_document(line);
                    return Ok(());
                }
                _ => return Err(ExportErrorKind::Json(error).into()),
            },
        };
        match object.str("format") {
            Some(EXPORT_FORMAT) => {
                let header = Header::read(&object)?;
                let other = self.workspace_id.as_ref().is_some_and(|expected| *expected != header.workspace_id);
                self.form = Form::Lines(header);
                if other {
                    self.chain.fail(FailureCode::WorkspaceNotFound, None)?;
                }
            }
            Some(DOCUMENT_FORMAT) => self.begin_document(line),
            _ => return Err(ExportErrorKind::OtherFormat.into()),
        }
        Ok(())
    }

    fn begin_document(&mut self, line: &[u8]) {
        self.form = Form::Document { skipped: self.lines };
        self.collect(line);
        self.collect(b"\n");
    }

    fn take_blob(&mut self, object: &Object<LosslessText>, listener: &mut dyn Listener) -> Result<(), Stop> {
        let blob = ExportedBlob::read(object)?;
        if blob_digest(&blob.salt, &blob.bytes) != blob.digest {
            let sequence = self.chain.next_sequence();
            self.chain.fail(FailureCode::BlobMismatch, Some(sequence))?;
        }
        if self.pending.len() >= MAX_BLOBS_OF_AN_ENTRY {
            return Err(ExportErrorKind::TooManyBlobs.into());
        }
        if self.pending.contains(&blob.digest) {
            return Err(fault("blob", "blob", "each blob once").into());
        }
        self.pending.push(blob.digest);
        self.blobs = self.blobs.saturating_add(1);
        listener.blob(&blob);
        Ok(())
    }

    /// Takes an entry that is not certainly in canonical form.
    fn take_entry(&mut self, object: Object<LosslessText>) -> Result<(), Stop> {
        let mut hash = None;
        let members = object.into_members().into_iter().filter_map(|(name, value)| match (name.as_ref(), value) {
            (b"hash", Tree::String(text)) => {
                hash = Some(text);
                None
            }
            (_, value) => Some((name, value)),
        });
        let tree = Tree::Object(Object::from_unique_members(members.collect()));
        let object = tree.as_object().ok_or(ExportErrorKind::OtherLine)?;
        let string = |member| text_of(object, member).ok_or_else(|| fault("entry", member, "a string"));
        let mut preimage = Vec::new();
        write_canonical_into(&tree, &mut preimage);
        self.take_link(&Link {
            sequence: sequence_of(object).ok_or_else(|| fault("entry", "sequence", "an integer from 1"))?,
            workspace_id: string("workspace_id")?,
            epoch_id: string("epoch_id")?,
            prev_hash: string("prev_hash")?,
            hash: hash.as_ref().ok_or_else(|| fault("entry", "hash", "a string"))?.as_ref(),
            preimage: [&preimage, &[]],
        })?;
        check_members(object, HashMember::Outside).map_err(ExportErrorKind::Entry)?;
        Ok(())
    }

    fn take_link(&mut self, link: &Link<'_>) -> Result<(), Stop> {
        self.chain.push_link(link)?;
        if let Form::Lines(header) = &self.form
            && header.workspace_id.as_bytes() != link.workspace_id
        {
            self.chain.fail(FailureCode::WorkspaceNotFound, Some(link.sequence))?;
        }
        if self.pending.iter().any(|digest| !names_blob(link.preimage, digest)) {
            self.chain.fail(FailureCode::BlobUnnamed, Some(link.sequence))?;
        }
        self.pending.clear();
        Ok(())
    }
}

/// A complete line, and what follows it.
fn split_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((text.get(..end)?, text.get(end.checked_add(1)?..)?))
}

/// Whether an entry names a blob: canonical text has a quote only where a string begins or ends.
fn names_blob(preimage: [&[u8]; 2], digest: &Hash) -> bool {
    let reference = alloc::format!("{{\"blob\":\"{}\"}}", hex(digest));
    preimage.iter().any(|part| part.windows(reference.len()).any(|window| window == reference.as_bytes()))
}
