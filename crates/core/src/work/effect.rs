//! References between effects (`spec work-orders §8.2`).

use alloc::string::String;
use alloc::vec::Vec;

use super::place::Place;
use crate::json::{Object, Value};

/// A place in an effect's arguments that stands for a value from an earlier effect's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'a> {
    /// The `ref` of the effect it points to
    pub effect: &'a str,
    /// JSON Pointer into that effect's result; `""` is the whole result
    pub pointer: &'a str,
    /// Where the reference stands: JSON Pointer (RFC 6901) into the arguments, `""` when they are one
    pub path: String,
}

/// Every reference in an effect's arguments, in document order.
///
/// A reference is an object whose members are exactly `$ref` (a string) and optionally `pointer` (a string). Any
/// other object is searched inside; a reference is not. Recursion goes as deep as the value, which the reader
/// has limited.
pub fn effect_references(arguments: &Value) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    search(arguments, Place::Root, &mut found);
    found
}

/// Collects the references in a value.
fn search<'a>(value: &'a Value, place: Place<'_>, found: &mut Vec<Reference<'a>>) {
    match value {
        Value::Object(object) => match parse_reference(object) {
            Some((effect, pointer)) => found.push(Reference { effect, pointer, path: place.to_pointer() }),
            None => {
                for (name, member) in object.iter() {
                    search(member, Place::Member(&place, name), found);
                }
            }
        },
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, Place::Item(&place, index), found);
            }
        }
        _ => {}
    }
}

/// The effect and the pointer, if the object is a reference.
fn parse_reference(object: &Object) -> Option<(&str, &str)> {
    let effect = object.str("$ref")?;
    match object.get("pointer") {
        None if object.len() == 1 => Some((effect, "")),
        Some(Value::String(pointer)) if object.len() == 2 => Some((effect, pointer)),
        _ => None,
    }
}

/// The call number of a ref `<tool>#<n>`, if the ref is one of this tool: n in ASCII digits, no leading zero.
pub fn is_ref_of(reference: &str, tool: &str) -> bool {
    let number = reference.strip_prefix(tool).and_then(|rest| rest.strip_prefix('#'));
    number.is_some_and(|n| !n.starts_with('0') && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(effect: &str) -> Object {
        Object::new().with("$ref", effect)
    }

    fn paths(arguments: &Value) -> Vec<String> {
        effect_references(arguments).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn references_are_found_in_document_order() {
        let arguments: Value = Object::new()
            .with("b", reference("x/y#2"))
            .with("a", Value::Array([Value::from(1_u64), reference("x/y#1").with("pointer", "/k").into()].into()))
            .into();
        assert_eq!(paths(&arguments), ["/b", "/a/1"]);
        assert_eq!(effect_references(&arguments)[1].pointer, "/k");
        assert_eq!(paths(&reference("x/y#1").into()), [""]);
    }

    #[test]
    fn other_objects_are_searched_inside() {
        for (object, expected) in [
            (reference("x").with("pointer", Value::Null), &[][..]),
            (reference("x").with("other", reference("y")), &["/other"][..]),
            (reference("x").with("pointer", reference("y")), &["/pointer"][..]),
            (Object::new().with("$ref", reference("y")), &["/$ref"][..]),
            (Object::new().with("pointer", ""), &[][..]),
        ] {
            assert_eq!(paths(&object.into()), expected);
        }
    }

    #[test]
    fn refs_are_strict() {
        assert!(is_ref_of("gmail/send#4", "gmail/send"));
        assert!(is_ref_of("gmail/send#123456789012345678901234567890", "gmail/send"));
        for bad in [
            "gmail/send",
            "gmail/send#",
            "gmail/send#0",
            "gmail/send#01",
            "gmail/send#1\n",
            "gmail/send##1",
            "gmail/sen#1",
            "gmail/send#١",
        ] {
            assert!(!is_ref_of(bad, "gmail/send"), "{bad}");
        }
    }
}
