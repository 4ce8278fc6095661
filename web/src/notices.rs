//! Short messages at the edge of the page, read out by screen readers.

use std::time::Duration;

use crate::parts::live;
use leptos::prelude::*;

/// How long a message stays.
const SHOWN: Duration = Duration::from_secs(8);

/// What is being said right now.
#[derive(Clone, Copy)]
pub(crate) struct Notices {
    said: RwSignal<Option<Notice>>,
}

#[derive(Clone, PartialEq)]
struct Notice {
    number: u32,
    text: String,
}

impl Notices {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self { said: RwSignal::new(None) }
    }

    /// Says something; it takes the place of whatever was said before.
    pub(crate) fn say(self, text: impl Into<String>) {
        let number = self.said.with_untracked(|notice| notice.as_ref().map_or(0, |notice| notice.number)) + 1;
        self.said.set(Some(Notice { number, text: text.into() }));
        let expire = move || {
            if self.said.with_untracked(|notice| notice.as_ref().is_some_and(|notice| notice.number == number)) {
                self.said.set(None);
            }
        };
        set_timeout(expire, SHOWN);
    }
}

/// The place where messages appear. It is there from the start: screen readers announce only what changes in a region
/// that they know.
#[component]
pub(crate) fn NoticeRegion(notices: Notices) -> impl IntoView {
    let dismiss = move |_| notices.said.set(None);
    view! {
        <div class="notices" role="status" aria-live="polite" aria-atomic="true">
            {live(move || notices.said.get().map(|notice| view! {
                <div class="toast">
                    <p>{notice.text}</p>
                    <button type="button" class="button quiet" aria-label="Dismiss message" on:click=dismiss>"×"</button>
                </div>
            }))}
        </div>
    }
}
