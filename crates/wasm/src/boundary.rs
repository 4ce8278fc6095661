//! Where values cross: JavaScript's in, ours out, and errors as a real class.
//!
//! Values travel as JSON text. One copy of one string is faster than a call for every member, and it leaves the
//! decisions about depth, size and repeated names where they are for everybody else: in `core`'s reader. The small
//! part that only JavaScript can do stands in `pkg/src/boundary.js`.

use bailiwick_core::json::{Duplicates, Limits, Number, Object, ReadError, Value, parse, write_compact};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::fault::Fault;

// Named as it will lie beside the glue code, so that both builds and every entry share one class of errors each.
#[wasm_bindgen(raw_module = "./boundary.js")]
extern "C" {
    #[wasm_bindgen(js_name = writeValue, catch)]
    fn write_value(value: &JsValue, most_bytes: usize, most_depth: usize) -> Result<String, JsValue>;

    #[wasm_bindgen(js_name = plainText, catch)]
    fn plain_text(value: &JsValue, name: &str) -> Result<String, JsValue>;

    #[wasm_bindgen(js_name = readText)]
    fn read_text(text: &str) -> JsValue;

    #[wasm_bindgen(js_name = makeError)]
    fn make_error(code: &str, message: &str, place: &JsValue) -> JsValue;
}

/// An error or a value, as JavaScript gets it.
pub(crate) type Answer = Result<JsValue, JsValue>;

/// A value for JavaScript.
pub(crate) fn show(value: &Value) -> JsValue {
    read_text(&write_compact(value))
}

/// Reads a document: JSON text, its UTF-8 bytes, or a value that stands for itself.
pub(crate) fn read(input: &JsValue, limits: &Limits) -> Result<Value, JsValue> {
    if let Some(bytes) = input.dyn_ref::<Uint8Array>() {
        let length = usize::try_from(bytes.length()).unwrap_or(usize::MAX);
        if length > limits.bytes {
            return Err(Fault::TooLong { bytes: length, limit: limits.bytes }.into());
        }
        return parse(&bytes.to_vec(), limits).map_err(|error| Fault::Read { place: Some(error.offset), error }.into());
    }
    let text = write_value(input, limits.bytes, limits.depth)?;
    parse(text.as_bytes(), limits).map_err(|error| {
        let place = input.is_string().then(|| utf16_offset(&text, &error));
        Fault::Read { place, error }.into()
    })
}

/// A string argument that is a name, not a document.
pub(crate) fn text(input: &JsValue, name: &str) -> Result<String, JsValue> {
    plain_text(input, name)
}

/// The limits for a document, with the caller's wish about names that occur twice.
pub(crate) fn limits(options: &JsValue) -> Result<Limits, JsValue> {
    let options = Options::read(options, &["duplicates"])?;
    match options.get("duplicates").and_then(Value::as_str) {
        None if options.get("duplicates").is_none() => Ok(Limits::DOCUMENT),
        Some("last_wins") => Ok(Limits::DOCUMENT),
        Some("refuse") => Ok(Limits::DOCUMENT.with_duplicates(Duplicates::Refuse)),
        _ => Err(Fault::argument("duplicates", "`refuse` or `last_wins`").into()),
    }
}

/// Options of a call: an object whose members are all known.
pub(crate) struct Options(Object);

impl Options {
    /// Reads options; `undefined` is none.
    pub(crate) fn read(input: &JsValue, known: &[&str]) -> Result<Self, JsValue> {
        if input.is_undefined() {
            return Ok(Self(Object::new()));
        }
        let Value::Object(object) = read(input, &Limits::DOCUMENT)? else {
            return Err(Fault::argument("options", "an object").into());
        };
        if let Some((name, _)) = object.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(Fault::UnknownOption { name: name.clone(), known: known.join("`, `") }.into());
        }
        Ok(Self(object))
    }

    /// A member.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A member that is a whole number, if it is there.
    pub(crate) fn whole(&self, name: &'static str) -> Result<Option<u64>, Fault> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_number().copied().and_then(Number::to_u64);
        number.map(Some).ok_or(Fault::Argument { name, expected: "a whole number of at least 0" })
    }
}

impl From<Fault> for JsValue {
    fn from(fault: Fault) -> Self {
        let place = fault.place();
        let place = if place.is_empty() { JsValue::UNDEFINED } else { show(&place.into()) };
        make_error(fault.code(), &fault.to_string(), &place)
    }
}

/// Where in a JavaScript string an error stands: strings there are counted in UTF-16 code units.
fn utf16_offset(text: &str, error: &ReadError) -> usize {
    text.get(..error.offset).map_or(error.offset, |before| before.encode_utf16().count())
}
