//! What holds for every journal: what was sealed verifies, what was changed does not, and nothing panics.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bailiwick_core::hash::{Hash, hex, sha256};
use bailiwick_core::journal::export::{blob_digest, write_blob_line, write_entry_line};
use bailiwick_core::journal::merkle::{leaf_hash, root};
use bailiwick_core::journal::{
    Draft, Entry, ExportReport, ExportVerifier, Head, Header, Journal, Label, Row, StoredHead, Verifier, verify_export,
};
use bailiwick_core::json::{
    Duplicates, Limits, Number, Object, Value, parse, parse_lossless, write_canonical, write_compact,
};
use proptest::prelude::*;

/// Strings with everything that writers and scanners treat on its own.
fn texts() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        8 => "[a-z]{1,8}",
        2 => Just("\"".to_owned()),
        2 => Just("\\".to_owned()),
        2 => "[\\x00-\\x1f]",
        2 => "[\u{7f}éß\u{2028}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{1f600}]",
        1 => "[0-9]{1,3}",
    ];
    prop::collection::vec(parts, 0..4).prop_map(|parts| parts.concat())
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        4 => (0..1000_i128).prop_map(Number::Integer),
        1 => any::<i64>().prop_map(|number| Number::Integer(number.into())),
        2 => (-1000..1000_i32).prop_map(|number| Number::from_f64(f64::from(number) / 8.0).unwrap()),
        1 => any::<f64>().prop_map(|number| Number::from_f64(number).unwrap_or(Number::Integer(0))),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        numbers().prop_map(Value::Number),
        texts().prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            objects(inner).prop_map(Value::Object),
        ]
    })
}

fn objects(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Object> {
    prop::collection::vec((texts(), values), 0..4)
        .prop_map(|members| members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value)))
}

fn labels() -> impl Strategy<Value = Label> {
    prop_oneof![
        4 => Just(Label::Journal1),
        2 => Just(Label::Collab02),
        1 => Just(Label::Collab01),
        1 => Just(Label::Other("another/9".to_owned())),
    ]
}

fn drafts() -> impl Strategy<Value = Draft> {
    (labels(), [texts(), texts(), texts(), texts()], prop::option::of(texts()), objects(values())).prop_map(
        |(protocol, [id, kind, entity_id, actor], session_id, payload)| Draft {
            protocol,
            workspace_id: "desk".into(),
            epoch_id: "epoch".into(),
            id,
            kind,
            entity_id,
            actor,
            session_id,
            occurred_at: "2026-11-30T12:00:00.000Z".into(),
            payload,
        },
    )
}

/// A sealed journal in every form that a verifier takes.
#[derive(Debug)]
struct Sealed {
    entries: Vec<Entry>,
    preimages: Vec<Vec<u8>>,
    head: Head,
    export: Vec<u8>,
}

fn seal(drafts: Vec<(Draft, Option<Vec<u8>>)>) -> Sealed {
    let mut head = Head::GENESIS;
    let (mut entries, mut preimages, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (mut draft, blob)) in drafts.into_iter().enumerate() {
        if let Some(bytes) = blob {
            let salt = [u8::try_from(number).unwrap(); 16];
            let digest = blob_digest(&salt, &bytes);
            draft.payload.insert("document", Object::new().with("blob", hex(&digest)));
            write_blob_line(&digest, &salt, &bytes, &mut lines);
        }
        let mut preimage = Vec::new();
        let entry = draft.seal_into(&head, &mut preimage).unwrap();
        head = entry.head();
        write_entry_line(&preimage, &entry.hash, &mut lines);
        entries.push(entry);
        preimages.push(preimage);
    }
    let mut export = Vec::new();
    header(head).write_line(&mut export);
    export.extend(lines);
    Sealed { entries, preimages, head, export }
}

fn header(head: Head) -> Header {
    Header {
        workspace_id: "desk".into(),
        journal: Journal::Decisions,
        head_sequence: head.sequence,
        head_hash: hex(&head.hash),
    }
}

