//! Routes.

use leptos::prelude::*;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::agents::AgentsPage;
use crate::desk::Desk;
use crate::gate::Gate;
use crate::inbox::InboxPage;
use crate::journal::JournalPage;
use crate::missing::MissingPage;
use crate::new_order::NewOrderPage;
use crate::order::OrderPage;
use crate::orders::OrdersPage;
use crate::shell::Shell;
use crate::verify::VerifyPage;

/// Where this copy of the dashboard is served from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// By a desk, at the root of its address
    Desk,
    /// By any web server, in any folder: there is nobody to ask, and only the page that verifies
    Copy,
}

impl Place {
    /// The page of a desk has `/` as its base, a copy a relative one.
    fn here() -> Self {
        let base = document().query_selector("base").ok().flatten().and_then(|base| base.get_attribute("href"));
        if base.as_deref() == Some("/") { Self::Desk } else { Self::Copy }
    }
}

/// The dashboard.
#[component]
pub(crate) fn App() -> impl IntoView {
    match Place::here() {
        Place::Desk => view! { <Dashboard/> }.into_any(),
        // Wherever the copy is, it shows the one page, so its address needs no reading.
        Place::Copy => {
            Desk::provide();
            view! { <Router><Shell place=Place::Copy><VerifyPage/></Shell></Router> }.into_any()
        }
    }
}

#[component]
fn Dashboard() -> impl IntoView {
    Desk::provide().ask_session();
    view! {
        <Router>
            <Shell place=Place::Desk>
                <Routes fallback=|| view! { <MissingPage/> }.into_any()>
                    <Route path=path!("/") view=|| gated(|| view! { <InboxPage/> }.into_any())/>
                    <Route path=path!("/orders") view=|| gated(|| view! { <OrdersPage/> }.into_any())/>
                    <Route path=path!("/orders/:id") view=|| gated(|| view! { <OrderPage/> }.into_any())/>
                    <Route path=path!("/new") view=|| gated(|| view! { <NewOrderPage/> }.into_any())/>
                    <Route path=path!("/agents") view=|| gated(|| view! { <AgentsPage/> }.into_any())/>
                    <Route path=path!("/journal") view=|| gated(|| view! { <JournalPage/> }.into_any())/>
                    <Route path=path!("/verify") view=|| view! { <VerifyPage/> }.into_any()/>
                </Routes>
            </Shell>
        </Router>
    }
}

/// A page for whoever is signed in.
fn gated(page: fn() -> AnyView) -> AnyView {
    view! { <Gate page/> }.into_any()
}
