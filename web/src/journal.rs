//! The journal: what happened, newest first, and its check in this browser.

use leptos::prelude::*;

use crate::page::Heading;

/// The page at `/journal`.
#[component]
pub(crate) fn JournalPage() -> impl IntoView {
    view! { <Heading title="Journal"/> }
}
