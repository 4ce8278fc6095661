//! Order.

use leptos::prelude::*;

use crate::page::Heading;

/// The page.
#[component]
pub(crate) fn OrderPage() -> impl IntoView {
    view! { <Heading title="Order"/> }
}
