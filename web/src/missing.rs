//! An address that leads nowhere.

use leptos::prelude::*;

use crate::page::Heading;

/// The page for every other address.
#[component]
pub(crate) fn MissingPage() -> impl IntoView {
    view! {
        <div class="gate">
            <Heading title="No such page"/>
            <p>"Nothing is at this address. The link may be old or cut short."</p>
            <ul>
                <li><a href="./">"Inbox"</a>": what waits for you"</li>
                <li><a href="orders">"Orders"</a>": every order, and a field to open one by its id"</li>
                <li><a href="verify">"Verify"</a>": check a file in this browser"</li>
            </ul>
        </div>
    }
}
