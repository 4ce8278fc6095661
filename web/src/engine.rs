//! The engine: every rule there is, in a worker beside the page.
//!
//! The page has `core` compiled in, but not the JSON Schema engine, which few orders need, and verifying a long journal
//! would keep it from answering its reader. Both are done by the full build of the npm package, which is loaded when it
//! is first needed. Each job has a worker of its own: dropping the [`Job`] ends it, however much there is left to do.

use bailiwick_core::json::{Limits, Value, parse};
use bailiwick_core::work::{Finding, Rule, Validation};
use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Event, MessageEvent, Worker, WorkerOptions, WorkerType};

/// Why the engine has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EngineError {
    /// The stable code: `engine_missing` if it cannot be loaded, else what the engine says
    pub(crate) code: String,
    /// For people
    pub(crate) message: String,
}

/// Checks an order with every rule, O4 too. `order` is its JSON text.
///
/// # Errors
///
/// [`EngineError`] if the engine cannot be loaded, or the text cannot be read.
pub(crate) async fn check_order(order: &str) -> Result<Validation, EngineError> {
    ask(&request("order", &[("order", order)])).await
}

/// Checks a report against its order with every rule from R1 to R16 but R13, which needs no engine. Both are JSON texts.
///
/// # Errors
///
/// [`EngineError`] if the engine cannot be loaded, or a text cannot be read.
pub(crate) async fn check_report(report: &str, order: &str) -> Result<Validation, EngineError> {
    ask(&request("report", &[("report", report), ("order", order)])).await
}

/// Where a journal comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// A file, or a pasted text as one
    Blob(Blob),
    /// An address from the page's base, asked with the page's own cookie
    Address(String),
}

/// Verifies a journal. `on_message` gets [`Message::Progress`] some times a second, and one of the others at the end.
///
/// # Errors
///
/// [`EngineError`] if the browser does not let a worker start.
pub(crate) fn verify_journal(source: &Source, on_message: impl FnMut(Message) + 'static) -> Result<Job, EngineError> {
    let request = request("journal", &[]);
    match source {
        Source::Blob(blob) => set(&request, "blob", blob),
        Source::Address(address) => set(&request, "address", &absolute(address).into()),
    }
    Job::start(&request, on_message)
}

/// What a worker says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// How far it is with a journal
    Progress(Progress),
    /// The answer, and how far it was by then
    Done(Value, Progress),
    /// There is no answer
    Failed(EngineError, Progress),
}

/// How far the verification of a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Progress {
    /// Entries in order so far
    pub(crate) entries: u64,
    /// Bytes taken so far
    pub(crate) bytes: u64,
    /// Bytes there are, if that is known
    pub(crate) total_bytes: Option<u64>,
    /// Time spent so far
    pub(crate) seconds: f64,
}

