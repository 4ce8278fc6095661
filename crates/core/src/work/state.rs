//! The states of an order (`spec work-orders §7.1`).

use core::fmt;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Waits for the worker to accept or decline
    Offered,
    /// The worker took it, and has not started
    Accepted,
    /// The worker works
    Working,
    /// The worker waits for an answer
    Blocked,
    /// A report waits for the manager's review
    Submitted,
    /// Finished: the manager approved
    Approved,
    /// Finished: the worker declined
    Declined,
    /// Finished: the deadline passed or a limit was exceeded
    Expired,
    /// Finished: the manager cancelled
    Cancelled,
}

impl State {
    /// Every state: the active ones, then the terminal ones.
    pub const ALL: [Self; 9] = [
        Self::Offered,
        Self::Accepted,
        Self::Working,
        Self::Blocked,
        Self::Submitted,
        Self::Approved,
        Self::Declined,
        Self::Expired,
        Self::Cancelled,
    ];

    /// The name as documents carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Accepted => "accepted",
            Self::Working => "working",
            Self::Blocked => "blocked",
            Self::Submitted => "submitted",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether nothing leads out of this state.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Offered | Self::Accepted | Self::Working | Self::Blocked | Self::Submitted => false,
            Self::Approved | Self::Declined | Self::Expired | Self::Cancelled => true,
        }
    }

    /// Whether an order in this state holds its budget against its parent's: all but `declined` do, the stopped
    /// ones with their whole budget (`spec §6.3`).
    pub const fn holds_budget(self) -> bool {
        !matches!(self, Self::Declined)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_four_states_are_terminal() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
        let terminal: alloc::vec::Vec<_> = State::ALL.into_iter().filter(|state| state.is_terminal()).collect();
        assert_eq!(terminal, [State::Approved, State::Declined, State::Expired, State::Cancelled]);
    }
}
