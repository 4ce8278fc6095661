//! Which tools a server offers.

use std::fmt;
use std::str::FromStr;

use crate::tool::Entry;
use crate::work;

/// A group of tools that belong to one capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Work orders and work reports (`spec work-orders §14.2`)
    Work,
}

/// Whether a server offers tools that change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Every tool
    #[default]
    Full,
    /// Only tools that change nothing (`readOnlyHint`); the others are neither listed nor run
    ReadOnly,
}

/// The tools that a server offers: toolsets, and whether to keep to those tools that only read.
///
/// Reads as `work` or `all`, several names separated by commas. The order of the names does not matter: tools are
/// always listed in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolsets {
    chosen: Vec<Toolset>,
    access: Access,
}

/// A name that is no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown toolset {}; accepted: {}", bailiwick_core::work::quoted(.name), accepted())]
pub struct UnknownToolset {
    /// The name
    pub name: String,
}

impl Toolset {
    /// Every toolset, in the order in which tools are listed.
    pub const ALL: [Self; 1] = [Self::Work];

    /// The name by which a toolset is chosen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
        }
    }

    fn tools(self) -> Vec<Entry> {
        match self {
            Self::Work => work::tools(),
        }
    }
}

impl fmt::Display for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Stands for every toolset.
const EVERY: &str = "all";

fn accepted() -> String {
    Toolset::ALL
        .iter()
        .map(|toolset| toolset.name())
        .chain([EVERY])
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl Toolsets {
    /// Every toolset.
    pub fn all() -> Self {
        Self { chosen: Toolset::ALL.into(), access: Access::Full }
    }

    /// The same toolsets with another access.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// The toolsets chosen, in the order in which tools are listed.
    pub fn chosen(&self) -> &[Toolset] {
        &self.chosen
    }

    /// Whether tools that change something are offered.
    pub fn access(&self) -> Access {
        self.access
    }

    pub(crate) fn tools(&self) -> Vec<Entry> {
        let tools = self.chosen.iter().flat_map(|toolset| toolset.tools());
        tools.filter(|entry| self.access == Access::Full || entry.only_reads()).collect()
    }
}

impl Default for Toolsets {
    /// The toolset `work`, with full access.
    fn default() -> Self {
        Self { chosen: vec![Toolset::Work], access: Access::Full }
    }
}

impl FromStr for Toolsets {
    type Err = UnknownToolset;

    /// Reads names separated by commas, with full access.
    fn from_str(names: &str) -> Result<Self, UnknownToolset> {
        let mut named = Vec::new();
        for name in names.split(',').map(str::trim) {
            match Toolset::ALL.into_iter().find(|toolset| toolset.name() == name) {
                Some(toolset) => named.push(toolset),
                None if name == EVERY => named.extend(Toolset::ALL),
                None => return Err(UnknownToolset { name: name.into() }),
            }
        }
        let chosen = Toolset::ALL.into_iter().filter(|toolset| named.contains(toolset)).collect();
        Ok(Self { chosen, access: Access::Full })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_toolsets() {
        assert_eq!("work".parse(), Ok(Toolsets::default()));
        assert_eq!("all".parse(), Ok(Toolsets::all()));
        assert_eq!(" work , work,all".parse(), Ok(Toolsets::all()));
        let error = "work,trust".parse::<Toolsets>().unwrap_err();
        assert_eq!(error.to_string(), "unknown toolset `trust`; accepted: `work`, `all`");
        assert!("".parse::<Toolsets>().is_err());
        assert!("Work".parse::<Toolsets>().is_err());
    }

    #[test]
    fn names_of_tools_are_unique_and_legal() {
        let tools = Toolsets::all().tools();
        let mut names: Vec<&str> = tools.iter().map(|entry| entry.name()).collect();
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && name.len() <= 64));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), tools.len());
    }
}
