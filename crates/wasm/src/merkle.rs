//! Merkle trees over journals (`tamper-evidence §5`). Hashes are 64 lower-case hexadecimal digits.

use bailiwick_core::hash::{Hash, from_hex, hex};
use bailiwick_core::journal::merkle;
use bailiwick_core::json::{Limits, Number, Value};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::boundary::{Answer, read, show};
use crate::fault::Fault;
use crate::validate::object;

const A_HASH: &str = "64 lower-case hexadecimal digits";
const HASHES: &str = "an array of hashes, each 64 lower-case hexadecimal digits";
const A_NUMBER: &str = "a whole number of at least 0";

/// The hash of a leaf: for a journal's entry, of the bytes that `journalPreimage` gives.
#[wasm_bindgen(js_name = leafHash)]
pub fn leaf_hash(#[wasm_bindgen(unchecked_param_type = "Uint8Array")] data: &JsValue) -> Result<String, JsValue> {
    let data = data.dyn_ref::<Uint8Array>().ok_or(Fault::argument("data", "a Uint8Array"))?;
    if data.length() > LONGEST_LEAF_BYTES {
        return Err(Fault::argument("data", "at most 64 MiB").into());
    }
    Ok(hex(&merkle::leaf_hash(&data.to_vec())))
}

const LONGEST_LEAF_BYTES: u32 = 64 << 20;

/// The root over the hashes of leaves.
#[wasm_bindgen(js_name = merkleRoot)]
pub fn merkle_root(
    #[wasm_bindgen(unchecked_param_type = "readonly Hash[]")] leaves: &JsValue,
) -> Result<String, JsValue> {
    Ok(hex(&merkle::root(&hashes("leaves", Some(&read(leaves, &LEAVES)?))?)))
}

/// The path from the leaf at `index` (from 0) to the root, over the hashes of all leaves.
#[wasm_bindgen(js_name = proveInclusion, unchecked_return_type = "Hash[]")]
pub fn prove_inclusion(
    #[wasm_bindgen(unchecked_param_type = "readonly Hash[]")] leaves: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "number")] index: &JsValue,
) -> Answer {
    let leaves = hashes("leaves", Some(&read(leaves, &LEAVES)?))?;
    let index = whole("index", Some(&read(index, &LEAVES)?))?;
    let path = merkle::prove_inclusion(&leaves, index).ok_or(Fault::argument("index", "the index of a leaf"))?;
    Ok(show(&written(&path)))
}

/// The path that proves that the tree over all leaves has grown out of the one over the first `oldSize`.
#[wasm_bindgen(js_name = proveConsistency, unchecked_return_type = "Hash[]")]
pub fn prove_consistency(
    #[wasm_bindgen(unchecked_param_type = "readonly Hash[]")] leaves: &JsValue,
    #[wasm_bindgen(js_name = oldSize, unchecked_param_type = "number")] old_size: &JsValue,
) -> Answer {
    let leaves = hashes("leaves", Some(&read(leaves, &LEAVES)?))?;
    let old_size = whole("oldSize", Some(&read(old_size, &LEAVES)?))?;
    let path = merkle::prove_consistency(&leaves, old_size);
    Ok(show(&written(&path.ok_or(Fault::argument("oldSize", "at least 1, and no more than there are leaves"))?)))
}

/// Checks that a leaf is in a tree (`RFC 9162 §2.1.3.2`). Returns when it is, and throws when the proof does not hold.
#[wasm_bindgen(js_name = verifyInclusion)]
pub fn verify_inclusion(
    #[wasm_bindgen(unchecked_param_type = "InclusionProof")] proof: &JsValue,
) -> Result<(), JsValue> {
    let proof = object("proof", read(proof, &Limits::DOCUMENT)?)?;
    let (leaf, root) = (hash("leaf", proof.get("leaf"))?, hash("root", proof.get("root"))?);
    let (index, size) = (whole("index", proof.get("index"))?, whole("size", proof.get("size"))?);
    let path = hashes("path", proof.get("path"))?;
    Ok(merkle::verify_inclusion(index, size, &leaf, &path, &root).map_err(Fault::Proof)?)
}

/// Checks that a tree has grown out of an older one (`RFC 9162 §2.1.4.2`). Returns when it has, and throws when the
/// proof does not hold.
#[wasm_bindgen(js_name = verifyConsistency)]
pub fn verify_consistency(
    #[wasm_bindgen(unchecked_param_type = "ConsistencyProof")] proof: &JsValue,
) -> Result<(), JsValue> {
    let proof = object("proof", read(proof, &Limits::DOCUMENT)?)?;
    let (old_root, new_root) = (hash("old_root", proof.get("old_root"))?, hash("new_root", proof.get("new_root"))?);
    let (old, new) = (whole("old_size", proof.get("old_size"))?, whole("new_size", proof.get("new_size"))?);
    let path = hashes("path", proof.get("path"))?;
    Ok(merkle::verify_consistency(old, new, &old_root, &new_root, &path).map_err(Fault::Proof)?)
}

/// For lists of leaves: as long as what we store may be.
const LEAVES: Limits = Limits::STORED;

fn hash(name: &'static str, value: Option<&Value>) -> Result<Hash, Fault> {
    value.and_then(Value::as_str).and_then(from_hex).ok_or(Fault::argument(name, A_HASH))
}

fn hashes(name: &'static str, value: Option<&Value>) -> Result<Vec<Hash>, Fault> {
    let items = value.and_then(Value::as_array).ok_or(Fault::argument(name, HASHES))?;
    let hashes = items.iter().map(|item| from_hex(item.as_str()?)).collect::<Option<_>>();
    hashes.ok_or(Fault::argument(name, HASHES))
}

fn whole(name: &'static str, value: Option<&Value>) -> Result<u64, Fault> {
    value.and_then(Value::as_number).copied().and_then(Number::to_u64).ok_or(Fault::argument(name, A_NUMBER))
}

fn written(hashes: &[Hash]) -> Value {
    hashes.iter().map(|hash| Value::from(hex(hash))).collect()
}
