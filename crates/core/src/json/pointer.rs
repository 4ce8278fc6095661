//! JSON Pointers (RFC 6901) built on the way down.

use alloc::string::{String, ToString};

/// Where a value stands in a document.
///
/// Written as findings want it (`spec work-orders §5`): the root is `/`, every other place as RFC 6901 says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointer(String);

impl Pointer {
    /// The root of a document.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// A member of the value at this place.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        let mut path = self.0.clone();
        path.push('/');
        for c in name.chars() {
            match c {
                '~' => path.push_str("~0"),
                '/' => path.push_str("~1"),
                c => path.push(c),
            }
        }
        Self(path)
    }

    /// An item of the array at this place.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        self.member(&index.to_string())
    }

    /// As RFC 6901 writes it: the root is the empty string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a finding's path: the root is `/`.
    pub fn to_path(&self) -> String {
        if self.0.is_empty() { "/".into() } else { self.0.clone() }
    }
}
