//! JSON: values, a strict reader with limits, and the writers.
//!
//! Bailiwick reads JSON itself because its rules depend on what general readers leave open: duplicate names,
//! depth, integers beyond 2^53, unpaired surrogates (`spec work-orders §6.5`, `coordination §5.2`).

mod locate;
mod number;
mod read;
mod read_error;
mod scan;
mod text;
mod value;
mod write;

pub use locate::{Location, locate};
pub use number::Number;
pub use read::{DEEPEST, Duplicates, Limits, parse, parse_lossless};
pub use read_error::{ReadError, ReadErrorKind};
pub use text::{LosslessText, Text};
pub use value::{Object, Tree, Value};
pub use write::{
    write_canonical, write_canonical_into, write_compact, write_compact_into, write_jcs, write_jcs_into, write_pretty,
};
