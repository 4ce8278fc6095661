//! An order as it is being written: what stands in the fields, and the document it makes.
//!
//! Every member that an order may have can be reached. Those of a free form, and those of several parts, are written as
//! JSON. A draft and its document can be made from each other, so the form and its JSON text are one thing seen twice.

use bailiwick_core::json::{Limits, Object, Value, parse, write_pretty};
use bailiwick_core::work::{Finding, UNITS, order_spec_for, shown};

/// A field of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Field {
    To,
    Goal,
    Deadline,
    /// The four units of the budget, in the order of [`UNITS`]
    Usd,
    Tokens,
    ToolCalls,
    Seconds,
    /// One pattern on a line
    Tools,
    /// One pattern on a line
    Staged,
    EscalateTo,
    ParentId,
    Continues,
    Id,
    Inputs,
    OutputSchema,
    Handoff,
    Metadata,
    /// An object of the members that begin with `x-`
    Extensions,
}

/// How a field's text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The text as it is; it must be there
    Needed,
    /// The text as it is; an empty one is left out
    Text,
    /// A number of the budget
    Amount,
    /// An array of its lines; it must be there
    NeededLines,
    /// An array of its lines; an empty one is left out
    Lines,
    /// JSON; an empty one is left out
    Json,
    /// JSON of an object whose members stand in the document itself
    Members,
}

impl Field {
    /// Every field, in the order in which documents have their members.
    pub(super) const ALL: [Self; 18] = [
        Self::Id,
        Self::To,
        Self::Goal,
        Self::Usd,
        Self::Tokens,
        Self::ToolCalls,
        Self::Seconds,
        Self::Deadline,
        Self::Tools,
        Self::Staged,
        Self::EscalateTo,
        Self::Inputs,
        Self::Handoff,
        Self::OutputSchema,
        Self::ParentId,
        Self::Continues,
        Self::Metadata,
        Self::Extensions,
    ];

    /// The fields of the budget.
    pub(super) const BUDGET: [Self; 4] = [Self::Usd, Self::Tokens, Self::ToolCalls, Self::Seconds];

    /// The member's name; for the budget, the unit's.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::To => "to",
            Self::Goal => "goal",
            Self::Deadline => "deadline",
            Self::Usd => "usd",
            Self::Tokens => "tokens",
            Self::ToolCalls => "tool_calls",
            Self::Seconds => "seconds",
            Self::Tools => "tools",
            Self::Staged => "staged",
            Self::EscalateTo => "escalate_to",
            Self::ParentId => "parent_id",
            Self::Continues => "continues",
            Self::Id => "id",
            Self::Inputs => "inputs",
            Self::OutputSchema => "output_schema",
            Self::Handoff => "handoff",
            Self::Metadata => "metadata",
            Self::Extensions => "x-",
        }
    }

    /// What the form calls it.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::To => "Worker",
            Self::Goal => "Goal",
            Self::Deadline => "Deadline",
            Self::Usd => "US dollars",
            Self::Tokens => "Tokens",
            Self::ToolCalls => "Tool calls",
            Self::Seconds => "Seconds",
            Self::Tools => "Tools it may use",
            Self::Staged => "Tools held back until you approve",
            Self::EscalateTo => "Who else may answer questions",
            Self::ParentId => "Part of order",
            Self::Continues => "Picks up from order",
            Self::Id => "Id",
            Self::Inputs => "Inputs",
            Self::OutputSchema => "Output schema",
            Self::Handoff => "Handoff",
            Self::Metadata => "Metadata",
            Self::Extensions => "Extensions",
        }
    }

    const fn form(self) -> Form {
        match self {
            Self::To | Self::Goal | Self::Deadline => Form::Needed,
            Self::Usd | Self::Tokens | Self::ToolCalls | Self::Seconds => Form::Amount,
            Self::Tools => Form::NeededLines,
            Self::Staged => Form::Lines,
            Self::EscalateTo | Self::ParentId | Self::Continues | Self::Id => Form::Text,
            Self::Inputs | Self::OutputSchema | Self::Handoff | Self::Metadata => Form::Json,
            Self::Extensions => Form::Members,
        }
    }

    const fn place(self) -> usize {
        self as usize
    }
}

/// A pair of texts: a criterion's id and text, a reference's address and note.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pair {
    /// Tells rows apart while they are moved about
    pub(super) number: u32,
    pub(super) first: String,
    pub(super) second: String,
}

/// A list of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pairs {
    Criteria,
    Context,
}

