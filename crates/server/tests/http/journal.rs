//! The journal over HTTP: pages, exports, live events.

use std::time::Duration;

use axum::http::{Method, Response};
use bailiwick_core::journal::verify_export;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::running::{Call, MANAGER, Running, WORKER, start, within_reason};
use crate::sign_in::{from_own_page, signed_in};

#[tokio::test]
async fn pages_hang_together_up_to_the_head() {
    let server = start().await;
    let empty = server.get("/api/v1/journal/head").by(MANAGER).send().await.json();
    assert_eq!((&empty["sequence"], &empty["last_at"]), (&json!(0), &Value::Null));
    let none = server.get("/api/v1/journal/entries").by(MANAGER).send().await.json();
    assert_eq!(none["entries"], json!([]));
    for _ in 0..5 {
        server.order().await;
    }
    let head = server.get("/api/v1/journal/head").by(MANAGER).send().await.json();
    assert_eq!(head["workspace_id"], "desk");
    let (mut after, mut previous) = (0, "0".repeat(64));
    loop {
        let page =
            server.get(&format!("/api/v1/journal/entries?after={after}&limit=2")).by(MANAGER).send().await.json();
        assert_eq!(page["head_sequence"], 5);
        let entries = page["entries"].as_array().unwrap();
        for entry in entries {
            assert_eq!(entry["prev_hash"], json!(previous));
            previous = entry["hash"].as_str().unwrap().into();
        }
        if entries.is_empty() {
            break;
        }
        after = page["next_after"].as_u64().unwrap();
    }
    assert_eq!((after, json!(previous)), (5, head["hash"].clone()));
    server.stop().await;
}

/// The sequences of every page, one list for each page, going on at `next` until it is null or stays.
async fn pages(server: &Running, query: &str, next: &str, mut place: u64) -> Vec<Vec<u64>> {
    let mut pages = Vec::new();
    loop {
        let path = format!("/api/v1/journal/entries?{query}&{}={place}", next.trim_start_matches("next_"));
        let page = server.get(&path).by(MANAGER).send().await.json();
        let sequences = page["entries"].as_array().unwrap().iter().map(|entry| entry["sequence"].as_u64().unwrap());
        pages.push(sequences.collect());
        match page[next].as_u64() {
            Some(further) if further != place => place = further,
            _ => return pages,
        }
    }
}

#[tokio::test]
async fn the_newest_come_first_when_going_back() {
    let server = start().await;
    for _ in 0..5 {
        server.order().await;
    }
    assert_eq!(pages(&server, "limit=2", "next_before", u64::MAX).await, [vec![5, 4], vec![3, 2], vec![1]]);
    assert_eq!(pages(&server, "limit=5", "next_before", 6).await, [vec![5, 4, 3, 2, 1]]);
    assert_eq!(pages(&server, "limit=9", "next_before", 3).await, [vec![2, 1]]);
    assert_eq!(pages(&server, "limit=9", "next_before", 0).await, [Vec::<u64>::new()]);
    let both = server.get("/api/v1/journal/entries?after=1&before=3").by(MANAGER).send().await;
    both.is_problem(400, "BAD_REQUEST");
    server.stop().await;
}

#[tokio::test]
async fn filters_take_entries_by_what_they_say() {
    let server = start().await;
    server.order().await;
    // Three entries: created, accepted, started.
    let id = server.order_at_work().await;
    server.order().await;
    let cases = [
        (format!("entity={id}"), vec![4, 3, 2]),
        ("type=work.create".into(), vec![5, 2, 1]),
        ("type=work.create&actor=agent:worker".into(), vec![]),
        (format!("actor=agent:worker&entity={id}"), vec![4, 3]),
        ("type=".into(), vec![]),
    ];
    for (query, expected) in cases {
        let back = pages(&server, &format!("{query}&limit=2"), "next_before", u64::MAX).await.concat();
        assert_eq!(back, expected, "{query}");
        let mut on = pages(&server, &format!("{query}&limit=2"), "next_after", 0).await.concat();
        on.reverse();
        assert_eq!(on, expected, "{query}");
    }
    server.get("/api/v1/journal/entries?kind=x").by(MANAGER).send().await.is_problem(400, "BAD_REQUEST");
    server.stop().await;
}

