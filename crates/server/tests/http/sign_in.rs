//! Signing in by link, and what a session may do.

use axum::http::{Method, StatusCode};
use bailiwick_mcp::{Access, Toolsets};
use bailiwick_server::{Auth, Server, ServerOptions};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::running::{
    Answer, Call, MANAGER, Running, WORKER, done, in_an_hour, new_order, start, start_open, start_with,
};

const ADA: &str = "human:ada";

/// A link of the server, as a path.
async fn link(server: &Running) -> String {
    format!("/sign-in?token={}", server.desk.issue_link(ADA).await.unwrap().reveal())
}

/// The cookie that an answer sets, as the browser sends it back.
fn cookie_of(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().into()
}

/// The cookie of somebody who has signed in.
pub(crate) async fn signed_in(server: &Running) -> String {
    let answer = server.get(&link(server).await).send().await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    cookie_of(&answer)
}

/// As the dashboard's own page sends it.
pub(crate) fn from_own_page(server: &Running, call: Call, cookie: &str) -> Call {
    let origin = format!("http://localhost:{}", server.address.port());
    call.header("cookie", cookie).header("origin", &origin).header("sec-fetch-site", "same-origin")
}

#[tokio::test]
async fn a_link_signs_in_once() {
    for server in [start().await, start_open().await] {
        let link = link(&server).await;
        let answer = server.get(&link).send().await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
        assert_eq!(answer.header("cache-control"), "no-store");
        let set = answer.header("set-cookie");
        assert!(set.starts_with(&format!("bailiwick_{}=", server.address.port())), "{set}");
        for part in ["; Path=/", "; HttpOnly", "; SameSite=Strict"] {
            assert!(set.contains(part), "{set}");
        }
        assert!(!set.contains("Secure"), "nothing says that people come by HTTPS");
        let session = server.get("/api/v1/session").header("cookie", &cookie_of(&answer)).send().await.json();
        assert_eq!((&session["id"], &session["established"]), (&json!(ADA), &json!("sign_in")));
        assert_eq!((&session["access"], &session["workspace"]), (&json!("full"), &json!("desk")));

        let used = server.get(&link).send().await;
        assert_eq!((used.status.as_u16(), used.header("content-type")), (403, "text/html; charset=utf-8"));
        assert!(used.text().contains("bailiwick sign-in") && used.header("set-cookie").is_empty());
        for path in ["/sign-in", "/sign-in?token=", "/sign-in?token=x", "/sign-in?token=a&token=b", "/sign-in?toke=x"] {
            assert_eq!(server.get(path).send().await.status, 403, "{path}");
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn looking_at_a_link_does_not_take_it() {
    let server = start().await;
    let link = link(&server).await;
    assert_eq!(server.call(Method::HEAD, &link).send().await.status, 200);
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        server.call(method, &link).send().await.is_problem(405, "METHOD_NOT_ALLOWED");
    }
    let ahead = server.get(&link).header("sec-purpose", "prefetch;prerender").send().await;
    assert_eq!(ahead.status, 403);
    server.get(&link).header("host", "evil.example").send().await.is_problem(403, "FORBIDDEN");
    assert_eq!(server.get(&link).send().await.status, 303);
    server.stop().await;
}

#[tokio::test]
async fn of_twenty_who_follow_a_link_at_once_one_gets_in() {
    let server = start().await;
    let link = link(&server).await;
    let following: Vec<_> = (0..20).map(|_| tokio::spawn(server.get(&link).send())).collect();
    let mut statuses = Vec::new();
    for answer in following {
        statuses.push(answer.await.unwrap().status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == StatusCode::SEE_OTHER).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == StatusCode::FORBIDDEN).count(), 19, "{statuses:?}");
    server.stop().await;
}

#[tokio::test]
async fn without_key_name_or_session_there_is_nothing() {
    for server in [start().await, start_open().await] {
        for path in [
            "/api/v1/session",
            "/api/v1/orders",
            "/api/v1/orders/x",
            "/api/v1/agents/x/track-record",
            "/api/v1/journal/head",
            "/api/v1/journal/entries",
            "/api/v1/journal/export",
            "/api/v1/events",
        ] {
            server.get(path).send().await.is_problem(401, "UNAUTHENTICATED");
            let unknown = format!("bailiwick_{}={}", server.address.port(), "0".repeat(64));
            let answer = server.get(path).header("cookie", &unknown).send().await;
            assert!(answer.is_problem(401, "UNAUTHENTICATED").contains("`bailiwick sign-in`"));
        }
        server.post("/api/v1/orders", new_order()).send().await.is_problem(401, "UNAUTHENTICATED");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_person_decides_with_a_session() {
    let server = start().await;
    let cookie = signed_in(&server).await;
    let post = |path: &str, body: Value| from_own_page(&server, server.post(path, body), &cookie);
    let issued = post("/api/v1/orders", new_order()).send().await.json();
    assert_eq!(issued["from"], ADA);
    let id = issued["id"].as_str().unwrap();
    for step in ["accept", "start"] {
        let path = format!("/api/v1/orders/{id}/{step}");
        assert_eq!(server.call(Method::POST, &path).by(WORKER).send().await.status, 200);
    }
    let reported = server.post(&format!("/api/v1/orders/{id}/reports"), done()).by(WORKER).send().await;
    assert_eq!(reported.status, 200);
    let approved = post(&format!("/api/v1/orders/{id}/review"), json!({"decision": "approve"})).send().await;
    assert_eq!(approved.json()["state"], "approved");
    let get = server.get("/api/v1/journal/entries?after=4").header("cookie", &cookie);
    let entries = get.send().await.json();
    let last = &entries["entries"][0]["payload"]["principal"];
    assert_eq!(*last, json!({"id": ADA, "established": "sign_in"}));
    // Nobody decides on their own work.
    let own = json!({"to": ADA, "goal": "G", "criteria": [{"id": "window", "text": "C"}], "budget": {"usd": 1},
        "deadline": in_an_hour(), "tools": ["status/*"]});
    let id = post("/api/v1/orders", own).send().await.json()["id"].as_str().unwrap().to_owned();
    for (step, body) in [("accept", json!({})), ("start", json!({})), ("reports", done())] {
        assert_eq!(post(&format!("/api/v1/orders/{id}/{step}"), body).send().await.status, 200, "{step}");
    }
    let review = post(&format!("/api/v1/orders/{id}/review"), json!({"decision": "approve"})).send().await;
    review.is_problem(403, "FORBIDDEN");
    assert!(server.desk.verify(|_| ()).await.unwrap().is_ok());
    server.stop().await;
}

#[tokio::test]
async fn other_pages_cannot_use_a_session() {
    let server = start().await;
    let cookie = signed_in(&server).await;
    let port = server.address.port();
    let own = format!("http://localhost:{port}");
    let post = || server.post("/api/v1/orders", new_order()).header("cookie", &cookie);
    post().send().await.is_problem(403, "FORBIDDEN");
    for other in ["http://localhost:1", &format!("http://127.0.0.1:{port}"), "http://evil.example", "null"] {
        post().header("origin", other).send().await.is_problem(403, "FORBIDDEN");
    }
    for site in ["cross-site", "same-site", "none"] {
        post().header("origin", &own).header("sec-fetch-site", site).send().await.is_problem(403, "FORBIDDEN");
    }
    for site in ["cross-site", "same-site"] {
        let get = server.get("/api/v1/orders").header("cookie", &cookie).header("sec-fetch-site", site);
        get.send().await.is_problem(403, "FORBIDDEN");
    }
    let sign_out = server.call(Method::DELETE, "/api/v1/session").header("cookie", &cookie);
    sign_out.send().await.is_problem(403, "FORBIDDEN");
    let typed = server.get("/api/v1/orders").header("cookie", &cookie).header("sec-fetch-site", "none");
    assert_eq!(typed.send().await.json(), json!({"orders": []}));
    assert_eq!(post().header("origin", &own).send().await.status, 201);
    // A cookie is no way in for agents.
    let tools =
        server.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).header("cookie", &cookie);
    tools.send().await.is_problem(401, "UNAUTHENTICATED");
    let twice = server.get("/api/v1/orders").header("cookie", &format!("{cookie}; {cookie}"));
    twice.send().await.is_problem(401, "UNAUTHENTICATED");
    server.stop().await;
}

#[tokio::test]
async fn what_a_request_says_goes_before_the_cookie() {
    let server = start().await;
    let cookie = signed_in(&server).await;
    let session = || server.get("/api/v1/session").header("cookie", &cookie);
    assert_eq!(session().by(MANAGER).send().await.json()["id"], MANAGER);
    session().header("authorization", "Bearer nobody").send().await.is_problem(401, "UNAUTHENTICATED");
    session().header("x-bailiwick-actor", MANAGER).send().await.is_problem(403, "FORBIDDEN");
    assert_eq!(session().header("x-bailiwick-actor", ADA).send().await.status, 200);
    let sign_out = server.call(Method::DELETE, "/api/v1/session").header("cookie", &cookie).by(MANAGER);
    sign_out.send().await.is_problem(400, "BAD_REQUEST");
    assert_eq!(session().send().await.status, 200, "not signed out by somebody's key");
    server.stop().await;
}

#[tokio::test]
async fn a_session_lasts_beyond_a_restart_and_until_sign_out() {
    let server = start().await;
    let (cookie, other) = (signed_in(&server).await, signed_in(&server).await);
    // Another process on the same store, whose port the cookie's name would hold.
    let options = ServerOptions { port: 0, ..ServerOptions::new(Auth::Keys(server.keys.clone())) };
    let again = Server::bind(server.desk.clone(), options).await.unwrap();
    let (address, stop) = (again.address(), CancellationToken::new());
    let again = Running {
        address,
        desk: server.desk.clone(),
        keys: server.keys.clone(),
        stop: stop.clone(),
        task: tokio::spawn(again.run(stop)),
    };
    server.stop().await;
    let (_, secret) = cookie.split_once('=').unwrap();
    let cookie = format!("bailiwick_{}={secret}", address.port());
    let session = || again.get("/api/v1/session").header("cookie", &cookie);
    assert_eq!(session().send().await.json()["id"], ADA);
    let sign_out = from_own_page(&again, again.call(Method::DELETE, "/api/v1/session"), &cookie).send().await;
    assert_eq!(sign_out.status, 204);
    assert!(sign_out.header("set-cookie").contains("Max-Age=0"));
    session().send().await.is_problem(401, "UNAUTHENTICATED");
    let (_, secret) = other.split_once('=').unwrap();
    let other = format!("bailiwick_{}={secret}", address.port());
    assert_eq!(again.get("/api/v1/session").header("cookie", &other).send().await.status, 200);
    again.stop().await;
}

#[tokio::test]
async fn an_operator_reads_the_journal_like_an_auditor() {
    let server = start().await;
    let settings = json!({"work": {"restrict_reads": true}}).to_string();
    let settings = bailiwick_core::json::parse(settings.as_bytes(), &bailiwick_core::json::Limits::DOCUMENT).unwrap();
    server.desk.adopt(settings.as_object().unwrap().clone()).await.unwrap();
    let cookie = signed_in(&server).await;
    server.get("/api/v1/journal/head").by(MANAGER).send().await.is_problem(403, "FORBIDDEN");
    assert_eq!(server.get("/api/v1/journal/head").header("cookie", &cookie).send().await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn the_cookie_is_for_https_where_people_come_by_https() {
    let server = start_with(|options| ServerOptions {
        allowed_hosts: vec!["desk.example.com".into()],
        allowed_origins: vec!["https://desk.example.com".into()],
        ..options
    })
    .await;
    let there = server.get(&link(&server).await).header("host", "desk.example.com").send().await;
    assert!(there.header("set-cookie").ends_with("; Secure"), "{}", there.header("set-cookie"));
    let here = server.get(&link(&server).await).send().await;
    assert!(!here.header("set-cookie").contains("Secure"), "over plain HTTP it would never come back");
    let post = server.post("/api/v1/orders", new_order()).header("host", "desk.example.com");
    let post = post.header("cookie", &cookie_of(&there)).header("origin", "https://desk.example.com");
    assert_eq!(post.send().await.status, 201);
    server.stop().await;
}

#[tokio::test]
async fn a_read_only_server_signs_in_and_says_so() {
    let server =
        start_with(|options| ServerOptions { toolsets: Toolsets::default().with_access(Access::ReadOnly), ..options })
            .await;
    let cookie = signed_in(&server).await;
    let session = server.get("/api/v1/session").header("cookie", &cookie).send().await.json();
    assert_eq!((&session["access"], &session["mode"]), (&json!("read_only"), &json!("keys")));
    let post = from_own_page(&server, server.post("/api/v1/orders", new_order()), &cookie);
    post.send().await.is_problem(403, "FORBIDDEN");
    server.stop().await;
}