impl Pairs {
    /// The member's name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Criteria => "criteria",
            Self::Context => "context",
        }
    }

    /// What the form calls it.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Criteria => "Criteria",
            Self::Context => "To read",
        }
    }

    /// The names of the two texts, and whether an empty second one is left out.
    const fn members(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Criteria => ("id", "text", false),
            Self::Context => ("uri", "note", true),
        }
    }
}

/// An order as it is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    texts: [String; Field::ALL.len()],
    criteria: Vec<Pair>,
    context: Vec<Pair>,
    /// The number of the next row
    next: u32,
}

/// Why a draft makes no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) field: Field,
    /// What is wrong with its text, as a sentence without its full stop
    pub(super) message: String,
}

impl Draft {
    /// A draft with one empty criterion.
    pub(super) fn new() -> Self {
        let mut draft = Self { texts: Default::default(), criteria: Vec::new(), context: Vec::new(), next: 0 };
        draft.add(Pairs::Criteria);
        draft
    }

    /// What stands in a field.
    pub(super) fn text(&self, field: Field) -> &str {
        self.texts.get(field.place()).map_or("", String::as_str)
    }

    /// Writes into a field.
    pub(super) fn write(&mut self, field: Field, text: impl Into<String>) {
        if let Some(slot) = self.texts.get_mut(field.place()) {
            *slot = text.into();
        }
    }

    /// The rows of a list.
    pub(super) fn pairs(&self, pairs: Pairs) -> &[Pair] {
        match pairs {
            Pairs::Criteria => &self.criteria,
            Pairs::Context => &self.context,
        }
    }

    /// The rows of a list, to be written to.
    pub(super) fn pairs_mut(&mut self, pairs: Pairs) -> &mut Vec<Pair> {
        match pairs {
            Pairs::Criteria => &mut self.criteria,
            Pairs::Context => &mut self.context,
        }
    }

    /// Adds an empty row; a criterion gets an id that no other has. Answers the row's number.
    pub(super) fn add(&mut self, pairs: Pairs) -> u32 {
        let taken = |id: &str| self.criteria.iter().any(|criterion| criterion.first == id);
        let first = match pairs {
            Pairs::Criteria => (1_u32..).map(|n| format!("c{n}")).find(|id| !taken(id)).unwrap_or_default(),
            Pairs::Context => String::new(),
        };
        let number = self.next;
        self.next += 1;
        self.pairs_mut(pairs).push(Pair { number, first, second: String::new() });
        number
    }

    /// Whether nothing has been written yet.
    pub(super) fn is_blank(&self) -> bool {
        self.texts.iter().all(String::is_empty)
            && self.criteria.iter().all(|criterion| criterion.second.is_empty())
            && self.context.is_empty()
    }

    /// The document to send: an order without what the desk fills in.
    ///
    /// # Errors
    ///
    /// Every field whose text is no JSON where JSON is wanted. Whatever else may be wrong is for the rules to say.
    pub(super) fn document(&self) -> Result<Object, Vec<Unreadable>> {
        let mut document = Object::new();
        let mut budget = Object::new();
        let mut faults = Vec::new();
        for field in Field::ALL {
            let text = self.text(field);
            // Criteria and budget stand where documents have them.
            match field {
                Field::Usd => document.insert(Pairs::Criteria.name(), self.pairs_value(Pairs::Criteria)),
                Field::Deadline => document.insert("budget", std::mem::take(&mut budget)),
                Field::Handoff if !self.context.is_empty() => {
                    document.insert(Pairs::Context.name(), self.pairs_value(Pairs::Context));
                }
                _ => {}
            }
            match field.form() {
                Form::Needed => document.insert(field.name(), text),
                Form::NeededLines => document.insert(field.name(), lines(text)),
                _ if text.trim().is_empty() => {}
                Form::Text => document.insert(field.name(), text),
                Form::Lines => document.insert(field.name(), lines(text)),
                Form::Amount => budget.insert(field.name(), amount(text)),
                Form::Json | Form::Members => match parse(text.as_bytes(), &Limits::DOCUMENT) {
                    Ok(value) if field.form() == Form::Json => document.insert(field.name(), value),
                    Ok(Value::Object(members)) => extend(&mut document, members),
                    Ok(_) => {
                        faults.push(Unreadable { field, message: format!("{} must be a JSON object", field.label()) })
                    }
                    Err(error) => faults.push(Unreadable {
                        field,
                        message: format!(
                            "{} is not JSON: line {} column {}: {}",
                            field.label(),
                            error.line,
                            error.column,
                            error.kind
                        ),
                    }),
                },
            }
        }
        if faults.is_empty() { Ok(document) } else { Err(faults) }
    }

