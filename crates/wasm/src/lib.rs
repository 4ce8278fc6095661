//! The rules for JavaScript: a wasm-bindgen face of `bailiwick-core` and, in the full build, `bailiwick-schema`.

use bailiwick_core::work;
use wasm_bindgen::prelude::*;

/// Whether a set of tool patterns allows a tool (`spec work-orders §2.3`).
#[wasm_bindgen(js_name = patternCovered)]
pub fn pattern_covered(pattern: &str, patterns: Vec<String>) -> bool {
    work::pattern_covered(pattern, patterns.iter().map(String::as_str))
}
