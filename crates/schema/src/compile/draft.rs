//! The keywords of one schema while they are collected.

use crate::keyword::{Keyword, NodeId, Rest};
use crate::pattern::Pattern;

/// Keywords of one schema while they are collected.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) keywords: Vec<Keyword>,
    pub(super) condition: Option<NodeId>,
    pub(super) then: Option<NodeId>,
    pub(super) otherwise: Option<NodeId>,
    pub(super) prefix: Vec<NodeId>,
    pub(super) items: Option<NodeId>,
    pub(super) contains: Option<NodeId>,
    pub(super) min_contains: Option<u64>,
    pub(super) max_contains: Option<u64>,
    pub(super) named: Vec<(String, NodeId)>,
    pub(super) patterns: Vec<(Pattern, NodeId)>,
    pub(super) additional: Option<Rest>,
    pub(super) unevaluated_items: Option<Rest>,
    pub(super) unevaluated_properties: Option<Rest>,
}

impl Draft {
    /// The keywords, those that ask what has been evaluated last.
    pub(super) fn into_keywords(self) -> Vec<Keyword> {
        let Self { mut keywords, condition, then, otherwise, prefix, items, .. } = self;
        if let Some(condition) = condition {
            keywords.push(Keyword::If { condition, then, otherwise });
        }
        if !prefix.is_empty() || items.is_some() {
            keywords.push(Keyword::Items { prefix, rest: items });
        }
        if let Some(node) = self.contains {
            keywords.push(Keyword::Contains { node, least: self.min_contains.unwrap_or(1), most: self.max_contains });
        }
        if !self.named.is_empty() || !self.patterns.is_empty() || self.additional.is_some() {
            keywords.push(Keyword::Properties {
                named: self.named,
                patterns: self.patterns,
                additional: self.additional,
            });
        }
        keywords.extend(self.unevaluated_items.map(Keyword::UnevaluatedItems));
        keywords.extend(self.unevaluated_properties.map(Keyword::UnevaluatedProperties));
        keywords
    }
}