    fn pairs_value(&self, pairs: Pairs) -> Value {
        let (first, second, optional) = pairs.members();
        let value = |pair: &Pair| {
            let object = Object::new().with(first, &pair.first);
            let second_text = (!optional || !pair.second.is_empty()).then_some(&pair.second);
            Value::from(object.with_some(second, second_text))
        };
        self.pairs(pairs).iter().map(value).collect()
    }

    /// Reads a document into the fields.
    ///
    /// # Errors
    ///
    /// What the fields have no place for, as a sentence without its full stop.
    pub(super) fn read(document: &Object) -> Result<Self, String> {
        let mut draft = Self { criteria: Vec::new(), ..Self::new() };
        let mut extensions = Object::new();
        for (name, value) in document.iter() {
            match name.as_str() {
                // The desk fills these in, whatever a document says.
                "spec" | "created_at" | "from" => {}
                "budget" => draft.read_budget(value)?,
                "criteria" => draft.read_pairs(Pairs::Criteria, value)?,
                "context" => draft.read_pairs(Pairs::Context, value)?,
                name if name.starts_with("x-") => extensions.insert(name, value.clone()),
                name => {
                    let field = Field::ALL
                        .into_iter()
                        .find(|field| field.name() == name && !matches!(field.form(), Form::Amount | Form::Members));
                    let field = field.ok_or_else(|| format!("An order has no member `{name}`"))?;
                    draft.read_field(field, value)?;
                }
            }
        }
        if !extensions.is_empty() {
            draft.write(Field::Extensions, write_pretty(&extensions.into()));
        }
        Ok(draft)
    }

    fn read_field(&mut self, field: Field, value: &Value) -> Result<(), String> {
        let wrong = |wanted: &str| format!("`{}` must be {wanted}", field.name());
        let text = match field.form() {
            Form::Needed | Form::Text => value.as_str().ok_or_else(|| wrong("a string"))?.into(),
            Form::NeededLines | Form::Lines => {
                let items =
                    value.as_array().and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
                items.ok_or_else(|| wrong("an array of strings"))?.join("\n")
            }
            Form::Amount | Form::Json | Form::Members => write_pretty(value),
        };
        self.write(field, text);
        Ok(())
    }

    fn read_budget(&mut self, value: &Value) -> Result<(), String> {
        let budget = value.as_object().ok_or("`budget` must be an object")?;
        for (name, amount) in budget.iter() {
            let field = Field::BUDGET.into_iter().find(|field| field.name() == name);
            let field = field.ok_or_else(|| format!("A budget has no unit `{name}`"))?;
            let number = amount.as_number().ok_or_else(|| format!("`{name}` must be a number"))?;
            self.write(field, shown(*number));
        }
        Ok(())
    }

    fn read_pairs(&mut self, pairs: Pairs, value: &Value) -> Result<(), String> {
        let (first, second, _) = pairs.members();
        for item in value.as_array().ok_or_else(|| format!("`{}` must be an array", pairs.name()))? {
            let object = item.as_object().ok_or_else(|| format!("Each of `{}` must be an object", pairs.name()))?;
            if let Some((other, _)) = object.iter().find(|(name, _)| *name != first && *name != second) {
                return Err(format!("Nothing in `{}` has a member `{other}`", pairs.name()));
            }
            let text = |name| match object.get(name) {
                None => Ok(String::new()),
                Some(value) => value.as_str().map(String::from).ok_or_else(|| format!("`{name}` must be a string")),
            };
            let number = self.next;
            self.next += 1;
            let pair = Pair { number, first: text(first)?, second: text(second)? };
            self.pairs_mut(pairs).push(pair);
        }
        Ok(())
    }

    /// As the browser keeps it while the tab is open, unfinished texts and all.
    pub(super) fn to_value(&self) -> Value {
        let pairs = |pairs| self.pairs(pairs).iter().map(|pair| vec![pair.first.clone(), pair.second.clone()]);
        Object::new()
            .with("texts", self.texts.to_vec())
            .with("criteria", pairs(Pairs::Criteria).map(Value::from).collect::<Value>())
            .with("context", pairs(Pairs::Context).map(Value::from).collect::<Value>())
            .into()
    }

