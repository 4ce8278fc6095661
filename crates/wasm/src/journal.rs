//! Verifying journals (`spec coordination §5.7`).

use bailiwick_core::journal::export::{DOCUMENT_BYTES, ExportedBlob};
use bailiwick_core::journal::{ExportVerifier, Listener, Row};
use bailiwick_core::json::Value;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::boundary::{Answer, Options, show};
use crate::decide::Decider;
use crate::fault::Fault;

/// How much is copied into our memory at a time.
const PIECE_BYTES: u32 = 256 << 10;

const OPTIONS: &[&str] = &["workspace_id", "up_to", "decisions"];

/// Verifies one journal export that arrives in chunks. `pkg/src/journal.js` has the class that people use.
#[wasm_bindgen(skip_typescript)]
pub struct Verifier {
    /// `None` once it has reported
    export: Option<ExportVerifier>,
    heard: Heard,
    bytes: f64,
    piece: Vec<u8>,
}

/// Hears of what goes by in order: counts it, and has it decided again if that is wanted.
#[derive(Default)]
struct Heard {
    entries: u32,
    decider: Option<Decider>,
}

impl Listener for Heard {
    fn blob(&mut self, blob: &ExportedBlob<'_>) {
        if let Some(decider) = &mut self.decider {
            decider.blob(blob);
        }
    }

    fn entry(&mut self, text: &[u8]) {
        self.entries = self.entries.saturating_add(1);
        if let Some(decider) = &mut self.decider {
            decider.entry(text);
        }
    }

    fn row(&mut self, _: &Row<'_>) {
        self.entries = self.entries.saturating_add(1);
    }
}

#[wasm_bindgen]
impl Verifier {
    /// A verifier; `options` may name the `workspace_id` that it must be, the sequence `up_to` which to verify, and
    /// ask for `decisions` to be made `again`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue) -> Result<Self, JsValue> {
        let options = Options::read(options, OPTIONS)?;
        let mut export = ExportVerifier::new(DOCUMENT_BYTES).with_root();
        match options.get("workspace_id") {
            None => {}
            Some(Value::String(workspace)) => export = export.for_workspace(workspace),
            Some(_) => return Err(Fault::argument("workspace_id", "a string").into()),
        }
        if let Some(sequence) = options.whole("up_to")? {
            export = export.up_to(sequence);
        }
        let decider = match options.get("decisions") {
            None => None,
            Some(Value::String(again)) if again == "again" => Some(Decider::new()?),
            Some(_) => return Err(Fault::argument("decisions", "`again`").into()),
        };
        Ok(Self { export: Some(export), heard: Heard { entries: 0, decider }, bytes: 0.0, piece: Vec::new() })
    }

    /// Takes the next bytes, however many.
    pub fn push(&mut self, chunk: &Uint8Array) -> Result<(), JsValue> {
        let Some(export) = &mut self.export else { return Err(Fault::Finished.into()) };
        let length = chunk.length();
        let mut begin = 0;
        while begin < length {
            let end = begin.saturating_add(PIECE_BYTES).min(length);
            self.piece.resize(usize::try_from(end.saturating_sub(begin)).unwrap_or_default(), 0);
            chunk.subarray(begin, end).copy_to(&mut self.piece);
            export.push_to(&self.piece, &mut self.heard);
            begin = end;
        }
        self.bytes += f64::from(length);
        Ok(())
    }

    /// Reports, once everything has arrived.
    pub fn finish(&mut self) -> Answer {
        let export = self.export.take().ok_or(Fault::Finished)?;
        self.piece = Vec::new();
        let report = export.finish_to(&mut self.heard).map_err(Fault::Export)?;
        let mut answer = report.to_value();
        if let (Some(decider), Value::Object(members)) = (self.heard.decider.take(), &mut answer) {
            if report.journal.is_none() {
                return Err(Fault::DecisionsAbsent.into());
            }
            decider.report_to(members);
        }
        Ok(show(&answer))
    }

    /// Entries in order so far. A document is looked at only when all of it is there.
    #[wasm_bindgen(getter)]
    pub fn entries(&self) -> u32 {
        self.heard.entries
    }

    /// Bytes so far.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> f64 {
        self.bytes
    }
}
