//! Delegation passes (`spec work-orders §13`). The full build alone has them: the arithmetic of their signatures is half as
//! large as all other rules together.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = r#"
/** What a verifier of passes expects. What is left out is not checked. */
export interface PassOptions {
  /** The verifier's clock; now if left out. */
  now?: Timestamp;
  /** How many seconds the issuer's clock may be off, 30 at most; 0 if left out. */
  leeway_seconds?: number;
  /** `iss` of every pass. */
  issuer?: string;
  /** `sub` of the last pass. */
  worker?: string;
  /** `order` of the last pass. */
  order?: string;
  /** Who is verifying, as `aud` would name it. */
  audience?: string;
  /** The most seconds from `iat` to `exp`. */
  most_lifetime_seconds?: number;
  /** The issuer's revocation lists, each the one that follows the one before. */
  revocations?: readonly string[];
}
/** The claims of a pass that counts. */
export interface PassClaims {
  readonly iss: string;
  readonly sub: string;
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly order: string;
  readonly parent?: string;
  readonly tools: readonly string[];
  readonly budget: Amounts;
  readonly deadline: Timestamp;
  readonly staged?: readonly string[];
  readonly [claim: string]: unknown;
}
/** Whether passes count. */
export type PassVerdict =
  | {
      readonly ok: true;
      /** Of each pass, the root first. */
      readonly claims: readonly PassClaims[];
      /** What identifies each: SHA-256 of what was signed, in base64url. */
      readonly ids: readonly string[];
      /** When the first of them ends. */
      readonly expires_at: Timestamp;
    }
  | {
      readonly ok: false;
      /** `MALFORMED`, `UNSUPPORTED`, `BAD_SIGNATURE`, `EXPIRED`, … */
      readonly code: string;
      /** Which pass, the root being 0. */
      readonly link: number;
      readonly message: string;
      /** With `WIDER_THAN_PARENT`: what is wider. */
      readonly findings: readonly Finding[];
    };
/**
 * Verifies passes as a chain, the root first; one pass is a chain of one. A pass that does not count is an answer, not an
 * error. `keys` is a JWK or a JWK set. The full build alone can; the small one throws `not_in_this_build`.
 */
export declare function verifyPasses(passes: readonly string[], keys: Document, options?: PassOptions): PassVerdict;
/**
 * Runs a conformance vector of passes, and says what came out, whatever the vector expects. The full build alone can; the
 * small one throws `not_in_this_build`.
 */
export declare function runPassVector(vector: Document): Record<string, unknown>;
"#;

/// What the full build has.
#[cfg(feature = "full")]
pub mod full {
    use bailiwick_core::jose::{KeySet, base64url};
    use bailiwick_core::json::{Limits, Object, Value};
    use bailiwick_core::time::{self, Millis};
    use bailiwick_core::work::pass::{Check, Refusal, RevocationList, vectors, verify_chain};
    use wasm_bindgen::prelude::*;

    use crate::boundary::{Answer, Options, read, show};
    use crate::fault::Fault;

    const OPTIONS: [&str; 8] =
        ["now", "leeway_seconds", "issuer", "worker", "order", "audience", "most_lifetime_seconds", "revocations"];

    /// See `verifyPasses` above.
    #[wasm_bindgen(js_name = verifyPasses, skip_typescript)]
    pub fn verify_passes(passes: &JsValue, keys: &JsValue, options: &JsValue) -> Answer {
        let passes = read(passes, &Limits::DOCUMENT)?;
        let tokens: Option<Vec<&str>> = passes.as_array().and_then(|items| items.iter().map(Value::as_str).collect());
        let tokens = tokens.ok_or(Fault::argument("passes", "an array of passes, the root first"))?;
        let keys = read(keys, &Limits::DOCUMENT)?;
        let options = Options::read(options, &OPTIONS)?;
        let judged = judge(&tokens, &keys, &options)?;
        Ok(show(&judged.unwrap_or_else(|refusal| refusal.to_object().with("ok", false).into())))
    }

    fn judge(tokens: &[&str], keys: &Value, options: &Options) -> Result<Result<Value, Refusal>, Fault> {
        let now = now(options)?;
        let keys = match KeySet::parse(keys) {
            Ok(keys) => keys,
            Err(fault) => return Ok(Err(fault.into())),
        };
        let mut lists: Vec<RevocationList> = Vec::new();
        for token in revocations(options)? {
            match RevocationList::verify(token, &keys, now, lists.last()) {
                Ok(list) => lists.push(list),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        let check = Check {
            leeway_seconds: seconds(options, "leeway_seconds")?
                .and_then(|seconds| u32::try_from(seconds).ok())
                .unwrap_or_default(),
            issuer: name(options, "issuer")?,
            worker: name(options, "worker")?,
            order: name(options, "order")?,
            audience: name(options, "audience")?,
            most_lifetime_seconds: seconds(options, "most_lifetime_seconds")?,
            revocations: lists.last().map(std::slice::from_ref).unwrap_or_default(),
            ..Check::at(now)
        };
        Ok(verify_chain(tokens, &keys, &check).map(|passes| {
            let ends = passes.last().map(|pass| time::format(pass.expires_at()));
            Object::new()
                .with("ok", true)
                .with("claims", passes.iter().map(|pass| pass.claims().clone()).collect::<Value>())
                .with("ids", passes.iter().map(|pass| Value::from(base64url::encode(&pass.id()))).collect::<Value>())
                .with_some("expires_at", ends)
                .into()
        }))
    }

    fn now(options: &Options) -> Result<Millis, Fault> {
        match options.get("now") {
            None => {
                // JavaScript's clock counts whole milliseconds and stays far within 64 bits.
                #[allow(clippy::cast_possible_truncation)]
                let now = js_sys::Date::now() as i64;
                Ok(Millis(now))
            }
            Some(now) => now
                .as_str()
                .and_then(time::instant)
                .ok_or(Fault::argument("now", "a timestamp like `2026-01-01T09:00:00Z`")),
        }
    }

    fn name<'a>(options: &'a Options, name: &'static str) -> Result<Option<&'a str>, Fault> {
        match options.get(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or(Fault::argument(name, "a string")),
        }
    }

    fn seconds(options: &Options, name: &'static str) -> Result<Option<u64>, Fault> {
        options.whole(name)
    }

    fn revocations(options: &Options) -> Result<Vec<&str>, Fault> {
        let Some(lists) = options.get("revocations") else { return Ok(Vec::new()) };
        let lists: Option<Vec<&str>> = lists.as_array().and_then(|lists| lists.iter().map(Value::as_str).collect());
        lists.ok_or(Fault::argument("revocations", "an array of revocation lists"))
    }

    /// See `runPassVector` above.
    #[wasm_bindgen(js_name = runPassVector, skip_typescript)]
    pub fn run_pass_vector(vector: &JsValue) -> Answer {
        let vector = read(vector, &Limits::DOCUMENT)?;
        match vectors::run_vector(&vector) {
            Ok(judgement) => Ok(show(&judgement.said.into())),
            Err(_) => Err(Fault::argument("vector", "a vector of passes").into()),
        }
    }
}
