//! Who is acting, and how we know.

use alloc::string::String;

use crate::json::{Object, Value};

/// An acting party: an agent, a person or the desk itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The agent reference, 1–512 code points, compared byte for byte (`spec work-orders §1`)
    pub id: String,
    /// How the id was established
    pub established: Established,
}

/// How a principal's id was established. The transport decides this, never an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Established {
    /// Stated by the client and believed: stdio and development
    Claimed,
    /// By an API key
    ApiKey,
    /// By signing in: a session of a browser
    SignIn,
    /// The desk acting for itself: expiry, adoption of a configuration, its own gateway
    Desk,
}

/// The most characters of a reference to an agent or a person (`spec work-orders §1`).
pub const MOST_CHARACTERS: usize = 512;

/// The id by which the desk calls itself (`spec work-orders §1`).
pub const DESK: &str = "desk";

/// The id by which events name whoever stands before the tools (`spec work-orders §8.5`).
pub const GATEWAY: &str = "gateway";

impl Principal {
    /// A principal whose id was merely stated.
    pub fn claimed(id: impl Into<String>) -> Self {
        Self { id: id.into(), established: Established::Claimed }
    }

    /// A principal known by its API key.
    pub fn by_api_key(id: impl Into<String>) -> Self {
        Self { id: id.into(), established: Established::ApiKey }
    }

    /// A principal known by the session of a browser.
    pub fn by_sign_in(id: impl Into<String>) -> Self {
        Self { id: id.into(), established: Established::SignIn }
    }

    /// The desk itself.
    pub fn desk() -> Self {
        Self { id: DESK.into(), established: Established::Desk }
    }

    /// A gateway that the desk itself runs.
    pub fn gateway() -> Self {
        Self { id: GATEWAY.into(), established: Established::Desk }
    }

    /// Whether this is a person: persons are written `human:<id>`.
    pub fn is_person(&self) -> bool {
        is_person(&self.id)
    }

    /// As the journal writes it.
    pub fn to_value(&self) -> Value {
        Object::new().with("id", &self.id).with("established", self.established.name()).into()
    }

    /// Reads what [`Principal::to_value`] writes.
    pub fn from_value(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        Some(Self { id: object.str("id")?.into(), established: Established::parse(object.str("established")?)? })
    }
}

/// Whether an agent reference names a person.
pub fn is_person(id: &str) -> bool {
    id.starts_with("human:")
}

/// Whether an id is a gateway's: `gateway`, or `gateway:<name>` for one that has a credential of its own. It is
/// nobody's that takes or gives orders.
pub fn is_gateway(id: &str) -> bool {
    id == GATEWAY || id.strip_prefix(GATEWAY).is_some_and(|rest| rest.starts_with(':'))
}

impl Established {
    /// The stable name, as journals and receipts write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::ApiKey => "api_key",
            Self::SignIn => "sign_in",
            Self::Desk => "desk",
        }
    }

    /// Reads what [`Established::name`] writes.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Claimed, Self::ApiKey, Self::SignIn, Self::Desk].into_iter().find(|e| e.name() == name)
    }
}
