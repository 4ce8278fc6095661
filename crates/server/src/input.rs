//! What requests say besides their body: path, query, idempotency key. Unknown and repeated parameters are refused.

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::HeaderName;
use axum::http::request::Parts;
use bailiwick_core::json::{Limits, Object, Value, parse};
use bailiwick_core::work::quoted;

use crate::problem::{Code, Problem};

/// Makes a repeated command do nothing and answer the same.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The most characters of an idempotency key.
pub(crate) const MOST_KEY: usize = 200;

/// The id in a path, percent-decoded.
pub(crate) struct Id(pub(crate) String);

/// The parameters of a query, decoded.
pub(crate) struct Parameters(Vec<(String, String)>);

/// The `Idempotency-Key`, if there is one.
pub(crate) struct Once(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(PathRejection::FailedToDeserializePathParams(_)) => {
                Err(bad_request("the id in the path is not UTF-8 when percent-decoded"))
            }
            Err(rejection) => Err(Problem::new(Code::Internal, format!("the path can't be read: {rejection}"))),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(|_| {
            bad_request("the query can't be read; it must be `name=value`, joined by `&`, percent-encoded")
        })?;
        for (at, (name, _)) in pairs.iter().enumerate() {
            if pairs.iter().skip(at + 1).any(|(other, _)| other == name) {
                return Err(bad_request(format!("parameter {} occurs twice", quoted(name))));
            }
        }
        Ok(Self(pairs))
    }
}

impl<S: Sync> FromRequestParts<S> for Once {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut keys = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(key) = keys.next() else { return Ok(Self(None)) };
        let key = key.to_str().ok().filter(|key| (1..=MOST_KEY).contains(&key.len()));
        match (key, keys.next()) {
            (Some(key), None) => Ok(Self(Some(key.into()))),
            _ => Err(bad_request(format!(
                "there may be one `Idempotency-Key`, of 1 to {MOST_KEY} printable ASCII characters"
            ))),
        }
    }
}

impl Parameters {
    /// The parameters as arguments of a query; those that `numbers` names are numbers.
    pub(crate) fn into_arguments(self, numbers: &[&str]) -> Object {
        let mut arguments = Object::new();
        for (name, text) in self.0 {
            let number = || parse(text.as_bytes(), &Limits::DOCUMENT).ok().filter(|value| value.as_number().is_some());
            let value = numbers.contains(&name.as_str()).then(number).flatten().unwrap_or(Value::String(text));
            arguments.insert(name, value);
        }
        arguments
    }

    /// Takes a whole number out.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` if it is none, or not from `least` to `most`.
    pub(crate) fn number(&mut self, name: &str, least: u64, most: u64) -> Result<Option<u64>, Problem> {
        let Some(at) = self.0.iter().position(|(other, _)| other == name) else { return Ok(None) };
        let (_, text) = self.0.remove(at);
        // Digits alone: a sign would be read too.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u64>() {
            Ok(number) if digits && (least..=most).contains(&number) => Ok(Some(number)),
            _ => Err(bad_request(format!(
                "`{name}` is {}, must be a whole number from {least} to {most}",
                quoted(&text)
            ))),
        }
    }

    /// Takes a text out.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
    }

    /// Refuses whatever was not taken.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the parameter, and those that are `accepted`.
    pub(crate) fn finish(self, accepted: &str) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(bad_request(format!("unknown parameter {}; accepted: {accepted}", quoted(name)))),
        }
    }
}

fn bad_request(detail: impl Into<String>) -> Problem {
    Problem::new(Code::BadRequest, detail.into())
}
