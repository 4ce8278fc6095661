//! How tools are called towards the agent (`spec work-orders §15.2`).

use std::fmt;

/// How a tool's server and name are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// `server__tool`: many clients refuse `/`
    #[default]
    Underscores,
    /// `server/tool`, as orders name tools
    Slash,
}

impl Naming {
    const fn between(self) -> &'static str {
        match self {
            Self::Underscores => "__",
            Self::Slash => "/",
        }
    }

    /// The name towards the agent.
    pub(crate) fn join(self, server: &str, name: &str) -> String {
        format!("{server}{}{name}", self.between())
    }

    /// Whether two servers could give the same name to different tools: `a__b` and `c`, `a` and `b__c`.
    pub(crate) fn can_collide(self, servers: &[&str]) -> Option<(String, String)> {
        let begins =
            |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with(self.between()));
        let pairs = servers.iter().flat_map(|a| servers.iter().map(move |b| (*a, *b)));
        pairs.into_iter().find(|(long, short)| begins(long, short)).map(|(long, short)| (long.into(), short.into()))
    }

    /// The server and the name behind a name towards the agent; the servers are such that no two can be meant.
    pub(crate) fn split<'a>(self, name: &'a str, servers: impl Iterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
        for server in servers {
            if let Some(rest) = name.strip_prefix(server).and_then(|rest| rest.strip_prefix(self.between())) {
                return Some((server, rest));
            }
        }
        None
    }
}

impl fmt::Display for Naming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.between())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_and_split() {
        for naming in [Naming::Underscores, Naming::Slash] {
            let name = naming.join("mail", "send__now");
            assert_eq!(naming.split(&name, ["a", "mail"].into_iter()), Some(("mail", "send__now")));
            assert_eq!(naming.split("other", ["a", "mail"].into_iter()), None);
        }
    }

    #[test]
    fn servers_whose_tools_could_be_mistaken_are_found() {
        assert_eq!(Naming::Underscores.can_collide(&["a", "b", "a_b"]), None);
        let pair = Some(("a__b".to_owned(), "a".to_owned()));
        assert_eq!(Naming::Underscores.can_collide(&["a", "a__b"]), pair);
        assert_eq!(Naming::Slash.can_collide(&["a", "a__b"]), None);
    }
}
