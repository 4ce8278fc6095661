//! Orders.

use leptos::prelude::*;

use crate::page::Heading;

/// The page.
#[component]
pub(crate) fn OrdersPage() -> impl IntoView {
    view! { <Heading title="Orders"/> }
}
