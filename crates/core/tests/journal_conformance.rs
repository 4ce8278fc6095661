//! The journal vectors of `conformance/journal`; its README says what they mean.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bailiwick_core::hash::{from_hex, hex, sha256};
use bailiwick_core::journal::export::DOCUMENT_BYTES;
use bailiwick_core::journal::merkle::{
    leaf_hash, prove_consistency, prove_inclusion, root, verify_consistency, verify_inclusion,
};
use bailiwick_core::journal::{ExportReport, ExportVerifier, Page, Row, StoredHead};
use bailiwick_core::json::{Limits, Number, Object, Value, parse, write_compact, write_pretty};

const VARIANTS: &str = include_str!("../../../conformance/journal/variants.json");
const EXPORTS: &str = include_str!("../../../conformance/journal/exports.json");
const MERKLE: &str = include_str!("../../../conformance/journal/merkle.json");

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
}

fn base(name: &str) -> Value {
    read(match name {
        "labelled" => include_str!("../../../conformance/journal/labelled.json"),
        "mixed-labels" => include_str!("../../../conformance/journal/mixed-labels.json"),
        "two-events" => include_str!("../../../conformance/journal/two-events.json"),
        other => panic!("no journal {other}"),
    })
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).unwrap().as_array().unwrap()
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).unwrap().as_str().unwrap()
}

fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_number().copied().and_then(Number::to_u64)
}

fn row(event: &Value) -> Row<'_> {
    Row::from_columns(event).unwrap()
}

/// A journal with the edits of a variant.
fn edited(variant: &Value) -> Value {
    let journal = base(string(variant, "base"));
    let mut workspace = journal.get("workspace").unwrap().as_object().unwrap().clone();
    let mut events = items(&journal, "events").to_vec();
    for edit in items(variant, "edits") {
        let position = || events.iter().position(|event| string(event, "id") == string(edit, "event_id")).unwrap();
        match string(edit, "op") {
            "set" => {
                let at = position();
                let Value::Object(event) = &mut events[at] else { panic!("an event is an object") };
                event.insert(string(edit, "column"), edit.get("value").unwrap().clone());
            }
            "delete" => {
                events.remove(position());
            }
            "insert" => events.push(edit.get("row").unwrap().clone()),
            "workspace" => workspace.insert(string(edit, "column"), edit.get("value").unwrap().clone()),
            other => panic!("no edit {other}"),
        }
    }
    Object::new()
        .with("format", "coordination-journal/1")
        .with("workspace", workspace)
        .with("events", Value::Array(events))
        .into()
}

fn verifier(case: &Value) -> ExportVerifier {
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES).with_root();
    if let Some(workspace) = case.get("workspace") {
        verifier = verifier.for_workspace(workspace.as_str().unwrap());
    }
    if let Some(prefix) = number(case, "prefix") {
        verifier = verifier.up_to(prefix);
    }
    verifier
}

fn compare(id: &str, report: &ExportReport, expect: &Value) {
    let chain = &report.chain;
    let failure = chain.first_failure;
    assert_eq!(Some(chain.ok), expect.get("ok").unwrap().as_bool(), "{id}: {report:?}");
    assert_eq!(failure.map(|failure| failure.code.code()), expect.get("failure").and_then(Value::as_str), "{id}");
    assert_eq!(failure.and_then(|failure| failure.sequence), number(expect, "sequence"), "{id}");
    let numbers = [
        ("line", report.failed_line),
        ("checked_events", Some(chain.checked_events)),
        ("blobs", Some(report.blobs)),
        ("epoch_changed_at", chain.epoch_changed_at),
    ];
    for (name, found) in numbers {
        if expect.get(name).is_some() {
            assert_eq!(found, number(expect, name), "{id}: {name}");
        }
    }
    let texts = [
        ("head_hash", hex(&chain.head_hash)),
        ("root", chain.root.map(|root| hex(&root)).unwrap_or_default()),
        ("workspace_id", report.workspace_id.clone()),
        ("journal", report.journal.map(|journal| journal.name().to_owned()).unwrap_or_default()),
    ];
    for (name, found) in texts {
        if let Some(expected) = expect.get(name) {
            assert_eq!(Some(found.as_str()), expected.as_str(), "{id}: {name}");
        }
    }
    assert!(expect.get("epoch_changed_at").is_some() || id == "V26" || chain.epoch_changed_at.is_none(), "{id}");
}

