//! API keys: who may come in, and as whom (`spec work-orders §14.4`).
//!
//! A key is kept as its SHA-256 only and compared in constant time. It is never logged, and no message holds one or
//! part of one: errors name a key by its place and by the actor it stands for.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bailiwick_core::hash::{Hash, from_hex, sha256};
use bailiwick_core::json::{Duplicates, Limits, Object, ReadErrorKind, Value, parse};
use bailiwick_core::principal::{DESK, MOST_CHARACTERS, Principal};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// The keys in force. Cloning gives another handle on the same ring, so whoever keeps one can reload it.
#[derive(Clone, Default)]
pub struct KeyRing {
    known: Arc<RwLock<Arc<[HashedKey]>>>,
}

/// A key as its SHA-256, and whom it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedKey {
    /// SHA-256 of the key's bytes
    pub sha256: Hash,
    /// The agent reference
    pub actor: String,
}

/// Why keys are not taken. Messages hold no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not JSON
    #[error("the keys are not JSON: line {line} column {column}")]
    NotJson {
        /// The line, from 1
        line: usize,
        /// The code point in the line, from 1
        column: usize,
    },
    /// The same key twice
    #[error("the key at line {line} column {column} occurs twice")]
    DuplicateName {
        /// The line, from 1
        line: usize,
        /// The code point in the line, from 1
        column: usize,
    },
    /// It is JSON of another form
    #[error(
        "{0}; accepted: `{{\"keys\": {{\"<key>\": \"<actor>\"}}}}` or `{{\"keys\": [{{\"sha256\": \"<hex>\", \"actor\": \"<actor>\"}}]}}`"
    )]
    Shape(String),
    /// A key without characters
    #[error("key {place} is empty")]
    Empty {
        /// Which, from 1
        place: usize,
    },
    /// A key that no request can carry
    #[error("key {place} can't be sent as a bearer token: use printable ASCII without spaces")]
    Unsendable {
        /// Which, from 1
        place: usize,
    },
    /// A digest that is none
    #[error("`sha256` of key {place} must be 64 lower-case hexadecimal digits")]
    Digest {
        /// Which, from 1
        place: usize,
    },
    /// The same key twice
    #[error("key {place} is the same as key {before}")]
    Duplicate {
        /// Which, from 1
        place: usize,
        /// The earlier one
        before: usize,
    },
    /// An actor that names nobody
    #[error("the actor of key {place} is blank")]
    BlankActor {
        /// Which, from 1
        place: usize,
    },
    /// An actor that is no agent reference
    #[error("the actor of key {place} has {characters} characters, at most {MOST_CHARACTERS} are accepted")]
    LongActor {
        /// Which, from 1
        place: usize,
        /// How long it is
        characters: usize,
    },
    /// The desk's own name
    #[error("the actor of key {place} is `{DESK}`, the name by which the desk itself acts")]
    ReservedActor {
        /// Which, from 1
        place: usize,
    },
}

impl KeyError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "keys_json",
            Self::Shape(_) => "keys_form",
            Self::Empty { .. } => "keys_empty",
            Self::Unsendable { .. } => "keys_unsendable",
            Self::Digest { .. } => "keys_digest",
            Self::DuplicateName { .. } | Self::Duplicate { .. } => "keys_duplicate",
            Self::BlankActor { .. } | Self::LongActor { .. } | Self::ReservedActor { .. } => "keys_actor",
        }
    }
}

impl KeyRing {
    /// Reads a keys file: `{"keys": {"<key>": "agent:manager", …}}`, or with hashed keys
    /// `{"keys": [{"sha256": "<hex>", "actor": "agent:manager"}, …]}`.
    ///
    /// A file without keys is taken: it lets nobody in.
    ///
    /// # Errors
    ///
    /// [`KeyError`] naming the key at fault by its place.
    pub fn from_json(text: &[u8]) -> Result<Self, KeyError> {
        Self::from_hashed(read(text)?)
    }

    /// A ring of keys that are known by their hashes only.
    ///
    /// # Errors
    ///
    /// [`KeyError`] naming the key at fault by its place.
    pub fn from_hashed(keys: impl IntoIterator<Item = HashedKey>) -> Result<Self, KeyError> {
        let known = check(keys.into_iter().collect())?;
        Ok(Self { known: Arc::new(RwLock::new(known.into())) })
    }

