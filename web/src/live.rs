//! The journal as it grows: one stream of server-sent events per page.
//!
//! A stream that breaks is opened again here rather than by the browser, which gives up for good when a starting
//! server answers with an error. It goes on after the last sequence that was seen, so nothing is missed. When the
//! journal is another one than before, everything is read anew.

use bailiwick_core::json::{Limits, Value, parse};
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use crate::api;
use crate::desk::Desk;

/// Whether the page hears of what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    /// Nobody is signed in, or the stream has not been opened yet
    Closed,
    /// The first attempt is under way
    Opening,
    /// It hears of everything
    Open,
    /// It has lost the desk and keeps trying
    Lost,
    /// The caller may not follow the journal
    Refused,
}

/// The longest wait between two attempts, in milliseconds.
const MOST_WAIT_MS: u32 = 8_000;
/// The first wait, in milliseconds. A server that is restarted is back within moments.
const LEAST_WAIT_MS: u32 = 500;

type Follower = Box<dyn Fn(Option<&Value>)>;

/// The stream.
#[derive(Clone, Copy)]
pub(crate) struct Live {
    /// Whether it is open
    pub(crate) connection: RwSignal<Connection>,
    /// The last sequence that was seen; 0 before the first
    pub(crate) sequence: RwSignal<u64>,
    followers: StoredValue<Vec<(u64, Follower)>, LocalStorage>,
    stream: StoredValue<Option<Stream>, LocalStorage>,
    /// Counts the followers, to tell them apart.
    followed: StoredValue<u64>,
    /// Counts the streams, so that one that was given up cannot speak any more.
    number: StoredValue<u64>,
    wait_ms: StoredValue<u32>,
}

/// An open stream with what listens to it; dropping it closes it.
struct Stream {
    source: EventSource,
    _opened: Closure<dyn FnMut(Event)>,
    _entry: Closure<dyn FnMut(MessageEvent)>,
    _broken: Closure<dyn FnMut(Event)>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.source.set_onopen(None);
        self.source.set_onmessage(None);
        self.source.set_onerror(None);
        self.source.close();
    }
}

impl Live {
    /// Not connected yet.
    pub(crate) fn new() -> Self {
        Self {
            connection: RwSignal::new(Connection::Closed),
            sequence: RwSignal::new(0),
            followers: StoredValue::new_local(Vec::new()),
            stream: StoredValue::new_local(None),
            followed: StoredValue::new(0),
            number: StoredValue::new(0),
            wait_ms: StoredValue::new(LEAST_WAIT_MS),
        }
    }

    /// Calls back for each entry until the caller's owner is gone. `None` means: entries may have been missed, read
    /// anew.
    pub(crate) fn on_entry(self, follower: impl Fn(Option<&Value>) + 'static) {
        let number = counted_up(self.followed);
        self.followers.update_value(|followers| followers.push((number, Box::new(follower))));
        on_cleanup(move || {
            self.followers.try_update_value(|followers| followers.retain(|(other, _)| *other != number));
        });
    }

    /// A count that rises with every entry that concerns the caller, and whenever entries may have been missed.
    pub(crate) fn changes(self, concerns: impl Fn(&Value) -> bool + 'static) -> ReadSignal<u64> {
        let (count, set_count) = signal(0_u64);
        self.on_entry(move |entry| {
            if entry.is_none_or(&concerns) {
                let _ = set_count.try_update(|count| *count += 1);
            }
        });
        count
    }

    /// Opens the stream unless it is open.
    pub(crate) fn connect(self, desk: Desk) {
        if matches!(self.connection.get_untracked(), Connection::Closed) {
            self.connection.set(Connection::Opening);
            self.open(desk);
        }
    }

    /// Tries at once what would be tried later.
    pub(crate) fn retry(self, desk: Desk) {
        if self.connection.get_untracked() == Connection::Lost {
            self.wait_ms.set_value(LEAST_WAIT_MS);
            self.reopen(desk);
        }
    }