    /// Reads what [`Draft::to_value`] writes; `None` for anything else.
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let texts =
            |value: &Value| value.as_array()?.iter().map(|t| t.as_str().map(String::from)).collect::<Option<Vec<_>>>();
        let mut draft = Self { criteria: Vec::new(), ..Self::new() };
        draft.texts = texts(value.get("texts")?)?.try_into().ok()?;
        for pairs in [Pairs::Criteria, Pairs::Context] {
            for pair in value.get(pairs.name())?.as_array()? {
                let [first, second] = <[String; 2]>::try_from(texts(pair)?).ok()?;
                let number = draft.next;
                draft.next += 1;
                draft.pairs_mut(pairs).push(Pair { number, first, second });
            }
        }
        Some(draft)
    }
}

/// The document as the agent will get it: with what the desk fills in.
pub(super) fn filled_in(document: &Object, manager: &str, created_at: &str) -> Value {
    // The desk gives an id of this form; until then nobody knows which.
    let id = document.str("id").filter(|id| !id.is_empty()).unwrap_or("wo_0000000000000000");
    let mut order = Object::new()
        .with("spec", order_spec_for(document))
        .with("id", id)
        .with("created_at", created_at)
        .with("from", manager);
    for (name, value) in document.iter() {
        if !order.contains(name) {
            order.insert(name.clone(), value.clone());
        }
    }
    order.into()
}

fn lines(text: &str) -> Value {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// A number as it was typed; what is none stays a text, so that the rules name it.
fn amount(text: &str) -> Value {
    match parse(text.trim().as_bytes(), &Limits::DOCUMENT) {
        Ok(Value::Number(number)) => number.into(),
        _ => text.trim().into(),
    }
}

fn extend(document: &mut Object, members: Object) {
    for (name, value) in members.into_members() {
        document.insert(name, value);
    }
}

/// Where on the form a finding belongs, by the first steps of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    Field(Field),
    /// A row of a list; the list itself where there is no number
    Pairs(Pairs, Option<usize>),
    /// The budget as a whole
    Budget,
    /// None in particular
    Whole,
}

impl Spot {
    /// What the form calls it.
    pub(super) fn label(self) -> String {
        match self {
            Self::Field(field) => field.label().into(),
            Self::Pairs(pairs, None) => pairs.label().into(),
            Self::Pairs(pairs, Some(row)) => format!("{} {}", pairs.label(), row + 1),
            Self::Budget => "Budget".into(),
            Self::Whole => "The order".into(),
        }
    }

    /// The place that a finding's path names.
    pub(super) fn of(path: &str) -> Self {
        let mut steps = path.trim_start_matches('/').split('/');
        let (first, second) = (steps.next().unwrap_or_default(), steps.next());
        let unit = |name: &str| {
            let place = UNITS.iter().position(|unit| unit.as_str() == name);
            place.and_then(|place| Field::BUDGET.get(place)).map_or(Self::Budget, |field| Self::Field(*field))
        };
        match first {
            "criteria" => Self::Pairs(Pairs::Criteria, second.and_then(|row| row.parse().ok())),
            "context" => Self::Pairs(Pairs::Context, second.and_then(|row| row.parse().ok())),
            "budget" => second.map_or(Self::Budget, unit),
            name if name.starts_with("x-") => Self::Field(Field::Extensions),
            name => {
                let named = |field: &Field| field.name() == name && field.form() != Form::Amount;
                Field::ALL.into_iter().find(named).map_or(Self::Whole, Self::Field)
            }
        }
    }
}

