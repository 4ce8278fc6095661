//! JSON: values, a strict reader with limits, and the writers.
//!
//! Bailiwick reads JSON itself because its rules depend on what general readers leave open: duplicate names,
//! depth, integers beyond 2^53, unpaired surrogates (`spec work-orders §6.5`, `coordination §5.2`).

mod number;
mod pointer;
mod read;
mod value;
mod write;

pub use number::Number;
pub use pointer::Pointer;
pub use read::{Duplicates, Limits, Lossless, LosslessText, ReadError, ReadErrorKind, parse, parse_lossless};
pub use value::{Object, Text, Tree, Value};
pub use write::{write_canonical, write_compact, write_pretty};
