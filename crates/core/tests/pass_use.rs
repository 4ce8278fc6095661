//! Passes as desks, gateways and holders use them: issuing, keys, chains step by step, proofs, revocation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use bailiwick_core::jose::{Algorithm, Compact, Fault, KeySet, PublicKey, SigningKey, base64url};
use bailiwick_core::json::{Limits, Object, Value, parse, write_compact};
use bailiwick_core::time::{Millis, instant};
use bailiwick_core::work::pass::{
    Call, Check, Code, DEFAULT_TTL_SECONDS, IssueError, MOST_LINKS, Pass, ProofCheck, RecentProofs, Refusal, Replays,
    RevocationList, Revocations, Terms, check_holder, identity, issue, prove, revoke, verify, verify_chain,
};

const ISSUER: &str = "https://desk.example";

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
}

fn at(text: &str) -> Millis {
    instant(text).unwrap()
}

fn now() -> Millis {
    at("2026-03-02T08:00:00.750Z")
}

fn key(algorithm: Algorithm, seed: u8) -> SigningKey {
    SigningKey::from_secret(algorithm, &[seed; 32]).unwrap()
}

fn keys(key: &SigningKey) -> KeySet {
    KeySet::of(key.public().clone())
}

fn order(number: usize) -> Value {
    let parent = number.checked_sub(1).map_or(String::new(), |parent| format!(r#", "parent_id": "wo_{parent}""#));
    json(&format!(
        r#"{{"spec": "awl/work-order@0.4", "id": "wo_{number}", "created_at": "2026-03-02T08:00:00Z", "from": "human:ada", "to": "agent:clerk",
            "goal": "File it", "criteria": [{{"id": "c", "text": "C"}}], "budget": {{"usd": 0.3, "tool_calls": 6}},
            "deadline": "2026-03-02T10:00:00.999Z", "tools": ["status/*", "mail/send"]{parent}}}"#
    ))
}

fn terms(jti: &str) -> Terms<'_> {
    Terms { issuer: ISSUER, jti, now: now(), ttl_seconds: DEFAULT_TTL_SECONDS, audiences: &[], holder: None }
}

fn issued(number: usize, key: &SigningKey) -> String {
    issue(&order(number), &terms(&format!("p-{number}")), key).unwrap().token
}

