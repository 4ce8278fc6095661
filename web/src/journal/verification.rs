//! The verification of one journal, as it goes on and what came of it.

use leptos::prelude::*;

use super::amount::{a_second, counted, grouped, size};
use super::verdict::{LIMITS, Verdict};
use crate::engine::{EngineError, Job, Message, Progress, Source, verify_journal};
use crate::parts::Copy;

/// Where a verification stands.
#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// It goes on
    Running(Progress),
    /// The reader stopped it
    Stopped(Progress),
    /// There is a verdict
    Finished(Verdict),
    /// There is none
    Failed(EngineError),
}

/// Verifies a journal as soon as it is shown; taking it away ends the work.
#[component]
pub(crate) fn Verification(
    /// Where the journal comes from
    source: Source,
    /// What it is called, for the name of the progress bar
    #[prop(into)]
    name: String,
    /// How many entries there are, if that is known; without it, the bytes tell how far the work is
    #[prop(optional_no_strip)]
    of_entries: Option<u64>,
    /// Hears of each verdict, and of `None` when the work begins anew
    #[prop(optional, into)]
    on_verdict: Option<Callback<Option<Verdict>>>,
) -> impl IntoView {
    let stage = RwSignal::new(Stage::Running(Progress::default()));
    let job = StoredValue::new_local(None::<Job>);
    let source = StoredValue::new_local(source);
    let name = StoredValue::new(name);
    let tell = move |verdict: Option<Verdict>| {
        if let Some(on_verdict) = on_verdict {
            on_verdict.run(verdict);
        }
    };
    let begin = move || {
        stage.set(Stage::Running(Progress::default()));
        tell(None);
        let hear = move |message| {
            let next = after(message);
            if let Stage::Finished(verdict) = &next {
                tell(Some(verdict.clone()));
            }
            let _ = stage.try_set(next);
        };
        match source.with_value(|source| verify_journal(source, hear)) {
            Ok(begun) => job.set_value(Some(begun)),
            Err(error) => stage.set(Stage::Failed(error)),
        }
    };
    let stop = move || {
        job.set_value(None);
        let reached = stage.with_untracked(|stage| match stage {
            Stage::Running(progress) => Some(*progress),
            _ => None,
        });
        if let Some(progress) = reached {
            stage.set(Stage::Stopped(progress));
        }
    };
    begin();
    // While it only goes on, the bar and the button stay, and with them the focus.
    let running = Memo::new(move |_| stage.with(|stage| matches!(stage, Stage::Running(_))));
    let spoken = Memo::new(move |_| stage.with(spoken));
    view! {
        <div class="verification stack tight">
            <p class="visually-hidden" role="status">{spoken}</p>
            {move || if running.get() {
                view! { <Running name=name.get_value() of_entries stage/> }.into_any()
            } else {
                view! { <Settled stage=stage.get()/> }.into_any()
            }}
            <p class="buttons">
                <button type="button" class="button small" on:click=move |_| if running.get_untracked() { stop() } else { begin() }>
                    {move || if running.get() { "Stop" } else { "Verify again" }}
                </button>
            </p>
        </div>
    }
}

/// Where it stands after a message from the worker.
fn after(message: Message) -> Stage {
    match message {
        Message::Progress(progress) => Stage::Running(progress),
        Message::Done(report, progress) => Stage::Finished(Verdict::read(&report, progress)),
        Message::Failed(error, progress) => match Verdict::of_error(&error, progress) {
            Some(verdict) => Stage::Finished(verdict),
            None => Stage::Failed(error),
        },
    }
}

/// What a screen reader says: the beginning and the end, nothing between.
fn spoken(stage: &Stage) -> String {
    match stage {
        Stage::Running(_) => "Verifying.".into(),
        Stage::Stopped(_) => "Stopped.".into(),
        Stage::Finished(verdict) => headline(verdict),
        Stage::Failed(error) => format!("Not verified. {}.", error.message),
    }
}

fn headline(verdict: &Verdict) -> String {
    match (&verdict.wrong, verdict.entries) {
        (None, 0) => "The journal is empty, and holds together.".into(),
        (None, 1) => "The one entry is as it was written.".into(),
        (None, entries) => format!("All {} entries are as they were written.", grouped(entries)),
        (Some(wrong), _) => match wrong.sequence {
            Some(sequence) => format!("The journal is broken at entry {}.", grouped(sequence)),
            None => "The journal is broken.".into(),
        },
    }
}

#[component]
fn Running(name: String, of_entries: Option<u64>, stage: RwSignal<Stage>) -> impl IntoView {
    let progress =
        move || stage.with(|stage| if let Stage::Running(progress) = stage { *progress } else { Progress::default() });
    let done = Memo::new(move |_| share(&progress(), of_entries));
    view! {
        <progress
            aria-label=format!("Verifying {name}")
            max="100"
            value=move || done.get().map(|share| share.to_string())
        ></progress>
        <p class="quiet figures">{move || so_far(&progress())}</p>
    }
}

/// How far the work is, in hundredths; `None` if nobody knows.
fn share(progress: &Progress, of_entries: Option<u64>) -> Option<u64> {
    let (done, all) = match (progress.total_bytes, of_entries) {
        (Some(all), _) => (progress.bytes, all),
        (None, Some(all)) => (progress.entries, all),
        (None, None) => return None,
    };
    Some(done.saturating_mul(100).checked_div(all).unwrap_or(100).min(100))
}

