//! States, actions, and who may take them (`spec work-orders §7.1, §7.2`).

use super::State;

/// A step in an order's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The manager issues the order
    Create,
    /// The worker takes it
    Accept,
    /// The worker turns it down
    Decline,
    /// The worker begins
    Start,
    /// The worker reports that it is done
    ReportDone,
    /// The worker reports that it failed
    ReportFailed,
    /// The worker reports that it needs an answer
    ReportBlocked,
    /// The manager or the escalation contact answers
    Answer,
    /// The manager approves the report
    Approve,
    /// The manager sends the worker back to work
    Rework,
    /// The manager calls the order off
    Cancel,
    /// The desk ends the order: its deadline passed or a limit was exceeded
    Expire,
    /// The worker says how far it is
    Progress,
    /// A gateway claims an approved effect
    EffectStart,
    /// The effect was done
    EffectDone,
    /// The effect failed
    EffectFailed,
    /// The manager lets an effect be tried again
    AllowEffectRetry,
}

/// Who takes an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The order's `from`
    Manager,
    /// The order's `to`
    Worker,
    /// The desk itself
    Desk,
    /// Whoever stands before the tools
    Gateway,
}

impl Role {
    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Worker => "worker",
            Self::Desk => "desk",
            Self::Gateway => "gateway",
        }
    }
}

impl Action {
    /// Every action, in the order in which [`allowed_actions`] lists them, then those that it does not list.
    pub const ALL: [Self; 17] = [
        Self::Accept,
        Self::Decline,
        Self::Start,
        Self::ReportDone,
        Self::ReportFailed,
        Self::ReportBlocked,
        Self::Answer,
        Self::Approve,
        Self::Rework,
        Self::Cancel,
        Self::Expire,
        Self::Create,
        Self::Progress,
        Self::EffectStart,
        Self::EffectDone,
        Self::EffectFailed,
        Self::AllowEffectRetry,
    ];

    /// The name that events carry.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Start => "start",
            Self::ReportDone => "report_done",
            Self::ReportFailed => "report_failed",
            Self::ReportBlocked => "report_blocked",
            Self::Answer => "answer",
            Self::Approve => "approve",
            Self::Rework => "rework",
            Self::Cancel => "cancel",
            Self::Expire => "expire",
            Self::Progress => "progress",
            Self::EffectStart => "effect_start",
            Self::EffectDone => "effect_done",
            Self::EffectFailed => "effect_failed",
            Self::AllowEffectRetry => "allow_effect_retry",
        }
    }

    /// The action of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }

    /// Who takes the action. `answer` is open to the escalation contact too.
    pub const fn role(self) -> Role {
        match self {
            Self::Create | Self::Answer | Self::Approve | Self::Rework | Self::Cancel | Self::AllowEffectRetry => {
                Role::Manager
            }
            Self::Expire => Role::Desk,
            Self::EffectStart | Self::EffectDone | Self::EffectFailed => Role::Gateway,
            Self::Accept
            | Self::Decline
            | Self::Start
            | Self::ReportDone
            | Self::ReportFailed
            | Self::ReportBlocked
            | Self::Progress => Role::Worker,
        }
    }
}

/// The state after an action; `None` where the action is not allowed.
pub const fn next_state(state: State, action: Action) -> Option<State> {
    Some(match (state, action) {
        (State::Offered, Action::Accept) => State::Accepted,
        (State::Offered, Action::Decline) => State::Declined,
        (State::Accepted, Action::Start)
        | (State::Working, Action::Progress)
        | (State::Blocked, Action::Answer)
        | (State::Submitted, Action::Rework) => State::Working,
        (State::Working, Action::ReportDone | Action::ReportFailed) => State::Submitted,
        (State::Working, Action::ReportBlocked) => State::Blocked,
        (State::Submitted, Action::Approve)
        | (
            State::Approved,
            Action::EffectStart | Action::EffectDone | Action::EffectFailed | Action::AllowEffectRetry,
        ) => State::Approved,
        (state, Action::Cancel) if !state.is_terminal() => State::Cancelled,
        (state, Action::Expire) if !state.is_terminal() => State::Expired,
        _ => return None,
    })
}

/// The actions that change a state, in a fixed sequence; none for a terminal state. What leaves the state as it is, such
/// as `progress`, is not listed.
pub fn allowed_actions(state: State) -> impl Iterator<Item = Action> {
    Action::ALL.into_iter().filter(move |action| next_state(state, *action).is_some_and(|after| after != state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn allowed_actions_follow_the_table() {
        let names = |state| allowed_actions(state).map(Action::as_str).collect::<Vec<_>>();
        assert_eq!(names(State::Offered), ["accept", "decline", "cancel", "expire"]);
        assert_eq!(names(State::Accepted), ["start", "cancel", "expire"]);
        assert_eq!(names(State::Working), ["report_done", "report_failed", "report_blocked", "cancel", "expire"]);
        assert_eq!(names(State::Blocked), ["answer", "cancel", "expire"]);
        assert_eq!(names(State::Submitted), ["approve", "rework", "cancel", "expire"]);
        for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
            assert_eq!(names(state), [""; 0]);
            assert_eq!(next_state(state, Action::Progress), None);
        }
    }

    #[test]
    fn names_read_back() {
        for action in Action::ALL {
            assert_eq!(Action::parse(action.as_str()), Some(action));
        }
        assert_eq!(Action::parse("Accept"), None);
    }
}
