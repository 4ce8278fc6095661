//! Where a store is: the forms that an address may have.

use std::path::{Path, PathBuf, absolute};

use crate::StoreError;

const ACCEPTED: &str = "give a file (`path`, `sqlite:path` or `sqlite:///absolute/path`), `sqlite::memory:`, or \
    `postgres://user@host/database`";

/// An address, told apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A private SQLite database that is gone when the store is closed
    Memory,
    /// A SQLite database, by its absolute path
    File(PathBuf),
    /// A PostgreSQL URL
    Postgres(String),
}

impl Address {
    /// Tells an address apart.
    ///
    /// # Errors
    ///
    /// [`StoreError::Address`] if it is of none of the accepted forms.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.into()));
        }
        if let Some(path) = text.strip_prefix("sqlite:") {
            return match path.strip_prefix("//").unwrap_or(path) {
                ":memory:" => Ok(Self::Memory),
                path if has_parameters(path) => Err(refuse(text, "parameters after `?` are not accepted")),
                path => file(text, path),
            };
        }
        match scheme(text) {
            Some(scheme) => Err(refuse(text, &format!("`{scheme}` is no kind of store; {ACCEPTED}"))),
            None => file(text, text),
        }
    }
}

fn file(text: &str, path: &str) -> Result<Address, StoreError> {
    if path.is_empty() || path == ":memory:" || path.contains('\0') {
        return Err(refuse(text, ACCEPTED));
    }
    let path = absolute(Path::new(path)).map_err(|error| refuse(text, &error.to_string()))?;
    Ok(Address::File(path))
}

/// Whether a path ends as a URL with parameters does.
fn has_parameters(path: &str) -> bool {
    path.rsplit_once('?').is_some_and(|(_, parameters)| parameters.contains('=') && !parameters.contains('/'))
}

/// What stands before the first `:`, if it looks like the scheme of a URL. One letter is a drive.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut letters = scheme.chars();
    let is_scheme = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    (is_scheme && scheme.len() > 1).then_some(scheme)
}

/// An error about an address; the address loses its password.
pub(crate) fn refuse(address: &str, why: &str) -> StoreError {
    StoreError::Address { address: without_secrets(address), why: why.into() }
}

/// An address with nothing of its parameters, and nothing of its user information but the user's name.
fn without_secrets(address: &str) -> String {
    let (address, parameters) = match address.split_once('?') {
        Some((address, _)) => (address, "?…"),
        None => (address, ""),
    };
    let shown = match address.split_once("://").map(|(scheme, rest)| (scheme, rest.rsplit_once('@'))) {
        Some((scheme, Some((user, place)))) => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}@{place}")
        }
        _ => address.into(),
    };
    shown + parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_told_apart() {
        let file = |path: &str| Ok::<_, String>(Address::File(path.into()));
        let parse = |text: &str| Address::parse(text).map_err(|error| error.to_string());
        let here = std::env::current_dir().unwrap();
        assert_eq!(parse("sqlite::memory:"), Ok(Address::Memory));
        assert_eq!(parse("/var/lib/b.db"), file("/var/lib/b.db"));
        assert_eq!(parse("sqlite:///var/lib/b.db"), file("/var/lib/b.db"));
        assert_eq!(parse("sqlite:/var/lib/b.db"), file("/var/lib/b.db"));
        assert_eq!(parse("sqlite:b.db"), Ok(Address::File(here.join("b.db"))));
        assert_eq!(parse("sqlite://b.db"), Ok(Address::File(here.join("b.db"))));
        assert_eq!(parse("b.db"), Ok(Address::File(here.join("b.db"))));
        assert_eq!(parse("sqlite:/why?/b.db"), file("/why?/b.db"));
        assert!(parse("odd:name/b.db").is_err());
        for text in ["postgres://u:p@h/d", "postgresql://h/d"] {
            assert_eq!(parse(text), Ok(Address::Postgres(text.into())));
        }
    }

    #[test]
    fn other_forms_are_refused_and_name_what_is_accepted() {
        for text in ["", "mysql://u:secret@h/d", "file:b.db", ":memory:", "sqlite:", "http://h"] {
            let error = Address::parse(text).unwrap_err();
            assert_eq!(error.code(), "store_address", "{text}");
            assert!(error.to_string().contains("sqlite::memory:"), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        assert!(Address::parse("sqlite:b.db?mode=ro").unwrap_err().to_string().contains("parameters"));
    }

    #[test]
    fn passwords_are_never_shown() {
        for (address, shown) in [
            ("postgres://u:se@cret@h:1/d?password=secret", "postgres://u@h:1/d?…"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("postgres://h/d", "postgres://h/d"),
        ] {
            assert_eq!(without_secrets(address), shown);
        }
    }
}
