//! Where in a document a check stands, without allocating until there is something to report.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// A place in a document, as a chain on the call stack up to its root.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// The whole document
    Root,
    /// A member of the object at a place
    Member(&'a Place<'a>, &'a str),
    /// An item of the array at a place
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// As RFC 6901 writes it: the root is the empty string.
    pub fn to_pointer(self) -> String {
        let mut steps = Vec::new();
        let mut place = self;
        while let Place::Member(parent, _) | Place::Item(parent, _) = place {
            steps.push(place);
            place = *parent;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Place::Root => {}
                Place::Member(_, name) => push_member(&mut pointer, name),
                Place::Item(_, index) => {
                    // Writing to a string cannot fail.
                    let _ = write!(pointer, "/{index}");
                }
            }
        }
        pointer
    }

    /// As findings write it: the root is `/`.
    pub fn to_path(self) -> String {
        let mut pointer = self.to_pointer();
        if pointer.is_empty() {
            pointer.push('/');
        }
        pointer
    }
}

/// Appends a member's name, escaped.
fn push_member(pointer: &mut String, name: &str) {
    pointer.push('/');
    for c in name.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_the_root_is_a_slash() {
        let root = Place::Root;
        let member = Place::Member(&root, "a/b~c");
        let item = Place::Item(&member, 3);
        assert_eq!(root.to_pointer(), "");
        assert_eq!(root.to_path(), "/");
        assert_eq!(item.to_path(), "/a~1b~0c/3");
        assert_eq!(Place::Member(&root, "").to_path(), "/");
    }
}
