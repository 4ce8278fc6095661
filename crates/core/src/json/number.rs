//! JSON numbers: integers exact, everything else as a double.

use core::cmp::Ordering;

/// A JSON number (`spec work-orders §6.5`).
///
/// A literal without fraction and exponent that fits 128 bits is an integer, exactly; any other literal is the
/// nearest double. A literal too large for a double is refused by the reader.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// A whole number, exact
    Integer(i128),
    /// A finite double
    Float(f64),
}

impl Number {
    /// A number from a double; `None` for NaN and infinities, which JSON lacks.
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Float(value))
    }

    /// Whether the number is mathematically integral: `2`, `2.0` and `1e30` are.
    pub fn is_integral(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(value) => libm::trunc(value) == value,
        }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            #[allow(clippy::cast_precision_loss)]
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// The number as an integer, if it is integral and fits.
    pub fn to_u64(self) -> Option<u64> {
        match self {
            Self::Integer(value) => u64::try_from(value).ok(),
            Self::Float(value) if self.is_integral() && (0.0..18_446_744_073_709_551_616.0).contains(&value) =>
            {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                Some(value as u64)
            }
            Self::Float(_) => None,
        }
    }

    /// The same number, as an integer if it is integral and fits: equal numbers then read alike.
    #[must_use]
    pub fn whole(self) -> Self {
        const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0; // 2^127
        match self {
            #[allow(clippy::cast_possible_truncation)]
            Self::Float(value) if self.is_integral() && (-LIMIT..LIMIT).contains(&value) => {
                Self::Integer(value as i128)
            }
            other => other,
        }
    }

    /// Compares by mathematical value, exactly, also between an integer and a double.
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Integer(a), Self::Float(b)) => compare_mixed(a, b),
            (Self::Float(a), Self::Integer(b)) => compare_mixed(b, a).reverse(),
        }
    }
}

/// An integer against a finite double.
fn compare_mixed(integer: i128, float: f64) -> Ordering {
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0; // 2^127
    if float >= LIMIT {
        return Ordering::Less;
    }
    if float < -LIMIT {
        return Ordering::Greater;
    }
    let floor = libm::floor(float);
    #[allow(clippy::cast_possible_truncation)]
    let whole = floor as i128;
    match integer.cmp(&whole) {
        Ordering::Equal if float > floor => Ordering::Less,
        order => order,
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.compare(*other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_doubles_compare_exactly() {
        let two_53 = 9_007_199_254_740_992_i128;
        assert!(Number::Integer(two_53 + 1) > Number::Float(9_007_199_254_740_992.0));
        assert_eq!(Number::Integer(1), Number::Float(1.0));
        assert!(Number::Integer(1) < Number::Float(1.5));
        assert!(Number::Integer(-1) > Number::Float(-1.5));
        assert!(Number::Integer(i128::MAX) < Number::Float(1e300));
        assert!(Number::Float(0.1 + 0.2) > Number::Float(0.3));
        assert_eq!(Number::Float(-0.0), Number::Integer(0));
    }
}
