//! Going by passes where no desk can be asked: whom they are for, who shows them, what is revoked, and what stays counted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use bailiwick_core::heart::Refusal;
use bailiwick_core::jose::{Algorithm, KeySet, PublicKey, SigningKey};
use bailiwick_core::json::{Limits, Object, Value, parse, write_compact};
use bailiwick_core::time::Millis;
use bailiwick_core::work::pass::{Call, Revocations, Terms, identity, issue, prove, revoke};
use bailiwick_gateway::{
    AloneOptions, Answer, AskedCall, Authority, Begun, Failure, Fallback, PassSource, Place, WithPass,
};

const ISSUER: &str = "https://desk.example";

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Millis(i64::try_from(since.as_millis()).unwrap())
}

/// An issuer's desk as far as passes go, and a folder for a gateway.
struct Issuer {
    key: SigningKey,
    folder: tempfile::TempDir,
}

impl Issuer {
    fn new() -> Self {
        let key = SigningKey::from_secret(Algorithm::Ed25519, &[7; 32]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let keys = write_compact(&KeySet::of(key.public().clone()).to_value());
        fs::write(folder.path().join("jwks.json"), keys).unwrap();
        Self { key, folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn pass(&self, audiences: &[&str], holder: Option<&PublicKey>) -> String {
        let order = json(
            r#"{"id": "wo_1", "to": "agent:w", "tools": ["a/*", "mail/send"], "staged": ["mail/send"],
                "budget": {"tool_calls": 3}, "deadline": "2100-01-01T00:00:00Z"}"#,
        );
        let holder = holder.map(PublicKey::thumbprint);
        let terms = Terms { issuer: ISSUER, jti: "p", now: now(), ttl_seconds: 900, audiences, holder };
        issue(&order, &terms, &self.key).unwrap().token
    }

    fn options(&self) -> AloneOptions {
        AloneOptions {
            order: "wo_1".into(),
            keys: self.path().join("jwks.json"),
            worker: None,
            issuer: Some(ISSUER.into()),
            audience: Some("https://gate.example".into()),
            revocations: None,
            pass: None,
            folder: self.path().join("state"),
        }
    }
}

fn call(tool: &str, arguments: &str, pass: &str) -> AskedCall {
    AskedCall { tool: tool.into(), arguments: json(arguments), pass: Some(pass.into()), proof: None }
}

fn code<T>(answer: Result<T, Failure>) -> &'static str {
    match answer {
        Ok(_) => "OK",
        Err(Failure::Refused(refusal)) => refusal.code,
        Err(Failure::Unreachable(_)) => "UNREACHABLE",
    }
}

#[tokio::test]
async fn a_pass_counts_for_its_order_its_worker_and_its_audience() {
    let issuer = Issuer::new();
    let gateway = WithPass::open(issuer.options()).unwrap();
    let begin = async |pass: &str| code(gateway.begin_call(&call("a/x", "{}", pass)).await);
    assert_eq!(begin(&issuer.pass(&["https://other.example"], None)).await, "WRONG_AUDIENCE");
    assert_eq!(begin(&issuer.pass(&["https://gate.example"], None)).await, "OK");
    let worker = AloneOptions { worker: Some("agent:other".into()), ..issuer.options() };
    let worker = WithPass::open(worker).unwrap();
    assert_eq!(code(worker.begin_call(&call("a/x", "{}", &issuer.pass(&[], None))).await), "WRONG_WORKER");
    let order = WithPass::open(AloneOptions { order: "wo_2".into(), ..issuer.options() }).unwrap();
    assert_eq!(code(order.begin_call(&call("a/x", "{}", &issuer.pass(&[], None))).await), "WRONG_ORDER");
    let without = AskedCall { pass: None, ..call("a/x", "{}", "") };
    assert_eq!(code(gateway.begin_call(&without).await), "UNAVAILABLE");
}

#[tokio::test]
async fn a_pass_that_is_bound_needs_its_holders_proof_for_each_call() {
    let issuer = Issuer::new();
    let gateway = WithPass::open(issuer.options()).unwrap();
    let holder = SigningKey::from_secret(Algorithm::Es256, &[9; 32]).unwrap();
    let pass = issuer.pass(&[], Some(holder.public()));
    let asked = call("a/x", r#"{"n": 1}"#, &pass);
    assert_eq!(code(gateway.begin_call(&asked).await), "PROOF_REQUIRED");
    let proof = |tool: &str, jti: &str| {
        let shown = Call { tool, arguments: &asked.arguments, audience: "https://gate.example" };
        prove(&identity(&pass).unwrap(), &shown, &holder, jti, now())
    };
    let with = |proof: Option<String>| AskedCall { proof, ..asked.clone() };
    assert_eq!(code(gateway.begin_call(&with(proof("a/y", "j1"))).await), "BAD_PROOF");
    let once = with(proof("a/x", "j2"));
    assert_eq!(code(gateway.begin_call(&once).await), "OK");
    assert_eq!(code(gateway.begin_call(&once).await), "REPLAYED");
}

#[tokio::test]
async fn what_is_revoked_counts_no_more_and_an_older_list_changes_nothing() {
    let issuer = Issuer::new();
    let file = issuer.path().join("revoked.jwt");
    let list = |version, orders: &[&str]| {
        fs::write(
            &file,
            revoke(ISSUER, version, &Revocations { orders, ..Revocations::default() }, &issuer.key, now()),
        )
        .unwrap();
    };
    list(4, &["wo_9"]);
    let options = AloneOptions {
        revocations: Some(file.clone()),
        pass: Some(PassSource::Token(issuer.pass(&[], None))),
        ..issuer.options()
    };
    let gateway = WithPass::open(options).unwrap();
    let asked = AskedCall { pass: None, ..call("a/x", "{}", "") };
    assert_eq!(code(gateway.begin_call(&asked).await), "OK");
    list(5, &["wo_1"]);
    assert_eq!(code(gateway.begin_call(&asked).await), "REVOKED");
    list(4, &["wo_9"]);
    assert_eq!(code(gateway.begin_call(&asked).await), "UNAVAILABLE", "the list is older than the one that was seen");
}

#[tokio::test]
async fn what_is_counted_is_shared_and_lasts() {
    let issuer = Issuer::new();
    let pass = issuer.pass(&[], None);
    let open = || WithPass::open(issuer.options()).unwrap();
    let gateways = [open(), open()];
    let asked = call("a/x", "{}", &pass);
    let all = gateways.iter().cycle().take(8).map(|gateway| {
        let (gateway, asked) = (gateway.clone(), asked.clone());
        tokio::spawn(async move { gateway.begin_call(&asked).await })
    });
    let mut numbers = Vec::new();
    for answer in all.collect::<Vec<_>>() {
        match answer.await.unwrap() {
            Ok(begun) => numbers.push(begun.n),
            refused => assert_eq!(code(refused), "BUDGET_EXCEEDED"),
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3], "the budget and no more, however many ask at once");
    assert_eq!(code(open().begin_call(&asked).await), "BUDGET_EXCEEDED", "another process finds what was counted");
    let record = issuer.path().join("state").join("wo_1.json");
    fs::write(&record, "{}").unwrap();
    assert!(WithPass::open(issuer.options()).is_err(), "a record that cannot be read is not begun anew");
    assert_eq!(code(gateways.first().unwrap().begin_call(&asked).await), "UNREACHABLE");
}

/// A desk that is there or not, and lets every call through.
#[derive(Default)]
struct Desk {
    is_away: AtomicBool,
    n: std::sync::atomic::AtomicU64,
}

impl Desk {
    fn answer<T>(&self, value: T) -> Result<T, Failure> {
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(Failure::Unreachable("the cable is out".into())),
            false => Ok(value),
        }
    }
}

struct Handle(Arc<Desk>);

impl Authority for Handle {
    fn terms(&self) -> Answer<'_, Option<bailiwick_gateway::Terms>> {
        Box::pin(async { self.0.answer(None) })
    }

