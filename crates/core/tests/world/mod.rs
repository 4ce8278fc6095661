//! A desk in memory: runs commands, keeps their journal, and replays it.
// Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use bailiwick_core::hash::{from_hex, hex, sha256};
use bailiwick_core::heart::replay::{Replay, ReplayReport};
use bailiwick_core::heart::{self, BlobReader, Context, Fresh, Memory, Record, Step, capability};
use bailiwick_core::journal::export::blob_digest;
use bailiwick_core::journal::{Entry, Head};
use bailiwick_core::json::{Limits, Object, Value, parse};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work::{Command, NoEngine, Query};

pub struct World {
    pub memory: Memory,
    pub now: Millis,
    pub entries: Vec<Entry>,
    pub blobs: BTreeMap<String, ([u8; 16], Vec<u8>)>,
    steps: u64,
}

pub fn object(text: &str) -> Object {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap().as_object().unwrap().clone()
}

/// The order that most tests are about, from `m` to `w`.
pub const ORDER: &str = r#"{"id": "o", "to": "w", "goal": "G", "criteria": [{"id": "c", "text": "C"}], "budget": {"usd": 1, "tool_calls": 5}, "deadline": "2026-01-01T10:00:00Z", "tools": ["a/*"]}"#;
/// A good report on it.
pub const DONE: &str = r#"{"id": "o", "status": "done", "result": {"summary": "S"}, "evidence": [{"criterion": "c", "type": "note"}], "cost": {"usd": 0.5, "tool_calls": 2}, "tools_used": ["a/b"]}"#;
/// A question.
pub const BLOCKED: &str = r#"{"id": "o", "status": "blocked", "result": {"summary": ""}, "evidence": [], "cost": {"usd": 0.1, "tool_calls": 1}, "tools_used": [], "questions": ["Which?"]}"#;

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    pub fn new() -> Self {
        Self {
            memory: Memory::new(),
            now: time::instant("2026-01-01T09:00:00Z").unwrap(),
            entries: Vec::new(),
            blobs: BTreeMap::new(),
            steps: 0,
        }
    }

    pub fn at(&mut self, timestamp: &str) {
        self.now = time::instant(timestamp).unwrap();
    }

    pub fn step(&mut self, principal: &Principal, command: heart::Command) -> Step {
        self.steps += 1;
        let fresh = Fresh(sha256(&[&self.steps.to_be_bytes()]));
        let context = Context { now: self.now, principal, fresh, schemas: &NoEngine };
        let step = self.memory.run(&command, &context).unwrap();
        if !step.outcome.facts.is_empty() {
            let record = Record::of(command, &context, &step);
            let (draft, blobs) = record.write("desk", "epoch_1", sha256(&[b"salts", &self.steps.to_be_bytes()]));
            let head = self.entries.last().map_or(Head::GENESIS, Entry::head);
            self.entries.push(draft.seal(&head).unwrap());
            self.blobs.extend(blobs.into_iter().map(|blob| (hex(&blob.digest), (blob.salt, blob.bytes))));
        }
        step
    }

    /// Runs a command by a principal that merely claims its name.
    pub fn run(&mut self, actor: &str, name: &str, arguments: &str) -> Result<Value, (String, String)> {
        self.run_as(&Principal::claimed(actor), name, arguments)
    }

    pub fn run_as(&mut self, actor: &Principal, name: &str, arguments: &str) -> Result<Value, (String, String)> {
        let refused = |refusal: heart::Refusal| (refusal.code.to_string(), refusal.message);
        let command = Command::parse(name, object(arguments)).map_err(refused)?;
        self.step(actor, heart::Command::Work(command)).outcome.reply.map_err(refused)
    }

    /// The code of a refusal; panics when the answer is yes.
    pub fn refused(&mut self, actor: &str, name: &str, arguments: &str) -> String {
        match self.run(actor, name, arguments) {
            Ok(_) => panic!("{name} by {actor} was accepted: {arguments}"),
            Err((code, _)) => code,
        }
    }

    /// Runs commands that must succeed.
    pub fn all(&mut self, steps: &[(&str, &str, &str)]) {
        for (actor, name, arguments) in steps {
            if let Err(refusal) = self.run(actor, name, arguments) {
                panic!("{name} by {actor}: {refusal:?}");
            }
        }
    }

    pub fn ask(&self, name: &str, arguments: &str) -> Result<Value, (String, String)> {
        let principal = Principal::claimed("reader");
        let context = Context { now: self.now, principal: &principal, fresh: Fresh([0; 32]), schemas: &NoEngine };
        let refused = |refusal: heart::Refusal| (refusal.code.to_string(), refusal.message);
        let query = Query::parse(name, object(arguments)).map_err(refused)?;
        self.memory.ask(&heart::Query::Work(query), &context).unwrap().map_err(refused)
    }

    pub fn state(&self, id: &str) -> String {
        self.ask("get", &format!(r#"{{"id": "{id}"}}"#)).unwrap().get("state").unwrap().as_str().unwrap().into()
    }

    /// The names of an order's actions, in order.
    pub fn actions(&self, id: &str) -> Vec<String> {
        let view = self.ask("get", &format!(r#"{{"id": "{id}"}}"#)).unwrap();
        let events = view.get("events").unwrap().as_array().unwrap();
        events.iter().map(|event| event.get("action").unwrap().as_str().unwrap().into()).collect()
    }

    pub fn expire_due(&mut self) -> usize {
        let due = self.memory.due(&time::format(self.now));
        for key in &due {
            let command = capability::expire_due(key).unwrap();
            self.step(&Principal::desk(), command);
        }
        due.len()
    }

    pub fn replay(&self) -> (ReplayReport, Memory) {
        let find = |digest: &str| {
            let (salt, bytes) = self.blobs.get(digest)?;
            assert_eq!(Some(blob_digest(salt, bytes)), from_hex(digest));
            Some(bytes.clone())
        };
        let mut replay = Replay::new(&NoEngine);
        for entry in &self.entries {
            replay.push(entry, &BlobReader::new(&find));
        }
        replay.finish()
    }

    /// Checks that the journal gives the same documents, byte for byte, and every decision again.
    pub fn check_replay(&self) {
        let (report, memory) = self.replay();
        assert_eq!(report.first_difference, None);
        assert_eq!(report.decided, self.entries.len() as u64);
        assert_eq!((report.applied, report.erased), (0, 0));
        let (ours, theirs): (Vec<_>, Vec<_>) = (self.memory.documents().collect(), memory.documents().collect());
        assert_eq!(ours, theirs);
    }
}
