//! One file on the page, with what its checks found.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::check::{Check, Document, Outcome, Question, check, completed};
use super::kind::Kind;
use super::layout::MOST_MARKS;
use super::marked::{MarkedText, item_id, mark_id, text_id};
use super::result::{Group, Item, Shown, Tone, show};
use super::sheets::{Sheet, Sheets};
use crate::engine;
use crate::focus::{focus, focus_soon};
use crate::journal::amount::grouped;
use crate::journal::verification::Verification;

/// A file and what was found in it.
#[component]
pub(super) fn SheetView(id: u32, sheets: Sheets) -> impl IntoView {
    let sheet = Memo::new(move |_| {
        sheets.all.with(|all| all.iter().find(|(other, _)| *other == id).map(|(_, sheet)| sheet.clone()))
    });
    let kind = Memo::new(move |_| match sheet.get() {
        Some(Sheet::Document(document)) => Some(document.kind),
        Some(Sheet::Journal(_)) => Some(Kind::Journal),
        _ => None,
    });
    let name = Memo::new(move |_| {
        sheet.with(|sheet| sheet.as_ref().map(|sheet| sheet.name().to_string()).unwrap_or_default())
    });
    let is_journal = Memo::new(move |_| kind.get() == Some(Kind::Journal));
    let body = move || match (kind.with(Option::is_some), is_journal.get()) {
        (false, _) => view! {
            <p class="note bad">"The browser could not read this file, or it is too large for what it is taken for."</p>
        }
        .into_any(),
        (true, true) => match sheets.source(id) {
            Some(source) => view! { <Verification source name=name.get_untracked()/> }.into_any(),
            None => ().into_any(),
        },
        (true, false) => view! { <DocumentView id sheets sheet/> }.into_any(),
    };
    view! {
        <article class="card stack tight sheet" aria-labelledby=format!("sheet-{id}")>
            <div class="card-head">
                <h2 id=format!("sheet-{id}")>{name}</h2>
                <div class="buttons">
                    {move || kind.get().map(|kind| view! { <KindField id sheets kind/> })}
                    <button type="button" class="button small" aria-label=move || format!("Remove {}", name.get()) on:click=move |_| sheets.remove(id)>
                        "Remove"
                    </button>
                </div>
            </div>
            {body}
        </article>
    }
}

#[component]
fn KindField(id: u32, sheets: Sheets, kind: Kind) -> impl IntoView {
    let change = move |event: web_sys::Event| {
        if let Some(kind) = Kind::parse(&event_target_value(&event)) {
            sheets.set_kind(id, kind);
        }
    };
    let option = |other: Kind| view! { <option value=other.name() selected=other == kind>{other.label()}</option> };
    view! {
        <label class="visually-hidden" for=format!("sheet-{id}-kind")>"Taken for"</label>
        <select id=format!("sheet-{id}-kind") class="kind" on:change=change>
            {Kind::ALL.into_iter().map(option).collect_view()}
        </select>
    }
}

/// A document with its findings and its text.
#[component]
fn DocumentView(id: u32, sheets: Sheets, sheet: Memo<Option<Sheet>>) -> impl IntoView {
    let document = Memo::new(move |_| match sheet.get() {
        Some(Sheet::Document(document)) => Some(document),
        _ => None,
    });
    let checks = Memo::new(move |_| {
        sheets.all.with(|all| {
            let documents: Vec<(u32, Document)> = all
                .iter()
                .filter_map(|(other, sheet)| match sheet {
                    Sheet::Document(document) => Some((*other, document.clone())),
                    _ => None,
                })
                .collect();
            let index = documents.iter().position(|(other, _)| *other == id);
            let documents: Vec<Document> = documents.into_iter().map(|(_, document)| document).collect();
            index.map(|index| check(&documents, index)).unwrap_or_default()
        })
    });
    let (checks, trouble) = with_engine(checks);
    let shown = Memo::new(move |_| {
        let document = document.get();
        document.map(|document| checks.with(|checks| show(&document, checks))).unwrap_or_default()
    });
    // The words change when the text does; the region that is read out was there before.
    Effect::new(move |_| {
        let verdicts = shown.with(|shown| shown.groups.iter().map(spoken).collect::<Vec<String>>().join(" "));
        if let Some(document) = document.get_untracked() {
            sheets.said.set(format!("{}. {verdicts}", document.name));
        }
    });
    let editing = RwSignal::new(false);
    let edit = move |_| {
        editing.set(true);
        focus_soon(editor_id(id));
    };
    let name =
        move || document.with(|document| document.as_ref().map(|document| document.name.clone()).unwrap_or_default());
    view! {
        <div class="stack tight">
            {move || shown.with(|shown| shown.groups.iter().map(|group| view! { <GroupHead group=group.clone()/> }).collect_view())}
            {move || trouble.get().map(|text| view! { <p class="note warn">{text}</p> })}
        </div>
        {move || shown.with(|shown| view! { <Findings id shown=shown.clone()/> })}
        {move || if editing.get() {
            view! { <Editor id sheets document=document.get_untracked() editing/> }.into_any()
        } else {
            view! {
                <MarkedText sheet=id name=name() shown=shown.get()/>
                <p class="buttons">
                    <button type="button" class="button small" on:click=edit>"Edit"</button>
                </p>
            }
            .into_any()
        }}
    }
}

