//! Budgets and costs: the four units and the sums over sub-orders (`spec work-orders §2.2, §6.3`).

use alloc::format;

use super::State;
use crate::json::{Number, Object, Value};

/// What an order is limited in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Money for models and paid tools
    Usd,
    /// Model input plus output
    Tokens,
    /// Tool invocations
    ToolCalls,
    /// Wall-clock working time
    Seconds,
}

/// Every unit, in the order in which findings report them.
pub const UNITS: [Unit; 4] = [Unit::Usd, Unit::Tokens, Unit::ToolCalls, Unit::Seconds];

/// The units that sub-orders hold against their parent. `seconds` is not among them: sub-orders run side by side.
pub const SUMMED_UNITS: [Unit; 3] = [Unit::Usd, Unit::Tokens, Unit::ToolCalls];

impl Unit {
    /// The member name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Tokens => "tokens",
            Self::ToolCalls => "tool_calls",
            Self::Seconds => "seconds",
        }
    }

    /// The unit of this name.
    pub fn parse(name: &str) -> Option<Self> {
        UNITS.into_iter().find(|unit| unit.as_str() == name)
    }

    /// How much of this unit a `budget` or `cost` names.
    pub fn of(self, amounts: Option<&Value>) -> Option<Number> {
        amounts?.get(self.as_str())?.as_number().copied()
    }
}

/// An order and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct SubOrder<'a> {
    /// The order document
    pub order: &'a Value,
    /// Its state
    pub state: State,
}

/// Amounts per unit, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals([Option<Number>; 4]);

impl Totals {
    /// The sum in a unit, `None` when nothing named that unit.
    pub fn get(&self, unit: Unit) -> Option<Number> {
        let [usd, tokens, tool_calls, seconds] = self.0;
        match unit {
            Unit::Usd => usd,
            Unit::Tokens => tokens,
            Unit::ToolCalls => tool_calls,
            Unit::Seconds => seconds,
        }
    }

    /// Adds an amount and rounds the sum to nine decimals.
    pub fn add(&mut self, unit: Unit, amount: Number) {
        let [usd, tokens, tool_calls, seconds] = &mut self.0;
        let slot = match unit {
            Unit::Usd => usd,
            Unit::Tokens => tokens,
            Unit::ToolCalls => tool_calls,
            Unit::Seconds => seconds,
        };
        *slot = Some(rounded(sum(slot.unwrap_or(Number::Integer(0)), amount)));
    }

    /// Takes an amount off and rounds the sum to nine decimals.
    pub fn subtract(&mut self, unit: Unit, amount: Number) {
        let negative = match amount {
            Number::Integer(value) => Number::Integer(value.saturating_neg()),
            Number::Float(value) => Number::Float(-value),
        };
        self.add(unit, negative);
    }

    /// Adds every amount that a `budget` or `cost` names.
    pub fn add_all(&mut self, amounts: Option<&Value>) {
        for unit in UNITS {
            if let Some(amount) = unit.of(amounts) {
                self.add(unit, amount);
            }
        }
    }

    /// Takes off every amount that a `budget` or `cost` names.
    pub fn subtract_all(&mut self, amounts: Option<&Value>) {
        for unit in UNITS {
            if let Some(amount) = unit.of(amounts) {
                self.subtract(unit, amount);
            }
        }
    }

    /// Reads what [`Totals::to_value`] writes.
    pub fn from_value(value: &Value) -> Self {
        Self(UNITS.map(|unit| unit.of(Some(value))))
    }

    /// The sums as a document, units nobody named left out.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        for unit in UNITS {
            object.insert_some(unit.as_str(), self.get(unit));
        }
        object.into()
    }
}

/// What sub-orders hold of their parent's budget, per unit: the sum of their budgets, leaving out declined ones
/// and `seconds`. The running sum is rounded to nine decimals after each addition.
pub fn held_by_sub_orders<'a>(sub_orders: impl IntoIterator<Item = SubOrder<'a>>) -> Totals {
    let mut held = Totals::default();
    for sub_order in sub_orders {
        if sub_order.state.holds_budget() {
            hold(&mut held, sub_order.order);
        }
    }
    held
}

