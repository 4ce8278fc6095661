//! Tools and the references between effects (`spec work-orders §2.3`, `§8.2`).

use bailiwick_core::json::{Limits, Object, Value};
use bailiwick_core::work::{self, Reference};
use wasm_bindgen::prelude::*;

use crate::boundary::{Answer, read, show, text};
use crate::fault::Fault;

/// Whether some pattern allows the tool of this name.
#[wasm_bindgen(js_name = toolAllowed)]
pub fn tool_allowed(
    #[wasm_bindgen(unchecked_param_type = "ToolName")] name: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly ToolPattern[]")] patterns: &JsValue,
) -> Result<bool, JsValue> {
    let (name, patterns) = (text(name, "name")?, read(patterns, &Limits::DOCUMENT)?);
    Ok(work::tool_allowed(&name, strings("patterns", &patterns)?))
}

/// Whether everything that `pattern` allows is allowed by `patterns`. Listing every tool of a server does not cover
/// the server's wildcard.
#[wasm_bindgen(js_name = patternCovered)]
pub fn pattern_covered(
    #[wasm_bindgen(unchecked_param_type = "ToolPattern")] pattern: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly ToolPattern[]")] patterns: &JsValue,
) -> Result<bool, JsValue> {
    let (pattern, patterns) = (text(pattern, "pattern")?, read(patterns, &Limits::DOCUMENT)?);
    Ok(work::pattern_covered(&pattern, strings("patterns", &patterns)?))
}

/// Every reference in an effect's arguments, in document order.
#[wasm_bindgen(js_name = effectReferences, unchecked_return_type = "EffectReference[]")]
pub fn effect_references(
    #[wasm_bindgen(js_name = value, unchecked_param_type = "unknown")] arguments: &JsValue,
) -> Answer {
    let arguments = read(arguments, &Limits::DOCUMENT)?;
    let references = work::effect_references(&arguments);
    let as_object = |reference: &Reference<'_>| {
        let object = Object::new().with("ref", reference.effect).with("pointer", reference.pointer);
        Value::from(object.with("path", reference.path()))
    };
    Ok(show(&references.iter().map(as_object).collect()))
}

/// The strings of an array of strings.
pub(crate) fn strings<'a>(name: &'static str, value: &'a Value) -> Result<Vec<&'a str>, Fault> {
    let strings = value.as_array().and_then(|items| items.iter().map(Value::as_str).collect());
    strings.ok_or(Fault::argument(name, "an array of strings"))
}
