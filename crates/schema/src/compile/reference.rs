//! References: collected while schemas are compiled, resolved afterwards.

use std::collections::HashMap;

use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::quoted;

use super::{Compiler, Here, Origin, Result, SchemaError};
use crate::keyword::{Keyword, NodeId, ResourceId};
use crate::meta;
use crate::uri;

/// Objects with more members than this get an index when a pointer leads through them.
const INDEXED: usize = 16;
/// Bytes of URIs that are put together in one schema.
const MOST_URI_BYTES: usize = 1 << 24;

/// What references are resolved with.
#[derive(Default)]
pub(super) struct Index {
    /// Which node stands for which value, by the value's address
    pub(super) nodes: HashMap<*const Value, NodeId>,
    /// The first resource with a URI
    pub(super) resources: HashMap<String, ResourceId>,
}

/// A reference to resolve.
pub(super) struct Open<'v> {
    pub(super) text: &'v str,
    pub(super) resource: ResourceId,
    /// The schema it stands in
    pub(super) node: NodeId,
    pub(super) purpose: Purpose,
}

pub(super) enum Purpose {
    /// It stands under an unknown keyword: it must lead somewhere, no more.
    LookUp,
    /// `$ref`, whose target goes here
    Static { target: usize },
    /// `$dynamicRef`, whose target goes here, and the keyword that may turn out to be an ordinary reference
    Dynamic { target: usize, node: NodeId },
}

impl<'v> Compiler<'v> {
    /// Notes a reference; says where its target will be found.
    pub(super) fn reference(
        &mut self,
        name: &str,
        value: &'v Value,
        here: Here<'v>,
        purpose: impl FnOnce(usize) -> Purpose,
    ) -> Result<usize> {
        let text = self.text(name, value)?;
        let target = self.targets.len();
        self.targets.push(0);
        self.open.push(Open { text, resource: here.resource, node: here.node, purpose: purpose(target) });
        Ok(target)
    }

    /// Resolves all references, compiling what they lead to.
    pub(super) fn resolve_references(&mut self) -> Result<()> {
        if !self.open.is_empty() {
            self.index = Some(self.make_index());
        }
        while let Some(open) = self.open.pop() {
            if let Err(what) = self.resolve(&open) {
                let message = format!("reference {} {what}", quoted(open.text));
                return Err(SchemaError { pointer: self.pointer(open.node), message });
            }
        }
        Ok(())
    }

    /// Resolves a reference, or says what is wrong with it.
    fn resolve(&mut self, open: &Open<'v>) -> Result<(), String> {
        let found = self.look_up(open.text, open.resource).map_err(|error| error.message)?;
        let (value, resource) = found.ok_or("leads nowhere; nothing is fetched")?;
        let (target, dynamic_in) = match open.purpose {
            Purpose::LookUp => return Ok(()),
            Purpose::Static { target } => (target, None),
            Purpose::Dynamic { target, node } => (target, Some(node)),
        };
        let compiled = self.schema(value, resource, Origin::default()).and_then(|node| {
            self.compile_waiting()?;
            Ok(node)
        });
        let node = compiled.map_err(|error| format!("leads to what is not a usable schema: {}", error.message))?;
        if let Some(slot) = self.targets.get_mut(target) {
            *slot = node;
        }
        if let Some(from) = dynamic_in {
            self.settle_dynamic(from, target, node, open.text);
        }
        Ok(())
    }

    fn make_index(&self) -> Index {
        let nodes = self.values.iter().enumerate().map(|(node, value)| (std::ptr::from_ref(*value), node)).collect();
        let mut resources = HashMap::new();
        for (id, found) in self.resources.iter().enumerate() {
            resources.entry(found.uri.clone()).or_insert(id);
        }
        Index { nodes, resources }
    }

