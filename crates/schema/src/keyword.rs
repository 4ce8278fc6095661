//! What a compiled schema is made of.

use std::collections::BTreeMap;

use bailiwick_core::json::{Number, Value};

use crate::format::Format;
use crate::pattern::Pattern;

/// The number of a node.
pub(crate) type NodeId = usize;
/// The number of a resource.
pub(crate) type ResourceId = usize;

/// A schema at one place. `true` has no keywords, `false` has [`Keyword::Never`].
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) resource: ResourceId,
    pub(crate) keywords: Vec<Keyword>,
}

/// A schema with a URI of its own.
#[derive(Debug, Default)]
pub(crate) struct Resource {
    pub(crate) dynamic_anchors: BTreeMap<String, NodeId>,
}

/// A keyword, or several that only work together.
#[derive(Debug)]
pub(crate) enum Keyword {
    /// The schema `false`
    Never,
    /// `$ref`, or a `$dynamicRef` that turned out to be an ordinary one; the number of the target
    Reference(usize),
    /// `$dynamicRef`: the number of its first target, and the anchor to look for
    DynamicReference(usize, String),
    Type(Types),
    Enum(Vec<Value>),
    Const(Value),
    MultipleOf(Number),
    Maximum(Number),
    ExclusiveMaximum(Number),
    Minimum(Number),
    ExclusiveMinimum(Number),
    MaxLength(u64),
    MinLength(u64),
    Pattern(Pattern),
    Format(Format),
    MaxItems(u64),
    MinItems(u64),
    UniqueItems,
    /// `prefixItems` and `items`
    Items {
        prefix: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    /// `contains`, `minContains` and `maxContains`
    Contains {
        node: NodeId,
        least: u64,
        most: Option<u64>,
    },
    MaxProperties(u64),
    MinProperties(u64),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    /// `properties`, `patternProperties` and `additionalProperties`
    Properties {
        /// Sorted by name
        named: Vec<(String, NodeId)>,
        patterns: Vec<(Pattern, NodeId)>,
        additional: Option<Rest>,
    },
    PropertyNames(NodeId),
    DependentSchemas(Vec<(String, NodeId)>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    UnevaluatedItems(Rest),
    UnevaluatedProperties(Rest),
}

/// What applies to members or items that nothing else has dealt with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rest {
    /// The schema `false`: there must be none
    Refused,
    Node(NodeId),
}

/// A set of type names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    const NAMES: [&'static str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

    /// The set of one type.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(|at| Self(1 << at))
    }

    /// Both sets together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the sets have a type in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a value is of one of these types.
    pub(crate) fn contains(self, value: &Value) -> bool {
        let bits = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if number.is_integral() => 1 << 2 | 1 << 3,
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & bits != 0
    }

    /// The names, for messages.
    pub(crate) fn names(self) -> String {
        let names: Vec<_> =
            Self::NAMES.iter().enumerate().filter(|(at, _)| self.0 & 1 << at != 0).map(|(_, name)| *name).collect();
        names.join(" or ")
    }
}
