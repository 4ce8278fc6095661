//! Journals, what verification must say about them, and Merkle proofs; `conformance/journal/README.md` has the forms.

use std::path::Path;

use bailiwick_core::hash::{Hash, from_hex, hex, sha256};
use bailiwick_core::journal::export::{DOCUMENT_BYTES, DOCUMENT_FORMAT};
use bailiwick_core::journal::merkle::{
    ProofError, leaf_hash, prove_consistency, prove_inclusion, root, verify_consistency, verify_inclusion,
};
use bailiwick_core::journal::{ExportReport, ExportVerifier, Page, Row, StoredHead};
use bailiwick_core::json::{Limits, Number, Object, Value, write_compact};

use super::Case;
use crate::failure::Failure;
use crate::input::Input;

/// Runs the vectors of a file; `None` if it holds none.
pub(super) fn run(vectors: &Object, file: &Path) -> Result<Option<Vec<Case>>, Failure> {
    Ok(Some(match vectors.str("format") {
        Some(DOCUMENT_FORMAT) => preimages(vectors),
        Some("bailiwick.conformance-journal/1") => variants(vectors, file)?,
        Some("bailiwick.conformance-journal-export/1") => exports(vectors),
        Some("bailiwick.conformance-merkle/1") => merkle(vectors),
        _ => return Ok(None),
    }))
}

/// A journal, of which it is published what exactly is hashed.
fn preimages(journal: &Object) -> Vec<Case> {
    let mut cases = Vec::new();
    for event in items(journal, "events") {
        let number = number(event, "sequence").unwrap_or_default();
        let id = format!("entry {number}");
        let mut preimage = Vec::new();
        match Row::from_columns(event).map(|row| (row.write_preimage(&mut preimage), row.hash)) {
            None => cases.push(Case::malformed(id, "the row lacks a column")),
            Some((Err(error), _)) => cases.push(Case::malformed(id, format!("payload: {error}"))),
            Some((Ok(()), hash)) => {
                let computed = hex(&sha256(&[&preimage]));
                let preimage = String::from_utf8_lossy(&preimage);
                let said = Object::new().with("hash", &computed).with("preimage", preimage.as_ref());
                cases.push(Case::compare(id, said, hash, computed));
                if let Some(published) = journal.get("preimages").and_then(|all| all.get(&number.to_string())?.as_str())
                {
                    let said = Object::new().with("preimage", preimage.as_ref());
                    cases.push(Case::compare(format!("preimage of entry {number}"), said, published, preimage));
                }
            }
        }
    }
    cases
}

/// Edits of journals that lie beside the file.
fn variants(vectors: &Object, file: &Path) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for variant in items(vectors, "variants") {
        let id = text(variant, "id");
        let base = file.with_file_name(format!("{}.json", text(variant, "base")));
        let base = Input::File(base).read_json(&Limits::STORED)?;
        cases.push(match edit(&base, variant) {
            Some(journal) => judge_document(id, &journal, variant),
            None => Case::malformed(id, "an edit fits no row or is of no known kind"),
        });
    }
    Ok(cases)
}

/// A journal with the edits of a variant.
fn edit(base: &Value, variant: &Value) -> Option<Value> {
    let mut workspace = base.get("workspace")?.as_object()?.clone();
    let mut events = base.get("events")?.as_array()?.to_vec();
    for edit in variant.get("edits")?.as_array()? {
        let id = edit.get("event_id");
        let at = events.iter().position(|event| event.get("id") == id);
        match edit.get("op")?.as_str()? {
            "set" => match events.get_mut(at?)? {
                Value::Object(event) => event.insert(edit.get("column")?.as_str()?, edit.get("value")?.clone()),
                _ => return None,
            },
            "delete" => {
                events.remove(at?);
            }
            "insert" => events.push(edit.get("row")?.clone()),
            "workspace" => workspace.insert(edit.get("column")?.as_str()?, edit.get("value")?.clone()),
            _ => return None,
        }
    }
    let document = Object::new().with("format", DOCUMENT_FORMAT).with("workspace", workspace);
    Some(document.with("events", Value::Array(events)).into())
}

