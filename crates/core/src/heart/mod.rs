//! heart