    /// A `$dynamicRef` is dynamic if its first target has a dynamic anchor of that name; else it is an ordinary one.
    fn settle_dynamic(&mut self, from: NodeId, target: usize, node: NodeId, text: &str) {
        let anchor = text.split_once('#').map_or("", |(_, fragment)| fragment);
        let resource = self.nodes.get(node).and_then(|node| self.resources.get(node.resource));
        let is_dynamic = resource.is_some_and(|found| found.dynamic_anchors.get(anchor) == Some(&node));
        self.has_dynamic |= is_dynamic;
        let keywords = self.nodes.get_mut(from).into_iter().flat_map(|node| &mut node.keywords);
        for keyword in keywords {
            if matches!(keyword, Keyword::DynamicReference(at, _) if *at == target) {
                *keyword = if is_dynamic {
                    Keyword::DynamicReference(target, anchor.into())
                } else {
                    Keyword::Reference(target)
                };
            }
        }
    }

    /// Resolves a reference against the URI of a resource; gives the target and the fragment.
    pub(super) fn resolve_uri<'a>(&mut self, from: ResourceId, text: &'a str) -> Result<(String, &'a str)> {
        let base = self.resources.get(from).map_or("", |found| &found.uri);
        self.uri_bytes = self.uri_bytes.saturating_add(base.len()).saturating_add(text.len());
        if self.uri_bytes > MOST_URI_BYTES {
            return self.fail("the identifiers and references are too long together");
        }
        Ok(uri::resolve(base, text))
    }

    /// Where a reference leads, and to which resource that belongs.
    fn look_up(&mut self, text: &str, from: ResourceId) -> Result<Option<(&'v Value, ResourceId)>> {
        let (uri, fragment) = self.resolve_uri(from, text)?;
        let base = self.resources.get(from).map_or("", |found| &found.uri);
        let resource = if uri == base {
            Some(from)
        } else {
            self.index.as_ref().and_then(|index| index.resources.get(&uri)).copied()
        };
        let Some(resource) = resource.map_or_else(|| self.load(&uri).transpose(), |id| Some(Ok(id))).transpose()?
        else {
            return Ok(None);
        };
        let Some(found) = self.resources.get(resource) else { return Ok(None) };
        let Some(fragment) = uri::decode_percent(fragment) else { return Ok(None) };
        if fragment.is_empty() {
            return Ok(Some((found.root, resource)));
        }
        let Some(pointer) = fragment.strip_prefix('/') else {
            return Ok(found.anchors.get(fragment.as_str()).map(|value| (*value, resource)));
        };
        Ok(self.follow(found.root, pointer, resource))
    }

    /// Takes in one of the meta-schemas.
    fn load(&mut self, uri: &str) -> Result<Option<ResourceId>> {
        let Some(document) = meta::document(uri) else { return Ok(None) };
        let resource = self.resource(uri.into(), document);
        self.schema(document, resource, Origin::default())?;
        self.compile_waiting()?;
        Ok(Some(resource))
    }

    /// Follows a JSON Pointer without its first slash.
    fn follow(&mut self, root: &'v Value, pointer: &str, resource: ResourceId) -> Option<(&'v Value, ResourceId)> {
        let (mut value, mut resource) = (root, resource);
        for token in pointer.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            value = match value {
                Value::Object(object) => self.member(value, object, &token)?,
                Value::Array(items) => items.get(parse_index(&token)?)?,
                _ => return None,
            };
            if let Some(node) = self.node_of(value) {
                resource = self.nodes.get(node)?.resource;
            }
        }
        Some((value, resource))
    }

    /// A member, found through an index when there are many.
    fn member(&mut self, value: &'v Value, object: &'v Object, name: &str) -> Option<&'v Value> {
        if object.len() <= INDEXED {
            return object.get(name);
        }
        let index = || object.iter().map(|(name, value)| (name.as_str(), value)).collect();
        self.indexes.entry(std::ptr::from_ref(value)).or_insert_with(index).get(name).copied()
    }
}

/// An array index as JSON Pointers write it.
fn parse_index(token: &str) -> Option<usize> {
    let is_index =
        token == "0" || (!token.starts_with('0') && !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit()));
    is_index.then(|| token.parse().ok()).flatten()
}