#[test]
fn a_pass_says_what_its_order_says() {
    for algorithm in [Algorithm::Es256, Algorithm::Ed25519] {
        let key = key(algorithm, 7);
        let mut order = order(1);
        if let Value::Object(order) = &mut order {
            order.insert("staged", json(r#"["mail/send"]"#));
        }
        let issued = issue(&order, &terms("p-1"), &key).unwrap();
        assert_eq!(issued.expires_at, at("2026-03-02T08:15:00Z"));
        let pass = verify(&issued.token, &keys(&key), &Check::at(now()), None).unwrap();
        let expected = format!(
            r#"{{"iss":"{ISSUER}","sub":"agent:clerk","jti":"p-1","iat":1772438400,"nbf":1772438400,"exp":1772439300,"order":"wo_1","parent":"wo_0","tools":["status/*","mail/send"],"budget":{{"usd":0.3,"tool_calls":6}},"deadline":"2026-03-02T10:00:00.999Z","staged":["mail/send"]}}"#
        );
        assert_eq!(write_compact(pass.claims()), expected);
        let token = Compact::parse(&issued.token, 4096).unwrap();
        let header = token.header();
        assert_eq!(header.str("alg"), Some(algorithm.as_str()));
        assert_eq!(header.str("typ"), Some("awl-pass+jwt"));
        assert_eq!(header.str("kid"), key.public().kid());
        assert_eq!(header.len(), 3);
        assert_eq!((pass.issuer(), pass.worker(), pass.jti()), (ISSUER, "agent:clerk", "p-1"));
        assert_eq!((pass.order(), pass.parent(), pass.link()), ("wo_1", Some("wo_0"), 0));
        assert_eq!((pass.deadline(), pass.expires_at()), (at("2026-03-02T10:00:00.999Z"), issued.expires_at));
        assert_eq!(identity(&issued.token), Some(pass.id()));
        assert!(pass.allows("mail/send") && pass.stages("mail/send") && !pass.stages("status/a"));
    }
}

#[test]
fn the_same_terms_give_the_same_token() {
    for algorithm in [Algorithm::Es256, Algorithm::Ed25519] {
        assert_eq!(issued(0, &key(algorithm, 7)), issued(0, &key(algorithm, 7)));
        assert_ne!(issued(0, &key(algorithm, 7)), issued(0, &key(algorithm, 8)));
    }
}

#[test]
fn a_pass_ends_with_its_lifetime_or_its_deadline() {
    let key = key(Algorithm::Ed25519, 7);
    let ends = |ttl_seconds, now| issue(&order(0), &Terms { ttl_seconds, now, ..terms("p") }, &key);
    assert_eq!(ends(1, now()).unwrap().expires_at, at("2026-03-02T08:00:01Z"));
    assert_eq!(ends(u64::MAX, now()).unwrap().expires_at, at("2026-03-02T10:00:00Z"));
    assert_eq!(ends(900, at("2026-03-02T09:59:59.999Z")).unwrap().expires_at, at("2026-03-02T10:00:00Z"));
    assert_eq!(ends(0, now()), Err(IssueError::NoLifetime));
    let jwk = key.to_private_jwk().with("not_after", "2026-03-02T08:05:00.900Z");
    let key = SigningKey::parse(&jwk.into()).unwrap();
    assert_eq!(issue(&order(0), &terms("p"), &key).unwrap().expires_at, at("2026-03-02T08:05:00Z"));
    let out = issue(&order(0), &Terms { now: at("2026-03-02T08:05:00Z"), ..terms("p") }, &key);
    assert_eq!(out, Err(IssueError::KeyOutOfUse(at("2026-03-02T08:05:00.900Z"))));
    let late = ends(900, at("2026-03-02T10:00:00.500Z"));
    assert_eq!(late, Err(IssueError::DeadlinePassed(at("2026-03-02T10:00:00.999Z"))));
}

#[test]
fn nothing_is_issued_that_would_not_verify() {
    let key = key(Algorithm::Ed25519, 7);
    let with = |name: &str, value: Value| {
        let mut order = order(0);
        if let Value::Object(order) = &mut order {
            order.insert(name, value);
        }
        issue(&order, &terms("p"), &key).map(|issued| issued.token.len()).unwrap_err()
    };
    assert_eq!(with("deadline", "2026-12-31T23:59:60Z".into()).code(), "MALFORMED");
    assert_eq!(with("tools", json(r#"["**"]"#)).code(), "MALFORMED");
    assert_eq!(with("budget", json("{}")).code(), "MALFORMED");
    let many: Value = (0..6000).map(|n| Value::from(format!("server/tool{n}"))).collect();
    assert!(matches!(with("tools", many), IssueError::TooLong { bytes } if bytes > 64 << 10));
    let unnamed = issue(&order(0), &Terms { issuer: "", ..terms("p") }, &key).unwrap_err();
    assert_eq!(unnamed.to_string(), "claim /iss: an empty string where a string that is not empty is needed");
}

#[test]
fn keys_read_what_they_write() {
    for algorithm in [Algorithm::Es256, Algorithm::Ed25519] {
        let key = key(algorithm, 9);
        let private = Value::from(key.to_private_jwk());
        let again = SigningKey::parse(&private).unwrap();
        assert_eq!(Value::from(again.to_private_jwk()), private);
        assert_eq!(issued(0, &again), issued(0, &key));
        let public = Value::from(key.public().to_jwk());
        assert_eq!(PublicKey::parse(&public).unwrap(), *key.public());
        assert!(public.get("d").is_none());
        let shown = format!("{key:?} {:?}", key.public());
        assert!(!shown.contains(private.get("d").unwrap().as_str().unwrap()), "{shown}");
        let refused = PublicKey::parse(&private).unwrap_err();
        assert_eq!(refused.code(), "UNSUPPORTED");
        assert_eq!(SigningKey::parse(&public).unwrap_err().code(), "UNSUPPORTED");

        let other = SigningKey::from_secret(algorithm, &[10; 32]).unwrap().to_private_jwk();
        let mixed = key.to_private_jwk().with("d", other.get("d").unwrap().clone());
        assert!(matches!(SigningKey::parse(&mixed.into()), Err(Fault::Malformed(_))));
    }
    assert!(SigningKey::from_secret(Algorithm::Es256, &[0; 32]).is_err());
    assert!(SigningKey::from_secret(Algorithm::Es256, &[0xFF; 32]).is_err());
}

#[test]
fn a_key_says_how_it_calls_its_algorithm() {
    let jwk = key(Algorithm::Ed25519, 9).to_private_jwk().with("alg", "Ed25519");
    let key = SigningKey::parse(&jwk.into()).unwrap();
    let token = issued(0, &key);
    assert_eq!(Compact::parse(&token, 4096).unwrap().header().str("alg"), Some("Ed25519"));
    verify(&token, &keys(&key), &Check::at(now()), None).unwrap();
}

#[test]
fn a_set_reads_what_it_writes_and_rotates() {
    let (old, new) = (key(Algorithm::Es256, 1), key(Algorithm::Ed25519, 2));
    let (turn, end) = (at("2026-03-02T08:00:00Z"), at("2026-03-02T08:15:00Z"));
    let published: Value = [
        Value::from(old.public().clone().between(None, Some(end)).to_jwk()),
        Value::from(new.public().clone().between(Some(turn), None).to_jwk()),
    ]
    .into_iter()
    .collect();
    let set = KeySet::parse(&Object::new().with("keys", published).into()).unwrap();
    assert_eq!(KeySet::parse(&set.to_value()).unwrap().to_value(), set.to_value());
    let (by_old, by_new) = (issued(0, &old), issued(0, &new));
    let is_good = |token: &str, now| {
        let token = Compact::parse(token, 4096).unwrap();
        set.verify(&token, now).is_ok()
    };
    let before = |instant: Millis| instant.checked_add_millis(-1).unwrap();
    for (now, old_counts, new_counts) in
        [(before(turn), true, false), (turn, true, true), (before(end), true, true), (end, false, true)]
    {
        assert_eq!((is_good(&by_old, now), is_good(&by_new, now)), (old_counts, new_counts), "{now}");
    }
}

#[test]
fn examples_of_the_standards_verify() {
    let ed25519 = json(r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#);
    let key = PublicKey::parse(&ed25519).unwrap();
    // RFC 8037, appendix A.3 and A.4
    assert_eq!(base64url::encode(&key.thumbprint()), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    KeySet::of(key).verify(&Compact::parse(token, 4096).unwrap(), now()).unwrap();
    // RFC 7515, appendix A.3
    let es256 = json(
        r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
    );
    let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    KeySet::parse(&es256).unwrap().verify(&Compact::parse(token, 4096).unwrap(), now()).unwrap();
}

#[test]
fn no_other_spelling_of_a_pass_verifies() {
    for algorithm in [Algorithm::Es256, Algorithm::Ed25519] {
        let key = key(algorithm, 7);
        let (token, keys) = (issued(0, &key), keys(&key));
        // Each place with three other characters, one of them no digit; debug builds verify slowly, so every fifth.
        for at in (0..token.len()).step_by(5) {
            for other in ["A", "_", "="] {
                let mut changed = token.clone();
                changed.replace_range(at..=at, other);
                let is_accepted = verify(&changed, &keys, &Check::at(now()), None).is_ok();
                assert_eq!(is_accepted, changed == token, "{changed}");
            }
        }
    }
}

fn refused<T>(result: Result<T, Refusal>) -> (Code, usize) {
    match result {
        Ok(_) => panic!("accepted"),
        Err(refusal) => (refusal.code, refusal.link),
    }
}

#[test]
fn a_chain_is_the_same_link_by_link() {
    let key = key(Algorithm::Ed25519, 7);
    let (keys, check) = (keys(&key), Check::at(now()));
    let tokens: Vec<String> = (0..=MOST_LINKS).map(|number| issued(number, &key)).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let chain = verify_chain(&tokens[..MOST_LINKS], &keys, &check).unwrap();
    let mut parent: Option<Pass> = None;
    for (link, token) in tokens[..MOST_LINKS].iter().enumerate() {
        let pass = verify(token, &keys, &check, parent.as_ref()).unwrap();
        assert_eq!((pass.link(), pass.id(), pass.expires_at()), (link, chain[link].id(), chain[link].expires_at()));
        parent = Some(pass);
    }
    assert_eq!(refused(verify(tokens[MOST_LINKS], &keys, &check, parent.as_ref())), (Code::Malformed, MOST_LINKS));
    assert_eq!(refused(verify_chain(&tokens, &keys, &check)), (Code::Malformed, MOST_LINKS));
    assert_eq!(refused(verify_chain(&[], &keys, &check)), (Code::Malformed, 0));
}

#[test]
fn passes_and_chains_have_a_size() {
    let key = key(Algorithm::Ed25519, 7);
    let (keys, check) = (keys(&key), Check::at(now()));
    // A pass with a note of so many bytes.
    let large = |number: usize, bytes: usize| {
        let token = issued(number, &key);
        let claims = Compact::parse(&token, 4096).unwrap().payload_object().unwrap();
        key.sign("awl-pass+jwt", &claims.with("x-note", "a".repeat(bytes)).into())
    };
    let longest = large(0, 48_300);
    assert!(longest.len() <= 64 << 10 && longest.len() > 63 << 10, "{}", longest.len());
    verify(&longest, &keys, &check, None).unwrap();
    assert_eq!(refused(verify(&large(0, 49_500), &keys, &check, None)), (Code::Malformed, 0));

    let tokens: Vec<String> = (0..5).map(|number| large(number, 48_300)).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let mut parents = verify_chain(&tokens[..4], &keys, &check).unwrap();
    assert_eq!(refused(verify_chain(&tokens, &keys, &check)), (Code::Malformed, 4));
    assert_eq!(refused(verify(tokens[4], &keys, &check, parents.pop().as_ref())), (Code::Malformed, 4));
    // A million links are refused before the first is read.
    assert_eq!(refused(verify_chain(&vec!["x"; 1_000_000], &keys, &check)), (Code::Malformed, 999_999));
}

#[test]
fn a_proof_serves_one_call_of_its_holder() {
    let desk = key(Algorithm::Es256, 7);
    for algorithm in [Algorithm::Es256, Algorithm::Ed25519] {
        let holder = key(algorithm, 3);
        let terms = Terms { holder: Some(holder.public().thumbprint()), ..terms("p") };
        let token = issue(&order(0), &terms, &desk).unwrap().token;
        let pass = verify(&token, &keys(&desk), &Check::at(now()), None).unwrap();
        assert_eq!(pass.holder(), terms.holder);

        let arguments = json(r#"{"to": "ada", "n": 1}"#);
        let call = Call { tool: "mail/send", arguments: &arguments, audience: "https://gate.example" };
        let proof = prove(&identity(&token).unwrap(), &call, &holder, "proof-1", now()).unwrap();
        let mut used = RecentProofs::with_room_for(1);
        let mut show = |proof: Option<&str>, call: &Call<'_>, now| {
            check_holder(&pass, proof, call, &ProofCheck::at(now), Some(&mut used)).map_err(|refusal| refusal.code)
        };
        let other = Call { audience: "https://other.example", ..call };
        assert_eq!(show(Some(&proof), &other, now()), Err(Code::BadProof));
        assert_eq!(show(Some(&proof), &call, now()), Ok(()));
        assert_eq!(show(Some(&proof), &call, now()), Err(Code::Replayed));
        assert_eq!(show(None, &call, now()), Err(Code::ProofRequired));
        let later = now().checked_add_seconds(61).unwrap();
        assert_eq!(show(Some(&proof), &call, later), Err(Code::ProofExpired));

        // No room for a second one until the first is too old anyway.
        let second = |now| prove(&pass.id(), &call, &holder, "proof-2", now).unwrap();
        assert_eq!(show(Some(&second(now())), &call, now()), Err(Code::Replayed));
        assert_eq!(show(Some(&second(later)), &call, later), Ok(()));
        let exact = json(r#"{"n": 9007199254740993}"#);
        assert_eq!(prove(&pass.id(), &Call { arguments: &exact, ..call }, &holder, "x", now()), None);
    }
}

#[test]
fn a_used_proof_is_kept_until_it_ends() {
    let mut used = RecentProofs::with_room_for(2);
    let (holder, until) = ([1; 32], at("2026-03-02T08:01:00Z"));
    assert!(used.is_new(&holder, "a", until, now()));
    assert!(used.is_new(&[2; 32], "a", until, now()), "another holder's");
    assert!(!used.is_new(&holder, "b", until, now()), "there is no room");
    let after = until.checked_add_millis(1).unwrap();
    assert!(used.is_new(&holder, "b", after, after));
}

#[test]
fn a_list_revokes_what_is_on_it_and_below() {
    let key = key(Algorithm::Es256, 7);
    let keys = keys(&key);
    let tokens: Vec<String> = (0..3).map(|number| issued(number, &key)).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let middle = identity(tokens[1]).unwrap();
    let list = |version, revoked: &Revocations<'_>, held| {
        RevocationList::verify(&revoke(ISSUER, version, revoked, &key, now()), &keys, now(), held)
    };
    let first = list(1, &Revocations::default(), None).unwrap();
    let second = list(2, &Revocations { passes: &[middle], ..Revocations::default() }, Some(&first)).unwrap();
    assert_eq!((second.issuer(), second.version(), second.issued_at()), (ISSUER, 2, at("2026-03-02T08:00:00Z")));
    let verify = |tokens: &[&str], list: &RevocationList| {
        let check = Check { revocations: std::slice::from_ref(list), ..Check::at(now()) };
        verify_chain(tokens, &keys, &check).map_err(|refusal| (refusal.code, refusal.link))
    };
    assert!(verify(&tokens, &first).is_ok());
    assert_eq!(verify(&tokens, &second).unwrap_err(), (Code::Revoked, 1));
    assert!(verify(&tokens[..1], &second).is_ok(), "what stands above counts on");
    assert_eq!(refused(list(1, &Revocations::default(), Some(&second))), (Code::Stale, 0));
    assert_eq!(refused(list(2, &Revocations::default(), Some(&second))), (Code::Stale, 0));
    assert_eq!(
        list(2, &Revocations { passes: &[middle], ..Revocations::default() }, Some(&second)).as_ref(),
        Ok(&second)
    );
    // The same, signed again later and with the next key.
    let (next, later) = (self::key(Algorithm::Ed25519, 8), now().saturating_add_seconds(60));
    let again = revoke(ISSUER, 2, &Revocations { passes: &[middle], ..Revocations::default() }, &next, later);
    let again = RevocationList::verify(&again, &self::keys(&next), later, Some(&second)).unwrap();
    assert_eq!((again.version(), again.issued_at()), (2, at("2026-03-02T08:01:00Z")));
}

#[test]
fn refusals_say_what_is_at_fault_and_show_no_token() {
    let key = key(Algorithm::Ed25519, 7);
    let (token, keys) = (issued(0, &key), keys(&key));
    let wrong = Check { worker: Some("agent:other"), ..Check::at(now()) };
    let refusal = verify(&token, &keys, &wrong, None).unwrap_err();
    assert_eq!(refusal.to_string(), "WRONG_WORKER: the worker is `agent:clerk`, expected was `agent:other`");
    let expected = r#"{"code":"WRONG_WORKER","link":0,"message":"the worker is `agent:clerk`, expected was `agent:other`","findings":[]}"#;
    assert_eq!(write_compact(&refusal.to_object().into()), expected);
    for code in Code::ALL {
        assert_eq!(Code::parse(code.as_str()), Some(code));
    }
    let signature = token.rsplit('.').next().unwrap();
    for spoilt in [token.replace(signature, "AAAA"), format!("{token}="), format!("{token}.")] {
        let message = verify(&spoilt, &keys, &Check::at(now()), None).unwrap_err().message;
        assert!(!message.contains(&signature[..20]) && !message.contains("AAAA"), "{message}");
    }
}