    /// Ends the stream.
    pub(crate) fn close(self) {
        self.next_number();
        self.stream.set_value(None);
        self.connection.set(Connection::Closed);
    }

    fn next_number(self) -> u64 {
        counted_up(self.number)
    }

    fn open(self, desk: Desk) {
        let number = self.next_number();
        let after = self.sequence.get_untracked();
        let address = match after {
            0 => format!("{}events", api::ROOT),
            after => format!("{}events?after={after}", api::ROOT),
        };
        let Ok(source) = EventSource::new(&address) else { return self.lost(desk, number) };
        let opened = Closure::<dyn FnMut(Event)>::new(move |_| self.opened(number));
        let entry = Closure::<dyn FnMut(MessageEvent)>::new(move |event| self.heard(number, &event));
        let broken = Closure::<dyn FnMut(Event)>::new(move |_| self.lost(desk, number));
        source.set_onopen(Some(opened.as_ref().unchecked_ref()));
        source.set_onmessage(Some(entry.as_ref().unchecked_ref()));
        source.set_onerror(Some(broken.as_ref().unchecked_ref()));
        self.stream.set_value(Some(Stream { source, _opened: opened, _entry: entry, _broken: broken }));
    }

    fn is_current(self, number: u64) -> bool {
        self.number.get_value() == number
    }

    fn opened(self, number: u64) {
        if !self.is_current(number) {
            return;
        }
        let was_lost = self.connection.get_untracked() == Connection::Lost;
        self.wait_ms.set_value(LEAST_WAIT_MS);
        self.connection.set(Connection::Open);
        // Without a sequence to go on after, whatever happened since the page was read is missing.
        if was_lost || self.sequence.get_untracked() == 0 {
            self.tell(None);
        }
    }

    fn heard(self, number: u64, event: &MessageEvent) {
        let Some(text) = event.data().as_string().filter(|_| self.is_current(number)) else { return };
        let Ok(entry) = parse(text.as_bytes(), &Limits::JOURNAL) else { return };
        if let Some(sequence) = entry.get("sequence").and_then(|n| n.as_number()?.to_u64()) {
            self.sequence.set(sequence);
        }
        self.tell(Some(&entry));
    }

    fn tell(self, entry: Option<&Value>) {
        self.followers.with_value(|followers| {
            for (_, follower) in followers {
                follower(entry);
            }
        });
    }

    /// The stream broke: says so and tries again after a while, longer each time.
    fn lost(self, desk: Desk, number: u64) {
        if !self.is_current(number) {
            return;
        }
        let waiting = self.next_number();
        self.stream.set_value(None);
        self.connection.set(Connection::Lost);
        let wait_ms = self.wait_ms.get_value();
        self.wait_ms.set_value((wait_ms * 2).min(MOST_WAIT_MS));
        spawn_local(async move {
            gloo_timers::future::TimeoutFuture::new(wait_ms).await;
            if self.is_current(waiting) {
                self.reopen(desk);
            }
        });
    }

    /// Asks first whether the desk is back and the session still good: a stream that fails does not say why.
    fn reopen(self, desk: Desk) {
        let number = self.next_number();
        spawn_local(async move {
            match desk.get("journal/head").await {
                Ok(head) if self.is_current(number) => {
                    let sequence = head.get("sequence").and_then(|n| n.as_number()?.to_u64()).unwrap_or(0);
                    if sequence < self.sequence.get_untracked() {
                        // Another journal: there is nothing to go on from.
                        self.sequence.set(0);
                    }
                    self.open(desk);
                }
                Err(error) if error.code() == Some("FORBIDDEN") => self.connection.set(Connection::Refused),
                Err(error) if !error.is_signed_out() => self.lost(desk, number),
                Ok(_) | Err(_) => {}
            }
        });
    }
}

fn counted_up(counter: StoredValue<u64>) -> u64 {
    counter
        .try_update_value(|count| {
            *count += 1;
            *count
        })
        .unwrap_or_default()
}
