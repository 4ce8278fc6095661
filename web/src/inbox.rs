//! Inbox.

use leptos::prelude::*;

use crate::page::Heading;

/// The page.
#[component]
pub(crate) fn InboxPage() -> impl IntoView {
    view! { <Heading title="Inbox"/> }
}
