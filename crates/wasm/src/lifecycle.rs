//! States, actions and records (`spec work-orders §7`, `§9`).

use bailiwick_core::json::Limits;
use bailiwick_core::work::{self, Action, State};
use js_sys::{Array, JsString};
use wasm_bindgen::prelude::*;

use crate::boundary::{Answer, read, show, text};
use crate::fault::Fault;

/// The state after an action; `undefined` where the action is not allowed.
#[wasm_bindgen(js_name = nextState, unchecked_return_type = "State | undefined")]
pub fn next_state(
    #[wasm_bindgen(unchecked_param_type = "State")] state: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Action")] action: &JsValue,
) -> Result<Option<String>, JsValue> {
    let action = Action::parse(&text(action, "action")?).ok_or(Fault::argument("action", "an action's name"))?;
    Ok(work::next_state(parse_state(state)?, action).map(|state| state.as_str().into()))
}

/// The actions that change a state, in a fixed sequence; none for a terminal state.
#[wasm_bindgen(js_name = allowedActions, unchecked_return_type = "Action[]")]
pub fn allowed_actions(#[wasm_bindgen(unchecked_param_type = "State")] state: &JsValue) -> Result<Array, JsValue> {
    let actions = work::allowed_actions(parse_state(state)?);
    Ok(actions.map(|action| JsString::from(action.as_str())).collect())
}

/// Whether nothing leads out of a state.
#[wasm_bindgen(js_name = isTerminal)]
pub fn is_terminal(#[wasm_bindgen(unchecked_param_type = "State")] state: &JsValue) -> Result<bool, JsValue> {
    Ok(parse_state(state)?.is_terminal())
}

/// The summary of an order's record.
#[wasm_bindgen(unchecked_return_type = "Summary")]
pub fn summarize(#[wasm_bindgen(unchecked_param_type = "OrderRecord | Document")] record: &JsValue) -> Answer {
    let record = read(record, &Limits::STORED)?;
    let summary =
        work::summarize(&record).ok_or(Fault::argument("record", "an object with `order`, `state`, `events`"))?;
    Ok(show(&summary.into()))
}

/// The `seq` of the last event of an order's record, 0 when there is none.
#[wasm_bindgen(js_name = lastSeq)]
pub fn last_seq(
    #[wasm_bindgen(unchecked_param_type = "Pick<OrderRecord, 'events'> | Document")] record: &JsValue,
) -> Result<f64, JsValue> {
    let last =
        work::last_seq(&read(record, &Limits::STORED)?).ok_or(Fault::argument("record", "an object with `events`"))?;
    // Beyond 2^53 events it would be the nearest number.
    Ok(last as f64)
}

fn parse_state(state: &JsValue) -> Result<State, JsValue> {
    State::parse(&text(state, "state")?).ok_or_else(|| Fault::argument("state", "a state's name").into())
}
