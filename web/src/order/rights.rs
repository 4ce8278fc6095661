//! What whoever is signed in may do with an order (`spec work-orders §7.2`).

use bailiwick_core::json::Value;
use bailiwick_core::work::{Action, Role, State, allowed_actions};

use crate::document::text;

/// What somebody may do with an order as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rights {
    /// The actions that the state allows and that are theirs, in the order of the specification
    pub(super) actions: Vec<Action>,
}

impl Rights {
    /// Of a caller, for an order in a state. The worker's reports are left out: they are made where the work is done.
    pub(super) fn of(order: &Value, state: State, caller: &str) -> Self {
        let is = |name| text(order, name) == caller;
        let theirs = |action: &Action| match (action, action.role()) {
            (Action::ReportDone | Action::ReportFailed | Action::ReportBlocked, _) => false,
            (Action::Answer, _) => is("from") || is("escalate_to"),
            (_, Role::Manager) => is("from"),
            (_, Role::Worker) => is("to"),
            (_, Role::Desk | Role::Gateway) => false,
        };
        Self { actions: allowed_actions(state).filter(theirs).collect() }
    }

    /// Whether an action is among them.
    pub(super) fn may(&self, action: Action) -> bool {
        self.actions.contains(&action)
    }
}

/// Who has to do the next step: their id, and how the sentence goes on. `None` where nothing is left to do.
pub(super) fn next_step(order: &Value, state: State) -> Option<(String, &'static str)> {
    let (member, words) = match state {
        State::Offered => ("to", "can accept or decline it"),
        State::Accepted => ("to", "has accepted it and can start"),
        State::Working => ("to", "is at work"),
        State::Blocked => ("from", "has a question to answer"),
        State::Submitted => ("from", "has a report to review"),
        State::Approved | State::Declined | State::Expired | State::Cancelled => return None,
    };
    Some((text(order, member).into(), words))
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::Object;

    use super::*;

    fn rights(state: State, caller: &str) -> Vec<&'static str> {
        let order =
            Object::new().with("from", "human:ada").with("to", "agent:w").with("escalate_to", "human:bo").into();
        Rights::of(&order, state, caller).actions.into_iter().map(Action::as_str).collect()
    }

    #[test]
    fn each_role_has_its_actions() {
        assert_eq!(rights(State::Submitted, "human:ada"), ["approve", "rework", "cancel"]);
        assert_eq!(rights(State::Blocked, "human:ada"), ["answer", "cancel"]);
        assert_eq!(rights(State::Blocked, "human:bo"), ["answer"]);
        assert_eq!(rights(State::Offered, "agent:w"), ["accept", "decline"]);
        assert_eq!(rights(State::Working, "agent:w"), [""; 0]);
        assert_eq!(rights(State::Submitted, "human:eve"), [""; 0]);
        assert_eq!(rights(State::Approved, "human:ada"), [""; 0]);
    }
}
