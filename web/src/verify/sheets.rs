//! The files on the page.

use std::collections::HashMap;

use bailiwick_core::json::Limits;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File};

use super::check::Document;
use super::kind::{BEGINNING_BYTES, Kind, begins_a_journal};
use crate::engine::Source;

/// A file on the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sheet {
    /// A document, read
    Document(Document),
    /// A journal, which is read only as it is verified; its name
    Journal(String),
    /// A file that the browser could not read; its name
    Unreadable(String),
}

impl Sheet {
    /// The name of the file.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Document(document) => &document.name,
            Self::Journal(name) | Self::Unreadable(name) => name,
        }
    }
}

/// The files on the page, each with a number that it keeps.
#[derive(Clone, Copy)]
pub(crate) struct Sheets {
    /// In the order in which they came
    pub(crate) all: RwSignal<Vec<(u32, Sheet)>>,
    /// The last verdict, for screen readers
    pub(crate) said: RwSignal<String>,
    /// Where the bytes of the journals are
    sources: StoredValue<HashMap<u32, Blob>, LocalStorage>,
    next: StoredValue<u32>,
}

impl Sheets {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self {
            all: RwSignal::new(Vec::new()),
            said: RwSignal::new(String::new()),
            sources: StoredValue::new_local(HashMap::new()),
            next: StoredValue::new(0),
        }
    }

    /// Where the bytes of a journal are.
    pub(crate) fn source(self, id: u32) -> Option<Source> {
        self.sources.with_value(|sources| sources.get(&id).cloned()).map(Source::Blob)
    }

    /// Adds a text.
    pub(crate) fn add_text(self, name: &str, text: &str) {
        let beginning = &text[..text.floor_char_boundary(BEGINNING_BYTES)];
        let is_journal = begins_a_journal(beginning) || text.len() > Limits::DOCUMENT.bytes;
        match blob_of(text).filter(|_| is_journal) {
            Some(blob) => self.add_journal(name.into(), blob),
            None => self.add(Sheet::Document(Document::read(name, text.as_bytes()))),
        }
    }

    /// Adds a file, as soon as enough of it is read.
    pub(crate) fn add_file(self, file: File) {
        let name = file.name();
        spawn_local(async move {
            match is_journal(&file).await {
                Some(true) => self.add_journal(name, file.into()),
                Some(false) => match bytes_of(&file).await {
                    Some(bytes) => self.add(Sheet::Document(Document::read(name, &bytes))),
                    None => self.add(Sheet::Unreadable(name)),
                },
                None => self.add(Sheet::Unreadable(name)),
            }
        });
    }

    /// Adds a file that could not be read.
    pub(crate) fn add_unreadable(self, name: &str) {
        self.add(Sheet::Unreadable(name.into()));
    }

    /// Takes a file for something else than it was taken for.
    pub(crate) fn set_kind(self, id: u32, kind: Kind) {
        let sheet =
            self.all.with_untracked(|all| all.iter().find(|(other, _)| *other == id).map(|(_, sheet)| sheet.clone()));
        match sheet {
            Some(Sheet::Document(document)) if kind == Kind::Journal => {
                if let Some(blob) = blob_of(&document.text) {
                    self.sources.update_value(|sources| drop(sources.insert(id, blob)));
                    self.replace(id, Sheet::Journal(document.name));
                }
            }
            Some(Sheet::Document(document)) => self.replace(id, Sheet::Document(Document { kind, ..document })),
            Some(Sheet::Journal(name)) if kind != Kind::Journal => {
                let Some(blob) = self.sources.with_value(|sources| sources.get(&id).cloned()) else { return };
                spawn_local(async move {
                    match bytes_of(&blob).await {
                        Some(bytes) => {
                            let document = Document { kind, ..Document::read(name, &bytes) };
                            self.replace(id, Sheet::Document(document));
                        }
                        None => self.replace(id, Sheet::Unreadable(name)),
                    }
                });
            }
            _ => {}
        }
    }

    /// Puts another text in the place of a document's.
    pub(crate) fn set_text(self, id: u32, name: &str, kind: Kind, text: &str) {
        self.replace(id, Sheet::Document(Document { kind, ..Document::read(name, text.as_bytes()) }));
    }

    /// Takes a file off the page.
    pub(crate) fn remove(self, id: u32) {
        self.sources.update_value(|sources| drop(sources.remove(&id)));
        self.all.update(|all| all.retain(|(other, _)| *other != id));
    }

    /// Takes every file off the page.
    pub(crate) fn clear(self) {
        self.sources.update_value(HashMap::clear);
        self.all.set(Vec::new());
    }

    fn add_journal(self, name: String, blob: Blob) {
        let next = self.next.try_get_value();
        if let Some(id) = next {
            self.sources.update_value(|sources| drop(sources.insert(id, blob)));
            self.add(Sheet::Journal(name));
        }
    }

    /// Adds a sheet, unless the page is gone by now.
    fn add(self, sheet: Sheet) {
        if let Some(id) = self.next.try_get_value() {
            self.next.set_value(id + 1);
            self.all.update(|all| all.push((id, sheet)));
        }
    }

    fn replace(self, id: u32, sheet: Sheet) {
        let _ = self.all.try_update(|all| {
            if let Some((_, old)) = all.iter_mut().find(|(other, _)| *other == id) {
                *old = sheet;
            }
        });
    }
}

/// Whether a file is a journal: by how it begins, because it is packed, or because it is too large for a document.
async fn is_journal(file: &File) -> Option<bool> {
    if file.size() > f64::from(u32::try_from(Limits::DOCUMENT.bytes).ok()?) {
        return Some(true);
    }
    let beginning = bytes_of(&file.slice_with_i32_and_i32(0, i32::try_from(BEGINNING_BYTES).ok()?).ok()?).await?;
    Some(beginning.starts_with(&[0x1f, 0x8b]) || begins_a_journal(&String::from_utf8_lossy(&beginning)))
}

/// The bytes of a file, unless it is too large for a document or cannot be read.
async fn bytes_of(blob: &Blob) -> Option<Vec<u8>> {
    if blob.size() > f64::from(u32::try_from(Limits::DOCUMENT.bytes).ok()?) {
        return None;
    }
    let buffer = JsFuture::from(blob.array_buffer()).await.ok()?;
    Some(js_sys::Uint8Array::new(&buffer).to_vec())
}

fn blob_of(text: &str) -> Option<Blob> {
    Blob::new_with_str_sequence(&js_sys::Array::of1(&JsValue::from_str(text))).ok()
}
