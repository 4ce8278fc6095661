//! What surrounds every page: header, navigation, the state of the connection, messages.

use bailiwick_core::json::Value;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use wasm_bindgen::JsCast;

use crate::app::Place;
use crate::desk::Desk;
use crate::live::Connection;
use crate::load::Load;
use crate::notices::NoticeRegion;
use crate::parts::{Logo, live, memo};
use crate::session::Mode;

/// The pages that the header leads to.
const PAGES: [(&str, &str); 5] =
    [("/", "Inbox"), ("/orders", "Orders"), ("/agents", "Agents"), ("/journal", "Journal"), ("/verify", "Verify")];

/// The page around a page.
#[component]
pub(crate) fn Shell(place: Place, children: Children) -> impl IntoView {
    let desk = Desk::here();
    let skip = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        let main = document().get_element_by_id("main").and_then(|main| main.dyn_into::<web_sys::HtmlElement>().ok());
        if let Some(main) = main {
            let _ = main.focus();
        }
    };
    view! {
        <a class="skip" href="#main" on:click=skip>"Skip to the content"</a>
        <header class="header">
            {match place {
                Place::Desk => view! { <DeskHeader/> }.into_any(),
                Place::Copy => view! { <span class="brand"><Logo/>"Bailiwick"</span> }.into_any(),
            }}
        </header>
        <main id="main" tabindex="-1">{children()}</main>
        <NoticeRegion notices=desk.notices/>
    }
}

#[component]
fn DeskHeader() -> impl IntoView {
    let desk = Desk::here();
    let signed_in = memo(move || desk.session.with(|session| session.caller().is_some()));
    view! {
        <a class="brand" href="/"><Logo/>"Bailiwick"</a>
        {live(move || if signed_in.get() { view! { <SignedInHeader/> }.into_any() } else { ().into_any() })}
    }
}

#[component]
fn SignedInHeader() -> impl IntoView {
    count_waiting();
    view! {
        <nav class="nav" aria-label="Main">
            <ul>{PAGES.into_iter().map(|(path, name)| view! { <NavItem path name/> }).collect_view()}</ul>
        </nav>
        <div class="header-end">
            <a class="button primary" href="/new">"New order"</a>
            <ConnectionState/>
            <Account/>
        </div>
        <OpenModeNote/>
    }
}

#[component]
fn NavItem(path: &'static str, name: &'static str) -> impl IntoView {
    let desk = Desk::here();
    let location = use_location();
    let current = memo(move || {
        let here = location.pathname.get();
        here == path || (path != "/" && here.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    });
    let count = move || {
        let waiting = desk.waiting.get().filter(|count| path == "/" && *count > 0)?;
        Some(view! {
            " "
            <span class="count">{waiting}<span class="visually-hidden">" waiting"</span></span>
        })
    };
    view! { <li><a href=path aria-current=move || current.get().then_some("page")>{name}{count}</a></li> }
}

/// Keeps the count of what waits for the caller.
fn count_waiting() {
    let desk = Desk::here();
    let changes = desk.live.changes(|_| true);
    let inbox = Load::of(Signal::stored("inbox?limit=1".to_string()), changes);
    Effect::new(move |_| {
        if let Some(answer) = inbox.answer.get() {
            desk.waiting.set(Some(counted(&answer)));
        }
    });
}

/// The sum of an inbox's counts.
fn counted(inbox: &Value) -> u64 {
    let counts = inbox.get("counts").and_then(Value::as_object);
    counts.map_or(0, |counts| counts.iter().filter_map(|(_, count)| count.as_number()?.to_u64()).sum())
}

#[component]
fn ConnectionState() -> impl IntoView {
    let desk = Desk::here();
    let state = move || match desk.live.connection.get() {
        Connection::Closed | Connection::Opening => {
            view! { <span class="connection opening">"Connecting…"</span> }.into_any()
        }
        Connection::Open => {
            let title = "This page hears of every step as it happens";
            view! { <span class="connection open" title=title>"Live"</span> }.into_any()
        }
        Connection::Refused => {
            let title = "You may not follow the journal of this desk. Reload the page to see what is new";
            view! { <span class="connection" title=title>"Not live"</span> }.into_any()
        }
        Connection::Lost => view! {
            <span class="connection lost">"Connection lost, trying again…"</span>
            <button type="button" class="button small" on:click=move |_| desk.live.retry(desk)>"Try now"</button>
        }
        .into_any(),
    };
    view! { <div class="connection-state" role="status">{state}</div> }
}

#[component]
fn Account() -> impl IntoView {
    let desk = Desk::here();
    view! {
        <div class="account">
            <span class="id" title=move || account_title(desk)>{live(move || desk.caller_id())}</span>
            <button type="button" class="button small" on:click=move |_| desk.sign_out()>"Sign out"</button>
        </div>
    }
}

fn account_title(desk: Desk) -> String {
    desk.session.with(|session| {
        let Some(caller) = session.caller() else { return String::new() };
        format!("Signed in to workspace {} · Bailiwick {}", caller.workspace, caller.version)
    })
}

#[component]
fn OpenModeNote() -> impl IntoView {
    let desk = Desk::here();
    let open = move || desk.session.with(|session| session.caller().is_some_and(|caller| caller.mode == Mode::Open));
    live(move || {
        open().then(|| {
            view! {
                <p class="ribbon">
                    "Open mode: agents say who they are and are believed. Fine for trying out; start the server with "
                    <code>"--keys"</code>" for more than that."
                </p>
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[test]
    fn counts_add_up() {
        let inbox = parse(br#"{"items":[],"counts":{"review":2,"answer":1}}"#, &Limits::DOCUMENT).unwrap();
        assert_eq!(counted(&inbox), 3);
        assert_eq!(counted(&Value::Null), 0);
    }
}
