//! The dashboard: where people decide, and where anyone can check.
//!
//! It runs in the browser and talks to the desk over `/api/v1` alone. The rules it shows come from `core`, compiled
//! into this page, so a verdict here is the server's verdict from the same code.
//!
//! - `app`, `shell`, `page`: routes, what surrounds every page, and what a page owes its reader
//! - `api`, `session`, `live`, `load`: talking with the desk
//! - `parts`: the small things pages are made of
//! - `inbox`, `orders`, `order`, `new_order`, `agents`, `journal`, `verify`: the pages

// The macro for components makes a public structure of each one's properties.
#![allow(unreachable_pub)]

mod agents;
mod api;
mod app;
mod clock;
mod desk;
mod document;
mod engine;
mod focus;
mod gate;
mod inbox;
mod journal;
mod live;
mod load;
mod missing;
mod new_order;
mod notices;
mod order;
mod orders;
mod page;
mod parts;
mod session;
mod shell;
mod verify;
mod when;

fn main() {
    leptos::mount::mount_to_body(app::App);
}
