//! A text with its marks.

use leptos::prelude::*;

use super::layout::{Part, Row};
use super::result::{Item, Shown, Tone};
use crate::focus::focus;
use crate::journal::amount::{counted, grouped};

/// The text of a document, the places of its findings marked. Each mark is a button that leads to its finding.
#[component]
pub(super) fn MarkedText(
    /// The number of the sheet, for ids
    sheet: u32,
    /// What the text is called
    name: String,
    /// What to show
    shown: Shown,
) -> impl IntoView {
    let owners = owners(&shown);
    let part = |part: Part| match part {
        Part::Text(text) => view! { <span>{text}</span> }.into_any(),
        Part::Cut { characters } => view! {
            <span class="cut">"… "{counted(characters as u64, "character", "characters")}" …"</span>
        }
        .into_any(),
        Part::Mark { text, mark } => {
            match owners.get(mark).and_then(|owner| Some((*owner, shown.items.get(*owner)?))) {
                Some((owner, item)) => view! { <Mark sheet mark owner text item=item.clone()/> }.into_any(),
                None => view! { <span>{text}</span> }.into_any(),
            }
        }
    };
    let row = |row: Row| match row {
        Row::Gap { lines } => view! {
            <div class="gap quiet">{counted(lines as u64, "line", "lines")}" left out"</div>
        }
        .into_any(),
        Row::Line { number, parts } => view! {
            <div class="line">
                <span class="line-number" aria-hidden="true">{grouped(number as u64)}</span>
                <code>{parts.into_iter().map(part).collect_view()}</code>
            </div>
        }
        .into_any(),
    };
    view! {
        <div class="marked-text" id=text_id(sheet) role="region" tabindex="0" aria-label=format!("Text of {name}")>
            {shown.layout.rows.clone().into_iter().map(row).collect_view()}
        </div>
    }
}

/// For each mark the first of its findings.
fn owners(shown: &Shown) -> Vec<usize> {
    let of_mark = |mark| shown.layout.mark_of.iter().position(|found| *found == Some(mark)).unwrap_or_default();
    (0..shown.layout.marks.len()).map(of_mark).collect()
}

#[component]
fn Mark(sheet: u32, mark: usize, owner: usize, text: String, item: Item) -> impl IntoView {
    let class = if item.tone == Tone::Bad { "mark bad" } else { "mark warn" };
    let empty = text.is_empty();
    view! {
        <button
            type="button" class=class id=mark_id(sheet, mark) title=item.message.clone()
            aria-describedby=item_id(sheet, owner)
            on:click=move |_| focus(&item_id(sheet, owner))
        >
            {text}
            {empty.then(|| view! { <span class="visually-hidden">"the end of the text"</span> })}
        </button>
    }
}

/// The id of a text.
pub(super) fn text_id(sheet: u32) -> String {
    format!("sheet-{sheet}-text")
}

/// The id of a mark.
pub(super) fn mark_id(sheet: u32, mark: usize) -> String {
    format!("sheet-{sheet}-mark-{mark}")
}

/// The id of a finding.
pub(super) fn item_id(sheet: u32, item: usize) -> String {
    format!("sheet-{sheet}-finding-{item}")
}
