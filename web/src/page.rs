//! What every page owes its reader: a title, and a heading that gets the focus when one arrives.

use std::sync::atomic::{AtomicBool, Ordering};

use leptos::html::H1;
use leptos::prelude::*;

use crate::desk::Desk;

/// Whether a page has been shown before. The focus stays where the browser puts it on the first.
static ARRIVED: AtomicBool = AtomicBool::new(false);

/// The heading of a page. It names the browser's tab, with the count of what waits, and takes the focus after a change
/// of page, so that screen readers and keyboards go on from there.
#[component]
pub(crate) fn Heading(#[prop(into)] title: Signal<String>) -> impl IntoView {
    let desk = Desk::here();
    let heading = NodeRef::<H1>::new();
    Effect::new(move |_| document().set_title(&tab_title(&title.get(), desk.waiting.get())));
    Effect::new(move |_| {
        if let Some(heading) = heading.get()
            && ARRIVED.swap(true, Ordering::Relaxed)
        {
            let _ = heading.focus();
        }
    });
    view! { <h1 node_ref=heading tabindex="-1">{title}</h1> }
}

/// `(3) Inbox · Bailiwick`
fn tab_title(title: &str, waiting: Option<u64>) -> String {
    match waiting {
        Some(count) if count > 0 => format!("({count}) {title} · Bailiwick"),
        _ => format!("{title} · Bailiwick"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tab_counts_what_waits() {
        assert_eq!(tab_title("Inbox", Some(3)), "(3) Inbox · Bailiwick");
        assert_eq!(tab_title("Inbox", Some(0)), "Inbox · Bailiwick");
        assert_eq!(tab_title("Orders", None), "Orders · Bailiwick");
    }
}
