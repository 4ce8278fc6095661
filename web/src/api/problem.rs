//! Why a request was not answered as asked.

use bailiwick_core::json::Value;
use bailiwick_core::work::Finding;

/// A request that came to nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ApiError {
    /// No answer: the desk is down or the network is
    Unreachable,
    /// An answer that is not the desk's, from something between here and there
    Foreign {
        /// Its HTTP status
        status: u16,
    },
    /// The desk says no
    Refused(Problem),
}

/// A refusal as the desk words it (RFC 9457).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    /// The HTTP status
    pub(crate) status: u16,
    /// The stable code: `NOT_FOUND`, `INVALID_TRANSITION`, …
    pub(crate) code: String,
    /// What was refused, and what would be accepted
    pub(crate) detail: String,
    /// With `VALIDATION_FAILED`: every failed check
    pub(crate) findings: Vec<Finding>,
}

/// Reads the body of a refusal.
pub(super) fn read(status: u16, body: &Value) -> ApiError {
    let text = |name| body.get(name).and_then(Value::as_str).map(String::from);
    let Some(code) = text("code") else { return ApiError::Foreign { status } };
    let findings = body.get("findings").and_then(Value::as_array).unwrap_or_default();
    ApiError::Refused(Problem {
        status,
        code,
        detail: text("detail").unwrap_or_default(),
        findings: findings.iter().filter_map(Finding::from_value).collect(),
    })
}

impl ApiError {
    /// The desk's code, if it is the desk that refused.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(&problem.code),
            Self::Unreachable | Self::Foreign { .. } => None,
        }
    }

    /// Whether nobody is signed in.
    pub(crate) fn is_signed_out(&self) -> bool {
        self.code() == Some("UNAUTHENTICATED")
    }

    /// Whether there is no such thing.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code() == Some("NOT_FOUND")
    }

    /// Whether somebody else acted in the meantime.
    pub(crate) fn is_overtaken(&self) -> bool {
        self.code() == Some("INVALID_TRANSITION")
    }

    /// Whether the command may have been carried out all the same, so that only the same key may repeat it.
    pub(crate) fn is_uncertain(&self) -> bool {
        match self {
            Self::Unreachable | Self::Foreign { .. } => true,
            Self::Refused(problem) => problem.status >= 500,
        }
    }

    /// What happened, for people: one sentence without its full stop.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Unreachable => "The desk does not answer. It may be stopped, or the network is down".into(),
            Self::Foreign { status } => {
                format!("Something between this page and the desk answered instead, with HTTP status {status}")
            }
            Self::Refused(problem) if problem.detail.is_empty() => {
                format!("The desk refused with `{}`", problem.code)
            }
            Self::Refused(problem) => capitalised(&problem.detail),
        }
    }
}

/// The text with its first letter in upper case. The desk's own words begin with plain letters.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| std::iter::once(first.to_ascii_uppercase()).chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn refused(status: u16, body: &str) -> ApiError {
        read(status, &parse(body.as_bytes(), &Limits::DOCUMENT).unwrap())
    }

    #[test]
    fn a_refusal_keeps_code_detail_and_findings() {
        let error = refused(
            422,
            r#"{"code":"VALIDATION_FAILED","detail":"the order fails 1 check(s)","findings":
            [{"rule":"O2","kind":"invalid","path":"/criteria/1/id","message":"criterion id `a` repeats an earlier one"}]}"#,
        );
        let ApiError::Refused(problem) = &error else { panic!("{error:?}") };
        assert_eq!((problem.status, problem.findings.len()), (422, 1));
        assert_eq!(error.sentence(), "The order fails 1 check(s)");
        assert!(!error.is_uncertain());
    }

    #[test]
    fn only_what_the_desk_did_not_decide_is_uncertain() {
        assert!(ApiError::Unreachable.is_uncertain());
        assert!(refused(502, "{}").is_uncertain());
        assert!(refused(503, r#"{"code":"UNAVAILABLE","detail":"later"}"#).is_uncertain());
        let overtaken = refused(409, r#"{"code":"INVALID_TRANSITION","detail":"order `a` is approved"}"#);
        assert!(overtaken.is_overtaken() && !overtaken.is_uncertain());
    }
}
