//! Signatures, keys and tokens against public vectors: Wycheproof (ES256, Ed25519, JWS, JWK) and CCTV (Ed25519).
//!
//! Every case is judged, also those for algorithms that are not ours: they must be refused. Where our verdict is not
//! the suite's, the reason stands here, and a case that passes though it should not fails like one that should and does
//! not. The vectors lie in the folder that `BAILIWICK_VECTORS` names; without it these tests say so and pass.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use bailiwick_core::jose::{Compact, KeySet, PublicKey, base64url};
use bailiwick_core::json::{Limits, Object, Value, parse};
use bailiwick_core::time::Millis;

/// A file of vectors, or `None` if there is no folder of them.
fn vectors(file: &str) -> Option<Value> {
    let Some(folder) = std::env::var_os("BAILIWICK_VECTORS") else {
        println!("skipped: BAILIWICK_VECTORS does not name the folder with {file}");
        return None;
    };
    let text = std::fs::read(PathBuf::from(folder).join(file)).unwrap();
    Some(parse(&text, &Limits::STORED).unwrap())
}

/// Every test of a Wycheproof file, with its group.
fn tests(suite: &Value) -> Vec<(&Value, &Value)> {
    let groups = suite.get("testGroups").unwrap().as_array().unwrap();
    let tests: Vec<_> = groups
        .iter()
        .flat_map(|group| group.get("tests").unwrap().as_array().unwrap().iter().map(move |test| (group, test)))
        .collect();
    let promised = suite.get("numberOfTests").unwrap().as_number().unwrap().to_u64().unwrap();
    assert_eq!(u64::try_from(tests.len()).unwrap(), promised);
    tests
}

fn str_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("no {name} in {value:?}"))
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn ed25519(key: &[u8]) -> Value {
    Object::new().with("kty", "OKP").with("crv", "Ed25519").with("x", base64url::encode(key)).into()
}

#[test]
fn wycheproof_es256() {
    let Some(suite) = vectors("wycheproof/ecdsa_secp256r1_sha256_p1363_test.json") else { return };
    let (mut accepted, mut refused) = (0, 0);
    for (group, test) in tests(&suite) {
        let point = from_hex(str_of(group.get("publicKey").unwrap(), "uncompressed"));
        let (x, y) = (base64url::encode(&point[1..33]), base64url::encode(&point[33..]));
        let jwk = Object::new().with("kty", "EC").with("crv", "P-256").with("x", x).with("y", y);
        let key = PublicKey::parse(&jwk.into()).unwrap();
        let verdict = key.verifies(&from_hex(str_of(test, "msg")), &from_hex(str_of(test, "sig")));
        assert_eq!(verdict, str_of(test, "result") == "valid", "{test:?}");
        *(if verdict { &mut accepted } else { &mut refused }) += 1;
    }
    assert_eq!((accepted, refused), (173, 89));
}

#[test]
fn wycheproof_ed25519() {
    let Some(suite) = vectors("wycheproof/ed25519_test.json") else { return };
    let (mut accepted, mut refused) = (0, 0);
    for (group, test) in tests(&suite) {
        let key = from_hex(str_of(group.get("publicKey").unwrap(), "pk"));
        let key = PublicKey::parse(&ed25519(&key)).unwrap();
        let named = PublicKey::parse(group.get("publicKeyJwk").unwrap()).unwrap();
        assert_eq!(key.thumbprint(), named.thumbprint());
        let verdict = key.verifies(&from_hex(str_of(test, "msg")), &from_hex(str_of(test, "sig")));
        assert_eq!(verdict, str_of(test, "result") == "valid", "{test:?}");
        *(if verdict { &mut accepted } else { &mut refused }) += 1;
    }
    assert_eq!((accepted, refused), (88, 63));
}

/// What we decided for all 914: refused are keys and commitments (R) of small order or not spelled canonically, and
/// whatever holds only with the cofactor. A component of small order beside an honest one does no harm.
#[test]
fn cctv_ed25519() {
    const REFUSED: [&str; 5] =
        ["low_order_A", "low_order_R", "non_canonical_A", "non_canonical_R", "low_order_residue"];
    let Some(suite) = vectors("ed25519-cctv.json") else { return };
    let cases = suite.as_array().unwrap();
    let mut accepted = 0;
    for case in cases {
        let flags = case.get("flags").and_then(Value::as_array).unwrap_or_default();
        let expected = !flags.iter().any(|flag| REFUSED.contains(&flag.as_str().unwrap()));
        let verdict = PublicKey::parse(&ed25519(&from_hex(str_of(case, "key"))))
            .is_ok_and(|key| key.verifies(str_of(case, "msg").as_bytes(), &from_hex(str_of(case, "sig"))));
        assert_eq!(verdict, expected, "{case:?}");
        accepted += u32::from(verdict);
    }
    assert_eq!((cases.len(), accepted), (914, 43));
}

