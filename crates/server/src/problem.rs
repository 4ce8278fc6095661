//! Errors as `application/problem+json` (RFC 9457), and the one table of codes and statuses.
//!
//! The body has `type`, `title`, `status`, `detail`, `code` and `findings`, and whatever else the refusal says.
//! `type` leads to the code's explanation on the documentation page.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::heart::Refusal;
use bailiwick_core::json::{Object, ReadError, Value, write_compact};
use bailiwick_desk::{DeskError, Failure};

/// Seconds after which a refused client may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The content type of a problem.
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The codes that errors carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    BadRequest,
    Unauthenticated,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    AlreadyExists,
    Conflict,
    InvalidTransition,
    DeadlinePassed,
    BudgetExceeded,
    Paused,
    Stopped,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
    Internal,
    Unavailable,
}

/// What is said about a code.
struct Said {
    name: &'static str,
    status: StatusCode,
    title: &'static str,
    advice: &'static str,
}

impl Code {
    /// Every code, by status.
    pub(crate) const ALL: [Self; 18] = [
        Self::BadRequest,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::AlreadyExists,
        Self::Conflict,
        Self::InvalidTransition,
        Self::DeadlinePassed,
        Self::BudgetExceeded,
        Self::Paused,
        Self::Stopped,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::ValidationFailed,
        Self::Internal,
        Self::Unavailable,
    ];

    /// The table. The first members are the desk's codes (`spec work-orders §12`) and those that HTTP adds.
    const fn said(self) -> Said {
        let (name, status, title, advice) = match self {
            Self::BadRequest => (
                "BAD_REQUEST",
                StatusCode::BAD_REQUEST,
                "malformed request",
                "The detail names the argument at fault and what is accepted.",
            ),
            Self::Unauthenticated => (
                "UNAUTHENTICATED",
                StatusCode::UNAUTHORIZED,
                "unknown caller",
                "Send a known key: Authorization: Bearer KEY.",
            ),
            Self::Forbidden => (
                "FORBIDDEN",
                StatusCode::FORBIDDEN,
                "not for this caller",
                "The detail says whose it is. Repeating the request does not help.",
            ),
            Self::NotFound => ("NOT_FOUND", StatusCode::NOT_FOUND, "no such thing", "Check the id or the path."),
            Self::MethodNotAllowed => (
                "METHOD_NOT_ALLOWED",
                StatusCode::METHOD_NOT_ALLOWED,
                "method not allowed",
                "The header Allow lists the methods of this path.",
            ),
            Self::RequestTimeout => (
                "REQUEST_TIMEOUT",
                StatusCode::REQUEST_TIMEOUT,
                "request took too long to arrive",
                "Send the body at once.",
            ),
            Self::AlreadyExists => {
                ("ALREADY_EXISTS", StatusCode::CONFLICT, "exists already", "Choose another id, or leave it out.")
            }
            Self::Conflict => (
                "CONFLICT",
                StatusCode::CONFLICT,
                "conflict",
                "Something else was said before. If it was the idempotency key that was used for another command, choose \
                 another key.",
            ),
            Self::InvalidTransition => (
                "INVALID_TRANSITION",
                StatusCode::CONFLICT,
                "not possible in this state",
                "The detail names the state and the actions that it allows.",
            ),
            Self::DeadlinePassed => (
                "DEADLINE_PASSED",
                StatusCode::CONFLICT,
                "the order's deadline has passed",
                "No further call is allowed.",
            ),
            Self::BudgetExceeded => (
                "BUDGET_EXCEEDED",
                StatusCode::CONFLICT,
                "no budget left",
                "The members unit, limit and spent say of what. The worker reports with what it has.",
            ),
            Self::Paused => (
                "PAUSED",
                StatusCode::CONFLICT,
                "the work is paused",
                "The detail says by whom and why. Try again once it is resumed.",
            ),
            Self::Stopped => (
                "STOPPED",
                StatusCode::CONFLICT,
                "the work is stopped",
                "The detail says by whom and why. The worker reports with what it has.",
            ),
            Self::PayloadTooLarge => (
                "PAYLOAD_TOO_LARGE",
                StatusCode::PAYLOAD_TOO_LARGE,
                "body too large",
                "Put bulk elsewhere and refer to it.",
            ),
            Self::UnsupportedMediaType => (
                "UNSUPPORTED_MEDIA_TYPE",
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported content type",
                "Send Content-Type: application/json.",
            ),
            Self::ValidationFailed => (
                "VALIDATION_FAILED",
                StatusCode::UNPROCESSABLE_ENTITY,
                "document fails its checks",
                "The member findings lists every failed check, with the path of what fails it. Mend and send again.",
            ),
            Self::Internal => (
                "INTERNAL",
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal error",
                "The server's log says more under the X-Request-Id of the answer.",
            ),
            Self::Unavailable => (
                "UNAVAILABLE",
                StatusCode::SERVICE_UNAVAILABLE,
                "not available right now",
                "Try again after the seconds that Retry-After names, with an Idempotency-Key if it was a command.",
            ),
        };
        Said { name, status, title, advice }
    }

