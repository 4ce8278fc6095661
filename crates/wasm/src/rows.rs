//! Entries of public journals, in columns (`spec coordination §5`).

use bailiwick_core::hash::{hex, sha256};
use bailiwick_core::journal::{Page, Row, StoredHead};
use bailiwick_core::json::{Limits, Number, Value};
use wasm_bindgen::prelude::*;

use crate::boundary::{Answer, read, show};
use crate::fault::Fault;

/// The text that the hash of a public journal's entry covers.
#[wasm_bindgen(js_name = journalPreimage)]
pub fn journal_preimage(
    #[wasm_bindgen(unchecked_param_type = "JournalRow | Document")] row: &JsValue,
) -> Result<String, JsValue> {
    let row = read(row, &Limits::JOURNAL)?;
    // INVARIANT: a preimage is UTF-8, so nothing is ever replaced.
    Ok(String::from_utf8_lossy(&preimage(&parse_row(&row)?)?).into_owned())
}

/// The hash that a public journal's entry should have.
#[wasm_bindgen(js_name = journalHash, unchecked_return_type = "Hash")]
pub fn journal_hash(
    #[wasm_bindgen(unchecked_param_type = "JournalRow | Document")] row: &JsValue,
) -> Result<String, JsValue> {
    let row = read(row, &Limits::JOURNAL)?;
    Ok(hex(&sha256(&[&preimage(&parse_row(&row)?)?])))
}

/// A page of a public journal, and whether its entries hang together (`chain_valid`).
#[wasm_bindgen(js_name = verifyPage, unchecked_return_type = "VerifiedPage")]
pub fn verify_page(#[wasm_bindgen(unchecked_param_type = "JournalPage | Document")] page: &JsValue) -> Answer {
    let page = read(page, &Limits::STORED)?;
    let text = |name: &'static str| page.get(name).and_then(Value::as_str).ok_or(Fault::argument(name, "a string"));
    let rows = page.get("rows").and_then(Value::as_array).and_then(|rows| rows.iter().map(Row::from_columns).collect());
    let rows: Vec<Row<'_>> = rows.ok_or(Fault::argument("rows", "an array of rows, each with its columns"))?;
    let predecessor = page.get("predecessor").map(parse_row).transpose()?;
    let after = page.get("after_sequence").map_or(Some(0), whole).ok_or(Fault::argument("after_sequence", A_NUMBER))?;
    let sequence = page.get("head_sequence").and_then(whole).ok_or(Fault::argument("head_sequence", A_NUMBER))?;
    let head = StoredHead { sequence, hash: text("head_hash")? };
    let page = Page::new(text("epoch_id")?, after, predecessor.as_ref(), &rows, head).map_err(Fault::Page)?;
    Ok(show(&page.to_value()))
}

const A_NUMBER: &str = "a whole number of at least 0";

fn preimage(row: &Row<'_>) -> Result<Vec<u8>, Fault> {
    let mut preimage = Vec::new();
    row.write_preimage(&mut preimage).map_err(|error| Fault::Read { place: None, error })?;
    Ok(preimage)
}

fn parse_row(row: &Value) -> Result<Row<'_>, Fault> {
    Row::from_columns(row).ok_or(Fault::argument("row", "an object with the columns of an entry"))
}

fn whole(value: &Value) -> Option<u64> {
    value.as_number().copied().and_then(Number::to_u64)
}