const NOT_OURS: &str = "only ES256 and Ed25519 are done here";

/// Why a token is refused that the suite calls valid: by the `alg` that its header names.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("HS256", NOT_OURS),
    ("HS384", NOT_OURS),
    ("HS512", NOT_OURS),
    ("RS256", NOT_OURS),
    ("RS384", NOT_OURS),
    ("RS512", NOT_OURS),
    ("PS256", NOT_OURS),
    ("PS384", NOT_OURS),
    ("PS512", NOT_OURS),
    ("ES512", NOT_OURS),
    ("unreadable", "a character that base64url does not have is refused, where the suite lets readers skip it"),
];

/// Whether a token is believed because of a key or a set.
fn believed(keys: &Value, token: &str) -> bool {
    KeySet::parse(keys)
        .is_ok_and(|keys| Compact::parse(token, 64 << 10).is_ok_and(|token| keys.verify(&token, Millis(0)).is_ok()))
}

/// Judges every token of a file. Gives how many were accepted, and how many refused against the suite, by algorithm.
fn judge(suite: &Value) -> (usize, BTreeMap<&'static str, usize>) {
    let (mut accepted, mut exceptions) = (0, BTreeMap::new());
    for (group, test) in tests(suite) {
        // What is encrypted is no token of ours: five parts.
        let Some(token) = test.get("jws").or(test.get("jwe")) else { panic!("{test:?}") };
        let Some(token) = token.as_str() else {
            assert_eq!(str_of(test, "result"), "invalid", "{test:?}");
            continue;
        };
        let keys = group.get("public").or(group.get("private")).unwrap();
        if test.get("jwe").is_some() {
            assert!(!believed(keys, token), "{test:?}");
            continue;
        }
        if believed(keys, token) {
            assert_eq!(str_of(test, "result"), "valid", "{test:?}");
            accepted += 1;
        } else if str_of(test, "result") == "valid" {
            let alg = Compact::parse(token, 64 << 10)
                .map_or("unreadable".into(), |token| token.header().str("alg").unwrap().to_owned());
            let exception = EXCEPTIONS.iter().find(|(name, _)| *name == alg);
            let (name, _reason) = exception.unwrap_or_else(|| panic!("refused without a reason: {test:?}"));
            *exceptions.entry(*name).or_default() += 1;
        }
    }
    (accepted, exceptions)
}

#[test]
fn wycheproof_jws() {
    let Some(suite) = vectors("wycheproof/json_web_signature_test.json") else { return };
    let (accepted, exceptions) = judge(&suite);
    // The two that ES256 has, one of them the malleable twin of a signature.
    assert_eq!(accepted, 2);
    let expected = [
        ("ES512", 2),
        ("HS256", 8),
        ("PS256", 6),
        ("PS384", 6),
        ("PS512", 4),
        ("RS256", 8),
        ("RS384", 4),
        ("RS512", 4),
        ("unreadable", 2),
    ];
    assert_eq!(exceptions, BTreeMap::from(expected));
}

#[test]
fn wycheproof_jwk() {
    let Some(suite) = vectors("wycheproof/json_web_key_test.json") else { return };
    let (accepted, exceptions) = judge(&suite);
    assert_eq!(accepted, 0);
    assert_eq!(exceptions, BTreeMap::from([("HS256", 2), ("HS384", 1), ("HS512", 1), ("RS256", 1)]));
}

#[test]
fn wycheproof_jwt_structure() {
    let Some(suite) = vectors("wycheproof/json_web_crypto_test.json") else { return };
    let (accepted, exceptions) = judge(&suite);
    assert_eq!(accepted, 1);
    assert_eq!(exceptions, BTreeMap::from([("HS256", 2), ("RS256", 1)]));
}

/// The keys that the suite damages one way each, without the token: each must be refused for its own fault.
#[test]
fn wycheproof_damaged_keys() {
    let Some(suite) = vectors("wycheproof/json_web_key_test.json") else { return };
    let mut codes = BTreeMap::new();
    for (group, _) in tests(&suite) {
        let Some(keys) = group.get("public").and_then(|public| public.get("keys")).and_then(Value::as_array) else {
            continue;
        };
        let [key] = keys else { continue };
        if key.get("crv").is_some() {
            codes.insert(str_of(group, "comment"), PublicKey::parse(key).unwrap_err().code());
        }
    }
    let expected = [
        ("wrong_algorithm", "UNSUPPORTED"),
        ("invalid_algorithm", "UNSUPPORTED"),
        ("invalid_use", "UNSUPPORTED"),
        ("invalid_point", "MALFORMED"),
        ("wrong_curve", "UNSUPPORTED"),
        ("wrong_kty", "UNSUPPORTED"),
    ];
    assert_eq!(codes, BTreeMap::from(expected));
}
