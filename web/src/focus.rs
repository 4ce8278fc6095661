//! Taking the reader along when what they used goes away.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Gives an element the focus, and scrolls to it. Nothing if it is not there.
pub(crate) fn focus(id: &str) {
    let element = document().get_element_by_id(id).and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(element) = element {
        let _ = element.focus();
    }
}

/// Gives an element the focus as soon as it is there: the page shows what follows on a change a moment later.
pub(crate) fn focus_soon(id: impl Into<String>) {
    let id = id.into();
    request_animation_frame(move || focus(&id));
}
