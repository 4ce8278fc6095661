//! The blobs that an entry names.

use std::collections::HashMap;

use bailiwick_core::hash::{Hash, from_hex, hex};
use bailiwick_core::json::{Object, Value};

/// Blobs by the digest that names them.
pub(super) type Blobs = HashMap<String, Vec<u8>>;

/// Every `{"blob": digest}` in a payload, in order.
pub(super) fn named(payload: &Object) -> Vec<Hash> {
    let mut digests = Vec::new();
    for (_, value) in payload.iter() {
        collect(value, &mut digests);
    }
    digests
}

fn collect(value: &Value, digests: &mut Vec<Hash>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, digests)),
        Value::Object(object) => match object.str("blob").filter(|_| object.len() == 1).and_then(from_hex) {
            Some(digest) if digests.contains(&digest) => {}
            Some(digest) => digests.push(digest),
            None => object.iter().for_each(|(_, value)| collect(value, digests)),
        },
        _ => {}
    }
}

/// The name by which entries refer to a blob.
pub(super) fn name(digest: &Hash) -> String {
    hex(digest)
}
