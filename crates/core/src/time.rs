//! Timestamps and instants.
//!
//! Two questions, which disagree in corner cases on purpose (`spec work-orders §4`): whether a text *is* a timestamp
//! ([`is_timestamp`]), and which instant it names ([`instant`]). A leap second is a timestamp, but no known instant.

use alloc::string::{String, ToString};
use core::fmt;
use core::ops::RangeInclusive;

/// An instant: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// The first instant that [`format`] can write: the start of year 0000.
    pub const FIRST: Self = Self(-62_167_219_200_000);
    /// The last instant that [`format`] can write: the end of year 9999.
    pub const LAST: Self = Self(253_402_300_799_999);

    /// So many seconds later, or earlier if negative; `None` if no instant is that far away.
    pub const fn checked_add_seconds(self, seconds: i64) -> Option<Self> {
        match seconds.checked_mul(1000) {
            Some(millis) => self.checked_add_millis(millis),
            None => None,
        }
    }

    /// So many milliseconds later, or earlier if negative; `None` if no instant is that far away.
    pub const fn checked_add_millis(self, millis: i64) -> Option<Self> {
        match self.0.checked_add(millis) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// So many seconds later, or the last instant there is.
    #[must_use]
    pub const fn saturating_add_seconds(self, seconds: u64) -> Self {
        Self(self.0.saturating_add_unsigned(seconds.saturating_mul(1000)))
    }

    /// Milliseconds from `earlier` to here, negative if it is later.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Millis {
    /// As [`format`] writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: u64 = 86_400_000;
        let since_first = (*self).clamp(Self::FIRST, Self::LAST).0.abs_diff(Self::FIRST.0);
        let (day_number, of_day) = (since_first / DAY, since_first % DAY);
        let date = u32::try_from(day_number).ok().and_then(Date::from_day_number).ok_or(fmt::Error)?;
        let Date { year, month, day } = date;
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let (second, milli) = (of_day / 1000 % 60, of_day % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

/// The instant as the desk writes timestamps: `2026-01-01T09:00:00.000Z` (`spec work-orders §4.2`).
///
/// Instants outside the years 0000 to 9999 are moved to the nearest end of them.
pub fn format(instant: Millis) -> String {
    instant.to_string()
}

/// Whether the text is a date: `YYYY-MM-DD`, one that the Gregorian calendar has (`spec work-orders §4.1`).
pub fn is_date(text: &str) -> bool {
    Date::parse(text).is_some()
}

/// Whether the text is a timestamp (`spec work-orders §4.1`).
///
/// Date and time of day are divided by one `T`, `t` or white space of any kind. The zone must be there. Leap seconds
/// pass where UTC may have them.
pub fn is_timestamp(text: &str) -> bool {
    Timestamp::parse(text).is_some_and(|timestamp| timestamp.clock.is_usual() || timestamp.clock.may_be_leap_second())
}

/// The instant that a timestamp names, or `None` if that is not known (`spec work-orders §4.2`).
///
/// Digits of the fraction beyond the third are cut off. Not known: whatever is no timestamp, leap seconds, and
/// timestamps with a separator other than `T`, `t` or a plain space, or an offset of hours alone.
pub fn instant(text: &str) -> Option<Millis> {
    let Timestamp { date, separator, clock } = Timestamp::parse(text)?;
    if !clock.is_usual() || clock.zone.hours_alone || !matches!(separator, 'T' | 't' | ' ') {
        return None;
    }
    let days = i64::from(date.day_number()).checked_sub(EPOCH_DAY.into())?;
    let minutes = days.checked_mul(1440)?.checked_add(clock.minutes_since_midnight_utc())?;
    let seconds = minutes.checked_mul(60)?.checked_add(clock.second.into())?;
    seconds.checked_mul(1000)?.checked_add(clock.millis.into()).map(Millis)
}

/// The parts of a text that has the shape of a timestamp. The clock may still show what no clock shows.
struct Timestamp {
    date: Date,
    separator: char,
    clock: Clock,
}

impl Timestamp {
    fn parse(text: &str) -> Option<Self> {
        let is_separator = |c: char| matches!(c, 'T' | 't') || c.is_whitespace();
        let (date, rest) = text.split_once(is_separator)?;
        let separator = text.get(date.len()..)?.chars().next()?;
        if rest.contains(is_separator) {
            return None;
        }
        Some(Self { date: Date::parse(date)?, separator, clock: Clock::parse(rest)? })
    }
}

/// A day of the Gregorian calendar, years 0000 to 9999.
struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// 1970-01-01, counted from 0000-01-01.
const EPOCH_DAY: u32 = 719_528;

impl Date {
    fn parse(text: &str) -> Option<Self> {
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
        let year = u16::from(two_digits(*y1, *y2)?).checked_mul(100)?.checked_add(two_digits(*y3, *y4)?.into())?;
        let (month, day) = (two_digits(*m1, *m2)?, two_digits(*d1, *d2)?);
        (1..=days_in_month(year, month)?).contains(&day).then_some(Self { year, month, day })
    }

    /// Days from 0000-01-01 to this day.
    fn day_number(&self) -> u32 {
        let before_month: u32 =
            (1..self.month).filter_map(|month| days_in_month(self.year, month)).map(u32::from).sum();
        days_before(self.year).wrapping_add(before_month).wrapping_add(self.day.into()).wrapping_sub(1)
    }

    /// The day so many days after 0000-01-01; `None` after 9999-12-31.
    fn from_day_number(number: u32) -> Option<Self> {
        const DAYS_IN_400_YEARS: u64 = 146_097;
        // The mean year leads to the right year or to one beside it.
        let near = u16::try_from(u64::from(number).checked_mul(400)? / DAYS_IN_400_YEARS).ok()?;
        let years = near.saturating_sub(1)..=near.checked_add(1)?;
        let year = years.rev().find(|year| days_before(*year) <= number).filter(|year| *year <= 9999)?;
        let mut rest = number.checked_sub(days_before(year))?;
        let mut month = 1;
        loop {
            let days = days_in_month(year, month)?;
            match rest.checked_sub(days.into()) {
                Some(after) => (rest, month) = (after, month.checked_add(1)?),
                None => return Some(Self { year, month, day: u8::try_from(rest).ok()?.checked_add(1)? }),
            }
        }
    }
}

/// Days from 0000-01-01 to the first day of a year. No year is too far for it.
fn days_before(year: u16) -> u32 {
    let every = |years: u16| u32::from(year.div_ceil(years));
    let leap_days = every(4).wrapping_sub(every(100)).wrapping_add(every(400));
    u32::from(year).wrapping_mul(365).wrapping_add(leap_days)
}

/// The days of a month; `None` if there is no such month.
const fn days_in_month(year: u16, month: u8) -> Option<u8> {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 if is_leap_year(year) => Some(29),
        2 => Some(28),
        _ => None,
    }
}

const fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// A time of day with its zone.
struct Clock {
    hour: u8,
    minute: u8,
    second: u8,
    /// Digits beyond the third are cut off
    millis: u16,
    zone: Zone,
}

impl Clock {
    /// `HH:MM:SS`, a fraction perhaps, and a zone.
    fn parse(text: &str) -> Option<Self> {
        let (clock, rest) = text.as_bytes().split_first_chunk::<8>()?;
        let [h1, h2, b':', m1, m2, b':', s1, s2] = *clock else { return None };
        let (millis, zone) = match rest {
            [b'.', fraction @ ..] => {
                let len = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (fraction, zone) = fraction.split_at_checked(len)?;
                (millis_of_fraction(fraction)?, zone)
            }
            zone => (0, zone),
        };
        Some(Self {
            hour: two_digits(h1, h2)?,
            minute: two_digits(m1, m2)?,
            second: two_digits(s1, s2)?,
            millis,
            zone: Zone::parse(zone)?,
        })
    }

    /// Whether a clock can show this on any day.
    fn is_usual(&self) -> bool {
        self.hour <= 23 && self.minute <= 59 && self.second < 60
    }

    /// The second test of §4.1, which is tried when the first fails. It looks for 23:59:60 in UTC and lets a few
    /// things through that are none, such as `24:59:30+01:00`.
    fn may_be_leap_second(&self) -> bool {
        let Zone { sign, hours, minutes, .. } = self.zone;
        let minute = i16::from(self.minute).wrapping_sub(sign.wrapping_mul(minutes.into()));
        let borrow = i16::from(minute < 0);
        let hour = i16::from(self.hour).wrapping_sub(sign.wrapping_mul(hours.into())).wrapping_sub(borrow);
        matches!(hour, 23 | -1) && matches!(minute, 59 | -1) && self.second < 61
    }

    /// Minutes from midnight in UTC of the written date; negative or beyond a day if UTC has another date.
    fn minutes_since_midnight_utc(&self) -> i64 {
        let minutes = |hours: u8, minutes: u8| i64::from(hours).wrapping_mul(60).wrapping_add(minutes.into());
        let offset = minutes(self.zone.hours, self.zone.minutes).wrapping_mul(self.zone.sign.into());
        minutes(self.hour, self.minute).wrapping_sub(offset)
    }
}

/// A distance from UTC.
struct Zone {
    /// 1 east of Greenwich, −1 west, 0 for `Z`
    sign: i16,
    hours: u8,
    minutes: u8,
    /// Whether only hours are written: `+05`
    hours_alone: bool,
}

impl Zone {
    const HOURS: RangeInclusive<u8> = 0..=23;
    const MINUTES: RangeInclusive<u8> = 0..=59;

    fn parse(text: &[u8]) -> Option<Self> {
        let (sign, offset) = match text {
            [b'Z' | b'z'] => return Some(Self { sign: 0, hours: 0, minutes: 0, hours_alone: false }),
            [b'+', offset @ ..] => (1, offset),
            [b'-', offset @ ..] => (-1, offset),
            _ => return None,
        };
        let (hours, minutes, hours_alone) = match offset {
            [h1, h2] => (two_digits(*h1, *h2)?, 0, true),
            [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => (two_digits(*h1, *h2)?, two_digits(*m1, *m2)?, false),
            _ => return None,
        };
        let in_range = Self::HOURS.contains(&hours) && Self::MINUTES.contains(&minutes);
        in_range.then_some(Self { sign, hours, minutes, hours_alone })
    }
}

/// The first three digits of one digit or more, as thousandths.
fn millis_of_fraction(digits: &[u8]) -> Option<u16> {
    let digit = |at| digits.get(at).map_or(0, |byte| u16::from(byte & 15));
    let _one_at_least = digits.first()?;
    digit(0).checked_mul(100)?.checked_add(digit(1).checked_mul(10)?)?.checked_add(digit(2))
}

const fn two_digits(tens: u8, ones: u8) -> Option<u8> {
    if tens.is_ascii_digit() && ones.is_ascii_digit() {
        Some((tens & 15).wrapping_mul(10).wrapping_add(ones & 15))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    const DAY: &str = "2026-01-01";

    /// `yes`: a timestamp of a known instant. `unknown`: a timestamp, its instant not known. `no`: no timestamp.
    #[track_caller]
    fn check(verdict: &str, texts: &[&str]) {
        for text in texts {
            let expected = match verdict {
                "yes" => (true, true),
                "unknown" => (true, false),
                _ => (false, false),
            };
            assert_eq!((is_timestamp(text), instant(text).is_some()), expected, "{text:?} should be: {verdict}");
        }
    }

    #[track_caller]
    fn check_instant(text: &str, expected: i64) {
        assert_eq!(instant(text), Some(Millis(expected)), "{text:?}");
    }

    #[test]
    fn date_and_clock_are_divided_once() {
        check("yes", &["2026-01-01T09:00:00Z", "2026-01-01t09:00:00Z", "2026-01-01 09:00:00Z"]);
        check("unknown", &["2026-01-01\t09:00:00Z", "2026-01-01\u{a0}09:00:00Z", "2026-01-01\u{3000}09:00:00Z"]);
        check("no", &["2026-01-0109:00:00Z", "2026-01-01_09:00:00Z", DAY, "", "T", "09:00:00Z"]);
        check(
            "no",
            &[" 2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z ", "2026-01-01T09:00:00Z\n", "2026-01-01T 09:00:00Z"],
        );
        check(
            "no",
            &["2026-01-01TT09:00:00Z", "2026-01-01T09:00:00 Z", "2026-01-01  09:00:00Z", "T2026-01-01T09:00:00Z"],
        );
    }

    #[test]
    fn the_date_is_one_of_the_calendar() {
        for date in ["0000-01-01", "0000-02-29", "2000-02-29", "2024-02-29", "2026-12-31", "9999-12-31"] {
            assert!(is_date(date), "{date}");
            check("yes", &[&std::format!("{date}T00:00:00Z")]);
        }
        let wrong = [
            "1900-02-29",
            "2026-02-29",
            "2026-04-31",
            "2026-00-10",
            "2026-13-01",
            "2026-01-00",
            "2026-01-32",
            "+2026-01-01",
            "-2026-01-01",
            "12026-01-01",
            "226-01-01",
            "2026-1-01",
            "2026-01-1",
            "2026-001",
            "2026-W01-1",
            "20260101",
            "2026/01/01",
            "2026-01-01 ",
            "٢٠٢٦-01-01",
            "２０２６-01-01",
        ];
        for date in wrong {
            assert!(!is_date(date), "{date}");
            check("no", &[&std::format!("{date}T00:00:00Z")]);
        }
    }

    #[test]
    fn the_clock_has_seconds_and_a_zone() {
        let on =
            |clocks: &[&str]| -> Vec<String> { clocks.iter().map(|clock| std::format!("{DAY}T{clock}")).collect() };
        let check_clocks = |verdict, clocks| {
            for text in on(clocks) {
                check(verdict, &[&text]);
            }
        };
        check_clocks("yes", &["00:00:00Z", "23:59:59z", "12:00:00.0Z", "12:00:00.123456789123456789Z"]);
        check_clocks(
            "yes",
            &["12:00:00+05:30", "12:00:00-0530", "12:00:00-00:00", "12:00:00+23:59", "12:00:00.5+01:00"],
        );
        check_clocks("unknown", &["12:00:00+05", "12:00:00-05", "12:00:00.5+00"]);
        check_clocks(
            "no",
            &["12:00Z", "12Z", "12:00:00", "12:00:00.5", "12:00:00.Z", "12:00:00,5Z", "1:00:00Z", "120000Z"],
        );
        check_clocks(
            "no",
            &["12:00:00+24:00", "12:00:00+01:60", "12:00:00+1", "12:00:00+1:00", "12:00:00+", "12:00:00+01:0"],
        );
        check_clocks(
            "no",
            &["12:00:00+010", "12:00:00ZZ", "12:00:00Z+01:00", "12:00:00UTC", "12:00:00.5.5Z", "12:00:0٠Z"],
        );
        check_clocks("no", &["24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:61Z", "12:00:00\u{2212}01:00"]);
    }

    #[test]
    fn leap_seconds_pass_at_midnight_utc() {
        let pass =
            ["23:59:60Z", "23:59:60.999Z", "05:29:60+05:30", "18:59:60-05:00", "00:59:60+01:00", "22:29:60-01:30"];
        let oddities = ["24:59:30+01:00", "24:59:60+01:00"];
        for clock in pass.into_iter().chain(oddities) {
            check("unknown", &[&std::format!("2016-12-31T{clock}")]);
        }
        for clock in ["23:58:60Z", "22:59:60Z", "23:59:61Z", "24:00:00Z", "05:30:60+05:30", "23:59:60+01:00"] {
            check("no", &[&std::format!("2016-12-31T{clock}")]);
        }
    }

    #[test]
    fn instants_count_milliseconds() {
        check_instant("1970-01-01T00:00:00Z", 0);
        check_instant("2026-01-01T09:00:00.000Z", 1_767_258_000_000);
        check_instant("1969-12-31T23:59:59.999Z", -1);
        check_instant("0000-01-01T00:00:00Z", Millis::FIRST.0);
        check_instant("9999-12-31T23:59:59.999Z", Millis::LAST.0);
        check_instant("2000-02-29T12:00:00Z", 951_825_600_000);
    }

    #[test]
    fn fractions_are_cut_not_rounded() {
        check_instant("1970-01-01T00:00:00.0009Z", 0);
        check_instant("1970-01-01T00:00:00.9999Z", 999);
        check_instant("1970-01-01T00:00:00.5Z", 500);
        check_instant("1970-01-01T00:00:00.05Z", 50);
        // Also before the epoch, towards the past.
        check_instant("1969-12-31T23:59:59.0009Z", -1000);
    }

    #[test]
    fn offsets_are_applied() {
        check_instant("1970-01-01T05:30:00+05:30", 0);
        check_instant("1969-12-31T19:00:00-0500", 0);
        check_instant("1970-01-01T00:00:00-00:00", 0);
        check_instant("1970-01-01T00:00:00+23:59", -86_340_000);
    }

    #[test]
    fn format_writes_what_instant_reads() {
        assert_eq!(format(Millis(1_767_258_000_000)), "2026-01-01T09:00:00.000Z");
        assert_eq!(format(Millis(-1)), "1969-12-31T23:59:59.999Z");
        assert_eq!(format(Millis::FIRST), "0000-01-01T00:00:00.000Z");
        assert_eq!(format(Millis(i64::MIN)), "0000-01-01T00:00:00.000Z");
        assert_eq!(format(Millis(i64::MAX)), "9999-12-31T23:59:59.999Z");
        for day in (Millis::FIRST.0..=Millis::LAST.0).step_by(13 * 86_400_000 + 7) {
            assert_eq!(instant(&format(Millis(day))), Some(Millis(day)));
        }
    }

    #[test]
    fn day_numbers_run_without_gap() {
        assert_eq!(days_before(1970), EPOCH_DAY);
        assert_eq!(days_before(10_000), 3_652_425);
        assert!(Date::from_day_number(3_652_425).is_none());
        for year in 0..=9999 {
            let ends =
                [days_before(year), days_before(year + 1) - 1].map(|number| Date::from_day_number(number).unwrap());
            assert_eq!(ends.map(|day| (day.year, day.month, day.day)), [(year, 1, 1), (year, 12, 31)]);
        }
    }

    #[test]
    fn sums_stop_at_the_ends() {
        assert_eq!(Millis(1).checked_add_seconds(-1), Some(Millis(-999)));
        assert_eq!(Millis(0).checked_add_seconds(i64::MAX), None);
        assert_eq!(Millis(1).checked_add_millis(i64::MAX), None);
        assert_eq!(Millis(0).saturating_add_seconds(u64::MAX), Millis(i64::MAX));
        assert_eq!(Millis(i64::MAX).millis_since(Millis(-1)), i64::MAX);
        assert_eq!(Millis(5).millis_since(Millis(7)), -2);
    }
}
