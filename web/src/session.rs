//! Who is signed in.

use bailiwick_core::json::Value;

/// What this page knows about who sits in front of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Session {
    /// The desk has not answered yet
    Asking,
    /// Nobody
    SignedOut,
    /// The desk could not be asked
    Unknown,
    /// Somebody
    SignedIn(Caller),
}

/// Whoever is signed in, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Caller {
    /// The agent reference: `human:operator`
    pub(crate) id: String,
    /// Whether the server decides by names that were merely claimed
    pub(crate) mode: Mode,
    /// What the caller may do here
    pub(crate) access: Access,
    /// The workspace
    pub(crate) workspace: String,
    /// The server's version
    pub(crate) version: String,
}

/// How the server knows who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By keys and sign-ins
    Keys,
    /// Names are claimed and believed: for trying out
    Open,
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read and decide
    Full,
    /// Read
    ReadOnly,
}

impl Session {
    /// The caller, if somebody is signed in.
    pub(crate) fn caller(&self) -> Option<&Caller> {
        match self {
            Self::SignedIn(caller) => Some(caller),
            Self::Asking | Self::SignedOut | Self::Unknown => None,
        }
    }
}

impl Caller {
    /// Reads the desk's answer. Whatever it says that is not known here counts as the lesser right.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let text = |name| value.get(name).and_then(Value::as_str);
        Some(Self {
            id: text("id")?.into(),
            mode: if text("mode") == Some("open") { Mode::Open } else { Mode::Keys },
            access: if text("access") == Some("full") { Access::Full } else { Access::ReadOnly },
            workspace: text("workspace").unwrap_or_default().into(),
            version: text("version").unwrap_or_default().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::Object;

    use super::*;

    #[test]
    fn unknown_access_is_the_lesser_one() {
        let answer = |access: &str| Caller::read(&Object::new().with("id", "human:ada").with("access", access).into());
        assert_eq!(answer("full").unwrap().access, Access::Full);
        assert_eq!(answer("emperor").unwrap().access, Access::ReadOnly);
        assert_eq!(Caller::read(&Value::Null), None);
    }
}