fn journals() -> impl Strategy<Value = Sealed> {
    let blob = prop::option::weighted(
        0.3,
        prop_oneof![texts().prop_map(String::into_bytes), any::<[u8; 5]>().prop_map(Vec::from)],
    );
    prop::collection::vec((drafts(), blob), 1..5).prop_map(seal)
}

/// A text in the form that two spellings of one value share; `None` if it is not JSON.
fn canonical_lines(export: &[u8]) -> Option<Vec<String>> {
    let lines = export.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    lines.map(|line| parse_lossless(line, &Limits::JOURNAL).ok().map(|line| write_canonical(&line))).collect()
}

fn verify_in_chunks(export: &[u8], size: usize) -> ExportReport {
    let mut verifier = ExportVerifier::new(1 << 20).with_root();
    export.chunks(size).for_each(|chunk| verifier.push(chunk));
    verifier.finish().unwrap()
}

proptest! {
    #[test]
    fn what_was_sealed_verifies_in_every_form(journal in journals()) {
        let report = verify_export(&journal.export).unwrap();
        prop_assert!(report.chain.ok, "{report:?}");
        prop_assert_eq!((report.chain.head_sequence, report.chain.head_hash), (journal.head.sequence, journal.head.hash));

        let mut by_preimage = Verifier::new();
        let mut by_row = Verifier::new();
        for (entry, preimage) in journal.entries.iter().zip(&journal.preimages) {
            by_preimage.push_preimage(preimage, &entry.hash).unwrap();
            let (payload, prev_hash, hash) = (write_compact(&entry.payload.clone().into()), hex(&entry.prev_hash), hex(&entry.hash));
            by_row.push(&Row {
                protocol: entry.protocol.as_str(),
                workspace_id: &entry.workspace_id,
                epoch_id: &entry.epoch_id,
                sequence: entry.sequence,
                id: &entry.id,
                kind: &entry.kind,
                entity_id: &entry.entity_id,
                actor: &entry.actor,
                session_id: entry.session_id.as_deref(),
                occurred_at: &entry.occurred_at,
                payload: &payload,
                prev_hash: &prev_hash,
                hash: &hash,
            }).unwrap();
            prop_assert_eq!(&entry.preimage(), preimage);
            prop_assert_eq!(&write_canonical(&parse(preimage, &Limits::JOURNAL).unwrap()).into_bytes(), preimage);
            prop_assert_eq!(&Entry::read_preimage(preimage, entry.hash).unwrap().preimage(), preimage);
            prop_assert_eq!(&Entry::read(write_compact(&entry.to_value()).as_bytes()).unwrap().preimage(), preimage);
        }
        let head_hash = hex(&journal.head.hash);
        let head = StoredHead { sequence: journal.head.sequence, hash: &head_hash };
        prop_assert!(by_preimage.finish(Some(&head)).ok);
        prop_assert!(by_row.finish(Some(&head)).ok);
    }

    #[test]
    fn chunks_do_not_matter(journal in journals(), size in 1_usize..200) {
        let whole = verify_in_chunks(&journal.export, usize::MAX);
        let leaves: Vec<Hash> = journal.preimages.iter().map(|preimage| leaf_hash(preimage)).collect();
        prop_assert_eq!(whole.chain.root, Some(root(&leaves)));
        prop_assert_eq!(verify_in_chunks(&journal.export, size), whole);
    }

    #[test]
    fn a_changed_byte_is_reported_or_spells_the_same(journal in journals(), at: prop::sample::Index, mask in 1_u8..) {
        let mut export = journal.export.clone();
        let at = at.index(export.len());
        export[at] ^= mask;
        if verify_export(&export).is_ok_and(|report| report.chain.ok) {
            prop_assert_eq!(canonical_lines(&export), canonical_lines(&journal.export), "byte {}", at);
        }
    }

    #[test]
    fn removed_and_repeated_bytes_are_reported_or_spell_the_same(
        journal in journals(), at: prop::sample::Index, length in 1_usize..100, repeat: bool,
    ) {
        let mut export = journal.export.clone();
        let at = at.index(export.len());
        let end = (at + length).min(export.len());
        let piece: Vec<u8> = export.drain(at..end).collect();
        if repeat {
            export.splice(at..at, [piece.clone(), piece].concat());
        }
        if verify_export(&export).is_ok_and(|report| report.chain.ok) {
            prop_assert_eq!(canonical_lines(&export), canonical_lines(&journal.export), "bytes {}..{}", at, end);
        }
    }

    #[test]
    fn a_line_gets_one_verdict_whichever_way_it_is_read(journal in journals(), at: prop::sample::Index, mask: u8) {
        let mut export = journal.export.clone();
        let at = at.index(export.len());
        export[at] ^= mask;
        // White space at the start keeps a line from being recognised as canonical.
        let spaced: Vec<u8> = export.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [b" ", line].concat()).collect();
        match (verify_export(&export), verify_export(&spaced)) {
            (Ok(fast), Ok(slow)) => prop_assert_eq!(fast, slow),
            (Err(fast), Err(slow)) => prop_assert_eq!((fast.line, fast.code()), (slow.line, slow.code())),
            (fast, slow) => prop_assert!(false, "{:?} but {:?}", fast, slow),
        }
    }

    #[test]
    fn any_spelling_of_a_payload_verifies(payload in spellings()) {
        let Ok(value) = parse_lossless(payload.as_bytes(), &Limits::JOURNAL.with_duplicates(Duplicates::Refuse)) else {
            return Ok(());
        };
        let canonical = write_canonical(&value);
        let zeros = "0".repeat(64);
        let line = |payload: &str, hash: &str| format!(
            r#"{{"actor":"a","entity_id":"e","epoch_id":"p",{hash}"id":"i","occurred_at":"t","payload":{payload},"prev_hash":"{zeros}","protocol":"agenttool.collab/0.2","sequence":1,"session_id":null,"type":"k","workspace_id":"desk"}}"#
        );
        let hash = sha256(&[line(&canonical, "").as_bytes()]);
        let mut export = Vec::new();
        header(Head { sequence: 1, hash }).write_line(&mut export);
        export.extend(line(&payload, &format!("\"hash\":\"{}\",", hex(&hash))).bytes());
        let report = verify_export(&export).unwrap();
        prop_assert!(report.chain.ok, "{payload}: {report:?}");

        let hash = hex(&hash);
        let row = Row {
            protocol: "agenttool.collab/0.2", workspace_id: "desk", epoch_id: "p", sequence: 1, id: "i", kind: "k",
            entity_id: "e", actor: "a", session_id: None, occurred_at: "t", payload: &payload, prev_hash: &zeros,
            hash: &hash,
        };
        prop_assert_eq!(Verifier::new().push(&row), Ok(()));
    }

    #[test]
    fn anything_at_all_is_answered(bytes: Vec<u8>, journal in journals(), at: prop::sample::Index) {
        let _ = verify_export(&bytes);
        let cut = at.index(journal.export.len());
        let mixed = [&journal.export[..cut], &bytes].concat();
        let _ = verify_export(&mixed);
        let _ = Entry::read(&bytes);
        let _ = Verifier::new().push_preimage(&bytes, &[0; 32]);
    }
}

/// Payloads as texts: written canonically, in order of insertion, or put together from pieces.
fn spellings() -> impl Strategy<Value = String> {
    let number = r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?";
    let small = r"-?0\.0{3,8}[0-9]{0,3}";
    let string = "\"([a-z]|\\\\[\"\\\\/bfnrt]|\\\\u00[01][0-9a-fA-F]|\\\\ud[89a-f]00|\\\\u[2-9]{4}|é|\u{1f600}){0,4}\"";
    let key = "\"([a-c]{0,2}|[0-9]{1,2}|é|\\\\u0061)\"";
    let scalar =
        prop_oneof![3 => number, 1 => small, 3 => string, 1 => Just("null".to_owned()), 1 => Just("true".to_owned())];
    let pieces = scalar.prop_recursive(2, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key, inner), 0..4).prop_map(|members| {
                let members: Vec<String> = members.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    prop_oneof![
        1 => values().prop_map(|value| write_canonical(&value)),
        1 => values().prop_map(|value| write_compact(&value)),
        4 => pieces,
    ]
}