    /// Puts other keys in force, for every handle on this ring and from the next request on. Answers how many.
    ///
    /// # Errors
    ///
    /// As [`KeyRing::from_json`]; the old keys stay in force.
    pub fn reload(&self, text: &[u8]) -> Result<usize, KeyError> {
        let known = check(read(text)?)?;
        let count = known.len();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = known.into();
        Ok(count)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.in_force().len()
    }

    /// Whether nobody can come in.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whom a presented key stands for. Takes the same time for every key that is in force or not.
    pub(crate) fn principal(&self, presented: &[u8]) -> Option<Principal> {
        let known = self.in_force();
        let digest = sha256(&[presented]);
        let (mut found, mut place) = (Choice::from(0), 0_u64);
        for (index, key) in (0_u64..).zip(known.iter()) {
            let same = key.sha256.ct_eq(&digest);
            found |= same;
            place.conditional_assign(&index, same);
        }
        if !bool::from(found) {
            return None;
        }
        let key = known.get(usize::try_from(place).ok()?)?;
        Some(Principal::by_api_key(&key.actor))
    }

    fn in_force(&self) -> Arc<[HashedKey]> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").field("keys", &self.len()).finish()
    }
}

fn read(text: &[u8]) -> Result<Vec<HashedKey>, KeyError> {
    let limits = Limits::DOCUMENT.with_duplicates(Duplicates::Refuse);
    // The reader's own message may show part of the text, so only the place is passed on.
    let value = parse(text, &limits).map_err(|error| match error.kind {
        ReadErrorKind::DuplicateName { .. } => KeyError::DuplicateName { line: error.line, column: error.column },
        _ => KeyError::NotJson { line: error.line, column: error.column },
    })?;
    let object = value.as_object().ok_or_else(|| KeyError::Shape(format!("the keys are an {}", value.type_name())))?;
    if object.len() != 1 {
        return Err(KeyError::Shape(format!("the object has {} members, it must have `keys` only", object.len())));
    }
    match object.get("keys") {
        Some(Value::Object(keys)) => {
            (1..).zip(keys.iter()).map(|(place, (key, actor))| plain(place, key, actor)).collect()
        }
        Some(Value::Array(keys)) => (1..).zip(keys).map(|(place, key)| hashed(place, key)).collect(),
        Some(other) => Err(KeyError::Shape(format!("`keys` is of type {}", other.type_name()))),
        None => Err(KeyError::Shape("`keys` is missing".into())),
    }
}

fn plain(place: usize, key: &str, actor: &Value) -> Result<HashedKey, KeyError> {
    if key.is_empty() {
        return Err(KeyError::Empty { place });
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(KeyError::Unsendable { place });
    }
    let actor = actor.as_str().ok_or_else(|| KeyError::Shape(format!("the actor of key {place} is no string")))?;
    Ok(HashedKey { sha256: sha256(&[key.as_bytes()]), actor: actor.into() })
}

fn hashed(place: usize, key: &Value) -> Result<HashedKey, KeyError> {
    let known = |key: &Object| key.iter().all(|(name, _)| matches!(name.as_str(), "sha256" | "actor"));
    let members =
        key.as_object().filter(|key| known(key)).and_then(|key| Some((key.str("sha256")?, key.str("actor")?)));
    let (digest, actor) = members
        .ok_or_else(|| KeyError::Shape(format!("key {place} must have the strings `sha256` and `actor` only")))?;
    let sha256 = from_hex(digest).ok_or(KeyError::Digest { place })?;
    Ok(HashedKey { sha256, actor: actor.into() })
}

fn check(keys: Vec<HashedKey>) -> Result<Vec<HashedKey>, KeyError> {
    for (place, (index, key)) in (1..).zip(keys.iter().enumerate()) {
        if key.sha256 == sha256(&[]) {
            return Err(KeyError::Empty { place });
        }
        if let Some(before) = keys.iter().take(index).position(|other| other.sha256 == key.sha256) {
            return Err(KeyError::Duplicate { place, before: before + 1 });
        }
        check_actor(place, &key.actor)?;
    }
    Ok(keys)
}

