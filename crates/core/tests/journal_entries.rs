//! Sealing, reading back, positions and pages, and the limits of exports.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bailiwick_core::hash::{hex, sha256};
use bailiwick_core::journal::entry::MAX_ENTRY_BYTES;
use bailiwick_core::journal::export::{
    DOCUMENT_BYTES, ExportedBlob, MAX_LINE_BYTES, blob_digest, write_blob_line, write_entry_line,
};
use bailiwick_core::journal::verify::ExportErrorKind;
use bailiwick_core::journal::{
    Anchor, AnchorFault, Draft, Entry, EntryError, ExportVerifier, Failure, FailureCode, Head, Header, Journal, Label,
    Listener, Page, PageError, Row, SealError, StoredHead, Verifier, verify_anchor, verify_export,
};
use bailiwick_core::json::{Object, Value, write_compact};

fn draft(label: Label, payload: Object) -> Draft {
    Draft {
        protocol: label,
        workspace_id: "desk".into(),
        epoch_id: "epoch".into(),
        id: "event_1".into(),
        kind: "submit".into(),
        entity_id: "order_1".into(),
        actor: "agent:worker".into(),
        session_id: Some("session_1".into()),
        occurred_at: "2026-11-30T12:00:00.000Z".into(),
        payload,
    }
}

fn journal(entries: u64) -> Vec<Entry> {
    let mut head = Head::GENESIS;
    (0..entries)
        .map(|number| {
            let entry = draft(Label::Collab02, Object::new().with("n", number)).seal(&head).unwrap();
            head = entry.head();
            entry
        })
        .collect()
}

/// What the columns of an entry hold.
struct Columns {
    entry: Entry,
    payload: String,
    prev_hash: String,
    hash: String,
}

impl Columns {
    fn of(entry: Entry) -> Self {
        let (payload, prev_hash, hash) = (entry.payload_text(), hex(&entry.prev_hash), hex(&entry.hash));
        Self { entry, payload, prev_hash, hash }
    }

    fn row(&self) -> Row<'_> {
        Row {
            protocol: self.entry.protocol.as_str(),
            workspace_id: &self.entry.workspace_id,
            epoch_id: &self.entry.epoch_id,
            sequence: self.entry.sequence,
            id: &self.entry.id,
            kind: &self.entry.kind,
            entity_id: &self.entry.entity_id,
            actor: &self.entry.actor,
            session_id: self.entry.session_id.as_deref(),
            occurred_at: &self.entry.occurred_at,
            payload: &self.payload,
            prev_hash: &self.prev_hash,
            hash: &self.hash,
        }
    }
}

