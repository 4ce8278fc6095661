//! Blobs: bulk and free text beside the journal.
//!
//! An entry carries a salted digest of each; erasing a blob and its salt leaves the chain intact and the text
//! beyond recovery.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::hash::{Hash, from_hex, hex, hmac_sha256};
use crate::journal::export::blob_digest;
use crate::json::{Limits, Object, Value, parse, write_canonical, write_compact};

/// The most bytes that a name takes inside an entry, quotes and escapes included.
const MOST_NAME_BYTES: usize = 256;

/// A piece of bulk or free text: compact JSON, and the salt of its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// SHA-256 over salt and bytes
    pub digest: Hash,
    /// 16 random bytes
    pub salt: [u8; 16],
    /// Compact JSON
    pub bytes: Vec<u8>,
}

/// Collects the blobs of one entry while commands and facts are written. Equal values share a blob.
pub struct BlobWriter {
    form: Form,
    blobs: Vec<Blob>,
}

/// What stands in the place of a value that is put aside.
enum Form {
    /// The reference to a new blob; 32 bytes to derive salts from
    New([u8; 32]),
    /// The reference to the blob in which the value was found before: digest and bytes of each
    Found(Vec<(String, Vec<u8>)>),
    /// The value itself
    Inline,
}

impl BlobWriter {
    /// A writer whose salts are derived from 32 random bytes that are kept nowhere.
    pub fn new(salts: [u8; 32]) -> Self {
        Self { form: Form::New(salts), blobs: Vec::new() }
    }

    /// A writer that puts nothing aside: for digests of what is written.
    pub fn inline() -> Self {
        Self { form: Form::Inline, blobs: Vec::new() }
    }

    /// A writer that writes again what a reader has read, with the same references. A value that the reader did not
    /// find in a blob of its own is written as `null`.
    pub fn again(reader: &BlobReader<'_>) -> Self {
        Self { form: Form::Found(reader.found.take()), blobs: Vec::new() }
    }

    /// Puts a value aside and answers the reference to write in its place.
    pub fn put(&mut self, value: &Value) -> Value {
        let salts = match &self.form {
            Form::Inline => return value.clone(),
            Form::Found(found) => {
                let bytes = write_compact(value);
                let same = found.iter().find(|(_, found)| *found == bytes.as_bytes());
                return same.map_or(Value::Null, |(digest, _)| Object::new().with("blob", digest).into());
            }
            Form::New(salts) => salts,
        };
        let bytes: Vec<u8> = write_compact(value).into();
        let digest = match self.blobs.iter().find(|blob| blob.bytes == bytes) {
            Some(blob) => blob.digest,
            None => {
                let mut salt = [0; 16];
                let derived = hmac_sha256(salts, &[&self.blobs.len().to_be_bytes()]);
                for (to, from) in salt.iter_mut().zip(derived) {
                    *to = from;
                }
                let digest = blob_digest(&salt, &bytes);
                self.blobs.push(Blob { digest, salt, bytes });
                digest
            }
        };
        Object::new().with("blob", hex(&digest)).into()
    }

    /// Puts a value aside if there is one.
    pub fn put_some(&mut self, value: Option<impl Into<Value>>) -> Option<Value> {
        value.map(|value| self.put(&value.into()))
    }

    /// A name, or the reference to write in its place if it is long: a few names of the longest that are accepted would fill
    /// an entry.
    pub fn put_name(&mut self, name: &str) -> Value {
        let value = Value::from(name);
        if write_canonical(&value).len() > MOST_NAME_BYTES { self.put(&value) } else { value }
    }

    /// The blobs put aside.
    pub fn into_blobs(self) -> Vec<Blob> {
        self.blobs
    }
}

/// The digests of the blobs that a payload refers to, each once, in the order in which they stand.
pub fn blob_references(payload: &Object) -> Vec<Hash> {
    let mut found = Vec::new();
    for (_, member) in payload.iter() {
        collect_references(member, &mut found);
    }
    found
}

fn collect_references(value: &Value, found: &mut Vec<Hash>) {
    match value {
        Value::Object(object) => match object.str("blob").filter(|_| object.len() == 1).and_then(from_hex) {
            Some(digest) if found.contains(&digest) => {}
            Some(digest) => found.push(digest),
            None => object.iter().for_each(|(_, member)| collect_references(member, found)),
        },
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

/// Reads blobs back by their references.
pub struct BlobReader<'a> {
    find: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    erased: Cell<bool>,
    /// What was read: digest and bytes
    found: Cell<Vec<(String, Vec<u8>)>>,
}

impl<'a> BlobReader<'a> {
    /// A reader over a look-up by hexadecimal digest that answers `None` for an erased blob.
    ///
    /// The look-up checks each blob against its digest before it hands it out.
    pub fn new(find: &'a dyn Fn(&str) -> Option<Vec<u8>>) -> Self {
        Self { find, erased: Cell::new(false), found: Cell::default() }
    }

    /// The value behind a reference; an erased one reads `{"erased": digest}`. `None` if this is no reference or
    /// the blob is not JSON.
    pub fn take(&self, reference: &Value) -> Option<Value> {
        let digest = reference.get("blob")?.as_str()?;
        match (self.find)(digest) {
            Some(bytes) => {
                let value = parse(&bytes, &Limits::STORED).ok();
                let mut found = self.found.take();
                if !found.iter().any(|(known, _)| known == digest) {
                    found.push((digest.into(), bytes));
                }
                self.found.set(found);
                value
            }
            None => {
                self.erased.set(true);
                Some(Object::new().with("erased", digest).into())
            }
        }
    }

    /// Reads a string behind a reference; an erased one is an empty string.
    pub fn take_string(&self, reference: &Value) -> Option<String> {
        match self.take(reference)? {
            Value::String(text) => Some(text),
            Value::Object(erased) if erased.contains("erased") => Some(String::new()),
            _ => None,
        }
    }

    /// Reads what [`BlobWriter::put_name`] gives; an erased name is empty.
    pub fn take_name(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(name) => Some(name.clone()),
            reference => self.take_string(reference),
        }
    }

    /// Whether any blob read so far was erased.
    pub fn met_erased(&self) -> bool {
        self.erased.get()
    }
}
