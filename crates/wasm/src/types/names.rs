//! Unions of names, written by the compiler from the lists in `core`.

// The constants are evaluated by the macro that writes the section; the compiler does not see that as a use.
#![allow(dead_code)]

use bailiwick_core::journal::FailureCode;
use bailiwick_core::work::{Action, Kind, ORDER_SPECS, REPORT_SPECS, Role, Rule, State, UNITS};
use wasm_bindgen::prelude::*;

/// The names of a list in `core`: what `as_str` gives, or the method that is named.
macro_rules! names {
    ($list:expr) => {
        names!($list, as_str)
    };
    ($list:expr, $name:ident) => {{
        const LIST: &[&str] = {
            const NAMES: [&str; $list.len()] = {
                let mut names = [""; $list.len()];
                let mut at = 0;
                while at < names.len() {
                    names[at] = $list[at].$name();
                    at += 1;
                }
                names
            };
            &NAMES
        };
        LIST
    }};
}

/// A declaration for TypeScript: `before`, the names in single quotes with `between` them, `after`.
macro_rules! declare {
    ($section:ident, $before:literal, $names:expr, $between:literal, $after:literal) => {
        const _: () = {
            const LENGTH: usize = length($before, $names, $between, $after);
            const BYTES: [u8; LENGTH] = joined($before, $names, $between, $after);
            #[wasm_bindgen(typescript_custom_section)]
            const $section: &'static str = match core::str::from_utf8(&BYTES) {
                Ok(text) => text,
                Err(_) => "",
            };
        };
    };
}

const KINDS: [Kind; 2] = [Kind::Invalid, Kind::Limit];
const ROLES: [Role; 4] = [Role::Manager, Role::Worker, Role::Desk, Role::Gateway];

/// The states that nothing leads out of: the last four.
const TERMINAL: [State; 4] = [State::Approved, State::Declined, State::Expired, State::Cancelled];

declare!(RULE, "/** The id of a rule. Ids are permanent. */\nexport type Rule = ", names!(Rule::ALL), " | ", ";\n");
declare!(
    KIND,
    "/** `invalid` rejects the document, `limit` is recorded and ends the order. */\nexport type Kind = ",
    names!(KINDS),
    " | ",
    ";\n"
);
declare!(
    FAILURE_CODE,
    "/** What is wrong with a journal. */\nexport type FailureCode = ",
    names!(FailureCode::ALL, code),
    " | ",
    ";\n"
);
declare!(STATE, "/** Where an order stands. */\nexport type State = ", names!(State::ALL), " | ", ";\n");
declare!(
    TERMINAL_STATE,
    "/** Where nothing leads further. */\nexport type TerminalState = ",
    names!(TERMINAL),
    " | ",
    ";\n"
);
declare!(ACTION, "/** A step in an order's life. */\nexport type Action = ", names!(Action::ALL), " | ", ";\n");
declare!(ROLE, "/** Who takes an action. */\nexport type Role = ", names!(ROLES), " | ", ";\n");
declare!(UNIT, "/** What an order is limited in. */\nexport type Unit = ", names!(UNITS), " | ", ";\n");
declare!(ORDER_SPEC, "/** A version of the order document. */\nexport type OrderSpec = ", &ORDER_SPECS, " | ", ";\n");
declare!(
    REPORT_SPEC,
    "/** A version of the report document. */\nexport type ReportSpec = ",
    &REPORT_SPECS,
    " | ",
    ";\n"
);

declare!(
    ORDER_SPECS_,
    "/** The versions of the order document, oldest first. */\nexport declare const ORDER_SPECS: readonly [",
    &ORDER_SPECS,
    ", ",
    "];\n"
);
declare!(
    REPORT_SPECS_,
    "/** The versions of the report document, oldest first. */\nexport declare const REPORT_SPECS: readonly [",
    &REPORT_SPECS,
    ", ",
    "];\n"
);
declare!(
    UNITS_,
    "/** Every unit, in the order in which findings report them. */\nexport declare const UNITS: readonly [",
    names!(UNITS),
    ", ",
    "];\n"
);
declare!(
    STATES_,
    "/** Every state, the active ones first. */\nexport declare const STATES: readonly [",
    names!(State::ALL),
    ", ",
    "];\n"
);
declare!(
    TERMINAL_STATES_,
    "/** The states that nothing leads out of. */\nexport declare const TERMINAL_STATES: readonly [",
    names!(TERMINAL),
    ", ",
    "];\n"
);

const fn length(before: &str, names: &[&str], between: &str, after: &str) -> usize {
    let mut length = before.len() + after.len();
    let mut at = 0;
    while at < names.len() {
        let separator = if at == 0 { 0 } else { between.len() };
        length += separator + names[at].len() + 2;
        at += 1;
    }
    length
}

const fn joined<const LENGTH: usize>(before: &str, names: &[&str], between: &str, after: &str) -> [u8; LENGTH] {
    let (mut text, mut end) = put([0; LENGTH], 0, before);
    let mut at = 0;
    while at < names.len() {
        (text, end) = put(text, end, if at == 0 { "" } else { between });
        (text, end) = put(text, end, "'");
        (text, end) = put(text, end, names[at]);
        (text, end) = put(text, end, "'");
        at += 1;
    }
    put(text, end, after).0
}

const fn put<const LENGTH: usize>(mut text: [u8; LENGTH], mut end: usize, part: &str) -> ([u8; LENGTH], usize) {
    let part = part.as_bytes();
    let mut at = 0;
    while at < part.len() {
        text[end] = part[at];
        end += 1;
        at += 1;
    }
    (text, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_divided() {
        let text: [u8; length("a ", &["x", "yz"], " | ", ";")] = joined("a ", &["x", "yz"], " | ", ";");
        assert_eq!(core::str::from_utf8(&text), Ok("a 'x' | 'yz';"));
    }

    #[test]
    fn no_name_is_missing() {
        let terminal: Vec<State> = State::ALL.into_iter().filter(|state| state.is_terminal()).collect();
        assert_eq!(TERMINAL.as_slice(), terminal);
        assert!(Rule::ALL.iter().all(|rule| KINDS.contains(&rule.kind())));
        assert!(Action::ALL.iter().all(|action| ROLES.contains(&action.role())));
        assert_eq!(names!(UNITS), UNITS.map(bailiwick_core::work::Unit::as_str));
    }
}
