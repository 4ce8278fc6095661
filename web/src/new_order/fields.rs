//! The fields of a new order.

use bailiwick_core::time;
use leptos::prelude::*;

use super::Writing;
use super::draft::{Field, Pair, Pairs, Spot};
use crate::clock;
use crate::desk::Desk;
use crate::parts::{focus, live, memo};

/// Deadlines that are chosen often: what the button says, and how many seconds from now.
const DEADLINES: [(&str, u64); 4] = [("1 hour", 3_600), ("4 hours", 14_400), ("1 day", 86_400), ("1 week", 604_800)];

/// The form.
#[component]
pub(super) fn Fields(writing: Writing) -> impl IntoView {
    view! {
        <form class="stack" on:submit=move |event| event.prevent_default()>
            <section class="card stack" aria-labelledby="what">
                <h2 id="what">"What is to be done"</h2>
                <Line writing field=Field::To hint="Who does it: the id that the agent connects with, like agent:worker"/>
                <Area writing field=Field::Goal hint="What to achieve, as you would say it to somebody new"/>
                <Rows writing pairs=Pairs::Criteria/>
            </section>
            <section class="card stack" aria-labelledby="limits">
                <h2 id="limits">"Limits"</h2>
                <Budget writing/>
                <Deadline writing/>
                <Area
                    writing field=Field::Tools code=true
                    hint="One on a line: server/tool, server/* for all of a server, * for all. Empty: none"
                />
            </section>
            <details class="card">
                <summary>"More: approval of single calls, context, output, links to other orders"</summary>
                <div class="stack"><Further writing/></div>
            </details>
        </form>
    }
}

#[component]
fn Further(writing: Writing) -> impl IntoView {
    view! {
        <Area
            writing field=Field::Staged code=true
            hint="One on a line, each among the tools above. Such calls run only once the report that lists them is approved"
        />
        <Line writing field=Field::EscalateTo hint="Besides you, like human:ben"/>
        <Rows writing pairs=Pairs::Context/>
        <Area writing field=Field::Inputs code=true hint="A JSON object for the worker; never inspected"/>
        <Area
            writing field=Field::OutputSchema code=true
            hint="A JSON Schema that the output must fit, like {\"type\": \"object\", \"required\": [\"ticket\"]}"
        />
        <Area
            writing field=Field::Handoff code=true
            hint="What earlier work established: {\"summary\", \"decisions\", \"tried\", \"open_questions\", \"next_step\"}"
        />
        <Line writing field=Field::ParentId hint="Its id. A part may only be narrower, and only its worker may split it"/>
        <Line writing field=Field::Continues hint="The id of a finished order of yours"/>
        <Line writing field=Field::Id hint="The desk gives one if you leave it empty"/>
        <Area writing field=Field::Metadata code=true hint="A JSON object, free and ignored"/>
        <Area writing field=Field::Extensions code=true hint="A JSON object of members that begin with x-"/>
    }
}

/// What is wrong at a place, where its field's description finds it.
#[component]
fn Faults(writing: Writing, spot: Spot, name: String) -> impl IntoView {
    let id = format!("{name}-fault");
    view! {
        <div id=id class="wrong">
            {live(move || writing.faults(spot, &name).into_iter().map(|fault| view! { <p>{fault}</p> }).collect_view())}
        </div>
    }
}

fn is_wrong(writing: Writing, spot: Spot, name: &'static str) -> impl Fn() -> String {
    move || (!writing.faults(spot, name).is_empty()).to_string()
}

/// A field of one line.
#[component]
fn Line(writing: Writing, field: Field, hint: &'static str) -> impl IntoView {
    let name = field.name();
    view! {
        <div class="field">
            <label for=name>{field.label()}</label>
            <input
                id=name class="code" autocomplete="off" spellcheck="false" aria-describedby=described(name)
                aria-invalid=is_wrong(writing, Spot::Field(field), name)
                prop:value=move || writing.draft.with(|draft| draft.text(field).to_string())
                on:input=move |event| writing.draft.update(|draft| draft.write(field, event_target_value(&event)))
                on:blur=move |_| writing.touch(name)
            />
            <p class="hint" id=format!("{name}-hint")>{hint}</p>
            <Faults writing spot=Spot::Field(field) name=name.to_string()/>
        </div>
    }
}

