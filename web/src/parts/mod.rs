//! The small things that pages are made of.

mod command;
mod fault;
mod filters;
mod focus;
mod json;
mod live;
mod logo;
mod more;
mod state;
mod unit;

pub(crate) use command::{Command, Copy};
pub(crate) use fault::{Empty, Fault};
pub(crate) use filters::Filters;
pub(crate) use focus::focus;
pub(crate) use json::Json;
pub(crate) use live::{keyed, live, memo};
pub(crate) use logo::Logo;
pub(crate) use more::More;
pub(crate) use state::{StateBadge, state_words};
pub(crate) use unit::{amount_words, unit_words};