#[test]
fn an_entry_follows_its_head() {
    let mut preimage = b"old".to_vec();
    let head = Head { sequence: 41, hash: [0xAB; 32] };
    let entry =
        draft(Label::Journal1, Object::new().with("b", 1_u64).with("a", "é")).seal_into(&head, &mut preimage).unwrap();
    let text = format!(
        r#"{{"actor":"agent:worker","entity_id":"order_1","epoch_id":"epoch","id":"event_1","occurred_at":"2026-11-30T12:00:00.000Z","payload":{{"a":"é","b":1}},"prev_hash":"{}","protocol":"bailiwick.journal/1","sequence":42,"session_id":"session_1","type":"submit","workspace_id":"desk"}}"#,
        "ab".repeat(32)
    );
    assert_eq!(String::from_utf8(preimage.clone()).unwrap(), text);
    assert_eq!(entry.preimage(), preimage);
    assert_eq!(entry.head(), Head { sequence: 42, hash: sha256(&[text.as_bytes()]) });
    assert_eq!(entry.leaf_hash(), sha256(&[&[0], text.as_bytes()]));
    assert_eq!(entry.payload_text(), r#"{"a":"é","b":1}"#);
    assert_eq!(Entry::read_preimage(&preimage, entry.hash), Ok(entry.clone()));
    assert_eq!(Entry::read(write_compact(&entry.to_value()).as_bytes()), Ok(entry));
}

#[test]
fn old_entries_have_no_session_and_unknown_labels_have() {
    let old = draft(Label::Collab01, Object::new()).seal(&Head::GENESIS).unwrap();
    assert_eq!(old.session_id, None);
    assert!(!String::from_utf8(old.preimage()).unwrap().contains("session_id"));
    assert!(old.to_value().get("session_id").is_none());
    let unknown = draft(Label::parse("another/9"), Object::new()).seal(&Head::GENESIS).unwrap();
    assert!(String::from_utf8(unknown.preimage()).unwrap().contains("session_1"));
    for label in ["agenttool.collab/0.1", "agenttool.collab/0.2", "bailiwick.journal/1", "another/9"] {
        assert_eq!(Label::parse(label).to_string(), label);
    }
}

#[test]
fn only_our_own_entries_have_a_size_limit() {
    let sized = |label: Label, bytes: usize| {
        let empty = draft(label.clone(), Object::new().with("note", "")).seal(&Head::GENESIS).unwrap().preimage().len();
        draft(label, Object::new().with("note", "x".repeat(bytes - empty))).seal(&Head::GENESIS)
    };
    assert!(sized(Label::Journal1, MAX_ENTRY_BYTES).is_ok());
    assert_eq!(sized(Label::Journal1, MAX_ENTRY_BYTES + 1), Err(SealError::TooLarge { bytes: MAX_ENTRY_BYTES + 1 }));
    assert!(sized(Label::Collab02, MAX_ENTRY_BYTES + 1).is_ok());
    let end = Head { sequence: u64::MAX, hash: [0; 32] };
    assert_eq!(draft(Label::Journal1, Object::new()).seal(&end), Err(SealError::Full));
}

#[test]
fn what_is_no_entry_is_not_read() {
    let entry = journal(1).remove(0);
    let form = |member: &str, change: fn(&mut Object, &str)| {
        let Value::Object(mut object) = entry.to_value() else { panic!("an entry is an object") };
        change(&mut object, member);
        match Entry::read(write_compact(&object.into()).as_bytes()) {
            Err(EntryError::Form { member: found, .. }) => assert_eq!(found, member),
            other => panic!("{member}: {other:?}"),
        }
    };
    let members = [
        "protocol",
        "workspace_id",
        "epoch_id",
        "sequence",
        "id",
        "type",
        "entity_id",
        "actor",
        "session_id",
        "occurred_at",
        "payload",
        "prev_hash",
        "hash",
    ];
    for member in members {
        form(member, |object, member| drop(object.remove(member)));
        form(member, |object, member| object.insert(member, true));
    }
    form("note", |object, member| object.insert(member, "x"));
    form("hash", |object, member| object.insert(member, "AB".repeat(32)));
    assert_eq!(Entry::read(b"[]"), Err(EntryError::NotAnObject));
    assert_eq!(Entry::read(br#"{"actor":"a","actor":"a"}"#).unwrap_err().code(), "duplicate_name");
}

#[test]
fn stored_bytes_must_be_what_was_hashed() {
    let entry = journal(1).remove(0);
    let spaced = [b" ", &entry.preimage()[..]].concat();
    let failure = Failure { code: FailureCode::EventHashMismatch, sequence: Some(1) };
    for bytes in [&spaced[..], b"", b"{}", b"{\"sequence\":1}"] {
        assert_eq!(Verifier::new().push_preimage(bytes, &sha256(&[bytes])), Err(failure));
    }
    assert_eq!(Verifier::new().push_preimage(&entry.preimage(), &[0; 32]), Err(failure));
    assert_eq!(Verifier::new().push_preimage(&entry.preimage(), &entry.hash), Ok(()));
}

#[test]
fn a_verifier_goes_on_from_a_head_and_stops_at_a_failure() {
    let entries: Vec<Columns> = journal(5).into_iter().map(Columns::of).collect();
    let mut verifier = Verifier::after(entries[2].entry.head());
    let gap = Failure { code: FailureCode::SequenceGap, sequence: Some(5) };
    assert_eq!(verifier.push(&entries[3].row()), Ok(()));
    assert_eq!(verifier.clone().push(&entries[4].row()), Ok(()));
    assert_eq!(
        verifier.push(&Row { sequence: 6, ..entries[4].row() }).map_err(|failure| failure.sequence),
        Err(Some(6))
    );
    assert_eq!(
        verifier.push(&entries[4].row()).map_err(|failure| failure.sequence),
        Err(Some(6)),
        "the first failure stays"
    );
    assert_eq!(Verifier::after(entries[2].entry.head()).push(&entries[4].row()), Err(gap));
    let report = verifier.finish(None);
    assert_eq!((report.ok, report.checked_events, report.head_sequence), (false, 1, 4));
    assert_eq!(gap.to_string(), "sequence_gap at sequence 5");
}

#[test]
fn anchors_are_checked_in_the_order_of_the_specification() {
    let entries: Vec<Columns> = journal(3).into_iter().map(Columns::of).collect();
    let row = entries[1].row();
    let anchor = Anchor::after(&row);
    let check = |anchor: &Anchor, stored: Option<&Row<'_>>| verify_anchor(anchor, "epoch", 3, stored);
    assert_eq!(check(&anchor, Some(&row)), Ok(()));
    assert_eq!(check(&Anchor::genesis("epoch"), None), Ok(()));
    assert_eq!(check(&Anchor::genesis("another"), None), Err(AnchorFault::Mismatch));
    let with = |sequence: u64, hash: &str| Anchor { epoch_id: "epoch".into(), sequence, hash: hash.into() };
    assert_eq!(check(&with(0, &anchor.hash), None), Err(AnchorFault::ForkDetected));
    assert_eq!(check(&with(4, &anchor.hash), None), Err(AnchorFault::Ahead { head_sequence: 3 }));
    assert_eq!(check(&with(2, &anchor.hash), None), Err(AnchorFault::ForkDetected));
    assert_eq!(check(&with(2, &"1".repeat(64)), Some(&row)), Err(AnchorFault::ForkDetected));
    assert_eq!(check(&anchor, Some(&Row { actor: "mallory", ..row })), Err(AnchorFault::ForkDetected));
    assert_eq!(check(&anchor, Some(&Row { payload: "{", ..row })), Err(AnchorFault::ForkDetected));

    assert_eq!(Anchor::from_value(&anchor.to_value()), Some(anchor.clone()));
    for (member, value) in [("hash", Value::from("AB")), ("sequence", Value::from("1")), ("epoch_id", Value::Null)] {
        let Value::Object(object) = anchor.to_value() else { panic!("an anchor is an object") };
        assert_eq!(Anchor::from_value(&object.with(member, value).into()), None, "{member}");
    }
}

#[test]
fn pages_say_whether_they_hang_together() {
    let columns: Vec<Columns> = journal(4).into_iter().map(Columns::of).collect();
    let rows: Vec<Row<'_>> = columns.iter().map(Columns::row).collect();
    let head = StoredHead { sequence: 4, hash: rows[3].hash };
    let page = |after: u64, rows: &[Row<'_>], head: StoredHead<'_>| {
        let predecessor =
            after.checked_sub(1).and_then(|at| columns.get(usize::try_from(at).unwrap())).map(Columns::row);
        Page::new("epoch", after, predecessor.as_ref(), rows, head)
            .map(|page| (page.next_anchor.sequence, page.has_more, page.chain_valid))
    };
    assert_eq!(page(0, &rows, head), Ok((4, false, true)));
    assert_eq!(page(1, &rows[1..3], head), Ok((3, true, true)));
    assert_eq!(page(4, &[], head), Ok((4, false, true)));
    assert_eq!(page(2, &[], head), Ok((2, true, false)), "an empty page must start at the head");
    assert_eq!(page(1, &rows[2..], head), Ok((4, false, false)), "a gap");
    assert_eq!(page(0, &rows, StoredHead { sequence: 4, hash: rows[0].hash }), Ok((4, false, false)));
    assert_eq!(page(0, &rows, StoredHead { sequence: 3, hash: rows[0].hash }), Ok((4, false, true)), "not at the head");
    assert_eq!(page(5, &[], head), Err(PageError::InvalidCursor { after_sequence: 5, head_sequence: 4 }));
    let missing = Page::new("epoch", 2, None, &rows[2..], head);
    assert_eq!(missing, Err(PageError::CursorMismatch));

    let page = Page::new("epoch", 3, Some(&rows[2]), &rows[3..], head).unwrap().to_value();
    let event = &page.get("events").unwrap().as_array().unwrap()[0];
    assert_eq!(*event, columns[3].entry.to_value());
    assert_eq!(page.get("cursor"), Some(&Anchor::after(&rows[2]).to_value()));
    assert_eq!(page.get("verification_scope"), Some(&Value::from("returned_page")));
    let broken = Row { payload: "{\"a\":\"\\ud800\"}", protocol: "agenttool.collab/0.1", ..rows[0] }.to_value();
    assert_eq!(broken.get("payload"), Some(&Object::new().with("a", "\u{FFFD}").into()));
    assert_eq!(broken.get("session_id"), None);
    assert_eq!(Row { payload: "{", ..rows[0] }.to_value().get("payload"), Some(&Value::from("{")));
}

fn header(entries: &[Entry]) -> Vec<u8> {
    let head = entries.last().map_or(Head::GENESIS, Entry::head);
    let mut out = Vec::new();
    Header {
        workspace_id: "desk".into(),
        journal: Journal::Public,
        head_sequence: head.sequence,
        head_hash: hex(&head.hash),
    }
    .write_line(&mut out);
    out
}

#[test]
fn the_largest_blob_of_a_request_fits_into_a_line_and_a_longer_line_is_refused() {
    for byte in [b'x', b'"', 0xFF] {
        let bytes = vec![byte; 4 << 20];
        let digest = blob_digest(&[7; 16], &bytes);
        let entry = draft(Label::Journal1, Object::new().with("x", Object::new().with("blob", hex(&digest))));
        let entry = entry.seal(&Head::GENESIS).unwrap();
        let mut export = header(std::slice::from_ref(&entry));
        write_blob_line(&digest, &[7; 16], &bytes, &mut export);
        write_entry_line(&entry.preimage(), &entry.hash, &mut export);
        assert!(verify_export(&export).unwrap().chain.ok);
    }

    let mut long = header(&[]);
    long.resize(long.len() + MAX_LINE_BYTES + 1, b' ');
    for ended in [&long[..], &[&long[..], b"\n"].concat()] {
        let error = verify_export(ended).unwrap_err();
        assert_eq!((error.line, error.kind), (Some(2), ExportErrorKind::LineTooLong));
    }
}

#[test]
fn a_document_is_held_within_the_callers_limit() {
    let text = include_str!("../../../conformance/journal/labelled.json");
    for (limit, fits) in [(text.len(), true), (text.len() - 1, false)] {
        let mut verifier = ExportVerifier::new(limit);
        text.as_bytes().chunks(1000).for_each(|chunk| verifier.push(chunk));
        match verifier.finish() {
            Ok(report) => assert!(fits && report.chain.ok),
            Err(error) => assert!(!fits && error.kind == ExportErrorKind::DocumentTooLong { limit }, "{error}"),
        }
    }
}

#[test]
fn errors_say_where_and_what_would_be_accepted() {
    let say = |text: &str| verify_export(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        say("[1]\n"),
        "line 1: no journal, expected JSON Lines of format `bailiwick.journal-export/1` or a document of format `coordination-journal/1`"
    );
    assert_eq!(
        say("{\n \"format\": \"coordination-journal/1\",\n oops\n}"),
        "line 3 column 2: unexpected `oops`, expected a member's name in double quotes"
    );
    assert_eq!(
        say(
            r#"{"format":"coordination-journal/1","workspace":{"id":"w","event_head_sequence":0,"event_head_hash":""},"events":[{}]}"#
        ),
        "member `events/0/protocol` of the document: expected a string"
    );
    let header = String::from_utf8(header(&[])).unwrap();
    assert_eq!(
        say(&header.replace("public", "secret")),
        "line 1: member `journal` of the header: expected `decisions` or `public`"
    );
    assert_eq!(say(&format!("{header}{{}}\n")), "line 2: expected an entry, or a blob");
    assert_eq!(
        say(&format!("{header}{{\"sequence\":1}}\n")),
        "line 2: member `workspace_id` of the entry: expected a string"
    );
}

#[test]
fn a_listener_hears_what_is_in_order_and_nothing_else() {
    #[derive(Default)]
    struct Heard(Vec<String>);
    impl Listener for Heard {
        fn blob(&mut self, blob: &ExportedBlob<'_>) {
            self.0.push(String::from_utf8(blob.bytes.to_vec()).unwrap());
        }
        fn entry(&mut self, text: &[u8]) {
            self.0.push(Entry::read(text).unwrap().sequence.to_string());
        }
        fn row(&mut self, row: &Row<'_>) {
            self.0.push(row.kind.to_owned());
        }
    }
    let digest = blob_digest(&[1; 16], b"text");
    let mut head = Head::GENESIS;
    let mut entries = Vec::new();
    for payload in [Object::new().with("blob", hex(&digest)), Object::new(), Object::new()] {
        let entry = draft(Label::Journal1, Object::new().with("x", payload)).seal(&head).unwrap();
        head = entry.head();
        entries.push(entry);
    }
    let mut export = header(&entries);
    write_blob_line(&digest, &[1; 16], b"text", &mut export);
    for (number, entry) in entries.iter().enumerate() {
        let hash = if number == 1 { [9; 32] } else { entry.hash };
        write_entry_line(&entry.preimage(), &hash, &mut export);
    }
    let mut heard = Heard::default();
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES);
    verifier.push_to(&export, &mut heard);
    let report = verifier.finish_to(&mut heard).unwrap();
    assert_eq!(heard.0, ["text", "1"]);
    assert_eq!(report.failed_line, Some(4));
    assert_eq!(
        write_compact(&report.to_value()),
        format!(
            r#"{{"ok":false,"checked_events":1,"head_sequence":1,"head_hash":"{}","failure":"event_hash_mismatch","failed_sequence":2,"workspace_id":"desk","journal":"public","blobs":1,"failed_line":4}}"#,
            hex(&entries[0].hash)
        )
    );

    let mut heard = Heard::default();
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES).up_to(2);
    verifier.push_to(include_bytes!("../../../conformance/journal/labelled.json"), &mut heard);
    assert!(verifier.finish_to(&mut heard).unwrap().chain.ok);
    assert_eq!(heard.0, ["workspace.opened", "task.created"]);
}