/// A field of several lines.
#[component]
fn Area(writing: Writing, field: Field, hint: &'static str, #[prop(optional)] code: bool) -> impl IntoView {
    let name = field.name();
    view! {
        <div class="field">
            <label for=name>{field.label()}</label>
            <textarea
                id=name class:code=code rows="2" spellcheck=(!code).to_string() aria-describedby=described(name)
                aria-invalid=is_wrong(writing, Spot::Field(field), name)
                prop:value=move || writing.draft.with(|draft| draft.text(field).to_string())
                on:input=move |event| writing.draft.update(|draft| draft.write(field, event_target_value(&event)))
                on:blur=move |_| writing.touch(name)
            ></textarea>
            <p class="hint" id=format!("{name}-hint")>{hint}</p>
            <Faults writing spot=Spot::Field(field) name=name.to_string()/>
        </div>
    }
}

fn described(name: &str) -> String {
    format!("{name}-hint {name}-fault")
}

/// The four units, side by side.
#[component]
fn Budget(writing: Writing) -> impl IntoView {
    let unit = move |field: Field| {
        let name = field.name();
        view! {
            <div class="field">
                <label for=name>{field.label()}</label>
                <input
                    id=name inputmode="decimal" autocomplete="off" aria-describedby=format!("budget-hint {name}-fault budget-fault")
                    aria-invalid=is_wrong(writing, Spot::Field(field), name)
                    prop:value=move || writing.draft.with(|draft| draft.text(field).to_string())
                    on:input=move |event| writing.draft.update(|draft| draft.write(field, event_target_value(&event)))
                    on:blur=move |_| writing.touch(name)
                />
                <Faults writing spot=Spot::Field(field) name=name.to_string()/>
            </div>
        }
    };
    view! {
        <fieldset class="field">
            <legend>"Budget"</legend>
            <div class="units">
                {Field::BUDGET.into_iter().map(unit).collect_view()}
            </div>
            <p class="hint" id="budget-hint">"The most it may spend. At least one; a unit left empty is not limited"</p>
            <Faults writing spot=Spot::Budget name="budget".to_string()/>
        </fieldset>
    }
}

/// The deadline: a picker in local time, and buttons for what is chosen often.
#[component]
fn Deadline(writing: Writing) -> impl IntoView {
    let desk = Desk::here();
    let field = Field::Deadline;
    let name = field.name();
    let set = move |at: time::Millis| writing.draft.update(|draft| draft.write(field, time::format(at)));
    let picked = move |event| match clock::from_input(&event_target_value(&event)) {
        Some(at) => set(at),
        None => writing.draft.update(|draft| draft.write(field, "")),
    };
    let local = memo(move || writing.draft.with(|draft| time::instant(draft.text(field))).map(clock::to_input));
    let quick = move |(words, seconds): (&'static str, u64)| {
        let choose = move |_| {
            set(desk.now.get_untracked().saturating_add_seconds(seconds));
            writing.touch(name);
        };
        view! { <button type="button" class="button small" aria-label=format!("Due in {words}") on:click=choose>{words}</button> }
    };
    let exact = move || writing.draft.with(|draft| draft.text(field).to_string());
    view! {
        <div class="field">
            <label for=name>"Deadline"</label>
            <div class="row">
                <input
                    id=name type="datetime-local" class="narrow" aria-describedby=described(name)
                    aria-invalid=is_wrong(writing, Spot::Field(field), name)
                    prop:value=move || local.get().unwrap_or_default()
                    on:change=picked on:blur=move |_| writing.touch(name)
                />
                <div class="buttons" role="group" aria-label="Deadline from now">
                    {DEADLINES.into_iter().map(quick).collect_view()}
                </div>
            </div>
            <p class="hint" id=format!("{name}-hint")>
                "When it must be reported and reviewed, in your local time. The order expires then. "<span class="id">{exact}</span>
            </p>
            <Faults writing spot=Spot::Field(field) name=name.to_string()/>
        </div>
    }
}

/// What a list of rows is called on the form.
struct Words {
    hint: &'static str,
    first: &'static str,
    second: &'static str,
    add: &'static str,
    remove: &'static str,
}

const fn words(pairs: Pairs) -> Words {
    match pairs {
        Pairs::Criteria => Words {
            hint: "How it is judged whether the job is done. The report must bring evidence for each",
            first: "Short id",
            second: "What must be shown",
            add: "Add a criterion",
            remove: "Remove criterion",
        },
        Pairs::Context => Words {
            hint: "What the worker should read first",
            first: "Address",
            second: "What it is for",
            add: "Add something to read",
            remove: "Remove reading",
        },
    }
}

