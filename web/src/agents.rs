//! Agents.

use leptos::prelude::*;

use crate::page::Heading;

/// The page.
#[component]
pub(crate) fn AgentsPage() -> impl IntoView {
    view! { <Heading title="Agents"/> }
}
