//! Moving the focus.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Moves the focus to the element with this id, if there is one. What no key reaches needs a `tabindex` of -1.
pub(crate) fn focus(id: &str) {
    let element = document().get_element_by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok());
    if let Some(element) = element {
        let _ = element.focus();
    }
}