#[tokio::test]
async fn entries_are_read_backwards_and_by_filter() {
    let server = start().await;
    let get = |query: &str| {
        let call = server.get(&format!("/api/v1/journal/entries?{query}")).by(MANAGER);
        async { call.send().await.json() }
    };
    let sequences = |page: &Value| -> Vec<u64> {
        page["entries"].as_array().unwrap().iter().map(|entry| entry["sequence"].as_u64().unwrap()).collect()
    };
    let empty = get("before=9").await;
    assert_eq!((sequences(&empty), &empty["next_before"]), (vec![], &Value::Null));
    let worked = server.order_at_work().await;
    for _ in 0..300 {
        server.order().await;
    }
    let newest = get("before=18446744073709551615&limit=2").await;
    assert_eq!((sequences(&newest), &newest["next_before"]), (vec![303, 302], &json!(302)));
    assert_eq!(newest["head_sequence"], 303);
    let (mut seen, mut before) = (Vec::new(), json!(304));
    while !before.is_null() {
        let page = get(&format!("before={before}&limit=100")).await;
        seen.extend(sequences(&page));
        before = page["next_before"].clone();
    }
    assert_eq!(seen, (1..=303).rev().collect::<Vec<_>>());
    for (filter, expected) in [
        ("actor=agent%3Aworker".to_owned(), vec![3, 2]),
        ("type=work.accept".into(), vec![2]),
        (format!("entity={worked}"), vec![3, 2, 1]),
        (format!("entity={worked}&actor=agent%3Amanager"), vec![1]),
        ("type=work".into(), vec![]),
    ] {
        let page = get(&format!("before=304&{filter}")).await;
        assert_eq!((sequences(&page), &page["next_before"]), (expected, &Value::Null), "{filter}");
    }
    let page = get("before=304&actor=agent%3Amanager&limit=1").await;
    assert_eq!((sequences(&page), &page["next_before"]), (vec![303], &json!(303)));
    for wrong in ["before=1&after=1", "before=x", "before=-1", "before=2&by=x"] {
        let call = server.get(&format!("/api/v1/journal/entries?{wrong}")).by(MANAGER);
        call.send().await.is_problem(400, "BAD_REQUEST");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_export_verifies_and_a_changed_one_does_not() {
    let server = start().await;
    let empty = server.get("/api/v1/journal/export").by(MANAGER).send().await;
    assert!(verify_export(&empty.body).unwrap().chain.ok);
    // More than a page, and blobs in each.
    for _ in 0..300 {
        server.order().await;
    }
    let id = server.order_at_work().await;
    let export = server.get("/api/v1/journal/export").by(WORKER).send().await;
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    let report = verify_export(&export.body).unwrap();
    assert!(report.chain.ok, "{report:?}");
    assert_eq!((report.chain.checked_events, report.workspace_id.as_str()), (303, "desk"));
    assert!(report.blobs >= 301, "{report:?}");
    assert!(export.text().contains(&id) && export.text().contains("Find the outage window"));
    let changed = export.text().replacen("Find the outage", "Hide the outage", 1);
    assert!(!verify_export(changed.as_bytes()).unwrap().chain.ok);
    let cut = export.text().lines().take(200).map(|line| format!("{line}\n")).collect::<String>();
    assert!(!verify_export(cut.as_bytes()).unwrap().chain.ok);
    server.stop().await;
}

/// An event stream, read event by event.
struct Events {
    response: Response<Incoming>,
    text: String,
}

impl Events {
    async fn open(server: &Running, path: &str, last: Option<u64>) -> Self {
        let call = server.get(path).by(MANAGER);
        match last {
            Some(last) => Self::of(call.header("last-event-id", &last.to_string())).await,
            None => Self::of(call).await,
        }
    }

    async fn of(call: Call) -> Self {
        let response = call.open().await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next event's id and data; `None` when the stream has ended.
    async fn next(&mut self) -> Option<(u64, Value)> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n").map(|(a, b)| (a.to_string(), b.to_string())) {
                self.text = rest;
                let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name).map(String::from));
                if let (Some(id), Some(data)) = (line("id: "), line("data: ")) {
                    return Some((id.parse().unwrap(), serde_json::from_str(&data).unwrap()));
                }
            }
            let frame = within_reason(self.response.frame()).await?.unwrap();
            self.text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }
}