    /// The code as answers carry it.
    pub(crate) const fn name(self) -> &'static str {
        self.said().name
    }

    /// The status that goes with it.
    pub(crate) const fn status(self) -> StatusCode {
        self.said().status
    }

    /// A short name for people.
    pub(crate) const fn title(self) -> &'static str {
        self.said().title
    }

    /// What whoever gets it may do, for people.
    pub(crate) const fn advice(self) -> &'static str {
        self.said().advice
    }

    /// Reads what [`Code::name`] writes.
    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// An error as clients get it.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    /// Further members
    members: Object,
}

impl Problem {
    /// A problem of a code; the detail in lower case, without a full stop, with user text in backticks.
    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into(), members: Object::new() }
    }

    /// A body or a text that is no JSON within the limits.
    pub(crate) fn unreadable(error: &ReadError) -> Self {
        Self::new(
            Code::BadRequest,
            format!("the body is not JSON: line {} column {}: {}", error.line, error.column, error.kind),
        )
    }

    /// The code.
    pub(crate) const fn code(&self) -> Code {
        self.code
    }

    /// The status.
    pub(crate) const fn status(&self) -> StatusCode {
        self.code.status()
    }

    fn body(&self) -> String {
        let mut body = Object::new()
            .with("type", format!("/api/v1/docs#{}", self.code.name()))
            .with("title", self.code.title())
            .with("status", u64::from(self.status().as_u16()))
            .with("detail", &*self.detail)
            .with("code", self.code.name())
            .with("findings", Vec::<Value>::new());
        for (name, value) in self.members.iter() {
            body.insert(name.clone(), value.clone());
        }
        write_compact(&body.into())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match Code::parse(refusal.code) {
            Some(code) => Self { code, detail: refusal.message.into(), members: refusal.details },
            None => {
                // A code that the table lacks is a mistake of ours, and the client still learns what was refused.
                tracing::error!(code = refusal.code, "refusal with a code that has no status");
                Self { code: Code::Internal, detail: refusal.message.into(), members: refusal.details }
            }
        }
    }
}

impl From<DeskError> for Problem {
    fn from(error: DeskError) -> Self {
        let code = Code::parse(error.code()).unwrap_or(Code::Internal);
        tracing::error!(code = code.name(), %error, "the desk failed");
        Self::new(code, error.to_string())
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => refusal.into(),
            Failure::Failed(error) => error.into(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        match self.code {
            Code::Unavailable => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            Code::Unauthenticated => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[test]
    fn the_table_is_that_of_the_specification() {
        let statuses = [
            ("NOT_FOUND", 404),
            ("ALREADY_EXISTS", 409),
            ("FORBIDDEN", 403),
            ("INVALID_TRANSITION", 409),
            ("DEADLINE_PASSED", 409),
            ("BUDGET_EXCEEDED", 409),
            ("PAUSED", 409),
            ("STOPPED", 409),
            ("VALIDATION_FAILED", 422),
            ("CONFLICT", 409),
            ("BAD_REQUEST", 400),
            ("UNAVAILABLE", 503),
            ("INTERNAL", 500),
        ];
        for (name, status) in statuses {
            assert_eq!(Code::parse(name).unwrap().status().as_u16(), status, "{name}");
        }
        for code in Code::ALL {
            assert_eq!(Code::parse(code.name()), Some(code));
        }
    }

    #[test]
    fn a_refusal_keeps_its_findings() {
        let findings: Vec<Value> = vec![Object::new().with("rule", "O2").into()];
        let refusal = Refusal::new("VALIDATION_FAILED", "the order fails 1 check(s)").with("findings", findings);
        let body = parse(Problem::from(refusal).body().as_bytes(), &Limits::DOCUMENT).unwrap();
        assert_eq!(body.get("status").unwrap(), &Value::from(422_u32));
        assert_eq!(body.get("code").unwrap().as_str(), Some("VALIDATION_FAILED"));
        assert_eq!(body.get("findings").unwrap().as_array().unwrap().len(), 1);
        assert_eq!(body.get("type").unwrap().as_str(), Some("/api/v1/docs#VALIDATION_FAILED"));
    }

    #[test]
    fn an_unknown_code_is_our_mistake() {
        assert_eq!(Problem::from(Refusal::new("NEW", "no")).status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