/// Work that a worker does. Dropping it ends the work.
pub(crate) struct Job {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl Job {
    fn start(request: &Object, on_message: impl FnMut(Message) + 'static) -> Result<Self, EngineError> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let started = Worker::new_with_options(&format!("{}worker.js", folder()), &options);
        let worker = started.map_err(|_| missing())?;
        let listener = std::rc::Rc::new(std::cell::RefCell::new(on_message));
        let on_error = {
            let listener = listener.clone();
            Closure::<dyn FnMut(Event)>::new(move |_| {
                (listener.borrow_mut())(Message::Failed(missing(), Progress::default()));
            })
        };
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            (listener.borrow_mut())(read_message(&event.data().as_string().unwrap_or_default()));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        worker.post_message(request).map_err(|_| missing())?;
        Ok(Self { worker, _on_message: on_message, _on_error: on_error })
    }
}

/// Asks for a check and waits for its answer.
async fn ask(request: &Object) -> Result<Validation, EngineError> {
    let answer = std::rc::Rc::new(std::cell::Cell::new(None));
    let mut job = Ok(None);
    let promise = Promise::new(&mut |resolve, _| {
        let answer = answer.clone();
        let started = Job::start(request, move |message| {
            answer.set(Some(message));
            // It fails only if the promise is no promise.
            let _ = resolve.call0(&JsValue::NULL);
        });
        job = started.map(Some);
    });
    let _job = job?;
    let _ = JsFuture::from(promise).await;
    match answer.take() {
        Some(Message::Done(result, _)) => read_validation(&result).ok_or_else(missing),
        Some(Message::Failed(error, _)) => Err(error),
        Some(Message::Progress(_)) | None => Err(missing()),
    }
}

/// A request as the worker takes it.
fn request(kind: &str, texts: &[(&str, &str)]) -> Object {
    let request = Object::new();
    set(&request, "kind", &kind.into());
    for (name, text) in texts {
        set(&request, name, &(*text).into());
    }
    request
}

fn set(object: &Object, name: &str, value: &JsValue) {
    // An ordinary object takes every member.
    let _ = Reflect::set(object, &name.into(), value);
}

/// Where the engine is, from the page's base: the build names its folder after its content.
fn folder() -> String {
    let document = web_sys::window().and_then(|window| window.document());
    let element = document.and_then(|document| document.query_selector("meta[name='bailiwick-engine']").ok()?);
    element.and_then(|element| element.get_attribute("content")).unwrap_or_else(|| "engine/".into())
}

/// An address as the worker, whose base is another one, can ask for it.
fn absolute(address: &str) -> String {
    let document = web_sys::window().and_then(|window| window.document());
    let base = document.and_then(|document| document.base_uri().ok().flatten()).unwrap_or_default();
    web_sys::Url::new_with_base(address, &base).map_or_else(|_| address.into(), |url| url.href())
}

fn missing() -> EngineError {
    EngineError {
        code: "engine_missing".into(),
        message: "The part of this page that does the checking could not be loaded".into(),
    }
}

/// Reads what the worker sent.
fn read_message(text: &str) -> Message {
    let message = parse(text.as_bytes(), &Limits::STORED).unwrap_or(Value::Null);
    let string = |name| message.get(name).and_then(Value::as_str).map(String::from);
    match message.get("kind").and_then(Value::as_str) {
        Some("progress") => Message::Progress(read_progress(&message)),
        Some("done") => Message::Done(message.get("result").cloned().unwrap_or(Value::Null), read_progress(&message)),
        _ => {
            let EngineError { code, message: said } = missing();
            let error =
                EngineError { code: string("code").unwrap_or(code), message: string("message").unwrap_or(said) };
            Message::Failed(error, read_progress(&message))
        }
    }
}

fn read_progress(message: &Value) -> Progress {
    let whole = |name| message.get(name).and_then(Value::as_number).and_then(|number| number.to_u64());
    Progress {
        entries: whole("entries").unwrap_or_default(),
        bytes: whole("bytes").unwrap_or_default(),
        total_bytes: whole("total_bytes"),
        seconds: message.get("seconds").and_then(Value::as_number).map_or(0.0, |number| number.to_f64()),
    }
}

fn read_validation(result: &Value) -> Option<Validation> {
    let findings = result.get("findings")?.as_array()?;
    let skipped = result.get("skipped")?.as_array()?;
    Some(Validation {
        findings: findings.iter().map(Finding::from_value).collect::<Option<_>>()?,
        skipped: skipped.iter().map(|rule| Rule::parse(rule.as_str()?)).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        let progress = Progress { entries: 12, bytes: 4096, total_bytes: None, seconds: 0.5 };
        let text = r#"{"kind":"progress","entries":12,"bytes":4096,"total_bytes":null,"seconds":0.5}"#;
        assert_eq!(read_message(text), Message::Progress(progress));
        let text =
            r#"{"kind":"failed","code":"export_json","message":"line 13: no","entries":12,"bytes":4096,"seconds":0.5}"#;
        let error = EngineError { code: "export_json".into(), message: "line 13: no".into() };
        assert_eq!(read_message(text), Message::Failed(error, progress));
        assert_eq!(read_message("{}"), Message::Failed(missing(), Progress::default()));
        assert_eq!(read_message(r#"{"kind":"done","result":true}"#), Message::Done(true.into(), Progress::default()));
    }

    #[test]
    fn validations_are_read_whole_or_not_at_all() {
        let read = |text: &str| read_validation(&parse(text.as_bytes(), &Limits::DOCUMENT).unwrap());
        let finding = r#"{"rule":"R7","kind":"limit","path":"/cost/usd","message":"spent 2 usd of 1"}"#;
        let validation = read(&format!(r#"{{"findings":[{finding}],"skipped":["R11"]}}"#)).unwrap();
        assert_eq!(validation.findings[0].rule, Rule::R7);
        assert_eq!(validation.skipped, [Rule::R11]);
        assert_eq!(read(r#"{"findings":[{}],"skipped":[]}"#), None);
        assert_eq!(read(r#"{"findings":[],"skipped":["R99"]}"#), None);
        assert_eq!(read(r#"{"findings":[]}"#), None);
    }
}