/// Verifies a journal, and looks at its first page if that is asked for.
fn judge_document(id: &str, journal: &Value, case: &Value) -> Case {
    let mut verifier = verifier(case);
    verifier.push(write_compact(journal).as_bytes());
    let (mut said, mut verdict) = verdict(verifier);
    if case.get("expect").and_then(|expect| expect.get("first_page_valid")).is_some() {
        let page = first_page(journal);
        verdict.insert_some("first_page_valid", page.as_ref().and_then(|page| page.get("chain_valid").cloned()));
        said.insert_some("page", page);
    }
    compare(id, said, &verdict, case)
}

fn first_page(journal: &Value) -> Option<Value> {
    let workspace = journal.get("workspace")?;
    let mut rows: Vec<Row<'_>> =
        journal.get("events")?.as_array()?.iter().map(Row::from_columns).collect::<Option<_>>()?;
    rows.sort_by_key(|row| row.sequence);
    let hash = workspace.get("event_head_hash")?.as_str()?;
    let head = StoredHead { sequence: number(workspace, "event_head_sequence")?, hash };
    let page = Page::new(workspace.get("epoch_id")?.as_str()?, 0, None, &rows, head).ok()?;
    Some(page.to_value())
}

/// Exports, good and bad.
fn exports(vectors: &Object) -> Vec<Case> {
    let mut cases = Vec::new();
    for case in items(vectors, "cases") {
        let mut verifier = verifier(case);
        for line in case.get("lines").and_then(Value::as_array).unwrap_or_default() {
            verifier.push(line.as_str().unwrap_or_default().as_bytes());
            verifier.push(b"\n");
        }
        let (said, verdict) = verdict(verifier);
        cases.push(compare(text(case, "id"), said, &verdict, case));
    }
    cases
}

fn verifier(case: &Value) -> ExportVerifier {
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES).with_root();
    if let Some(workspace) = case.get("workspace").and_then(Value::as_str) {
        verifier = verifier.for_workspace(workspace);
    }
    match number(case, "prefix") {
        Some(prefix) => verifier.up_to(prefix),
        None => verifier,
    }
}

/// Everything that verification said, and what of it vectors state.
fn verdict(verifier: ExportVerifier) -> (Object, Object) {
    match verifier.finish() {
        Ok(report) => {
            let said = report.to_value().as_object().cloned().unwrap_or_default();
            (said, report_members(&report))
        }
        Err(error) => {
            let verdict = Object::new().with("error", error.code()).with_some("line", error.line);
            (verdict.clone().with("message", error.to_string()), verdict)
        }
    }
}

fn report_members(report: &ExportReport) -> Object {
    let chain = &report.chain;
    Object::new()
        .with("ok", chain.ok)
        .with_some("failure", chain.first_failure.map(|failure| failure.code.code()))
        .with_some("sequence", chain.first_failure.and_then(|failure| failure.sequence))
        .with_some("line", report.failed_line)
        .with("checked_events", chain.checked_events)
        .with("head_hash", hex(&chain.head_hash))
        .with_some("root", chain.root.map(|root| hex(&root)))
        .with("blobs", report.blobs)
        .with("workspace_id", &report.workspace_id)
        .with_some("journal", report.journal.map(|journal| journal.name()))
        .with_some("epoch_changed_at", chain.epoch_changed_at)
}

/// Compares what is stated, and the first failure even if none is.
fn compare(id: &str, said: Object, verdict: &Object, case: &Value) -> Case {
    let Some(expected) = case.get("expect").and_then(Value::as_object) else {
        return Case::malformed(id, "`expect` is missing");
    };
    let mut actual = Object::new();
    for (name, _) in expected.iter() {
        actual.insert_some(name, verdict.get(name).cloned());
    }
    for name in ["error", "failure", "sequence"] {
        actual.insert_some(name, verdict.get(name).cloned());
    }
    let same = actual == *expected;
    let difference =
        super::Difference { expected: write_compact(&expected.clone().into()), actual: write_compact(&actual.into()) };
    Case::new(id, said, (!same).then_some(difference))
}

