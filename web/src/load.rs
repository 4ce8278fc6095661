//! Something read from the desk that stays up to date.

use std::sync::Arc;

use bailiwick_core::json::Value;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{ApiError, segment};
use crate::desk::Desk;

/// The least time between two readings of the same thing, in milliseconds, however much happens.
const PAUSE_MS: u32 = 200;

/// An answer of the desk, read again whenever it may have changed.
///
/// While it is read again the old answer stays, so that nothing flickers; when reading fails, it stays too and the
/// error stands beside it.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// The last answer to the present question
    pub(crate) answer: RwSignal<Option<Arc<Value>>>,
    /// Why the last reading failed
    pub(crate) error: RwSignal<Option<ApiError>>,
    path: Signal<String>,
    again: RwSignal<u64>,
    running: StoredValue<bool>,
    stale: StoredValue<bool>,
    list: Option<List>,
}

/// An answer that comes in pages, read as one.
#[derive(Clone, Copy)]
pub(crate) struct List {
    /// The member that holds the items
    pub(crate) member: &'static str,
    /// How many pages are wanted
    pub(crate) pages: RwSignal<u32>,
}

impl Load {
    /// Reads a path, and again whenever the path or `changes` does. An empty path is not read.
    pub(crate) fn of(path: Signal<String>, changes: ReadSignal<u64>) -> Self {
        Self::start(path, changes, None)
    }

    /// Reads a list, as many pages as are wanted, into one answer.
    pub(crate) fn list(path: Signal<String>, list: List, changes: ReadSignal<u64>) -> Self {
        Self::start(path, changes, Some(list))
    }

    fn start(path: Signal<String>, changes: ReadSignal<u64>, list: Option<List>) -> Self {
        let load = Self {
            answer: RwSignal::new(None),
            error: RwSignal::new(None),
            path,
            again: RwSignal::new(0),
            running: StoredValue::new(false),
            stale: StoredValue::new(false),
            list,
        };
        let desk = Desk::here();
        Effect::new(move |before: Option<String>| {
            let path = path.get();
            changes.track();
            load.again.track();
            if let Some(list) = list {
                list.pages.track();
            }
            if before.is_some_and(|before| before != path) {
                load.error.set(None);
                load.answer.set(None);
            }
            load.stale.set_value(true);
            if !path.is_empty() && !load.running.get_value() {
                load.running.set_value(true);
                spawn_local(load.run(desk));
            }
            path
        });
        load
    }

    /// Reads it again now.
    pub(crate) fn reload(self) {
        self.again.update(|count| *count += 1);
    }

    /// Reads until nothing has changed since, or until the page that wanted it is gone.
    async fn run(self, desk: Desk) {
        while self.stale.try_get_value() == Some(true) {
            self.stale.set_value(false);
            let Some(path) = self.path.try_get_untracked().filter(|path| !path.is_empty()) else { break };
            let answer = self.read(desk, &path).await;
            match self.path.try_get_untracked() {
                None => return,
                Some(now) if now != path => {
                    self.stale.try_set_value(true);
                    continue;
                }
                Some(_) => self.keep(answer),
            }
            TimeoutFuture::new(PAUSE_MS).await;
        }
        self.running.try_set_value(false);
    }

    fn keep(self, answer: Result<Value, ApiError>) {
        match answer {
            Ok(value) => {
                self.error.try_set(None);
                let unchanged = self.answer.with_untracked(|old| old.as_ref().is_some_and(|old| **old == value));
                if !unchanged {
                    self.answer.try_set(Some(Arc::new(value)));
                }
            }
            Err(error) => {
                self.error.try_set(Some(error));
            }
        }
    }

    async fn read(self, desk: Desk, path: &str) -> Result<Value, ApiError> {
        let mut answer = desk.get(path).await?;
        let Some(list) = self.list else { return Ok(answer) };
        let mut items = taken(&mut answer, list.member);
        for _ in 1..list.pages.try_get_untracked().unwrap_or(1) {
            let Some(cursor) = answer.get("next_cursor").and_then(Value::as_str) else { break };
            let separator = if path.contains('?') { '&' } else { '?' };
            answer = desk.get(&format!("{path}{separator}cursor={}", segment(cursor))).await?;
            items.append(&mut taken(&mut answer, list.member));
        }
        if let Value::Object(object) = &mut answer {
            object.insert(list.member, items);
        }
        Ok(answer)
    }
}

/// Takes the items out of a page.
fn taken(page: &mut Value, member: &str) -> Vec<Value> {
    match page {
        Value::Object(object) => match object.remove(member) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
