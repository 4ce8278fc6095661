//! The strict reader.
