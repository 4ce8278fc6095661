//! The filters of a page. They stand in its address, so that a filtered page can be kept, shared and gone back to.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use leptos_router::params::ParamsMap;

use crate::api::Path;

/// The filters of a page.
#[derive(Clone, Copy)]
pub(crate) struct Filters {
    page: &'static str,
    names: &'static [&'static str],
    query: Memo<ParamsMap>,
}

impl Filters {
    /// The filters of the page at a path, by the names they have in its address.
    pub(crate) fn of(page: &'static str, names: &'static [&'static str]) -> Self {
        Self { page, names, query: use_query_map() }
    }

    /// A filter's value; empty when it is not set.
    pub(crate) fn value(self, name: &str) -> String {
        self.query.with(|query| query.get(name)).unwrap_or_default()
    }

    /// Whether any filter is set.
    pub(crate) fn any(self) -> bool {
        self.names.iter().any(|name| !self.value(name).is_empty())
    }

    /// The page's address with one filter changed.
    pub(crate) fn address(self, changed: &str, value: &str) -> String {
        let with = |path: Path, name: &&'static str| {
            if *name == changed { path.with(name, value) } else { path.with(name, &self.value(name)) }
        };
        self.names.iter().fold(Path::new(self.page), with).into_text()
    }

    /// What to ask the desk for: a path with every filter, and how many items a page has.
    pub(crate) fn request(self, path: &'static str, limit: u32) -> Signal<String> {
        Signal::derive(move || {
            let with = |path: Path, name: &&'static str| path.with(name, &self.value(name));
            self.names.iter().fold(Path::new(path), with).with("limit", &limit.to_string()).into_text()
        })
    }

    /// A function that sets a filter. The address is replaced: typing leaves no trail of pages to go back through.
    pub(crate) fn setter(self, name: &'static str) -> impl Fn(String) + Clone + 'static {
        let navigate = use_navigate();
        move |value| {
            let options = NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
            navigate(&untrack(|| self.address(name, &value)), options);
        }
    }
}
