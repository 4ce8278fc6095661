//! New order.

use leptos::prelude::*;

use crate::page::Heading;

/// The page.
#[component]
pub(crate) fn NewOrderPage() -> impl IntoView {
    view! { <Heading title="New order"/> }
}