/// A list of rows of two texts.
#[component]
fn Rows(writing: Writing, pairs: Pairs) -> impl IntoView {
    let words = words(pairs);
    let numbers =
        memo(move || writing.draft.with(|draft| draft.pairs(pairs).iter().map(|pair| pair.number).collect::<Vec<_>>()));
    let add = move |_| {
        let number = writing.draft.try_update(|draft| draft.add(pairs));
        request_animation_frame(move || focus(&cell_id(pairs, number.unwrap_or_default(), Cell::Second)));
    };
    view! {
        <fieldset class="field" id=pairs.name() tabindex="-1">
            <legend>{pairs.label()}</legend>
            <p class="hint">{words.hint}</p>
            <div class="stack tight">
                <For each=move || numbers.get() key=|number| *number children=move |number| view! { <Row writing pairs number/> }/>
            </div>
            <Faults writing spot=Spot::Pairs(pairs, None) name=pairs.name().to_string()/>
            <div><button type="button" class="button small" on:click=add>{words.add}</button></div>
        </fieldset>
    }
}

/// Which text of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    First,
    Second,
}

fn cell_id(pairs: Pairs, number: u32, cell: Cell) -> String {
    let cell = if cell == Cell::First { "a" } else { "b" };
    format!("{}-{number}-{cell}", pairs.name())
}

#[component]
fn Row(writing: Writing, pairs: Pairs, number: u32) -> impl IntoView {
    let words = words(pairs);
    let place =
        memo(move || writing.draft.with(|draft| draft.pairs(pairs).iter().position(|pair| pair.number == number)));
    let remove = move |_| {
        writing.draft.update(|draft| draft.pairs_mut(pairs).retain(|pair| pair.number != number));
        focus(pairs.name());
    };
    let spot = move || Spot::Pairs(pairs, Some(place.get().unwrap_or(usize::MAX)));
    let name = format!("{}-{number}", pairs.name());
    let named = name.clone();
    let faults = move || writing.faults(spot(), &named);
    let removes = move || format!("{} {}", words.remove, place.get().map_or(0, |place| place + 1));
    view! {
        <div class="repeat" class:wide=matches!(pairs, Pairs::Context)>
            <CellField writing pairs number cell=Cell::First label=words.first/>
            <CellField writing pairs number cell=Cell::Second label=words.second/>
            <button type="button" class="button small" aria-label=removes on:click=remove>"Remove"</button>
        </div>
        <div id=format!("{name}-fault") class="wrong">
            {live(move || faults().into_iter().map(|fault| view! { <p>{fault}</p> }).collect_view())}
        </div>
    }
}

#[component]
fn CellField(writing: Writing, pairs: Pairs, number: u32, cell: Cell, label: &'static str) -> impl IntoView {
    let id = cell_id(pairs, number, cell);
    let row = format!("{}-{number}", pairs.name());
    let described = format!("{row}-fault");
    let read = move |pair: &Pair| if cell == Cell::First { pair.first.clone() } else { pair.second.clone() };
    let value = move || {
        writing
            .draft
            .with(|draft| draft.pairs(pairs).iter().find(|pair| pair.number == number).map(read))
            .unwrap_or_default()
    };
    let write = move |event| {
        let text = event_target_value(&event);
        writing.draft.update(|draft| {
            if let Some(pair) = draft.pairs_mut(pairs).iter_mut().find(|pair| pair.number == number) {
                *(if cell == Cell::First { &mut pair.first } else { &mut pair.second }) = text;
            }
        });
    };
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                id=id autocomplete="off" aria-describedby=described prop:value=value
                on:input=write on:blur=move |_| writing.touch(&row)
            />
        </div>
    }
}

/// Brings a place of the form into view and gives it the focus.
pub(super) fn go_to(spot: Spot) {
    let id = match spot {
        Spot::Field(field) => field.name(),
        Spot::Pairs(pairs, _) => pairs.name(),
        Spot::Budget => Field::Usd.name(),
        Spot::Whole => Field::To.name(),
    };
    fold_out(id);
    focus(id);
}

/// A field inside a closed `<details>` takes no focus.
fn fold_out(id: &str) {
    let inside = document().get_element_by_id(id).and_then(|element| element.closest("details").ok().flatten());
    if let Some(details) = inside {
        let _ = details.set_attribute("open", "");
    }
}