/// Roots and proofs over the same leaves.
fn merkle(vectors: &Object) -> Vec<Case> {
    let Some((leaves, roots)) = leaves_and_roots(vectors) else {
        return vec![Case::malformed("leaves", "leaves and roots must be hexadecimal")];
    };
    let mut cases = Vec::new();
    for (size, published) in roots.iter().enumerate() {
        let computed = leaves.get(..size).map(|leaves| hex(&root(leaves))).unwrap_or_default();
        let said = Object::new().with("root", &computed);
        cases.push(Case::compare(format!("root of {size}"), said, hex(published), computed));
    }
    for proof in items(vectors, "inclusion") {
        let (index, size) = (number(proof, "index").unwrap_or_default(), number(proof, "size").unwrap_or_default());
        let id = format!("inclusion of {index} in {size}");
        cases.push(judge_proof(id, include(&leaves, &roots, index, size, proof)));
    }
    for proof in items(vectors, "consistency") {
        let [old, new] = ["old_size", "new_size"].map(|name| number(proof, name).unwrap_or_default());
        let id = format!("consistency of {old} with {new}");
        cases.push(judge_proof(id, grow(&leaves, &roots, old, new, proof)));
    }
    cases
}

fn leaves_and_roots(vectors: &Object) -> Option<(Vec<Hash>, Vec<Hash>)> {
    let leaves = items(vectors, "leaves").iter().map(|leaf| Some(leaf_hash(&bytes(leaf.as_str()?)?)));
    let roots = items(vectors, "roots").iter().map(|root| from_hex(root.as_str()?));
    Some((leaves.collect::<Option<_>>()?, roots.collect::<Option<_>>()?))
}

/// A proof that was run: the path that was given, the one that was computed, and what verification says to the first.
struct Proof {
    given: Vec<Hash>,
    computed: Option<Vec<Hash>>,
    held: Result<(), ProofError>,
}

fn include(leaves: &[Hash], roots: &[Hash], index: u64, size: u64, proof: &Value) -> Option<Proof> {
    let given = path(proof)?;
    let (tree, leaf) = (leaves.get(..place(size)?)?, leaves.get(place(index)?)?);
    let held = verify_inclusion(index, size, leaf, &given, roots.get(place(size)?)?);
    Some(Proof { computed: prove_inclusion(tree, index), given, held })
}

fn grow(leaves: &[Hash], roots: &[Hash], old: u64, new: u64, proof: &Value) -> Option<Proof> {
    let given = path(proof)?;
    let computed = prove_consistency(leaves.get(..place(new)?)?, old);
    let (before, after) = (roots.get(place(old)?)?, roots.get(place(new)?)?);
    let held = verify_consistency(old, new, before, after, &given);
    Some(Proof { computed, given, held })
}

fn judge_proof(id: String, proof: Option<Proof>) -> Case {
    let Some(Proof { given, computed, held }) = proof else { return Case::malformed(id, "the vector is malformed") };
    let path: Option<Value> = computed.as_ref().map(|path| path.iter().map(|hash| Value::from(hex(hash))).collect());
    let words = held.map_or_else(|error| error.to_string(), |()| "proven".into());
    let said = Object::new().with_some("path", path).with("proof", &words);
    let actual =
        if computed.is_some_and(|computed| computed == given) { words } else { "another path was computed".into() };
    Case::compare(id, said, "proven", actual)
}

fn path(proof: &Value) -> Option<Vec<Hash>> {
    proof.get("path")?.as_array()?.iter().map(|hash| from_hex(hash.as_str()?)).collect()
}

fn place(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}

/// Bytes from hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| std::str::from_utf8(pair).ok().and_then(from_hex::<1>).map(|[byte]| byte)).collect()
}

fn items<'a>(object: &'a Object, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).unwrap_or_default()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_number().copied().and_then(Number::to_u64)
}
