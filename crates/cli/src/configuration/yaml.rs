//! YAML as a tree in which everything knows its line.
//!
//! A configuration needs a small part of YAML, and only that part is taken: one document of mappings, lists and
//! scalars. Anchors, aliases and tags are refused: they make a file say something else than it shows.

use granit_parser::{BorrowedInput, Event, Parser, ScalarStyle, ScanError, Span};

/// The most bytes of a file.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The deepest nesting.
const DEEPEST: usize = 32;

/// A value and the line it begins in, from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) data: Data,
}

/// What a node holds. Plain scalars are read by YAML's core schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Bool(bool),
    /// A number, as written
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Each name once, with the line it stands in
    Mapping(Vec<(Key, Node)>),
}

/// The name of a member.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) line: usize,
    pub(super) name: String,
}

/// What is wrong with a text, and in which line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl From<ScanError> for Fault {
    fn from(error: ScanError) -> Self {
        Self::new(error.marker().line(), format!("not YAML: {}", error.info()))
    }
}

impl Node {
    /// The name of its type, for messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self.data {
            Data::Null => "empty",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Mapping(_) => "a mapping",
        }
    }
}

/// Reads a text; an empty one is null.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { events: Parser::new_from_str(text) };
    let mut document = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
            _ if document.is_some() => return Err(Fault::new(line(&span), "a second document; one is accepted")),
            event => document = Some(reader.node(event, &span, 0)?),
        }
    }
    Ok(document.unwrap_or(Node { line: 1, data: Data::Null }))
}

struct Reader<'a, I: BorrowedInput<'a>> {
    events: Parser<'a, I>,
}

impl<'a, I: BorrowedInput<'a>> Reader<'a, I> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, Fault> {
        Ok(self.events.next().transpose()?)
    }

    /// The next event, where one must come.
    fn expect(&mut self, at: usize) -> Result<(Event<'a>, Span), Fault> {
        self.next()?.ok_or_else(|| Fault::new(at, "the text ends too early"))
    }

    /// The node that an event begins.
    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, Fault> {
        let line = line(span);
        if depth > DEEPEST {
            return Err(Fault::new(line, format!("nested too deeply, at most {DEEPEST} levels are accepted")));
        }
        let (anchor, tag, data) = match event {
            Event::Scalar(text, style, anchor, tag) => (anchor, tag, scalar(&text, style)),
            Event::SequenceStart(_, anchor, tag) => (anchor, tag, self.list(line, depth)?),
            Event::MappingStart(_, anchor, tag) => (anchor, tag, self.mapping(line, depth)?),
            _ => return Err(Fault::new(line, "aliases are not accepted; write the value again")),
        };
        if anchor != 0 {
            return Err(Fault::new(line, "anchors are not accepted; write the value again where it is needed"));
        }
        if tag.is_some() {
            return Err(Fault::new(line, "tags (`!…`) are not accepted; write the plain value"));
        }
        Ok(Node { line, data })
    }

    fn list(&mut self, at: usize, depth: usize) -> Result<Data, Fault> {
        let mut items = Vec::new();
        loop {
            match self.expect(at)? {
                (Event::SequenceEnd, _) => return Ok(Data::List(items)),
                (event, span) => items.push(self.node(event, &span, depth.saturating_add(1))?),
            }
        }
    }

    fn mapping(&mut self, at: usize, depth: usize) -> Result<Data, Fault> {
        let mut members: Vec<(Key, Node)> = Vec::new();
        loop {
            let key = match self.expect(at)? {
                (Event::MappingEnd, _) => return Ok(Data::Mapping(members)),
                (Event::Scalar(name, ..), span) => Key { line: line(&span), name: name.into_owned() },
                (_, span) => return Err(Fault::new(line(&span), "a key must be a word")),
            };
            if let Some((first, _)) = members.iter().find(|(other, _)| other.name == key.name) {
                let message = format!("`{}` occurs twice, first in line {}", key.name, first.line);
                return Err(Fault::new(key.line, message));
            }
            let (event, span) = self.expect(key.line)?;
            let value = self.node(event, &span, depth.saturating_add(1))?;
            members.push((key, value));
        }
    }
}

fn line(span: &Span) -> usize {
    span.start.line()
}

/// A scalar by YAML's core schema (YAML 1.2.2 §10.3.2).
fn scalar(text: &str, style: ScalarStyle) -> Data {
    if style != ScalarStyle::Plain {
        return Data::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        number if is_number(number) => Data::Number(number.to_owned()),
        text => Data::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Data) {
        assert_eq!(parse(text).unwrap().data, expected, "{text}");
    }

    #[track_caller]
    fn check_fault(text: &str, line: usize, part: &str) {
        let fault = parse(text).unwrap_err();
        assert!(fault.line == line && fault.message.contains(part), "{text}: {fault:?}");
    }

    #[test]
    fn scalars() {
        check("", Data::Null);
        check("# nothing\n", Data::Null);
        check("true", Data::Bool(true));
        check("'true'", Data::Text("true".into()));
        check("yes", Data::Text("yes".into()));
        check("8787", Data::Number("8787".into()));
        check("127.0.0.1", Data::Text("127.0.0.1".into()));
        check("-", Data::List(vec![Node { line: 1, data: Data::Null }]));
        check("nan", Data::Text("nan".into()));
    }

    #[test]
    fn everything_knows_its_line() {
        let root = parse("work:\n  a: true\nlist:\n  - x\n  - y\n").unwrap();
        let Data::Mapping(members) = root.data else { panic!("a mapping") };
        assert_eq!((members[0].0.line, members[1].0.line), (1, 3));
        let Data::List(items) = &members[1].1.data else { panic!("a list") };
        assert_eq!((items[0].line, items[1].line), (4, 5));
    }

    #[test]
    fn what_hides_something_is_refused() {
        check_fault("a: &x 1\nb: *x\n", 1, "anchors");
        check_fault("a: !!str 1\n", 1, "tags");
        check_fault("a: 1\nb: 2\na: 3\n", 3, "occurs twice, first in line 1");
        check_fault("a: 1\n---\nb: 2\n", 3, "second document");
        check_fault("? [a]\n: 1\n", 1, "key");
        check_fault(&"[".repeat(100), 1, "");
        check_fault("a: [1\nb: 2\n", 2, "");
    }
}
