//! Checking documents and journals without a server.

use leptos::prelude::*;

use crate::page::Heading;

/// The page at `/verify`.
#[component]
pub(crate) fn VerifyPage() -> impl IntoView {
    view! { <Heading title="Verify"/> }
}
