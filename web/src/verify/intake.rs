//! How files get on the page: dropped, picked or pasted.

use leptos::html;
use leptos::prelude::*;
use web_sys::{DragEvent, FileList};

use super::sheets::Sheets;

/// The place where files are dropped, picked and pasted.
#[component]
pub(super) fn Intake(sheets: Sheets) -> impl IntoView {
    let (over, set_over) = signal(false);
    let picker = NodeRef::<html::Input>::new();
    let text = RwSignal::new(String::new());
    let drop = move |event: DragEvent| {
        event.prevent_default();
        set_over.set(false);
        let transfer = event.data_transfer();
        let files = transfer.as_ref().and_then(web_sys::DataTransfer::files);
        match (files.filter(|files| files.length() > 0), transfer) {
            (Some(files), _) => take(sheets, &files),
            // Text that was dragged from another window.
            (None, Some(transfer)) => {
                if let Some(dropped) = transfer.get_data("text/plain").ok().filter(|text| !text.trim().is_empty()) {
                    sheets.add_text("Dropped text", &dropped);
                }
            }
            (None, None) => {}
        }
    };
    let drag = move |event: DragEvent| {
        event.prevent_default();
        set_over.set(true);
    };
    let pick = move |_| {
        if let Some(picker) = picker.get() {
            if let Some(files) = picker.files() {
                take(sheets, &files);
            }
            // So that the same file can be picked again after it was changed.
            picker.set_value("");
        }
    };
    let paste = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if text.with_untracked(|text| !text.trim().is_empty()) {
            sheets.add_text("Pasted text", &text.get_untracked());
            text.set(String::new());
        }
    };
    view! {
        <div
            class="intake card"
            class:over=move || over.get()
            on:dragover=drag
            on:dragleave=move |_| set_over.set(false)
            on:drop=drop
        >
            <div class="field">
                <label for="files">"Files"</label>
                <input id="files" type="file" multiple node_ref=picker aria-describedby="files-hint" on:change=pick/>
                <p id="files-hint" class="hint">"Pick one or several, or drop them here: JSON, JSON Lines, or gzip of them."</p>
            </div>
            <form class="field" on:submit=paste>
                <label for="pasted">"Or paste"</label>
                <textarea
                    id="pasted" class="code" rows="3" spellcheck="false" autocomplete="off"
                    placeholder="{ \"spec\": \"awl/work-order@0.1\", …" bind:value=text
                ></textarea>
                <p><button type="submit" class="button primary">"Check"</button></p>
            </form>
        </div>
    }
}

fn take(sheets: Sheets, files: &FileList) {
    for file in (0..files.length()).filter_map(|index| files.get(index)) {
        sheets.add_file(file);
    }
}
