//! From a schema document to nodes: every keyword checked as the 2020-12 meta-schema wants it, every reference resolved.

mod draft;
mod reference;
mod shape;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::quoted;

use crate::format::Format;
use crate::keyword::{Keyword, Node, NodeId, Resource, ResourceId, Rest};
use crate::meta;
use crate::pattern::Room;
use draft::Draft;
use reference::{Index, Open, Purpose};

/// Why a document is not a usable schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON Pointer (RFC 6901) to the schema at fault
    pub pointer: String,
    /// What is wrong there
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " at {}", quoted(&self.pointer)) }
    }
}

impl std::error::Error for SchemaError {}

/// What compiling gives.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) nodes: Vec<Node>,
    pub(crate) resources: Vec<Resource>,
    /// The nodes that references lead to
    pub(crate) targets: Vec<NodeId>,
    pub(crate) root: NodeId,
    /// Whether anything asks what has been evaluated
    pub(crate) has_unevaluated: bool,
    /// Whether references depend on the way that led to them
    pub(crate) has_dynamic: bool,
}

/// Compiles a schema.
pub(crate) fn compile(schema: &Value) -> Result<Compiled, SchemaError> {
    let mut compiler = Compiler::default();
    let document = compiler.resource(String::new(), schema);
    let root = compiler.schema(schema, document, Origin::default())?;
    compiler.check_dialect(schema)?;
    compiler.compile_waiting()?;
    compiler.resolve_references()?;
    Ok(Compiled {
        nodes: compiler.nodes,
        resources: compiler
            .resources
            .into_iter()
            .map(|found| Resource { dynamic_anchors: found.dynamic_anchors })
            .collect(),
        targets: compiler.targets,
        root,
        has_unevaluated: compiler.has_unevaluated,
        has_dynamic: compiler.has_dynamic,
    })
}

#[derive(Default)]
struct Compiler<'v> {
    nodes: Vec<Node>,
    /// For each node, its schema
    values: Vec<&'v Value>,
    /// What references are resolved with; made when the first one is, since most schemas have none
    index: Option<Index>,
    /// Schemas that have a node and no keywords yet. A list rather than recursion: schemas may be nested deeply.
    waiting: Vec<Waiting<'v>>,
    /// For each node, where its schema stands
    origins: Vec<Origin<'v>>,
    /// The schema that is being compiled
    current: NodeId,
    resources: Vec<Found<'v>>,
    targets: Vec<NodeId>,
    /// References that are still to be resolved
    open: Vec<Open<'v>>,
    indexes: HashMap<*const Value, HashMap<&'v str, &'v Value>>,
    has_unevaluated: bool,
    has_dynamic: bool,
    /// What the patterns may still take
    room: Room,
    /// Bytes of URIs that were put together
    uri_bytes: usize,
}

/// A resource while its references are not resolved.
struct Found<'v> {
    uri: String,
    root: &'v Value,
    anchors: BTreeMap<&'v str, &'v Value>,
    dynamic_anchors: BTreeMap<String, NodeId>,
}

/// A schema to compile.
struct Waiting<'v> {
    value: &'v Value,
    node: NodeId,
    resource: ResourceId,
}

/// Where a schema stands: which steps lead to it from which other schema.
#[derive(Clone, Copy, Default)]
struct Origin<'v> {
    parent: Option<NodeId>,
    steps: [Option<Step<'v>>; 2],
}

#[derive(Clone, Copy)]
enum Step<'v> {
    Member(&'v str),
    Item(usize),
}

type Result<T, E = SchemaError> = std::result::Result<T, E>;

