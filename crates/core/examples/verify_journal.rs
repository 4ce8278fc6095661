//! Measures how many events a second each way of verifying takes, on one core, over a generated journal.
//!
//! `cargo run --release -p bailiwick-core --example verify_journal -- [events]`

use std::hint::black_box;
use std::time::Instant;

use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::journal::export::{DOCUMENT_BYTES, write_entry_line};
use bailiwick_core::journal::{Draft, ExportVerifier, Head, Header, Journal, Label, Row, SealError, Verifier};
use bailiwick_core::json::{Object, Value};

/// As files are read.
const CHUNK_BYTES: usize = 64 * 1024;

const WORKSPACE: &str = "desk";

struct Sealed {
    preimage: Vec<u8>,
    hash: Hash,
}

fn draft(number: u64) -> Draft {
    let facts = Object::new().with("fact", "staged").with("id", format!("effect_{number}")).with("amount", number);
    let payload = Object::new()
        .with("arguments", Object::new().with("order", format!("order_{number}")).with("note", "ok"))
        .with("configuration", "9f86d081884c")
        .with("facts", Value::Array(vec![facts.into()]))
        .with("rules", 1_u64);
    Draft {
        protocol: Label::Journal1,
        workspace_id: WORKSPACE.into(),
        epoch_id: "epoch_3f0a".into(),
        id: format!("event_{number:08x}"),
        kind: "stage_effect".into(),
        entity_id: format!("order_{number}"),
        actor: "agent:worker".into(),
        session_id: None,
        occurred_at: "2026-11-30T12:00:00.000Z".into(),
        payload,
    }
}

fn generate(events: u64) -> Result<(Vec<Sealed>, Head), SealError> {
    let mut head = Head::GENESIS;
    let mut journal = Vec::new();
    for number in 1..=events {
        let mut preimage = Vec::new();
        let entry = draft(number).seal_into(&head, &mut preimage)?;
        head = entry.head();
        journal.push(Sealed { preimage, hash: entry.hash });
    }
    Ok((journal, head))
}

fn export(journal: &[Sealed], head: Head, respell: fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header {
        workspace_id: WORKSPACE.into(),
        journal: Journal::Decisions,
        head_sequence: head.sequence,
        head_hash: hex(&head.hash),
    };
    header.write_line(&mut out);
    for sealed in journal {
        let mut line = Vec::new();
        write_entry_line(&sealed.preimage, &sealed.hash, &mut line);
        out.extend(respell(line));
    }
    out
}

fn measure(what: &str, events: u64, run: impl Fn() -> bool) {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        assert!(black_box(run()), "{what}");
        best = best.min(start.elapsed().as_secs_f64());
    }
    #[allow(clippy::cast_precision_loss)]
    let rate = events as f64 / best;
    println!("{what:<44} {rate:>12.0} events/s");
}

fn verify(text: &[u8], verifier: ExportVerifier) -> bool {
    let mut verifier = verifier;
    text.chunks(CHUNK_BYTES).for_each(|chunk| verifier.push(chunk));
    verifier.finish().is_ok_and(|report| report.chain.ok)
}

fn main() -> Result<(), SealError> {
    let events = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let (journal, head) = generate(events)?;
    let canonical = export(&journal, head, |line| line);
    println!("{events} events, {} bytes a line", canonical.len() / journal.len().max(1));

    measure("export, canonical lines", events, || verify(&canonical, ExportVerifier::new(DOCUMENT_BYTES)));
    measure("export, canonical lines, Merkle root", events, || {
        verify(&canonical, ExportVerifier::new(DOCUMENT_BYTES).with_root())
    });
    let spaced = export(&journal, head, |line| {
        let mut spaced = vec![b' '];
        spaced.extend(line);
        spaced
    });
    measure("export, lines to be read and written anew", events, || {
        verify(&spaced, ExportVerifier::new(DOCUMENT_BYTES))
    });
    measure("stored preimages", events, || {
        let mut verifier = Verifier::new();
        journal.iter().all(|sealed| verifier.push_preimage(&sealed.preimage, &sealed.hash).is_ok())
    });

    let mut last = Head::GENESIS;
    let mut columns = Vec::new();
    for number in 1..=events {
        let entry = draft(number).seal(&last)?;
        last = entry.head();
        columns.push((entry.payload_text(), hex(&entry.prev_hash), hex(&entry.hash), entry));
    }
    measure("rows in columns", events, || {
        let mut verifier = Verifier::new();
        columns.iter().all(|(payload, prev_hash, hash, entry)| {
            let row = Row {
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
                payload,
                prev_hash,
                hash,
            };
            verifier.push(&row).is_ok()
        })
    });
    measure("sealing", events, || {
        let mut head = Head::GENESIS;
        (1..=events).all(|number| draft(number).seal(&head).map(|entry| head = entry.head()).is_ok())
    });
    Ok(())
}
