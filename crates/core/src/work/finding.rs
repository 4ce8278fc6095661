//! What a check says: findings, each under a permanent rule id (`spec work-orders §5`).

use alloc::string::String;
use core::fmt;

use crate::json::{Object, Value};

/// The id of a rule. Ids are permanent: never reused, never given another meaning (`spec §0.2`).
///
/// `O*` judge an order, `R*` a report against its order, `C*` a sub-order within its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The order's structure
    O1,
    /// Criterion ids are unique
    O2,
    /// The deadline is later than the creation
    O3,
    /// The output schema is a usable JSON Schema
    O4,
    /// Staged patterns lie within the tools
    O5,
    /// The report's structure
    R1,
    /// The report answers this order
    R2,
    /// Evidence names criteria of the order
    R3,
    /// Done means proven
    R4,
    /// Only allowed tools were used
    R5,
    /// Every budgeted unit is reported
    R6,
    /// The cost is within the budget
    R7,
    /// Finished before the deadline
    R8,
    /// Blocked asks a question
    R9,
    /// Failed names the error
    R10,
    /// The output fits the output schema
    R11,
    /// Started before finished
    R12,
    /// Own cost and sub-orders together are within the budget
    R13,
    /// Effects are calls to staged tools
    R14,
    /// Effect refs are well formed and unique
    R15,
    /// References between effects point backwards
    R16,
    /// The budget is within the parent's
    C1,
    /// The tools are within the parent's
    C2,
    /// The deadline is not after the parent's
    C3,
    /// All sub-orders together are within the parent's budget
    C4,
    /// No tool that the parent stages
    C5,
}

impl Rule {
    /// Every rule, in the order of the specification.
    pub const ALL: [Self; 26] = [
        Self::O1,
        Self::O2,
        Self::O3,
        Self::O4,
        Self::O5,
        Self::R1,
        Self::R2,
        Self::R3,
        Self::R4,
        Self::R5,
        Self::R6,
        Self::R7,
        Self::R8,
        Self::R9,
        Self::R10,
        Self::R11,
        Self::R12,
        Self::R13,
        Self::R14,
        Self::R15,
        Self::R16,
        Self::C1,
        Self::C2,
        Self::C3,
        Self::C4,
        Self::C5,
    ];

    /// The id as findings carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::O1 => "O1",
            Self::O2 => "O2",
            Self::O3 => "O3",
            Self::O4 => "O4",
            Self::O5 => "O5",
            Self::R1 => "R1",
            Self::R2 => "R2",
            Self::R3 => "R3",
            Self::R4 => "R4",
            Self::R5 => "R5",
            Self::R6 => "R6",
            Self::R7 => "R7",
            Self::R8 => "R8",
            Self::R9 => "R9",
            Self::R10 => "R10",
            Self::R11 => "R11",
            Self::R12 => "R12",
            Self::R13 => "R13",
            Self::R14 => "R14",
            Self::R15 => "R15",
            Self::R16 => "R16",
            Self::C1 => "C1",
            Self::C2 => "C2",
            Self::C3 => "C3",
            Self::C4 => "C4",
            Self::C5 => "C5",
        }
    }

    /// The rule with this id.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == id)
    }

    /// The kind of finding this rule gives: R7, R8 and R13 are limits, all others reject.
    pub const fn kind(self) -> Kind {
        match self {
            Self::R7 | Self::R8 | Self::R13 => Kind::Limit,
            _ => Kind::Invalid,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a finding does to the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The document is rejected.
    Invalid,
    /// The report is accepted and recorded, and its order expires.
    Limit,
}

impl Kind {
    /// The kind as findings carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Limit => "limit",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Invalid, Self::Limit].into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that fired
    pub rule: Rule,
    /// What it does to the document
    pub kind: Kind,
    /// JSON Pointer into the checked document; the root is `/`
    pub path: String,
    /// For people; names the value at fault. Not part of the contract, apart from what `spec §5` promises.
    pub message: String,
}

impl Finding {
    /// A finding of the kind that its rule gives.
    pub fn new(rule: Rule, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, kind: rule.kind(), path: path.into(), message: message.into() }
    }

    /// The finding as JSON, members in the published order.
    pub fn to_value(&self) -> Value {
        Object::new()
            .with("rule", self.rule.as_str())
            .with("kind", self.kind.as_str())
            .with("path", &self.path)
            .with("message", &self.message)
            .into()
    }

    /// Reads what [`Finding::to_value`] wrote. `None` when a member is missing, wrong or the kind does not fit
    /// the rule.
    pub fn from_value(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let rule = Rule::parse(object.str("rule")?)?;
        let kind = Kind::parse(object.str("kind")?).filter(|kind| *kind == rule.kind())?;
        Some(Self { rule, kind, path: object.str("path")?.into(), message: object.str("message")?.into() })
    }
}

/// Whether any finding rejects the document.
pub fn has_invalid(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.kind == Kind::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back() {
        for rule in Rule::ALL {
            assert_eq!(Rule::parse(rule.as_str()), Some(rule));
        }
        assert_eq!(Rule::parse("R17"), None);
        assert_eq!(Rule::parse("r1"), None);
    }

    #[test]
    fn only_three_rules_are_limits() {
        let limits: alloc::vec::Vec<_> = Rule::ALL.into_iter().filter(|rule| rule.kind() == Kind::Limit).collect();
        assert_eq!(limits, [Rule::R7, Rule::R8, Rule::R13]);
    }

    #[test]
    fn findings_read_back() {
        let finding = Finding::new(Rule::R7, "/cost/usd", "spent 2 usd of 1");
        assert_eq!(Finding::from_value(&finding.to_value()), Some(finding));
    }
}
