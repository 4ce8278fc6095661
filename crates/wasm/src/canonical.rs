//! The canonical form that others hash (RFC 8785).

use bailiwick_core::json::{Duplicates, Limits, write_jcs};
use wasm_bindgen::prelude::*;

use crate::boundary::read;

/// The canonical form of RFC 8785. Names that occur twice are refused; integers beyond 2^53 become the nearest double,
/// as that RFC says.
#[wasm_bindgen]
pub fn canonicalize(#[wasm_bindgen(unchecked_param_type = "unknown")] value: &JsValue) -> Result<String, JsValue> {
    Ok(write_jcs(&read(value, &Limits::DOCUMENT.with_duplicates(Duplicates::Refuse))?))
}
