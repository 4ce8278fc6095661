//! The draft as JSON text, to be written by hand or pasted.

use bailiwick_core::json::{Limits, Value, parse, write_pretty};
use leptos::prelude::*;

use super::draft::Draft;
use super::{Writing, as_sent};
use crate::parts::{Json, live};

/// The draft as JSON text, and the document that comes of it.
#[component]
pub(super) fn Text(writing: Writing) -> impl IntoView {
    let start = writing.draft.with_untracked(Draft::document);
    let fault = writing.text_fault;
    fault.set(start.as_ref().err().map(|_| "A field of the form is not JSON yet; mend it there first".to_string()));
    // Without the text on the page, the draft is what there is.
    on_cleanup(move || {
        fault.try_set(None);
    });
    let text = RwSignal::new(start.map(|document| write_pretty(&document.into())).unwrap_or_default());
    let write = move |event| {
        text.set(event_target_value(&event));
        match text.with_untracked(|text| read(text)) {
            Ok(draft) => {
                fault.set(None);
                writing.draft.set(draft);
            }
            Err(message) => fault.set(Some(message)),
        }
    };
    view! {
        <div class="card stack">
            <div class="field">
                <label for="json">"The order you send"</label>
                <p class="hint" id="json-hint">
                    "Write or paste it here; the form follows. The desk fills in "<code>"spec"</code>", "<code>"created_at"</code>
                    ", "<code>"from"</code>", and "<code>"id"</code>" unless you choose one."
                </p>
                <textarea
                    id="json" class="code" rows="16" spellcheck="false" aria-describedby="json-hint json-fault"
                    aria-invalid=move || fault.with(Option::is_some).to_string()
                    prop:value=move || text.get() on:input=write
                ></textarea>
                <p id="json-fault" class="wrong" role="status">{live(move || fault.get().map(|fault| format!("{fault}.")))}</p>
            </div>
            <div class="field">
                <h2>"As the agent will get it"</h2>
                <Json value=as_sent(writing) what="order"/>
            </div>
        </div>
    }
}

fn read(text: &str) -> Result<Draft, String> {
    match parse(text.as_bytes(), &Limits::DOCUMENT) {
        Ok(Value::Object(document)) => Draft::read(&document),
        Ok(_) => Err("An order is a JSON object".into()),
        Err(error) => Err(format!("Line {}, column {}: {}", error.line, error.column, error.kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_refused_with_their_place() {
        assert!(read("{\n \"to\": }").unwrap_err().starts_with("Line 2, column 8: "));
        assert_eq!(read("[]").unwrap_err(), "An order is a JSON object");
        assert!(read("{}").is_ok());
    }
}
