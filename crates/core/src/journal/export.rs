//! Exports: journals as files.
//!
//! Ours is JSON Lines (`bailiwick.journal-export/1`, schema `journal-export.json`):
//!
//! ```text
//! {"format":"bailiwick.journal-export/1","workspace_id":…,"journal":…,"head_sequence":…,"head_hash":…}
//! {"blob":"<digest>","salt":"<32 hexadecimal digits>","text":"…"}            or "base64" instead of "text"
//! {"actor":…,"entity_id":…,"epoch_id":…,"hash":…,"id":…,…}                   an entry, its hash included
//! ```
//!
//! The header comes first and says where the journal ends. Blobs stand right before the entry that names them;
//! one that is erased or withheld is simply not there. Nothing else may be in the file, and every byte of it is
//! covered by the header's head or by a digest in an entry, so a changed byte shows.
//!
//! The other form is the single document of the public coordination format (`coordination-journal/1`): a workspace
//! with its head, and rows with their payload as text. Its other members are not looked at.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::base64;
use super::scan::split_at_hash;
use super::verify::ExportErrorKind;
use crate::hash::{Hash, from_hex, hex, sha256};
use crate::json::{LosslessText, Object, Tree, Value, write_compact_into};

/// The format of our exports.
pub const EXPORT_FORMAT: &str = "bailiwick.journal-export/1";

/// The format of the public coordination journals.
pub const DOCUMENT_FORMAT: &str = "coordination-journal/1";

/// The most bytes that a line may have: a blob of 4 MiB fits, however it is written.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// The most bytes that a document should be allowed to have: it is held in memory as a whole.
pub const DOCUMENT_BYTES: usize = 256 << 20;

/// The first line of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The workspace whose journal it is
    pub workspace_id: String,
    /// Which of the workspace's journals it is
    pub journal: Journal,
    /// The sequence of the last entry
    pub head_sequence: u64,
    /// The hash of the last entry, hexadecimal
    pub head_hash: String,
}

/// The journals that a workspace can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// The decision records
    Decisions,
    /// The public coordination events
    Public,
}

impl Journal {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decisions => "decisions",
            Self::Public => "public",
        }
    }

    /// Reads what [`Journal::name`] writes.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Decisions, Self::Public].into_iter().find(|journal| journal.name() == name)
    }
}

impl Header {
    /// Adds the header's line.
    pub fn write_line(&self, out: &mut Vec<u8>) {
        let header = Object::new()
            .with("format", EXPORT_FORMAT)
            .with("workspace_id", &self.workspace_id)
            .with("journal", self.journal.name())
            .with("head_sequence", self.head_sequence)
            .with("head_hash", &self.head_hash);
        write_compact_into(&Value::Object(header), out);
        out.push(b'\n');
    }

    /// Reads the members of a header's line.
    pub(super) fn read(object: &Object<LosslessText>) -> Result<Self, ExportErrorKind> {
        check_names("header", object, &["format", "workspace_id", "journal", "head_sequence", "head_hash"])?;
        let string = |member| object.str(member).ok_or_else(|| fault("header", member, "a string"));
        let sequence = object.get("head_sequence").and_then(Tree::as_number).and_then(|number| number.to_u64());
        Ok(Self {
            workspace_id: string("workspace_id")?.into(),
            journal: Journal::parse(string("journal")?)
                .ok_or_else(|| fault("header", "journal", "`decisions` or `public`"))?,
            head_sequence: sequence.ok_or_else(|| fault("header", "head_sequence", "an integer from 0"))?,
            head_hash: string("head_hash")?.into(),
        })
    }
}

/// Adds the line of an entry, given the bytes that were hashed and their hash.
///
/// The line is the entry's canonical form with its hash. If the bytes are no entry in canonical form, they are
/// exported as they are, for a verifier to find.
pub fn write_entry_line(preimage: &[u8], hash: &Hash, out: &mut Vec<u8>) {
    let (before, after) = split_at_hash(preimage).or_else(|| preimage.split_at_checked(1)).unwrap_or_default();
    out.extend_from_slice(before);
    out.extend_from_slice(b"\"hash\":\"");
    out.extend_from_slice(hex(hash).as_bytes());
    out.extend_from_slice(b"\",");
    out.extend_from_slice(after);
    out.push(b'\n');
}

/// Adds the line of a blob: as text if it is UTF-8 and the line stays within [`MAX_LINE_BYTES`], else as base64.
pub fn write_blob_line(digest: &Hash, salt: &[u8; 16], bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut write = |name: &str, text: &str| {
        out.truncate(start);
        let blob = Object::new().with("blob", hex(digest)).with("salt", hex(salt)).with(name, text);
        write_compact_into(&Value::Object(blob), out);
        out.push(b'\n');
        out.len().saturating_sub(start) <= MAX_LINE_BYTES
    };
    if !core::str::from_utf8(bytes).is_ok_and(|text| write("text", text)) {
        write("base64", &base64::encode(bytes));
    }
}

/// The digest by which an entry names a blob.
pub fn blob_digest(salt: &[u8; 16], bytes: &[u8]) -> Hash {
    sha256(&[salt, bytes])
}

/// A blob of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedBlob<'a> {
    /// The digest by which an entry names it
    pub digest: Hash,
    /// Its salt
    pub salt: [u8; 16],
    /// What it holds
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> ExportedBlob<'a> {
    /// Reads the members of a blob's line. Does not check the digest.
    pub(super) fn read(object: &'a Object<LosslessText>) -> Result<Self, ExportErrorKind> {
        check_names("blob", object, &["blob", "salt", "text", "base64"])?;
        let hexadecimal = |member| object.str(member).unwrap_or_default();
        let digest = from_hex(hexadecimal("blob"));
        let salt = from_hex(hexadecimal("salt"));
        Ok(Self {
            digest: digest.ok_or_else(|| fault("blob", "blob", "64 lower-case hexadecimal digits"))?,
            salt: salt.ok_or_else(|| fault("blob", "salt", "32 lower-case hexadecimal digits"))?,
            bytes: match (object.get("text"), object.get("base64")) {
                (Some(text), None) => {
                    let text = text.as_str().ok_or_else(|| fault("blob", "text", "a string"))?;
                    Cow::Borrowed(text.as_bytes())
                }
                (None, Some(text)) => {
                    let text = text.as_str().unwrap_or("?");
                    Cow::Owned(base64::decode(text.as_bytes()).ok_or_else(|| fault("blob", "base64", "padded base64"))?)
                }
                _ => return Err(fault("blob", "text", "either it or `base64`")),
            },
        })
    }
}

/// A fault in a member.
pub(super) fn fault(of: &'static str, member: &str, expected: &'static str) -> ExportErrorKind {
    ExportErrorKind::Member { of, member: member.into(), expected }
}

/// Checks that an object has no members but these.
fn check_names(of: &'static str, object: &Object<LosslessText>, known: &[&str]) -> Result<(), ExportErrorKind> {
    let is_known = |name: &LosslessText| known.iter().any(|known| known.as_bytes() == name.as_ref());
    match object.iter().find(|(name, _)| !is_known(name)) {
        Some((name, _)) => Err(fault(of, &name.to_string_lossy(), "no such member")),
        None => Ok(()),
    }
}
