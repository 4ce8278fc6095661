//! The types that TypeScript gets.
//!
//! - [`names`]: unions of the names that `core` knows: rules, kinds, states, actions, units, codes
//! - [`document`]: orders and reports; a test compares them with the published schemas
//! - [`answer`]: what calls take and answer
//! - [`surface`]: what has no counterpart in Rust: the error class, the verifier's class, `init`, the constants

pub mod answer;
pub mod document;
pub mod names;
pub mod surface;
