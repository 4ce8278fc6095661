//! The small things that pages are made of.

mod command;
mod fault;
mod json;
mod logo;
mod state;

pub(crate) use command::{Command, Copy};
pub(crate) use fault::{Empty, Fault};
pub(crate) use json::Json;
pub(crate) use logo::Logo;
pub(crate) use state::{StateBadge, state_words};
