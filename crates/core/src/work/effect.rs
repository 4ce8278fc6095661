//! References between effects (`spec work-orders §8.2`).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::place::Place;
use crate::json::{Object, Value};

/// A place in an effect's arguments that stands for a value from an earlier effect's result.
#[derive(Debug, Clone)]
pub struct Reference<'a> {
    /// The `ref` of the effect it points to
    pub effect: &'a str,
    /// JSON Pointer into that effect's result; `""` is the whole result
    pub pointer: &'a str,
    place: Option<Arc<Link<'a>>>,
}

/// A step on the way to a reference. References share the steps that lead to them, since thousands may stand below one
/// long name.
#[derive(Debug)]
struct Link<'a> {
    parent: Option<Arc<Link<'a>>>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

impl Reference<'_> {
    /// Where the reference stands: JSON Pointer (RFC 6901) into the arguments, `""` when they are one.
    pub fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut link = self.place.as_deref();
        while let Some(Link { parent, step }) = link {
            steps.push(*step);
            link = parent.as_deref();
        }
        write_path(Place::Root, &steps)
    }
}

/// Writes a place and the steps below it, which are given last first.
fn write_path(place: Place<'_>, steps: &[Step<'_>]) -> String {
    match steps.split_last() {
        None => place.to_pointer(),
        Some((Step::Member(name), rest)) => write_path(Place::Member(&place, name), rest),
        Some((Step::Item(index), rest)) => write_path(Place::Item(&place, *index), rest),
    }
}

/// Every reference in an effect's arguments, in document order.
///
/// A reference is an object whose members are exactly `$ref` (a string) and optionally `pointer` (a string). Any
/// other object is searched inside; a reference is not. Recursion goes as deep as the value, which the reader
/// has limited.
pub fn effect_references(arguments: &Value) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    search(arguments, None, &mut found);
    found
}

/// Collects the references in a value.
fn search<'a>(value: &'a Value, place: Option<&Arc<Link<'a>>>, found: &mut Vec<Reference<'a>>) {
    let below = |step| Arc::new(Link { parent: place.cloned(), step });
    match value {
        Value::Object(object) => match parse_reference(object) {
            Some((effect, pointer)) => found.push(Reference { effect, pointer, place: place.cloned() }),
            None => {
                for (name, member) in object.iter().filter(|(_, member)| is_container(member)) {
                    search(member, Some(&below(Step::Member(name))), found);
                }
            }
        },
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| is_container(item)) {
                search(item, Some(&below(Step::Item(index))), found);
            }
        }
        _ => {}
    }
}

/// Whether there can be a reference in a value.
fn is_container(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
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

/// A reference for which there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfilled {
    /// The `ref` of the effect it points to
    pub reference: String,
    /// Where in that effect's result nothing was found
    pub pointer: String,
}

/// An effect's arguments with each reference replaced by what it stands for; `result` answers the results of earlier
/// effects. What is put in is not searched again: a result that looks like a reference is data.
///
/// # Errors
///
/// The first reference, in document order, for which there is nothing.
pub fn fill<'a>(arguments: &Value, result: &impl Fn(&str) -> Option<&'a Value>) -> Result<Value, Unfilled> {
    Ok(match arguments {
        Value::Object(object) => match parse_reference(object) {
            Some((effect, pointer)) => {
                let found = result(effect).and_then(|result| resolve(result, pointer));
                found.cloned().ok_or_else(|| Unfilled { reference: effect.into(), pointer: pointer.into() })?
            }
            None => {
                let mut filled = Object::new();
                for (name, member) in object.iter() {
                    filled.insert(name.clone(), fill(member, result)?);
                }
                filled.into()
            }
        },
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, result)).collect::<Result<_, _>>()?),
        other => other.clone(),
    })
}

/// The value at a JSON Pointer (RFC 6901 §4); `None` if there is none, or the pointer is of no valid form.
pub fn resolve<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.is_empty() {
        return Some(value);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(value, |value, token| match value {
        Value::Object(object) => object.get(&unescape(token)?),
        Value::Array(items) => items.get(item_index(token)?),
        _ => None,
    })
}

/// `~1` is `/` and `~0` is `~`; any other `~` is an error.
fn unescape(token: &str) -> Option<String> {
    let mut name = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        name.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(name)
}

/// An item's index: digits without a leading zero.
fn item_index(token: &str) -> Option<usize> {
    let is_plain = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    is_plain.then(|| token.parse().ok())?
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
        effect_references(arguments).iter().map(Reference::path).collect()
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
    fn pointers_find_what_they_name_and_nothing_else() {
        let value: Value = crate::json::parse(
            br#"{"a": [10, [20]], "": 1, "a/b": 2, "m~n": 3, "~1": 4, "01": 5, "-": 6, "\u00e9": 7}"#,
            &crate::json::Limits::DOCUMENT,
        )
        .unwrap();
        let found = |pointer: &str| resolve(&value, pointer).map(crate::json::write_compact);
        for (pointer, expected) in [
            ("/a/0", "10"),
            ("/a/1/0", "20"),
            ("/", "1"),
            ("/a~1b", "2"),
            ("/m~0n", "3"),
            ("/~01", "4"),
            ("/01", "5"),
            ("/-", "6"),
            ("/\u{e9}", "7"),
        ] {
            assert_eq!(found(pointer).as_deref(), Some(expected), "{pointer}");
        }
        for nothing in [
            "a",
            "/a/2",
            "/a/-",
            "/a/00",
            "/a/01",
            "/a/+0",
            "/a/0/x",
            "/a~1",
            "/m~n",
            "/m~",
            "/a/",
            "/x",
            "/a/18446744073709551616",
        ] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
        assert_eq!(resolve(&value, ""), Some(&value));
    }

    #[test]
    fn references_are_filled_once() {
        let result: Value = Object::new().with("k", reference("x/y#1")).into();
        let arguments: Value = Object::new()
            .with("whole", reference("x/y#1"))
            .with("part", Value::Array([reference("x/y#1").with("pointer", "/k").into()].into()))
            .with("plain", reference("x/y#1").with("other", 1_u64))
            .into();
        let find = |name: &str| (name == "x/y#1").then_some(&result);
        let filled = fill(&arguments, &find).unwrap();
        assert_eq!(filled.get("whole"), Some(&result));
        assert_eq!(filled.get("part").unwrap().as_array().unwrap(), [Value::from(reference("x/y#1"))]);
        assert_eq!(filled.get("plain"), arguments.get("plain"));
        for (effect, pointer) in [("x/y#2", ""), ("x/y#1", "/z")] {
            let arguments = reference(effect).with("pointer", pointer).into();
            let unfilled = Unfilled { reference: effect.into(), pointer: pointer.into() };
            assert_eq!(fill(&arguments, &find), Err(unfilled));
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
