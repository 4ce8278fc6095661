//! Times relative to now.

use bailiwick_core::time::{self, Millis};
use leptos::prelude::*;

use crate::clock;
use crate::desk::Desk;
use crate::parts::live;

/// How close a deadline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// It has passed
    Overdue,
    /// Less than an hour is left
    Urgent,
    /// Less than a day is left
    Soon,
    /// There is time
    Calm,
}

/// How far the time on the page may be behind: what has only just happened is not yet to come.
const LAG: i64 = 15_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Urgency {
    /// How urgent a deadline is at a time.
    pub(crate) fn of(due: Millis, now: Millis) -> Self {
        match due.millis_since(now) {
            left if left <= 0 => Self::Overdue,
            left if left < HOUR => Self::Urgent,
            left if left < DAY => Self::Soon,
            _ => Self::Calm,
        }
    }

    /// The word that marks it; none when there is time.
    pub(crate) const fn word(self) -> Option<&'static str> {
        match self {
            Self::Overdue => Some("Overdue"),
            Self::Urgent => Some("Urgent"),
            Self::Soon => Some("Today"),
            Self::Calm => None,
        }
    }
}

/// An instant seen from now: `in 5 minutes`, `3 days ago`, `just now`. Rounded down, so that a deadline never seems
/// further away than it is.
pub(crate) fn relative(at: Millis, now: Millis) -> String {
    let distance = at.millis_since(now);
    let span = distance.abs();
    let (count, unit) = match span {
        _ if span < MINUTE => return if distance > LAG { "in less than a minute".into() } else { "just now".into() },
        _ if span < HOUR => (span / MINUTE, "minute"),
        _ if span < DAY => (span / HOUR, "hour"),
        _ if span < 60 * DAY => (span / DAY, "day"),
        _ if span < 730 * DAY => (span / (30 * DAY), "month"),
        _ => (span / (365 * DAY), "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    if distance > 0 { format!("in {count} {unit}{plural}") } else { format!("{count} {unit}{plural} ago") }
}

/// A timestamp: relative, with the exact time for whoever points at it.
#[component]
pub(crate) fn When(#[prop(into)] at: String) -> impl IntoView {
    let desk = Desk::here();
    match time::instant(&at) {
        None => view! { <span>{at}</span> }.into_any(),
        Some(instant) => view! {
            <time datetime=at title=clock::local(instant)>{live(move || relative(instant, desk.now.get()))}</time>
        }
        .into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> String {
        relative(Millis(millis), Millis(0))
    }

    #[test]
    fn times_are_told_in_their_largest_unit_rounded_down() {
        assert_eq!(at(0), "just now");
        assert_eq!(at(-59_999), "just now");
        assert_eq!(at(LAG), "just now");
        assert_eq!(at(59_999), "in less than a minute");
        assert_eq!(at(MINUTE), "in 1 minute");
        assert_eq!(at(2 * HOUR - 1), "in 1 hour");
        assert_eq!(at(-3 * DAY), "3 days ago");
        assert_eq!(at(59 * DAY), "in 59 days");
        assert_eq!(at(90 * DAY), "in 3 months");
        assert_eq!(at(-800 * DAY), "2 years ago");
    }

    #[test]
    fn urgency_changes_at_its_borders() {
        let of = |left| Urgency::of(Millis(left), Millis(0));
        assert_eq!(of(0), Urgency::Overdue);
        assert_eq!(of(1), Urgency::Urgent);
        assert_eq!(of(HOUR), Urgency::Soon);
        assert_eq!(of(DAY), Urgency::Calm);
        assert_eq!(of(DAY).word(), None);
    }
}
