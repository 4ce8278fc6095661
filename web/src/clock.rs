//! The browser's clock, and how it writes times.

use std::time::Duration;

use bailiwick_core::time::Millis;
use js_sys::{Date, Object, Reflect};
use leptos::prelude::*;
use wasm_bindgen::JsValue;

/// How often relative times are written anew.
const TICK: Duration = Duration::from_secs(10);

/// The time now.
pub(crate) fn now() -> Millis {
    millis(Date::now())
}

/// The time as a signal that moves on by itself.
pub(crate) fn ticking() -> ReadSignal<Millis> {
    let (time, set_time) = signal(now());
    // It ticks as long as the page lives, so nobody needs the handle that would stop it.
    let _ = set_interval_with_handle(move || set_time.set(now()), TICK);
    time
}

/// An instant as people write it where the reader is, to the minute, with the zone.
pub(crate) fn local(at: Millis) -> String {
    let options = Object::new();
    for (name, value) in [("dateStyle", "medium"), ("timeStyle", "short")] {
        let _ = Reflect::set(&options, &name.into(), &value.into());
    }
    date(at).to_locale_string("default", &options).into()
}

/// An instant as `<input type="datetime-local">` takes it: local time without a zone.
pub(crate) fn to_input(at: Millis) -> String {
    let date = date(at);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}",
        date.get_full_year(),
        date.get_month() + 1,
        date.get_date(),
        date.get_hours(),
        date.get_minutes()
    )
}

/// The instant that such an input names; `None` while it is incomplete.
pub(crate) fn from_input(text: &str) -> Option<Millis> {
    let value = Date::new(&JsValue::from_str(text)).get_time();
    value.is_finite().then(|| millis(value))
}

#[expect(clippy::cast_precision_loss, reason = "dates of the next 280,000 years are exact in a double")]
fn date(at: Millis) -> Date {
    Date::new(&JsValue::from_f64(at.0 as f64))
}

#[expect(clippy::cast_possible_truncation, reason = "JavaScript's dates are whole and within 8.64e15")]
fn millis(value: f64) -> Millis {
    Millis(value as i64)
}
