//! What the agent will see of a decision, before it is sent.

use bailiwick_core::json::{Object, Value};
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work::{Action, Event, State, next_state};

/// A decision as it is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    /// What is decided
    pub(super) action: Action,
    /// The reason or the answer; a blank one counts as none, as it does at the desk
    pub(super) note: String,
    /// With an approval of a report that lists effects: those that may run
    pub(super) effects: Option<Vec<String>>,
}

impl Decision {
    fn note(&self) -> Option<String> {
        Some(self.note.clone()).filter(|note| !note.trim().is_empty())
    }

    /// Whether it needs a text that is not there yet.
    pub(super) fn lacks_note(&self) -> bool {
        matches!(self.action, Action::Rework | Action::Answer) && self.note().is_none()
    }

    /// Where it is sent, below the order.
    pub(super) const fn endpoint(&self) -> &'static str {
        match self.action {
            Action::Approve | Action::Rework => "review",
            other => other.as_str(),
        }
    }

    /// The request's body.
    pub(super) fn body(&self) -> Object {
        match self.action {
            Action::Answer => Object::new().with("answer", &self.note),
            Action::Approve | Action::Rework => Object::new()
                .with("decision", self.action.as_str())
                .with_some("reason", self.note())
                .with_some("effects", self.effects.clone()),
            _ => Object::new().with_some("reason", self.note()),
        }
    }

    /// The event that it becomes, as `wait_for_update` and `get_work_order` answer it; `None` where the state does not
    /// allow it.
    pub(super) fn event(&self, state: State, last_seq: u64, actor: &str, now: Millis) -> Option<Event> {
        Some(Event {
            seq: last_seq + 1,
            at: time::format(now),
            actor: actor.into(),
            action: self.action,
            from: Some(state),
            to: next_state(state, self.action)?,
            note: self.note(),
            percent: None,
            effects: self.effects.clone(),
        })
    }
}

/// What is new in the order's view once the event has happened.
pub(super) fn news(event: &Event) -> Value {
    Object::new()
        .with("state", event.to.as_str())
        .with("last_seq", event.seq)
        .with("events", vec![event.to_value()])
        .into()
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::write_compact;

    use super::*;

    fn decision(action: Action, note: &str) -> Decision {
        Decision { action, note: note.into(), effects: None }
    }

    #[test]
    fn the_news_are_what_the_desk_will_answer() {
        let event = decision(Action::Rework, "Name the window").event(State::Submitted, 4, "human:ada", Millis(0));
        assert_eq!(
            write_compact(&news(&event.unwrap())),
            r#"{"state":"working","last_seq":5,"events":[{"seq":5,"at":"1970-01-01T00:00:00.000Z","actor":"human:ada","action":"rework","from":"submitted","to":"working","note":"Name the window"}]}"#
        );
        assert_eq!(decision(Action::Approve, "").event(State::Working, 4, "human:ada", Millis(0)), None);
    }

    #[test]
    fn blank_texts_are_left_out_or_asked_for() {
        assert!(decision(Action::Rework, " \n").lacks_note());
        assert!(decision(Action::Answer, "").lacks_note());
        assert!(!decision(Action::Approve, "").lacks_note());
        assert_eq!(write_compact(&decision(Action::Cancel, " ").body().into()), "{}");
        let approval = Decision { effects: Some(vec!["mail/send#1".into()]), ..decision(Action::Approve, "") };
        assert_eq!(write_compact(&approval.body().into()), r#"{"decision":"approve","effects":["mail/send#1"]}"#);
    }
}
