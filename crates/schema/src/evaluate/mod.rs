//! Does a value fit a compiled schema, and if not, where and why (`spec work-orders §6.4`).
//!
//! Everything costs fuel, and nesting is limited, so that no schema can hang or crash whoever evaluates it. A check
//! that is stopped gives one fault that says so: what could not be judged is not accepted.

mod comparison;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use bailiwick_core::json::{Number, Object, Value};
use bailiwick_core::work::{OutputFault, Place, described, quoted, shown};

use crate::compile::Compiled;
use crate::keyword::{Keyword, Node, NodeId, ResourceId, Rest};
use crate::pattern::{Fuel, Pattern};
use comparison::{compare, is_multiple, weight};

/// Work that one check may do: about a quarter of a second.
const FUEL: u64 = 50_000_000;
/// What going to a node costs.
const NODE_COST: usize = 8;
/// What a fault costs.
const FAULT_COST: usize = 200;
/// Nodes inside each other: each costs room on the call stack.
const DEEPEST: usize = 1000;
/// Objects with more members than this get an index before many names are looked up.
const INDEXED: usize = 16;

/// Every way in which a value does not fit; none when it fits. `None` is an absent value: every constraint on type
/// fails, every keyword that only applies to some type is satisfied.
pub(crate) fn evaluate(schema: &Compiled, value: Option<&Value>) -> Vec<OutputFault> {
    let mut evaluator = Evaluator {
        schema,
        fuel: Fuel::new(FUEL),
        depth: 0,
        silent: 0,
        scope: Vec::new(),
        faults: Vec::new(),
        stopped: None,
    };
    evaluator.node(schema.root, Visit { value, place: Place::Root, active: None }, None);
    match evaluator.stopped {
        None => evaluator.faults,
        Some(why) => vec![OutputFault { pointer: String::new(), message: why.into() }],
    }
}

struct Evaluator<'s> {
    schema: &'s Compiled,
    fuel: Fuel,
    depth: usize,
    /// How many keywords around this one only ask whether, not why
    silent: usize,
    /// The resources on the way here, each once, outermost first
    scope: Vec<ResourceId>,
    faults: Vec<OutputFault>,
    stopped: Option<&'static str>,
}

/// A value to be looked at, and how we came to it.
#[derive(Clone, Copy)]
struct Visit<'p, 'v> {
    value: Option<&'v Value>,
    place: Place<'p>,
    /// The nodes that are looking at this very value
    active: Option<&'p Active<'p>>,
}

struct Active<'p> {
    parent: Option<&'p Active<'p>>,
    node: NodeId,
    scope: usize,
    length: usize,
}

/// What has been evaluated of an object or array, for those who ask about the rest.
#[derive(Debug, Default)]
struct Marks<'v> {
    members: BTreeSet<&'v str>,
    all_members: bool,
    /// Items before this one
    first_items: usize,
    /// Single items beyond
    items: BTreeSet<usize>,
}

impl Marks<'_> {
    fn merge(&mut self, mut other: Self) {
        self.members.append(&mut other.members);
        self.all_members |= other.all_members;
        self.first_items = self.first_items.max(other.first_items);
        self.items.append(&mut other.items);
    }
}

