//! What stands before every page that shows something of the desk.

use leptos::prelude::*;

use crate::desk::Desk;
use crate::page::Heading;
use crate::parts::{Command, live, memo};
use crate::session::Session;

/// The page for whoever is signed in; for everybody else, how to sign in.
#[component]
pub(crate) fn Gate(page: fn() -> AnyView) -> impl IntoView {
    let desk = Desk::here();
    // The page is built once per caller, not with every answer about the session.
    let state = memo(move || desk.session.get());
    live(move || match state.get() {
        Session::Asking => view! { <p class="quiet" aria-busy="true">"Asking the desk who you are…"</p> }.into_any(),
        Session::SignedOut => view! { <SignedOut/> }.into_any(),
        Session::Unknown => view! { <NoAnswer/> }.into_any(),
        Session::SignedIn(_) => page(),
    })
}

#[component]
fn SignedOut() -> impl IntoView {
    view! {
        <div class="gate">
            <Heading title="Sign in"/>
            <p>"This desk shows its work to people it knows. You sign in with a link that works once."</p>
            <h2>"Where the link comes from"</h2>
            <p>"The server prints one when it starts:"</p>
            <Command text="bailiwick serve"/>
            <p>"Used it already, or closed the window? On the machine where the server runs, this prints another:"</p>
            <Command text="bailiwick sign-in"/>
            <p class="quiet">
                "Open the link in this browser. It sets a cookie that only this desk can read, and signs you in as its operator."
            </p>
            <h2>"Only want to check a file?"</h2>
            <p>
                <a href="verify">"Verify"</a>
                " needs no sign-in: orders, reports and journal exports are checked in this browser and go nowhere."
            </p>
        </div>
    }
}

#[component]
fn NoAnswer() -> impl IntoView {
    let desk = Desk::here();
    view! {
        <div class="gate">
            <Heading title="The desk does not answer"/>
            <p>"This page is here, but the server behind it is not. It may be stopped or starting, or the network is down."</p>
            <p>"If it runs on your machine, start it again; it goes on where it was:"</p>
            <Command text="bailiwick serve"/>
            <button type="button" class="button primary" on:click=move |_| desk.ask_session()>"Try again"</button>
        </div>
    }
}