/// Takes a declined sub-order's budget off what is held.
pub(super) fn release(held: &mut Totals, order: &Value) {
    let budget = order.get("budget");
    for unit in SUMMED_UNITS {
        if let Some(amount) = unit.of(budget) {
            held.subtract(unit, amount);
        }
    }
}

/// Adds an order's budget to what is held.
pub(super) fn hold(held: &mut Totals, order: &Value) {
    let budget = order.get("budget");
    for unit in SUMMED_UNITS {
        if let Some(amount) = unit.of(budget) {
            held.add(unit, amount);
        }
    }
}

/// The sum of two numbers: exact between integers, in double precision otherwise.
pub(super) fn sum(a: Number, b: Number) -> Number {
    if let (Number::Integer(a), Number::Integer(b)) = (a, b)
        && let Some(sum) = a.checked_add(b)
    {
        return Number::Integer(sum);
    }
    // JSON has no infinity; a sum beyond the largest double stays there.
    Number::Float((a.to_f64() + b.to_f64()).clamp(f64::MIN, f64::MAX))
}

/// Whether `amount` exceeds `limit` by more than 1e-9.
pub(super) fn exceeds(amount: Number, limit: Number) -> bool {
    if let (Number::Integer(amount), Number::Integer(limit)) = (amount, limit) {
        return amount > limit;
    }
    amount.to_f64() - limit.to_f64() > 1e-9
}

/// Rounds to nine decimals: to the nearest such decimal of the number's exact value, ties to even.
fn rounded(number: Number) -> Number {
    // 2^52: from here on every double is whole.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    match number {
        // Formatting with a fixed number of decimals is correctly rounded, and so is reading back.
        Number::Float(value) if libm::fabs(value) < WHOLE => {
            Number::Float(format!("{value:.9}").parse().unwrap_or(value))
        }
        number => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> Number {
        Number::Float(value)
    }

    #[test]
    fn each_addition_is_rounded() {
        let mut held = Totals::default();
        for _ in 0..1000 {
            held.add(Unit::Usd, float(4e-10));
        }
        assert_eq!(held.get(Unit::Usd), Some(float(0.0)));

        let mut held = Totals::default();
        held.add(Unit::Usd, float(1.0));
        held.add(Unit::Usd, float(1.000_000_000_9));
        assert_eq!(held.get(Unit::Usd), Some(float(2.000_000_001)));
        assert!(exceeds(held.get(Unit::Usd).unwrap(), Number::Integer(2)));
    }

    #[test]
    fn ties_follow_the_exact_value() {
        // 2^-10 = 0.0009765625 is a tie at nine decimals: to even.
        assert_eq!(rounded(float(0.000_976_562_5)), float(0.000_976_562));
        // 3 * 2^-10 = 0.0029296875: to even is up.
        assert_eq!(rounded(float(0.002_929_687_5)), float(0.002_929_688));
        assert_eq!(rounded(float(1e300)), float(1e300));
    }

    #[test]
    fn sums_stay_finite() {
        let mut totals = Totals::default();
        totals.add(Unit::Usd, float(1.7e308));
        totals.add(Unit::Usd, float(1.7e308));
        assert_eq!(totals.get(Unit::Usd), Some(float(f64::MAX)));
    }

    #[test]
    fn integers_stay_exact() {
        let mut held = Totals::default();
        held.add(Unit::Tokens, Number::Integer(9_007_199_254_740_992));
        held.add(Unit::Tokens, Number::Integer(1));
        assert_eq!(held.get(Unit::Tokens), Some(Number::Integer(9_007_199_254_740_993)));
        assert!(exceeds(held.get(Unit::Tokens).unwrap(), Number::Integer(9_007_199_254_740_992)));
    }
}