#[tokio::test]
async fn events_come_as_they_are_written_and_resume_without_loss() {
    let server = start().await;
    server.order().await;
    let mut events = Events::open(&server, "/api/v1/events", None).await;
    let id = server.order().await;
    let (sequence, entry) = events.next().await.unwrap();
    assert_eq!((sequence, entry["type"].as_str()), (2, Some("work.create")), "without `after`, from now on");
    assert_eq!((entry["entity_id"].as_str(), entry["sequence"].as_u64()), (Some(id.as_str()), Some(2)));
    let page = server.get("/api/v1/journal/entries?after=1&limit=1").by(MANAGER).send().await.json();
    assert_eq!(page["entries"][0], entry, "an event is the entry");
    drop(events);

    // Cut off while others write; each connection takes a few events only.
    let (mut last, mut seen) = (2, Vec::new());
    for round in 0..5 {
        for _ in 0..4 {
            server.order().await;
        }
        let path = if round % 2 == 0 { "/api/v1/events" } else { "/api/v1/events?after=1" };
        let mut events = Events::open(&server, path, Some(last)).await;
        for _ in 0..3 {
            let (sequence, _) = events.next().await.unwrap();
            seen.push(sequence);
            last = sequence;
        }
    }
    let mut events = Events::open(&server, &format!("/api/v1/events?after={last}"), None).await;
    while last < 22 {
        last = events.next().await.unwrap().0;
        seen.push(last);
    }
    assert_eq!(seen, (3..=22).collect::<Vec<_>>());
    server.stop().await;
}

#[tokio::test]
async fn a_stream_ends_with_the_right_to_read() {
    let server = start().await;
    let cookie = signed_in(&server).await;
    let mut of_key = Events::of(server.get("/api/v1/events").by(MANAGER)).await;
    let mut of_session = Events::of(server.get("/api/v1/events").header("cookie", &cookie)).await;
    let mut of_other = Events::of(server.get("/api/v1/events").by(WORKER)).await;
    let ended = from_own_page(&server, server.call(Method::DELETE, "/api/v1/session"), &cookie).send().await;
    assert_eq!(ended.status, 204);
    assert!(of_session.next().await.is_none(), "the session has ended");
    server.order().await;
    assert_eq!(of_key.next().await.unwrap().0, 1, "nobody else's stream ends with it");
    server.keys.reload(br#"{"keys": {"worker-key": "agent:worker", "new-key": "agent:manager"}}"#).unwrap();
    assert!(of_key.next().await.is_none(), "the key is known no longer");
    assert_eq!(of_other.next().await.unwrap().0, 1);
    server.order_to_review("human:ada").await;
    assert_eq!(of_other.next().await.unwrap().0, 2, "others read on");
    server.stop().await;
}

#[tokio::test]
async fn a_place_that_does_not_exist_is_refused() {
    let server = start().await;
    server.order().await;
    for (path, last) in [
        ("/api/v1/events?after=9", ""),
        ("/api/v1/events", "9"),
        ("/api/v1/events", "x"),
        ("/api/v1/events?from=1", ""),
    ] {
        let mut call = server.get(path).by(MANAGER);
        if !last.is_empty() {
            call = call.header("last-event-id", last);
        }
        call.send().await.is_problem(400, "BAD_REQUEST");
    }
    server.stop().await;
}

#[tokio::test]
async fn many_follow_at_once() {
    let server = start().await;
    let mut streams = Vec::new();
    for _ in 0..50 {
        streams.push(Events::open(&server, "/api/v1/events?after=0", None).await);
    }
    for _ in 0..3 {
        server.order().await;
    }
    for events in &mut streams {
        for expected in 1..=3 {
            assert_eq!(events.next().await.unwrap().0, expected);
        }
    }
    server.stop.cancel();
    for events in &mut streams {
        assert!(tokio::time::timeout(Duration::from_secs(2), events.next()).await.unwrap().is_none());
    }
    within_reason(server.task).await.unwrap().unwrap();
}
