//! Numbers as people read them.

/// A whole number in groups of three: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of things: `1 entry`, `2,000 entries`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A size: `812 bytes`, `3.4 MB`.
pub(crate) fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let exact = bytes as f64;
    match bytes {
        0..1_000 => counted(bytes, "byte", "bytes"),
        1_000..1_000_000 => format!("{:.1} kB", exact / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", exact / 1e6),
        _ => format!("{:.1} GB", exact / 1e9),
    }
}

/// How many things a second, rounded to two digits so that it can be read while it changes. `None` while too little
/// time has passed to say.
pub(crate) fn a_second(number: u64, seconds: f64) -> Option<u64> {
    if seconds < 0.05 || number == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let rate = number as f64 / seconds;
    let unit = 10_f64.powf(rate.log10().floor() - 1.0).max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and far below 2^64")]
    Some(((rate / unit).round() * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "entry", "entries"), "1 entry");
        assert_eq!(counted(2000, "entry", "entries"), "2,000 entries");
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        for (bytes, text) in
            [(1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (2_540_000, "2.5 MB"), (3_000_000_000, "3.0 GB")]
        {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn rates_have_two_digits() {
        assert_eq!(a_second(200_000, 0.63), Some(320_000));
        assert_eq!(a_second(7, 2.0), Some(4));
        assert_eq!(a_second(0, 2.0), None);
        assert_eq!(a_second(10, 0.0), None);
    }
}