/// The checks, completed by the engine where it is needed, and what is wrong with the engine.
fn with_engine(checks: Memo<Vec<Check>>) -> (ReadSignal<Vec<Check>>, ReadSignal<Option<String>>) {
    let (all, set_all) = signal(Vec::new());
    let (trouble, set_trouble) = signal(None);
    let round = StoredValue::new(0_u64);
    Effect::new(move |_| {
        let checks = checks.get();
        round.update_value(|round| *round += 1);
        let number = round.get_value();
        set_trouble.set(None);
        set_all.set(checks.clone());
        for (index, check) in checks.into_iter().enumerate() {
            let Outcome::Checked { validation, question: Some(question) } = check.outcome else { continue };
            spawn_local(async move {
                let answer = match &question {
                    Question::Order(order) => engine::check_order(order).await,
                    Question::Report { report, order } => engine::check_report(report, order).await,
                };
                // Another text may have taken the place of this one.
                if round.try_get_value() != Some(number) {
                    return;
                }
                match answer {
                    Ok(found) => set_all.update(|all| {
                        if let Some(check) = all.get_mut(index) {
                            let validation = completed(&validation, found);
                            check.outcome = Outcome::Checked { validation, question: None };
                        }
                    }),
                    Err(error) => set_trouble.set(Some(format!("{}. What needs it was not evaluated.", error.message))),
                }
            });
        }
    });
    (all, trouble)
}

const fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "note good",
        Tone::Open => "note",
        Tone::Limit => "note warn",
        Tone::Bad => "note bad",
    }
}

const fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✓ ",
        Tone::Open => "– ",
        Tone::Limit => "! ",
        Tone::Bad => "✗ ",
    }
}

/// A verdict as a screen reader says it.
fn spoken(group: &Group) -> String {
    format!("{}: {} {}", group.title, group.verdict, group.remarks.join(" "))
}

#[component]
fn GroupHead(group: Group) -> impl IntoView {
    let remarks = group.remarks.into_iter().map(|remark| view! { " "<span>{remark}</span> }).collect_view();
    view! {
        <p class=tone_class(group.tone)>
            <span aria-hidden="true">{sign(group.tone)}</span><strong>{group.title}": "</strong>{group.verdict}{remarks}
        </p>
    }
}

/// What was found, each with a way to its place in the text.
#[component]
fn Findings(id: u32, shown: Shown) -> impl IntoView {
    if shown.items.is_empty() {
        return ().into_any();
    }
    let left = shown.items.len().saturating_sub(MOST_SHOWN);
    let item = |(index, item): (usize, &Item)| {
        let mark = shown.layout.mark_of.get(index).copied().flatten();
        let place = mark.and_then(|mark| Some((mark, shown.layout.marks.get(mark)?.line)));
        view! { <FindingView id index item=item.clone() place/> }
    };
    view! {
        <ol class="found" aria-label="Findings">{shown.items.iter().enumerate().take(MOST_SHOWN).map(item).collect_view()}</ol>
        {(left > 0).then(|| view! {
            <p class="quiet">"And "{grouped(left as u64)}" more. These come first; mend them and see what is left."</p>
        })}
    }
    .into_any()
}

/// The most findings in the list: as many as can be marked.
const MOST_SHOWN: usize = MOST_MARKS;

#[component]
fn FindingView(id: u32, index: usize, item: Item, place: Option<(usize, usize)>) -> impl IntoView {
    let (class, word) = if item.tone == Tone::Bad { ("badge bad", "invalid") } else { ("badge warn", "limit") };
    let is_finding = !item.rule.is_empty();
    view! {
        <li class="found-item" id=item_id(id, index) tabindex="-1">
            {is_finding.then(|| view! { <span class=class>{item.rule}" "{word}</span>" " })}
            <span class="found-message">{item.message}</span>
            " "<code class="id quiet">{item.path}</code>
            {place.map(|(mark, line)| view! {
                " "<button type="button" class="button small" on:click=move |_| focus(&mark_id(id, mark))>"Line "{grouped(line as u64)}</button>
            })}
        </li>
    }
}

fn editor_id(sheet: u32) -> String {
    format!("sheet-{sheet}-editor")
}

#[component]
fn Editor(id: u32, sheets: Sheets, document: Option<Document>, editing: RwSignal<bool>) -> impl IntoView {
    let Some(Document { name, kind, text, .. }) = document else { return ().into_any() };
    let text = RwSignal::new(text.to_string());
    let label = format!("Text of {name}");
    let leave = move || {
        editing.set(false);
        focus_soon(text_id(id));
    };
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        sheets.set_text(id, &name, kind, &text.get_untracked());
        leave();
    };
    view! {
        <form class="field" on:submit=save>
            <textarea class="code editor" id=editor_id(id) aria-label=label spellcheck="false" autocomplete="off" bind:value=text></textarea>
            <p class="buttons">
                <button type="submit" class="button primary">"Check again"</button>
                <button type="button" class="button" on:click=move |_| leave()>"Cancel"</button>
            </p>
        </form>
    }
    .into_any()
}