    fn order(&self) -> Answer<'_> {
        Box::pin(async { self.0.answer(Value::Null) })
    }

    fn status(&self) -> Answer<'_> {
        Box::pin(async { self.0.answer(Value::Null) })
    }

    fn begin_call<'a>(&'a self, call: &'a AskedCall) -> Answer<'a, Begun> {
        Box::pin(async move {
            if call.tool == "b/x" {
                return self.0.answer(()).and(Err(Failure::Refused(Refusal::new("FORBIDDEN", "no"))));
            }
            let n = self.0.n.load(Ordering::Relaxed) + 1;
            let begun = self.0.answer(Begun { n, reference: format!("a/x#{n}"), staged: false, place: Place::Desk })?;
            self.0.n.store(n, Ordering::Relaxed);
            Ok(begun)
        })
    }

    fn finish_call(&self, _: Place, _: Object) -> Answer<'_, ()> {
        Box::pin(async { self.0.answer(()) })
    }

    fn effect(&self, _: &'static str, _: Object) -> Answer<'_> {
        self.order()
    }
}

#[tokio::test]
async fn a_desk_that_is_away_is_stood_in_for_and_no_refusal_is_overruled() {
    let issuer = Issuer::new();
    let pass = issuer.pass(&[], None);
    let desk = Arc::new(Desk::default());
    let gateway = Fallback::new(Box::new(Handle(Arc::clone(&desk))), WithPass::open(issuer.options()).unwrap());
    let asked = call("a/x", "{}", &pass);
    let first = gateway.begin_call(&asked).await.unwrap();
    assert_eq!((first.n, first.place), (1, Place::Desk));
    assert_eq!(code(gateway.begin_call(&call("b/x", "{}", &pass)).await), "FORBIDDEN");
    desk.is_away.store(true, Ordering::Relaxed);
    let second = gateway.begin_call(&asked).await.unwrap();
    assert_eq!((second.n, second.place), (2, Place::Record), "numbers go on, and what the desk counted counts");
    assert_eq!(gateway.begin_call(&asked).await.unwrap().n, 3);
    assert_eq!(code(gateway.begin_call(&asked).await), "BUDGET_EXCEEDED");
    let status = gateway.status().await.unwrap();
    assert_eq!(status.get("spent").unwrap().get("tool_calls"), Some(&3_u64.into()));
    assert!(status.get("note").unwrap().as_str().unwrap().contains("not bounded"));
    assert_eq!(code(gateway.effect("begin_effect", Object::new()).await), "UNREACHABLE");
}