impl Evaluator<'_> {
    /// Notes a fault, unless nobody asks why. Always false.
    fn fault(&mut self, place: Place<'_>, message: impl FnOnce() -> String) -> bool {
        if self.silent == 0 && self.burn(FAULT_COST) {
            let fault = OutputFault { pointer: place.to_pointer(), message: message() };
            self.burn(fault.pointer.len());
            self.faults.push(fault);
        }
        false
    }

    /// Burns fuel; false when the check is stopped.
    fn burn(&mut self, steps: usize) -> bool {
        if self.fuel.burn(steps).is_none() {
            self.stop("the output schema takes too much work to evaluate on this output");
        }
        self.stopped.is_none()
    }

    fn stop(&mut self, why: &'static str) {
        self.stopped.get_or_insert(why);
    }

    /// Whether a value fits a node.
    fn node<'v>(&mut self, id: NodeId, visit: Visit<'_, 'v>, marks: Option<&mut Marks<'v>>) -> bool {
        let Some(node) = self.schema.nodes.get(id) else { return true };
        if node.keywords.is_empty() {
            return true;
        }
        let length = visit.active.map_or(0, |active| active.length);
        if !self.burn(NODE_COST + length) {
            return false;
        }
        if self.depth >= DEEPEST {
            self.stop("the output schema goes too deep on this output");
            return false;
        }
        let has_entered = self.enter(node.resource);
        let active = Active { parent: visit.active, node: id, scope: self.scope.len(), length: length + 1 };
        if is_loop(&active) {
            self.stop("the output schema refers back to itself without end");
        }
        self.depth += 1;
        let visit = Visit { active: Some(&active), ..visit };
        let fits = self.keywords(node, visit, marks);
        self.depth -= 1;
        if has_entered {
            self.scope.pop();
        }
        fits
    }

    /// Puts a resource on the way, unless it is there; true if it was not.
    fn enter(&mut self, resource: ResourceId) -> bool {
        self.burn(self.scope.len() / 8);
        let is_new = self.schema.has_dynamic && !self.scope.contains(&resource);
        if is_new {
            self.scope.push(resource);
        }
        is_new
    }

    fn keywords<'v>(&mut self, node: &Node, visit: Visit<'_, 'v>, marks: Option<&mut Marks<'v>>) -> bool {
        let mut own = Marks::default();
        let mut fits = true;
        for keyword in &node.keywords {
            fits &= self.keyword(keyword, visit, &mut own);
            if !fits && (self.silent > 0 || self.stopped.is_some()) {
                return false;
            }
        }
        if let Some(marks) = marks.filter(|_| fits && self.schema.has_unevaluated) {
            marks.merge(own);
        }
        fits
    }

    fn keyword<'v>(&mut self, keyword: &Keyword, visit: Visit<'_, 'v>, marks: &mut Marks<'v>) -> bool {
        match keyword {
            Keyword::Never => self.fault(visit.place, || "nothing is accepted here".into()),
            Keyword::Type(types) => {
                visit.value.is_some_and(|value| types.contains(value))
                    || self.fault(visit.place, || format!("{} where {} is needed", found(visit.value), types.names()))
            }
            Keyword::Const(value) => {
                self.is_one_of(std::slice::from_ref(value), visit.value)
                    || self
                        .fault(visit.place, || format!("{} where {} is needed", found(visit.value), described(value)))
            }
            Keyword::Enum(values) => {
                self.is_one_of(values, visit.value)
                    || self.fault(visit.place, || {
                        format!("{} is none of the values that `enum` lists", found(visit.value))
                    })
            }
            Keyword::Reference(target) => self.reference(*target, visit, marks),
            Keyword::DynamicReference(target, anchor) => self.dynamic_reference(*target, anchor, visit, marks),
            Keyword::AllOf(nodes) => {
                let mut fits = true;
                for node in nodes {
                    fits &= self.node(*node, visit, Some(marks));
                    if !fits && self.silent > 0 {
                        break;
                    }
                }
                fits
            }
            Keyword::AnyOf(nodes) => self.any_of(nodes, visit, marks),
            Keyword::OneOf(nodes) => self.one_of(nodes, visit, marks),
            Keyword::Not(node) => {
                !self.fits(*node, visit, None) && self.stopped.is_none()
                    || self.fault(visit.place, || format!("{} is what `not` excludes", found(visit.value)))
            }
            Keyword::If { condition, then, otherwise } => {
                let branch = if self.fits(*condition, visit, Some(marks)) { then } else { otherwise };
                branch.is_none_or(|node| self.node(node, visit, Some(marks)))
            }
            keyword => match visit.value {
                Some(Value::Number(number)) => self.number(keyword, *number, visit.place),
                Some(Value::String(text)) => self.string(keyword, text, visit.place),
                Some(Value::Array(items)) => self.array(keyword, items, visit.place, marks),
                Some(Value::Object(object)) => self.object(keyword, object, visit, marks),
                _ => true,
            },
        }
    }

    /// Whether a value fits a node, and no more than that.
    fn fits<'v>(&mut self, node: NodeId, visit: Visit<'_, 'v>, marks: Option<&mut Marks<'v>>) -> bool {
        self.silent += 1;
        let fits = self.node(node, visit, marks);
        self.silent -= 1;
        fits
    }

    fn is_one_of(&mut self, values: &[Value], value: Option<&Value>) -> bool {
        let Some(value) = value else { return false };
        self.burn(weight(value).saturating_mul(values.len())) && values.contains(value)
    }

    fn reference<'v>(&mut self, target: usize, visit: Visit<'_, 'v>, marks: &mut Marks<'v>) -> bool {
        self.schema.targets.get(target).is_none_or(|node| self.node(*node, visit, Some(marks)))
    }

    /// The outermost resource on the way that has the dynamic anchor decides.
    fn dynamic_reference<'v>(
        &mut self,
        target: usize,
        anchor: &str,
        visit: Visit<'_, 'v>,
        marks: &mut Marks<'v>,
    ) -> bool {
        let resources = &self.schema.resources;
        let node = self.scope.iter().find_map(|id| resources.get(*id)?.dynamic_anchors.get(anchor).copied());
        match node {
            Some(node) => self.node(node, visit, Some(marks)),
            None => self.reference(target, visit, marks),
        }
    }

    fn any_of<'v>(&mut self, nodes: &[NodeId], visit: Visit<'_, 'v>, marks: &mut Marks<'v>) -> bool {
        let before = self.faults.len();
        let mut fits = false;
        for node in nodes {
            fits |= self.node(*node, visit, Some(marks));
            // The other branches matter only to those who ask what has been evaluated.
            if fits && !self.schema.has_unevaluated {
                break;
            }
        }
        if fits {
            self.faults.truncate(before);
            return true;
        }
        self.fault(visit.place, || format!("{} fits no branch of `anyOf`", found(visit.value)))
    }

    fn one_of<'v>(&mut self, nodes: &[NodeId], visit: Visit<'_, 'v>, marks: &mut Marks<'v>) -> bool {
        let before = self.faults.len();
        let mut fitting = 0_usize;
        for node in nodes {
            fitting += usize::from(self.node(*node, visit, Some(marks)));
            if fitting > 1 {
                break;
            }
        }
        if fitting > 0 {
            self.faults.truncate(before);
        }
        match fitting {
            0 => self.fault(visit.place, || format!("{} fits no branch of `oneOf`", found(visit.value))),
            1 => true,
            _ => self.fault(visit.place, || format!("{} fits more than one branch of `oneOf`", found(visit.value))),
        }
    }

    fn number(&mut self, keyword: &Keyword, number: Number, place: Place<'_>) -> bool {
        let (fits, bound, what) = match keyword {
            Keyword::Maximum(bound) => (number <= *bound, bound, "at most"),
            Keyword::ExclusiveMaximum(bound) => (number < *bound, bound, "less than"),
            Keyword::Minimum(bound) => (number >= *bound, bound, "at least"),
            Keyword::ExclusiveMinimum(bound) => (number > *bound, bound, "more than"),
            Keyword::MultipleOf(divisor) => (is_multiple(number, *divisor), divisor, "a multiple of"),
            _ => return true,
        };
        fits || self.fault(place, || format!("{} where {what} {} is needed", shown(number), shown(*bound)))
    }

    fn string(&mut self, keyword: &Keyword, text: &str, place: Place<'_>) -> bool {
        match keyword {
            Keyword::MaxLength(most) => {
                let length = self.length(text);
                length <= *most
                    || self.fault(place, || format!("{length} characters where at most {most} are accepted"))
            }
            Keyword::MinLength(least) => {
                let length = self.length(text);
                length >= *least
                    || self.fault(place, || format!("{length} characters where at least {least} are needed"))
            }
            Keyword::Pattern(pattern) => {
                self.matches(pattern, text)
                    || self.fault(place, || format!("{} does not match {}", quoted(text), quoted(pattern.source())))
            }
            Keyword::Format(format) => {
                self.burn(text.len() / 8 * format.cost());
                format.fits(text)
                    || self.fault(place, || format!("{} is not of format `{}`", quoted(text), format.as_str()))
            }
            _ => true,
        }
    }

    /// Code points of a text.
    fn length(&mut self, text: &str) -> u64 {
        self.burn(text.len() / 64);
        u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
    }

    fn matches(&mut self, pattern: &Pattern, text: &str) -> bool {
        match pattern.is_match(text, &mut self.fuel) {
            Some(is_match) => is_match,
            None => {
                self.stop("a pattern of the output schema takes too much work to match on this output");
                false
            }
        }
    }

    fn array<'v>(&mut self, keyword: &Keyword, items: &'v [Value], place: Place<'_>, marks: &mut Marks<'v>) -> bool {
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        match keyword {
            Keyword::MaxItems(most) => {
                count <= *most || self.fault(place, || format!("{count} items where at most {most} are accepted"))
            }
            Keyword::MinItems(least) => {
                count >= *least || self.fault(place, || format!("{count} items where at least {least} are needed"))
            }
            Keyword::UniqueItems => self.are_unique(items) || self.fault(place, || "two items are equal".into()),
            Keyword::Items { prefix, rest } => self.items(prefix, *rest, items, place, marks),
            Keyword::Contains { node, least, most } => self.contains(*node, *least, *most, items, place, marks),
            Keyword::UnevaluatedItems(rest) => self.unevaluated_items(*rest, items, place, marks),
            _ => true,
        }
    }

    /// Whether no two items are equal: sorted, equal ones are neighbours.
    fn are_unique(&mut self, items: &[Value]) -> bool {
        let weight: usize = items.iter().map(weight).sum();
        let rounds = usize::try_from(items.len().checked_ilog2().unwrap_or(0)).unwrap_or(0) + 1;
        if !self.burn(weight.saturating_mul(rounds)) {
            return false;
        }
        let mut sorted: Vec<&Value> = items.iter().collect();
        sorted.sort_by(|a, b| compare(a, b));
        sorted.windows(2).all(|pair| !matches!(pair, [a, b] if compare(a, b) == Ordering::Equal))
    }

    fn items<'v>(
        &mut self,
        prefix: &[NodeId],
        rest: Option<NodeId>,
        items: &'v [Value],
        place: Place<'_>,
        marks: &mut Marks<'v>,
    ) -> bool {
        let mut fits = true;
        let nodes = prefix.iter().copied().map(Some).chain(std::iter::repeat(rest));
        for ((index, item), node) in items.iter().enumerate().zip(nodes) {
            let Some(node) = node else { break };
            fits &= self.node(node, inside(item, Place::Item(&place, index)), None);
            if !fits && (self.silent > 0 || self.stopped.is_some()) {
                return false;
            }
        }
        marks.first_items = marks.first_items.max(if rest.is_some() { items.len() } else { prefix.len() });
        fits
    }

    fn contains<'v>(
        &mut self,
        node: NodeId,
        least: u64,
        most: Option<u64>,
        items: &'v [Value],
        place: Place<'_>,
        marks: &mut Marks<'v>,
    ) -> bool {
        let mut count = 0_u64;
        for (index, item) in items.iter().enumerate() {
            if self.fits(node, inside(item, Place::Item(&place, index)), None) {
                count += 1;
                if self.schema.has_unevaluated {
                    marks.items.insert(index);
                }
            }
        }
        if self.stopped.is_some() {
            return false;
        }
        match most {
            _ if count < least => {
                self.fault(place, || format!("{count} items fit `contains` where at least {least} are needed"))
            }
            Some(most) if count > most => {
                self.fault(place, || format!("{count} items fit `contains` where at most {most} are accepted"))
            }
            _ => true,
        }
    }

    fn unevaluated_items<'v>(
        &mut self,
        rest: Rest,
        items: &'v [Value],
        place: Place<'_>,
        marks: &mut Marks<'v>,
    ) -> bool {
        let mut fits = true;
        for (index, item) in items.iter().enumerate().skip(marks.first_items) {
            if marks.items.contains(&index) {
                continue;
            }
            fits &= match rest {
                Rest::Refused => self.fault(place, || format!("item {index} is one too many")),
                Rest::Node(node) => self.node(node, inside(item, Place::Item(&place, index)), None),
            };
            if !self.burn(1) {
                return false;
            }
        }
        marks.first_items = items.len();
        fits
    }

    fn object<'v>(
        &mut self,
        keyword: &Keyword,
        object: &'v Object,
        visit: Visit<'_, 'v>,
        marks: &mut Marks<'v>,
    ) -> bool {
        let place = visit.place;
        let count = u64::try_from(object.len()).unwrap_or(u64::MAX);
        match keyword {
            Keyword::MaxProperties(most) => {
                count <= *most || self.fault(place, || format!("{count} members where at most {most} are accepted"))
            }
            Keyword::MinProperties(least) => {
                count >= *least || self.fault(place, || format!("{count} members where at least {least} are needed"))
            }
            Keyword::Required(names) => self.required(names, object, place),
            Keyword::DependentRequired(dependencies) => {
                let mut fits = true;
                for (name, names) in dependencies {
                    if self.burn(object.len() / 8 + 1) && object.contains(name) {
                        fits &= self.required(names, object, place);
                    }
                }
                fits
            }
            Keyword::DependentSchemas(dependencies) => {
                let mut fits = true;
                for (name, node) in dependencies {
                    if self.burn(object.len() / 8 + 1) && object.contains(name) {
                        fits &= self.node(*node, visit, Some(marks));
                    }
                }
                fits
            }
            Keyword::Properties { named, patterns, additional } => {
                let mut fits = true;
                for (name, value) in object.iter() {
                    let mut is_known = false;
                    let member = inside(value, Place::Member(&place, name));
                    let known = named.binary_search_by(|(known, _)| known.as_str().cmp(name));
                    if let Some((_, node)) = known.ok().and_then(|at| named.get(at)) {
                        is_known = true;
                        fits &= self.node(*node, member, None);
                    }
                    for (pattern, node) in patterns {
                        if self.matches(pattern, name) {
                            is_known = true;
                            fits &= self.node(*node, member, None);
                        }
                    }
                    if let Some(rest) = additional.filter(|_| !is_known) {
                        fits &= self.rest(rest, name, place, member);
                    }
                    if is_known && self.schema.has_unevaluated {
                        marks.members.insert(name);
                    }
                    if !self.burn(1) || (!fits && self.silent > 0) {
                        return false;
                    }
                }
                marks.all_members |= additional.is_some();
                fits
            }
            Keyword::PropertyNames(node) => {
                let mut fits = true;
                for (name, _) in object.iter() {
                    let name = Value::String(name.clone());
                    // A name has no place of its own: its faults stand at the object.
                    fits &= self.node(*node, Visit { value: Some(&name), place, active: None }, None);
                    if !self.burn(1) {
                        return false;
                    }
                }
                fits
            }
            Keyword::UnevaluatedProperties(rest) => {
                let mut fits = true;
                for (name, value) in object.iter() {
                    if !marks.all_members && !marks.members.contains(name.as_str()) {
                        fits &= self.rest(*rest, name, place, inside(value, Place::Member(&place, name)));
                    }
                    if !self.burn(1) {
                        return false;
                    }
                }
                marks.all_members = true;
                fits
            }
            _ => true,
        }
    }

    /// A member that nothing else has dealt with.
    fn rest(&mut self, rest: Rest, name: &str, place: Place<'_>, member: Visit<'_, '_>) -> bool {
        match rest {
            Rest::Refused => self.fault(place, || format!("unknown member {}", quoted(name))),
            Rest::Node(node) => self.node(node, member, None),
        }
    }

    fn required(&mut self, names: &[String], object: &Object, place: Place<'_>) -> bool {
        let index: Option<BTreeSet<&str>> =
            (object.len() > INDEXED && names.len() > 1).then(|| object.iter().map(|(name, _)| name.as_str()).collect());
        self.burn(if index.is_some() { object.len() + names.len() } else { 1 });
        let mut fits = true;
        for name in names {
            let is_there = index.as_ref().map_or_else(|| object.contains(name), |index| index.contains(name.as_str()));
            if !is_there {
                fits = self.fault(place, || format!("`{name}` is missing"));
                if self.silent > 0 || self.stopped.is_some() {
                    break;
                }
            }
        }
        fits
    }
}

/// A visit to a member or an item: nobody has looked at it yet.
fn inside<'p, 'v>(value: &'v Value, place: Place<'p>) -> Visit<'p, 'v> {
    Visit { value: Some(value), place, active: None }
}

/// Whether the innermost node already looks at this value, and nothing has changed since.
fn is_loop(active: &Active<'_>) -> bool {
    let mut outer = active.parent;
    while let Some(other) = outer {
        if other.node == active.node && other.scope == active.scope {
            return true;
        }
        outer = other.parent;
    }
    false
}

/// A value for messages.
fn found(value: Option<&Value>) -> Cow<'static, str> {
    value.map_or(Cow::Borrowed("no output"), |value| Cow::Owned(described(value)))
}
