//! The dashboard.

use leptos::prelude::*;

fn main() {
    mount_to_body(|| view! { <main>"Bailiwick"</main> });
}
