//! What the two databases have in common: one open transaction, asked in static SQL.

use std::borrow::Cow;
use std::future::Future;

use bailiwick_core::hash::Hash;
use bailiwick_core::time::Millis;

use crate::StoreError;
use crate::rows::Rows;

/// One open transaction. Dropped, it is rolled back.
pub(crate) trait Link: Send + 'static {
    /// The store's clock.
    fn now(&mut self) -> impl Future<Output = Result<Millis, StoreError>> + Send;

    /// Runs a statement with `$1`, `$2`, … and answers every row.
    fn fetch(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'_>>,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// Marks the place that [`Link::undo`] returns to, writes the rows, and answers how many heads were where the
    /// new entries start.
    fn write(&mut self, rows: Rows<'_>) -> impl Future<Output = Result<usize, StoreError>> + Send;

    /// Gives up what was written since the last mark.
    fn undo(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Makes everything durable and visible, and tells whoever watches.
    fn commit(self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A value as both databases keep it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Integer(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Value<'a> {
    /// A name that the program chose.
    pub(crate) fn name(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// A text that came from outside, kept as bytes.
    pub(crate) fn text(text: &'a str) -> Self {
        Self::bytes(text.as_bytes())
    }

    pub(crate) fn bytes(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }

    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cow::Owned(bytes))
    }

    /// A sequence or version; `None` beyond 2^63 − 1.
    pub(crate) fn number(number: u64) -> Option<Self> {
        i64::try_from(number).ok().map(Self::Integer)
    }
}

/// A row of an answer.
pub(crate) struct Row(pub(crate) Vec<Value<'static>>);

impl Row {
    /// The columns, if there are as many as expected.
    pub(crate) fn columns<const N: usize>(self) -> Result<[Value<'static>; N], StoreError> {
        self.0.try_into().map_err(|_| unexpected("number of columns"))
    }
}

impl Value<'static> {
    pub(crate) fn into_bytes(self) -> Result<Vec<u8>, StoreError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.into_owned()),
            _ => Err(unexpected("value that is no bytes")),
        }
    }

    pub(crate) fn into_array<const N: usize>(self) -> Result<[u8; N], StoreError> {
        self.into_bytes()?.try_into().map_err(|_| unexpected("length of a digest or salt"))
    }

    pub(crate) fn into_hash(self) -> Result<Hash, StoreError> {
        self.into_array()
    }

    /// A name or a text.
    pub(crate) fn into_text(self) -> Result<String, StoreError> {
        match self {
            Self::Text(text) => Ok(text.into_owned()),
            other => String::from_utf8(other.into_bytes()?).map_err(|_| unexpected("value that is no UTF-8")),
        }
    }

    pub(crate) fn into_number(self) -> Result<u64, StoreError> {
        match self {
            Self::Integer(number) => u64::try_from(number).map_err(|_| unexpected("negative number")),
            _ => Err(unexpected("value that is no number")),
        }
    }

    pub(crate) fn into_millis(self) -> Result<Option<Millis>, StoreError> {
        match self {
            Self::Null => Ok(None),
            Self::Integer(millis) => Ok(Some(Millis(millis))),
            _ => Err(unexpected("value that is no time")),
        }
    }
}

fn unexpected(what: &str) -> StoreError {
    StoreError::Damaged(format!("a row holds an unexpected {what}"))
}