/// `120,000 entries · 61.2 MB of 102.4 MB · 310,000 entries a second`
fn so_far(progress: &Progress) -> String {
    let bytes = match progress.total_bytes {
        Some(total) => format!("{} of {}", size(progress.bytes), size(total)),
        None => size(progress.bytes),
    };
    let mut parts = vec![counted(progress.entries, "entry", "entries"), bytes];
    if let Some(rate) = a_second(progress.entries, progress.seconds) {
        parts.push(format!("{} a second", counted(rate, "entry", "entries")));
    }
    parts.join(" · ")
}

#[component]
fn Settled(stage: Stage) -> impl IntoView {
    match stage {
        Stage::Running(_) => ().into_any(),
        Stage::Stopped(progress) => view! {
            <p class="note">"Stopped after "{counted(progress.entries, "entry", "entries")}", all of them in order."</p>
        }
        .into_any(),
        Stage::Finished(verdict) => view! { <VerdictView verdict/> }.into_any(),
        Stage::Failed(error) => view! {
            <div class="note bad">
                <p><strong>"Not verified. "</strong>{error.message}"."</p>
                <p class="quiet">"Code "<code>{error.code}</code></p>
            </div>
        }
        .into_any(),
    }
}

#[component]
fn VerdictView(verdict: Verdict) -> impl IntoView {
    let head = headline(&verdict);
    let head_line = match &verdict.wrong {
        None => view! { <p class="note good verdict"><span aria-hidden="true">"✓ "</span><strong>{head}</strong></p> }
            .into_any(),
        Some(wrong) => {
            let place = wrong.line.map(|line| format!(" in line {}", grouped(line)));
            view! {
                <div class="note bad verdict stack tight">
                    <p><span aria-hidden="true">"✗ "</span><strong>{head}</strong></p>
                    <p>{wrong.what.clone()}" "{wrong.meaning}</p>
                    <p class="quiet">"Code "<code>{wrong.code.clone()}</code>{place}". Before that, "
                        {counted(verdict.entries, "entry is", "entries are")}" in order."</p>
                </div>
            }
            .into_any()
        }
    };
    let holds = verdict.wrong.is_none();
    view! {
        {head_line}
        <Figures verdict/>
        {holds.then(|| view! { <p class="quiet">{LIMITS}</p> })}
    }
}

#[component]
fn Figures(verdict: Verdict) -> impl IntoView {
    let Verdict { progress, head_hash, root, .. } = &verdict;
    let hash = |label: &'static str, what: &'static str, hash: &str| {
        (!hash.is_empty()).then(|| {
            let text = hash.to_string();
            view! {
                <dt>{label}</dt>
                <dd><span class="id">{text.clone()}</span>" "<Copy text=Signal::stored(text) what/></dd>
            }
        })
    };
    let last = if verdict.wrong.is_none() { "Head" } else { "Last good entry" };
    let speed = a_second(verdict.entries, progress.seconds)
        .map(|rate| format!(", {} a second", counted(rate, "entry", "entries")));
    view! {
        <dl class="facts">
            {(!verdict.workspace_id.is_empty()).then(|| view! {
                <dt>"Workspace"</dt><dd class="id">{verdict.workspace_id.clone()}</dd>
            })}
            <dt>{last}</dt><dd>"Entry "{grouped(verdict.head_sequence)}</dd>
            {hash("Its hash", "hash", head_hash)}
            {hash("Merkle root", "Merkle root", root)}
            {(verdict.texts > 0).then(|| view! {
                <dt>"Texts"</dt><dd>{counted(verdict.texts, "text is what its entry says", "texts are what their entries say")}</dd>
            })}
            {verdict.epoch_changed_at.map(|sequence| view! {
                <dt>"Epoch"</dt><dd>"It changes at entry "{grouped(sequence)}". No tool of ours does that."</dd>
            })}
            <dt>"Checked"</dt>
            <dd>{format!("{} in {:.2} s", size(progress.bytes), progress.seconds)}{speed}", in this browser"</dd>
        </dl>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_as_far_as_it_is_known() {
        let progress = Progress { entries: 120_000, bytes: 61_200_000, total_bytes: Some(102_400_000), seconds: 0.4 };
        assert_eq!(so_far(&progress), "120,000 entries · 61.2 MB of 102.4 MB · 300,000 entries a second");
        let unknown = Progress { total_bytes: None, seconds: 0.0, ..progress };
        assert_eq!(so_far(&unknown), "120,000 entries · 61.2 MB");
        assert_eq!(share(&progress, Some(1)), Some(59));
        assert_eq!(share(&unknown, Some(240_000)), Some(50));
        assert_eq!(share(&unknown, Some(0)), Some(100));
        assert_eq!(share(&unknown, None), None);
    }

    #[test]
    fn the_headline_names_the_entry() {
        let good = Verdict { entries: 2000, ..Verdict::default() };
        assert_eq!(headline(&good), "All 2,000 entries are as they were written.");
        let report = bailiwick_core::json::parse(
            br#"{"failure":"event_hash_mismatch","failed_sequence":1007,"checked_events":1006}"#,
            &bailiwick_core::json::Limits::DOCUMENT,
        )
        .unwrap();
        let broken = Verdict::read(&report, Progress::default());
        assert_eq!(headline(&broken), "The journal is broken at entry 1,007.");
    }
}