/// What is wrong at a place, for whoever fills in the form. What is only missing is not called an empty string.
pub(super) fn fault_words(draft: &Draft, finding: &Finding) -> String {
    let last = finding.path.rsplit('/').next().unwrap_or_default();
    let spot = Spot::of(&finding.path);
    let missing = match spot {
        Spot::Field(field) => draft.text(field).trim().is_empty().then_some("is needed"),
        Spot::Budget => {
            Field::BUDGET.iter().all(|field| draft.text(*field).trim().is_empty()).then_some("needs at least one limit")
        }
        Spot::Pairs(pairs, None) => draft.pairs(pairs).is_empty().then_some("needs at least one"),
        Spot::Pairs(pairs, Some(row)) => draft.pairs(pairs).get(row).and_then(|pair| {
            let (first, second, _) = pairs.members();
            let blank = (last == first && pair.first.is_empty()) || (last == second && pair.second.is_empty());
            blank.then_some(match (pairs, last == first) {
                (Pairs::Criteria, true) => "needs a short id",
                (Pairs::Criteria, false) => "needs what must be shown",
                (Pairs::Context, _) => "needs an address",
            })
        }),
        Spot::Whole => None,
    };
    let label = spot.label();
    missing.map_or_else(|| format!("{label}: {}", finding.message), |missing| format!("{label} {missing}"))
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::write_compact;
    use bailiwick_core::work::{NoEngine, validate_order};

    use super::*;

    fn object(text: &str) -> Object {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap().as_object().unwrap().clone()
    }

    const FULL: &str = r#"{"id":"wo_1","to":"agent:w","goal":"g","criteria":[{"id":"a","text":"A"},{"id":"b","text":""}],"budget":{"usd":0.5,"tokens":7},"deadline":"2100-01-01T00:00:00Z","tools":["a/*"],"staged":["a/b"],"escalate_to":"human:b","inputs":{"n":1},"context":[{"uri":"u"},{"uri":"v","note":"n"}],"handoff":{"summary":"s"},"output_schema":{"type":"object"},"parent_id":"p","continues":"q","metadata":{"m":[]},"x-y":null}"#;

    #[test]
    fn every_member_comes_back_as_it_was() {
        let draft = Draft::read(&object(FULL)).unwrap();
        assert_eq!(write_compact(&draft.document().unwrap().into()), FULL);
        assert_eq!(Draft::from_value(&draft.to_value()).unwrap().document(), draft.document());
    }

    #[test]
    fn every_published_member_has_its_place() {
        let schema = parse(include_bytes!("../../../schemas/work-order.json"), &Limits::DOCUMENT).unwrap();
        for (name, _) in schema.get("properties").unwrap().as_object().unwrap().iter() {
            let filled = ["spec", "created_at", "from"].contains(&name.as_str());
            assert_eq!(Spot::of(&format!("/{name}")) == Spot::Whole, filled, "{name}");
        }
    }

    #[test]
    fn findings_go_to_their_fields() {
        let mut draft = Draft::new();
        draft.write(Field::Tokens, "many");
        let order = filled_in(&draft.document().unwrap(), "human:ada", "2026-01-01T00:00:00Z");
        let spots: Vec<Spot> =
            validate_order(&order, &NoEngine).findings.iter().map(|finding| Spot::of(&finding.path)).collect();
        for spot in [
            Spot::Field(Field::To),
            Spot::Field(Field::Goal),
            Spot::Field(Field::Deadline),
            Spot::Field(Field::Tokens),
            Spot::Pairs(Pairs::Criteria, Some(0)),
        ] {
            assert!(spots.contains(&spot), "{spot:?} in {spots:?}");
        }
    }

    #[test]
    fn what_is_missing_is_called_so() {
        let mut draft = Draft::new();
        draft.write(Field::Usd, "-1");
        let order = filled_in(&draft.document().unwrap(), "human:ada", "2026-01-01T00:00:00Z");
        let findings = validate_order(&order, &NoEngine).findings;
        let words: Vec<String> = findings.iter().map(|finding| fault_words(&draft, finding)).collect();
        assert!(words.contains(&"Worker is needed".into()), "{words:?}");
        assert!(words.contains(&"Criteria 1 needs what must be shown".into()), "{words:?}");
        let amount = words.iter().find(|words| words.starts_with("US dollars: ")).unwrap();
        assert!(amount.contains("-1"), "{amount}");
    }

    #[test]
    fn what_has_no_field_is_named() {
        let refused = |text| Draft::read(&object(text)).unwrap_err();
        assert_eq!(refused(r#"{"goals":1}"#), "An order has no member `goals`");
        assert_eq!(refused(r#"{"goal":1}"#), "`goal` must be a string");
        assert_eq!(refused(r#"{"usd":1}"#), "An order has no member `usd`");
        assert_eq!(refused(r#"{"budget":{"eur":1}}"#), "A budget has no unit `eur`");
        assert_eq!(
            refused(r#"{"criteria":[{"id":"a","text":"A","must":true}]}"#),
            "Nothing in `criteria` has a member `must`"
        );
    }

    #[test]
    fn texts_that_are_no_json_are_named() {
        let mut draft = Draft::new();
        draft.write(Field::Inputs, "{");
        draft.write(Field::Extensions, "[]");
        let faults: Vec<Field> = draft.document().unwrap_err().into_iter().map(|fault| fault.field).collect();
        assert_eq!(faults, [Field::Inputs, Field::Extensions]);
    }

    #[test]
    fn new_criteria_have_ids_of_their_own() {
        let mut draft = Draft::new();
        draft.pairs_mut(Pairs::Criteria)[0].first = "c2".into();
        draft.add(Pairs::Criteria);
        draft.add(Pairs::Criteria);
        let ids: Vec<&str> = draft.pairs(Pairs::Criteria).iter().map(|pair| pair.first.as_str()).collect();
        assert_eq!(ids, ["c2", "c1", "c3"]);
        assert!(draft.is_blank());
    }
}
