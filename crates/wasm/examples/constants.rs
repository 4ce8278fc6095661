//! Prints `constants.js` of the npm package: what the rules know as constants, as a module of JavaScript, so that it is
//! there before the wasm module is loaded. `src/types.rs` declares the same for TypeScript.

use bailiwick_core::work::{Action, ORDER_SPEC, ORDER_SPECS, REPORT_SPEC, REPORT_SPECS, State, UNITS};

fn main() {
    println!("// Written by `cargo xtask pkg`.\n");
    println!(
        "const frozen = (value) => {{\n  Object.values(value).forEach((inner) => typeof inner === 'object' && frozen(inner));\n  return Object.freeze(value);\n}};\n"
    );
    export("ORDER_SPEC", &quoted(ORDER_SPEC));
    export("ORDER_SPECS", &list(ORDER_SPECS));
    export("REPORT_SPEC", &quoted(REPORT_SPEC));
    export("REPORT_SPECS", &list(REPORT_SPECS));
    export("UNITS", &list(UNITS.map(bailiwick_core::work::Unit::as_str)));
    export("STATES", &list(State::ALL.map(State::as_str)));
    export("TERMINAL_STATES", &list(State::ALL.into_iter().filter(|state| state.is_terminal()).map(State::as_str)));
    let roles = Action::ALL.map(|action| format!("{}: {}", action.as_str(), quoted(action.role().as_str())));
    export("ROLE_FOR", &format!("frozen({{ {} }})", roles.join(", ")));
    export("workOrderSchema", &format!("frozen({})", include_str!("../../../schemas/work-order.json").trim()));
    export("workReportSchema", &format!("frozen({})", include_str!("../../../schemas/work-report.json").trim()));
}

fn export(name: &str, value: &str) {
    println!("export const {name} = {value};");
}

fn list(names: impl IntoIterator<Item = &'static str>) -> String {
    format!("frozen([{}])", names.into_iter().map(quoted).collect::<Vec<_>>().join(", "))
}

/// None of these names needs an escape.
fn quoted(name: &str) -> String {
    format!("'{name}'")
}
