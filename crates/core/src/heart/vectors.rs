//! Running conformance vectors of journals whose decisions are made again (`conformance/decisions`).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::BlobReader;
use super::replay::{Replay, ReplayReport};
use crate::hash::hex;
use crate::journal::export::{DOCUMENT_BYTES, ExportedBlob};
use crate::journal::{Entry, ExportVerifier, Listener};
use crate::json::{Object, Value};
use crate::work::OutputSchemas;

/// The format of the files.
pub const FORMAT: &str = "bailiwick.conformance-decisions/1";

/// A vector that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its id
    pub id: String,
    /// What it states
    pub expected: Object,
    /// What was found, in the same form
    pub found: Object,
}

/// Runs the vectors of a file; `None` if it is none of this format.
///
/// A vector has an `id`, the `lines` of an export and what is expected of them: `chain_ok`, `decided`, `applied`, `erased`,
/// `decided_all`, and `difference` with `code` and `sequence` where record and rules part.
pub fn run(file: &Object, schemas: &dyn OutputSchemas) -> Option<Vec<Case>> {
    if file.str("format") != Some(FORMAT) {
        return None;
    }
    let cases = file.get("cases")?.as_array()?;
    cases.iter().map(|case| run_case(case, schemas)).collect()
}

fn run_case(case: &Value, schemas: &dyn OutputSchemas) -> Option<Case> {
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES);
    let mut decider = Decider { replay: Replay::new(schemas), blobs: BTreeMap::new() };
    for line in case.get("lines")?.as_array()? {
        verifier.push_to(line.as_str()?.as_bytes(), &mut decider);
        verifier.push_to(b"\n", &mut decider);
    }
    let chain = verifier.finish_to(&mut decider);
    let chain_ok = chain.is_ok_and(|report| report.chain.ok);
    Some(Case {
        id: case.get("id")?.as_str()?.into(),
        expected: case.get("expect")?.as_object()?.clone(),
        found: in_their_form(chain_ok, &decider.replay.finish().0),
    })
}

fn in_their_form(chain_ok: bool, report: &ReplayReport) -> Object {
    let difference = report.first_difference.as_ref();
    let difference = difference
        .map(|difference| Object::new().with("code", difference.what.code()).with("sequence", difference.sequence));
    Object::new()
        .with("chain_ok", chain_ok)
        .with("decided", report.decided)
        .with("applied", report.applied)
        .with("erased", report.erased)
        .with("decided_all", report.decided_all())
        .with_some("difference", difference)
}

struct Decider<'a> {
    replay: Replay<'a>,
    /// Those of the next entry
    blobs: BTreeMap<String, Vec<u8>>,
}

impl Listener for Decider<'_> {
    fn blob(&mut self, blob: &ExportedBlob<'_>) {
        self.blobs.insert(hex(&blob.digest), blob.bytes.to_vec());
    }

    fn entry(&mut self, text: &[u8]) {
        let blobs = core::mem::take(&mut self.blobs);
        // What is no entry fails the chain.
        if let Ok(entry) = Entry::read(text) {
            self.replay.push(&entry, &BlobReader::new(&|digest| blobs.get(digest).cloned()));
        }
    }
}
