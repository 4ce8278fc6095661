//! Who is acting (`spec work-orders §14.1`).

use bailiwick_core::heart::Refusal;
use bailiwick_core::principal::{MOST_CHARACTERS, Principal};
use bailiwick_core::work::quoted;
use rmcp::model::Extensions;

use crate::arguments::{bad_request, refusal};

/// How a server knows who is acting.
#[derive(Debug, Clone)]
pub enum Identity {
    /// The server acts for one principal. An `actor` argument may repeat it, and may not name anybody else.
    Bound(Principal),
    /// Nobody is known: each call names its `actor` and is believed. For trying out, on stdio or loopback only.
    ///
    /// A principal that the transport put into the request all the same, as with [`Identity::PerRequest`], counts.
    Unbound,
    /// The layer in front establishes the principal of each HTTP request and puts it, as a [`Principal`], into the
    /// extensions of the request's `http::request::Parts`. A request without one is not served.
    PerRequest,
}

/// Who makes a call, as far as the transport knows.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    Known(Principal),
    /// Whoever the call names
    Anybody,
}

impl Identity {
    /// Who makes a request; `None` if nobody was established though somebody should have been.
    pub(crate) fn caller(&self, extensions: &Extensions) -> Option<Caller> {
        let established = || extensions.get::<http::request::Parts>()?.extensions.get::<Principal>().cloned();
        match self {
            Self::Bound(principal) => Some(Caller::Known(principal.clone())),
            Self::Unbound => Some(established().map_or(Caller::Anybody, Caller::Known)),
            Self::PerRequest => established().map(Caller::Known),
        }
    }
}

impl Caller {
    /// The principal that acts, given the argument `actor`.
    ///
    /// # Errors
    ///
    /// `FORBIDDEN` if the argument names somebody else, `BAD_REQUEST` if it is needed and missing or no reference.
    pub(crate) fn acting(&self, actor: Option<String>) -> Result<Principal, Refusal> {
        match (self, actor) {
            (Self::Known(principal), None) => Ok(principal.clone()),
            (Self::Known(principal), Some(actor)) if actor == principal.id => Ok(principal.clone()),
            (Self::Known(principal), Some(actor)) => Err(refusal(
                "FORBIDDEN",
                format!("`actor` is {}, and this session acts as {} only", quoted(&actor), quoted(&principal.id)),
            )),
            (Self::Anybody, Some(actor)) => claimed(actor),
            (Self::Anybody, None) => {
                Err(bad_request("`actor` is missing; this server is bound to nobody, so each call must name who acts"))
            }
        }
    }

    /// The principal that asks. Reading needs no name: whoever is unknown asks as nobody, who is party to nothing.
    pub(crate) fn reading(&self) -> Principal {
        match self {
            Self::Known(principal) => principal.clone(),
            Self::Anybody => Principal::claimed(""),
        }
    }

    /// The id of whoever makes the call, if it is known.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Known(principal) => Some(&principal.id),
            Self::Anybody => None,
        }
    }
}

fn claimed(actor: String) -> Result<Principal, Refusal> {
    if actor.trim().is_empty() {
        return Err(bad_request("`actor` is blank; it must name who acts"));
    }
    match actor.chars().count() {
        count if count > MOST_CHARACTERS => {
            Err(bad_request(format!("`actor` has {count} characters, at most {MOST_CHARACTERS} are accepted")))
        }
        _ => Ok(Principal::claimed(actor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(caller: &Caller, actor: &str) -> &'static str {
        caller.acting(Some(actor.into())).unwrap_err().code
    }

    #[test]
    fn a_bound_session_acts_as_itself_only() {
        let caller = Caller::Known(Principal::by_api_key("agent:a"));
        assert_eq!(caller.acting(None).unwrap(), Principal::by_api_key("agent:a"));
        assert_eq!(caller.acting(Some("agent:a".into())).unwrap(), Principal::by_api_key("agent:a"));
        assert_eq!(refused(&caller, "agent:b"), "FORBIDDEN");
        assert_eq!(refused(&caller, "Agent:a"), "FORBIDDEN");
        assert_eq!(refused(&caller, ""), "FORBIDDEN");
    }

    #[test]
    fn an_unbound_session_must_say_who_acts() {
        let caller = Caller::Anybody;
        assert_eq!(caller.acting(Some("agent:a".into())).unwrap(), Principal::claimed("agent:a"));
        assert_eq!(caller.acting(None).unwrap_err().code, "BAD_REQUEST");
        assert_eq!(refused(&caller, " \n"), "BAD_REQUEST");
        assert_eq!(refused(&caller, &"é".repeat(513)), "BAD_REQUEST");
        assert!(caller.acting(Some("é".repeat(512))).is_ok());
    }

    #[test]
    fn over_http_nobody_is_served_unless_established() {
        let mut extensions = Extensions::new();
        assert!(Identity::PerRequest.caller(&extensions).is_none());
        let (mut parts, ()) = http::Request::new(()).into_parts();
        extensions.insert(parts.clone());
        assert!(Identity::PerRequest.caller(&extensions).is_none());
        assert!(matches!(Identity::Unbound.caller(&extensions), Some(Caller::Anybody)));
        parts.extensions.insert(Principal::by_api_key("agent:a"));
        extensions.insert(parts);
        assert_eq!(Identity::PerRequest.caller(&extensions).unwrap().id(), Some("agent:a"));
        assert_eq!(Identity::Unbound.caller(&extensions).unwrap().id(), Some("agent:a"));
    }
}
