//! The writers.
