//! Timestamps and instants.