#[test]
fn the_published_preimages_come_out() {
    for name in ["labelled", "mixed-labels", "two-events"] {
        let journal = base(name);
        for event in items(&journal, "events") {
            let row = row(event);
            let mut preimage = Vec::new();
            row.write_preimage(&mut preimage).unwrap();
            assert_eq!(hex(&sha256(&[&preimage])), row.hash, "{name} {}", row.sequence);
            let published = journal.get("preimages").unwrap().get(&row.sequence.to_string());
            if let Some(published) = published {
                assert_eq!(std::str::from_utf8(&preimage).unwrap(), published.as_str().unwrap());
            }
        }
    }
}

#[test]
fn every_variant_gets_its_verdict() {
    for variant in items(&read(VARIANTS), "variants") {
        let id = string(variant, "id");
        let expect = variant.get("expect").unwrap();
        let document = edited(variant);
        for text in [write_compact(&document), write_pretty(&document)] {
            let mut verifier = verifier(variant);
            verifier.push(text.as_bytes());
            let report = verifier.finish().unwrap_or_else(|error| panic!("{id}: {error}"));
            compare(id, &report, expect);
        }

        let Some(page_valid) = expect.get("first_page_valid") else { continue };
        let workspace = document.get("workspace").unwrap();
        let mut rows: Vec<Row<'_>> = items(&document, "events").iter().map(row).collect();
        rows.sort_by_key(|row| row.sequence);
        let head = StoredHead {
            sequence: number(workspace, "event_head_sequence").unwrap(),
            hash: string(workspace, "event_head_hash"),
        };
        let page = Page::new(string(workspace, "epoch_id"), 0, None, &rows, head).unwrap();
        assert_eq!(Some(page.chain_valid), page_valid.as_bool(), "{id}: first page");
    }
}

#[test]
fn every_export_gets_its_verdict() {
    for case in items(&read(EXPORTS), "cases") {
        let id = string(case, "id");
        let expect = case.get("expect").unwrap();
        let text: String = items(case, "lines").iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect();
        for chunk in [1, 7, 100, usize::MAX] {
            let mut verifier = verifier(case);
            text.as_bytes().chunks(chunk).for_each(|bytes| verifier.push(bytes));
            match (verifier.finish(), expect.get("error")) {
                (Ok(report), None) => compare(id, &report, expect),
                (Err(error), Some(code)) => {
                    assert_eq!(Some(error.code()), code.as_str(), "{id}: {error}");
                    assert_eq!(error.line, number(expect, "line"), "{id}: {error}");
                }
                (result, _) => panic!("{id}: {result:?}"),
            }
        }
    }
}

#[test]
fn every_merkle_proof_comes_out_and_holds() {
    let vectors = read(MERKLE);
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let leaves: Vec<_> =
        items(&vectors, "leaves").iter().map(|leaf| leaf_hash(&bytes(leaf.as_str().unwrap()))).collect();
    let roots: Vec<_> = items(&vectors, "roots").iter().map(|root| from_hex(root.as_str().unwrap()).unwrap()).collect();
    for (size, expected) in roots.iter().enumerate() {
        assert_eq!(root(&leaves[..size]), *expected);
    }
    let path = |proof: &Value| -> Vec<_> {
        items(proof, "path").iter().map(|hash| from_hex(hash.as_str().unwrap()).unwrap()).collect()
    };
    let place = |number: u64| usize::try_from(number).unwrap();
    for proof in items(&vectors, "inclusion") {
        let (index, size) = (number(proof, "index").unwrap(), number(proof, "size").unwrap());
        assert_eq!(prove_inclusion(&leaves[..place(size)], index).unwrap(), path(proof));
        verify_inclusion(index, size, &leaves[place(index)], &path(proof), &roots[place(size)]).unwrap();
    }
    for proof in items(&vectors, "consistency") {
        let (old, new) = (number(proof, "old_size").unwrap(), number(proof, "new_size").unwrap());
        assert_eq!(prove_consistency(&leaves[..place(new)], old).unwrap(), path(proof));
        verify_consistency(old, new, &roots[place(old)], &roots[place(new)], &path(proof)).unwrap();
    }
}
