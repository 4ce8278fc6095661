//! Pieces of a page that follow the signals they read, made small.
//!
//! A closure in a view, and one in a memo, has a type of its own, and the framework's code is compiled for each of them
//! again. Behind a pointer they are all of one type. With some hundred of them that is a fifth of what a browser has to
//! load.

use std::sync::Arc;

use bailiwick_core::json::Value;
use leptos::prelude::*;

/// A piece of a page that is drawn again whenever a signal that it read has changed.
pub(crate) fn live<V: IntoView + 'static>(mut piece: impl FnMut() -> V + Send + 'static) -> AnyView {
    let piece: Box<dyn FnMut() -> AnyView + Send> = Box::new(move || piece().into_any());
    piece.into_any()
}

/// A value that is worked out again whenever a signal that it read has changed; who reads it hears only of real changes.
pub(crate) fn memo<T>(value: impl Fn() -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    let value: Box<dyn Fn() -> T + Send + Sync> = Box::new(value);
    Memo::new(move |_| value())
}

/// A list whose rows stay where they are, with the focus in them, as long as their key does.
pub(crate) fn keyed(
    rows: Signal<Vec<Value>>,
    key: fn(&Value) -> String,
    row: impl Fn(Value) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let row: Arc<dyn Fn(Value) -> AnyView + Send + Sync> = Arc::new(row);
    view! { <For each=move || rows.get() key=key children=move |value| row(value)/> }.into_any()
}
