//! The rules for JavaScript: a wasm-bindgen face of `bailiwick-core` and, in the full build, `bailiwick-schema`.
//!
//! Nothing is decided here. Each function reads what it is given, asks `core`, and shows the answer as plain data.
//!
//! - [`validate`]: orders, reports and sub-orders
//! - [`tools`], [`lifecycle`]: what an order allows, and where it stands
//! - [`journal`], [`rows`], [`merkle`]: verifying journals, their entries and proofs over them
//! - [`passes`]: delegation passes, in the full build
//! - [`canonical`]: RFC 8785
//! - [`types`]: the types that TypeScript gets
//! - [`fault`]: what can be wrong with a call
//!
//! The package in `pkg/` puts entries for Node, browsers and edge workers around it; they say when the module is
//! ready, and start it afresh should it ever stop at a trap.

pub mod canonical;
pub mod fault;
pub mod journal;
pub mod lifecycle;
pub mod merkle;
pub mod passes;
pub mod rows;
pub mod tools;
pub mod types;
pub mod validate;

mod boundary;
mod decide;