fn check_actor(place: usize, actor: &str) -> Result<(), KeyError> {
    let characters = actor.chars().count();
    match actor {
        _ if actor.trim().is_empty() => Err(KeyError::BlankActor { place }),
        _ if characters > MOST_CHARACTERS => Err(KeyError::LongActor { place, characters }),
        DESK => Err(KeyError::ReservedActor { place }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::hash::hex;

    use super::*;

    fn refused(text: &str) -> KeyError {
        KeyRing::from_json(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_known_key_names_its_actor() {
        let ring = KeyRing::from_json(br#"{"keys": {"k-one": "agent:a", "k-two": "agent:b"}}"#).unwrap();
        assert_eq!(ring.principal(b"k-two"), Some(Principal::by_api_key("agent:b")));
        assert_eq!(ring.principal(b"k-one"), Some(Principal::by_api_key("agent:a")));
        assert_eq!(ring.principal(b"k-three"), None);
        assert_eq!(ring.principal(b""), None);
        assert_eq!(ring.len(), 2);
    }

    #[test]
    fn a_key_may_be_given_as_its_hash() {
        let text = format!(r#"{{"keys": [{{"sha256": "{}", "actor": "agent:a"}}]}}"#, hex(&sha256(&[b"secret"])));
        let ring = KeyRing::from_json(text.as_bytes()).unwrap();
        assert_eq!(ring.principal(b"secret"), Some(Principal::by_api_key("agent:a")));
    }

    #[test]
    fn errors_name_the_place_and_never_the_key() {
        let cases = [
            (r#"{"keys": {"s3cret": "a", "s3cret": "b"}}"#, "keys_duplicate"),
            (r#"{"keys": {"": "agent:a"}}"#, "keys_empty"),
            (r#"{"keys": {"s3cret key": "agent:a"}}"#, "keys_unsendable"),
            (r#"{"keys": {"s3cret": " "}}"#, "keys_actor"),
            (r#"{"keys": {"s3cret": "desk"}}"#, "keys_actor"),
            (r#"{"keys": {"s3cret": 7}}"#, "keys_form"),
            (r#"{"keys": "s3cret"}"#, "keys_form"),
            (r#"{"s3cret": "agent:a"}"#, "keys_form"),
            (r#"["s3cret"]"#, "keys_form"),
            (r#"{"keys": {"s3cret" "agent:a"}}"#, "keys_json"),
            (r#"{"keys": [{"sha256": "s3cret", "actor": "agent:a"}]}"#, "keys_digest"),
            (r#"{"keys": [{"key": "s3cret", "actor": "agent:a"}]}"#, "keys_form"),
            ("", "keys_json"),
        ];
        for (text, code) in cases {
            let error = refused(text);
            assert_eq!(error.code(), code, "{text}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        assert_eq!(refused(r#"{"keys": {"k": ""}}"#).to_string(), "the actor of key 1 is blank");
        assert_eq!(refused(&format!(r#"{{"keys": {{"k": "{}"}}}}"#, "a".repeat(513))).code(), "keys_actor");
    }

    #[test]
    fn two_hashed_keys_must_differ() {
        let key = |actor: &str| HashedKey { sha256: [7; 32], actor: actor.into() };
        let error = KeyRing::from_hashed([key("agent:a"), key("agent:b")]).unwrap_err();
        assert_eq!(error, KeyError::Duplicate { place: 2, before: 1 });
        let empty = HashedKey { sha256: sha256(&[]), actor: "agent:a".into() };
        assert_eq!(KeyRing::from_hashed([empty]).unwrap_err(), KeyError::Empty { place: 1 });
    }

    #[test]
    fn reloading_takes_effect_everywhere_or_not_at_all() {
        let ring = KeyRing::from_json(br#"{"keys": {"old": "agent:a"}}"#).unwrap();
        let handle = ring.clone();
        assert!(handle.reload(b"{").is_err());
        assert!(ring.principal(b"old").is_some());
        assert_eq!(handle.reload(br#"{"keys": {"new": "agent:a"}}"#), Ok(1));
        assert!(ring.principal(b"old").is_none());
        assert!(ring.principal(b"new").is_some());
        assert_eq!(handle.reload(br#"{"keys": {}}"#), Ok(0));
        assert!(ring.is_empty());
        assert_eq!(format!("{ring:?}"), "KeyRing { keys: 0 }");
    }
}