impl<'v> Compiler<'v> {
    /// An error at the schema that is being compiled.
    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(SchemaError { pointer: self.pointer(self.current), message: message.into() })
    }

    /// Where the schema of a node stands.
    fn pointer(&self, node: NodeId) -> String {
        let mut steps = Vec::new();
        let mut node = Some(node);
        while let Some(origin) = node.and_then(|node| self.origins.get(node)) {
            steps.extend(origin.steps.iter().rev().flatten());
            node = origin.parent;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            pointer.push('/');
            match step {
                Step::Member(name) => pointer.push_str(&name.replace('~', "~0").replace('/', "~1")),
                Step::Item(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }

    fn check_dialect(&self, schema: &Value) -> Result<()> {
        match schema.get("$schema") {
            None => Ok(()),
            Some(Value::String(uri)) if uri.strip_suffix('#').unwrap_or(uri) == meta::DIALECT => Ok(()),
            Some(Value::String(uri)) => {
                self.fail(format!("`$schema` is {} where only `{}` is understood", quoted(uri), meta::DIALECT))
            }
            Some(_) => self.fail("`$schema` must be a string"),
        }
    }

    /// Makes a resource known; the first of a URI counts.
    fn resource(&mut self, uri: String, root: &'v Value) -> ResourceId {
        let id = self.resources.len();
        if let Some(index) = &mut self.index {
            index.resources.entry(uri.clone()).or_insert(id);
        }
        self.resources.push(Found { uri, root, anchors: BTreeMap::new(), dynamic_anchors: BTreeMap::new() });
        id
    }

    /// The node of a schema, which is compiled later unless it has been.
    fn schema(&mut self, value: &'v Value, resource: ResourceId, origin: Origin<'v>) -> Result<NodeId> {
        if let Some(node) = self.node_of(value) {
            return Ok(node);
        }
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return self.fail(format!("{} is not a schema", article(value)));
        }
        let node = self.nodes.len();
        if let Some(index) = &mut self.index {
            index.nodes.insert(std::ptr::from_ref(value), node);
        }
        self.values.push(value);
        self.nodes.push(Node { resource, keywords: Vec::new() });
        self.origins.push(origin);
        self.waiting.push(Waiting { value, node, resource });
        Ok(node)
    }

    /// The node that a schema has already. Until references are resolved nothing is met twice.
    fn node_of(&self, value: &Value) -> Option<NodeId> {
        self.index.as_ref()?.nodes.get(&std::ptr::from_ref(value)).copied()
    }

    fn compile_waiting(&mut self) -> Result<()> {
        while let Some(Waiting { value, node, resource }) = self.waiting.pop() {
            self.current = node;
            let keywords = match value {
                Value::Object(object) => self.object(value, object, node, resource)?,
                Value::Bool(false) => vec![Keyword::Never],
                _ => Vec::new(),
            };
            if let Some(slot) = self.nodes.get_mut(node) {
                slot.keywords = keywords;
            }
        }
        Ok(())
    }

    /// The origin of a schema under a keyword of the current one.
    fn below(&self, name: &'v str, step: Option<Step<'v>>) -> Origin<'v> {
        Origin { parent: Some(self.current), steps: [Some(Step::Member(name)), step] }
    }

    fn object(
        &mut self,
        value: &'v Value,
        object: &'v Object,
        node: NodeId,
        parent: ResourceId,
    ) -> Result<Vec<Keyword>> {
        let resource = self.enter_resource(value, object, parent)?;
        if let Some(slot) = self.nodes.get_mut(node) {
            slot.resource = resource;
        }
        let mut draft = Draft::default();
        for (name, member) in object.iter() {
            self.keyword(name, member, Here { value, node, resource }, &mut draft)?;
        }
        self.has_unevaluated |= draft.unevaluated_items.is_some() || draft.unevaluated_properties.is_some();
        Ok(draft.into_keywords())
    }

    /// A schema with `$id` is a resource of its own.
    fn enter_resource(&mut self, value: &'v Value, object: &'v Object, parent: ResourceId) -> Result<ResourceId> {
        let id = match object.get("$id") {
            None => return Ok(parent),
            Some(Value::String(id)) => id,
            Some(_) => return self.fail("`$id` must be a string"),
        };
        if id.strip_suffix('#').unwrap_or(id).contains('#') {
            return self.fail(format!("`$id` {} has a fragment", quoted(id)));
        }
        let (uri, _) = self.resolve_uri(parent, id)?;
        // The document's own `$id` names the resource that is there already.
        match self.resources.get_mut(parent) {
            Some(found) if std::ptr::eq(found.root, value) => {
                found.uri.clone_from(&uri);
                if let Some(index) = &mut self.index {
                    index.resources.entry(uri).or_insert(parent);
                }
                Ok(parent)
            }
            _ => Ok(self.resource(uri, value)),
        }
    }

    /// Compiles one member of a schema object.
    fn keyword(&mut self, name: &'v str, value: &'v Value, here: Here<'v>, draft: &mut Draft) -> Result<()> {
        match name {
            "$id" => {}
            "$schema" | "$comment" | "title" | "description" | "contentEncoding" | "contentMediaType"
            | "$recursiveRef" => {
                self.text(name, value)?;
            }
            "$anchor" => self.anchor(name, value, here)?,
            "$dynamicAnchor" => {
                self.anchor(name, value, here)?;
                self.dynamic_anchor(value, here);
            }
            "$recursiveAnchor" => self.check_anchor(name, value).map(drop)?,
            "$ref" => {
                let target = self.reference(name, value, here, |target| Purpose::Static { target })?;
                draft.keywords.push(Keyword::Reference(target));
            }
            "$dynamicRef" => {
                let target =
                    self.reference(name, value, here, |target| Purpose::Dynamic { target, node: here.node })?;
                draft.keywords.push(Keyword::DynamicReference(target, String::new()));
            }
            "$vocabulary" => {
                if !value.as_object().is_some_and(|object| object.iter().all(|(_, value)| value.as_bool().is_some())) {
                    return self.fail("`$vocabulary` must be an object of booleans");
                }
            }
            "$defs" | "definitions" => self.schemas_by_name(name, value, here.resource).map(drop)?,
            "default" => {}
            "deprecated" | "readOnly" | "writeOnly" => self.boolean(name, value).map(drop)?,
            "examples" => self.array(name, value).map(drop)?,
            "dependencies" => self.dependencies(name, value, here.resource)?,
            "contentSchema" => self.subschema(name, value, here.resource).map(drop)?,
            _ => return self.assertion(name, value, here, draft),
        }
        Ok(())
    }

    /// Compiles a member that asserts something, or is unknown.
    fn assertion(&mut self, name: &'v str, value: &'v Value, here: Here<'v>, draft: &mut Draft) -> Result<()> {
        let keyword = match name {
            "type" => Keyword::Type(self.types(value)?),
            "enum" => Keyword::Enum(self.array(name, value)?.to_vec()),
            "const" => Keyword::Const(value.clone()),
            "multipleOf" => Keyword::MultipleOf(self.divisor(name, value)?),
            "maximum" => Keyword::Maximum(self.number(name, value)?),
            "exclusiveMaximum" => Keyword::ExclusiveMaximum(self.number(name, value)?),
            "minimum" => Keyword::Minimum(self.number(name, value)?),
            "exclusiveMinimum" => Keyword::ExclusiveMinimum(self.number(name, value)?),
            "maxLength" => Keyword::MaxLength(self.count(name, value)?),
            "minLength" => Keyword::MinLength(self.count(name, value)?),
            "pattern" => Keyword::Pattern(self.pattern(name, self.text(name, value)?)?),
            "format" => match Format::parse(self.text(name, value)?) {
                Some(format) => Keyword::Format(format),
                None => return Ok(()),
            },
            "maxItems" => Keyword::MaxItems(self.count(name, value)?),
            "minItems" => Keyword::MinItems(self.count(name, value)?),
            "uniqueItems" => match self.boolean(name, value)? {
                true => Keyword::UniqueItems,
                false => return Ok(()),
            },
            "maxProperties" => Keyword::MaxProperties(self.count(name, value)?),
            "minProperties" => Keyword::MinProperties(self.count(name, value)?),
            "required" => Keyword::Required(self.names(name, value)?),
            "dependentRequired" => Keyword::DependentRequired(self.dependent_required(name, value)?),
            _ => return self.applicator(name, value, here, draft),
        };
        draft.keywords.push(keyword);
        Ok(())
    }

    /// Compiles a member that holds schemas, or is unknown.
    fn applicator(&mut self, name: &'v str, value: &'v Value, here: Here<'v>, draft: &mut Draft) -> Result<()> {
        let resource = here.resource;
        match name {
            "allOf" => draft.keywords.push(Keyword::AllOf(self.schemas(name, value, resource)?)),
            "anyOf" => draft.keywords.push(Keyword::AnyOf(self.schemas(name, value, resource)?)),
            "oneOf" => draft.keywords.push(Keyword::OneOf(self.schemas(name, value, resource)?)),
            "not" => draft.keywords.push(Keyword::Not(self.subschema(name, value, resource)?)),
            "propertyNames" => draft.keywords.push(Keyword::PropertyNames(self.subschema(name, value, resource)?)),
            "dependentSchemas" => {
                draft.keywords.push(Keyword::DependentSchemas(self.schemas_by_name(name, value, resource)?))
            }
            "if" => draft.condition = Some(self.subschema(name, value, resource)?),
            "then" => draft.then = Some(self.subschema(name, value, resource)?),
            "else" => draft.otherwise = Some(self.subschema(name, value, resource)?),
            "prefixItems" => draft.prefix = self.schemas(name, value, resource)?,
            "items" => draft.items = Some(self.subschema(name, value, resource)?),
            "contains" => draft.contains = Some(self.subschema(name, value, resource)?),
            "minContains" => draft.min_contains = Some(self.count(name, value)?),
            "maxContains" => draft.max_contains = Some(self.count(name, value)?),
            "properties" => {
                draft.named = self.schemas_by_name(name, value, resource)?;
                draft.named.sort_unstable();
            }
            "patternProperties" => {
                let schemas = self.schemas_by_name(name, value, resource)?;
                let with_pattern = |(source, node): (String, NodeId)| Ok((self.pattern(name, &source)?, node));
                draft.patterns = schemas.into_iter().map(with_pattern).collect::<Result<_>>()?;
            }
            "additionalProperties" => draft.additional = Some(self.rest(name, value, resource)?),
            "unevaluatedItems" => draft.unevaluated_items = Some(self.rest(name, value, resource)?),
            "unevaluatedProperties" => draft.unevaluated_properties = Some(self.rest(name, value, resource)?),
            _ => self.unknown(value, resource),
        }
        Ok(())
    }

    /// Finds the references under an unknown keyword: they must lead somewhere.
    fn unknown(&mut self, value: &'v Value, resource: ResourceId) {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(object) => {
                    for (name, member) in object.iter() {
                        match (name.as_str(), member) {
                            ("$ref" | "$dynamicRef", Value::String(text)) => {
                                self.open.push(Open { text, resource, node: self.current, purpose: Purpose::LookUp });
                            }
                            ("const" | "enum" | "default" | "examples", _) => {}
                            (_, member) => waiting.push(member),
                        }
                    }
                }
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
    }

    fn subschema(&mut self, name: &'v str, value: &'v Value, resource: ResourceId) -> Result<NodeId> {
        self.schema(value, resource, self.below(name, None))
    }

    /// A schema in a place where `false` means that nothing may be there.
    fn rest(&mut self, name: &'v str, value: &'v Value, resource: ResourceId) -> Result<Rest> {
        let node = self.subschema(name, value, resource)?;
        Ok(if value.as_bool() == Some(false) { Rest::Refused } else { Rest::Node(node) })
    }

    fn schemas(&mut self, name: &'v str, value: &'v Value, resource: ResourceId) -> Result<Vec<NodeId>> {
        let items = self.array(name, value)?;
        if items.is_empty() {
            return self.fail(format!("`{name}` must not be empty"));
        }
        let schema = |(index, item)| self.schema(item, resource, self.below(name, Some(Step::Item(index))));
        items.iter().enumerate().map(schema).collect()
    }

    fn schemas_by_name(
        &mut self,
        name: &'v str,
        value: &'v Value,
        resource: ResourceId,
    ) -> Result<Vec<(String, NodeId)>> {
        let object = self.members(name, value)?;
        let schema = |(member, value): (&'v String, &'v Value)| {
            let node = self.schema(value, resource, self.below(name, Some(Step::Member(member))))?;
            Ok((member.clone(), node))
        };
        object.iter().map(schema).collect()
    }

    /// `dependencies` is no longer a keyword, but the meta-schema still says what it must look like.
    fn dependencies(&mut self, name: &'v str, value: &'v Value, resource: ResourceId) -> Result<()> {
        for (member, value) in self.members(name, value)?.iter() {
            if matches!(value, Value::Array(_)) {
                self.names(name, value)?;
            } else {
                self.schema(value, resource, self.below(name, Some(Step::Member(member))))?;
            }
        }
        Ok(())
    }

    fn dependent_required(&self, name: &str, value: &Value) -> Result<Vec<(String, Vec<String>)>> {
        self.members(name, value)?
            .iter()
            .map(|(member, names)| Ok((member.clone(), self.names(name, names)?)))
            .collect()
    }

    fn anchor(&mut self, name: &str, value: &'v Value, here: Here<'v>) -> Result<()> {
        let anchor = self.check_anchor(name, value)?;
        if let Some(found) = self.resources.get_mut(here.resource) {
            found.anchors.entry(anchor).or_insert(here.value);
        }
        Ok(())
    }

    fn dynamic_anchor(&mut self, value: &'v Value, here: Here<'v>) {
        if let (Some(found), Some(anchor)) = (self.resources.get_mut(here.resource), value.as_str()) {
            found.dynamic_anchors.entry(anchor.into()).or_insert(here.node);
        }
    }
}

/// The schema a keyword belongs to.
#[derive(Clone, Copy)]
struct Here<'v> {
    value: &'v Value,
    node: NodeId,
    resource: ResourceId,
}

/// A value's type with its article.
fn article(value: &Value) -> String {
    match value.type_name() {
        "null" => "null".into(),
        name @ ("array" | "object") => format!("an {name}"),
        name => format!("a {name}"),
    }
}
