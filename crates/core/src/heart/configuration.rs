//! The configuration in force: the part of `bailiwick.yaml` that decisions depend on.
//!
//! Reloading a file *proposes*: the desk turns it into an [`Adopt`] command, and every later command is decided
//! under the configuration it finds under its lock. Nothing secret is part of it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::capability::Sections;
use super::{BlobReader, BlobWriter, Context, Document, Draft, IndexEntry, Outcome, Refusal, View, ViewError};
use crate::hash::{hex, sha256};
use crate::json::{Object, Value, write_canonical};
use crate::principal::Established;

/// The configuration in force, a journaled document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    /// How often a configuration was adopted; 0 for the built-in one
    pub version: u64,
    /// The settings by section, as adopted
    pub settings: Object,
    /// The settings as the capabilities read them
    pub sections: Sections,
}

/// Puts settings in force. Only the desk itself may.
#[derive(Debug, Clone, PartialEq)]
pub struct Adopt {
    /// The settings by section
    pub settings: Object,
}

/// Settings are in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Adopted {
    /// The settings by section
    pub settings: Object,
}

impl Configuration {
    /// The id of the one document.
    pub const CURRENT: &'static str = "current";

    /// The configuration in force, the built-in one if none was ever adopted.
    ///
    /// # Errors
    ///
    /// [`ViewError`] if the view does not hold it.
    pub fn in_force(view: &View) -> Result<Self, ViewError> {
        Ok(view.document(Self::CURRENT)?.unwrap_or_default())
    }

    /// Reads settings.
    ///
    /// # Errors
    ///
    /// A message naming the first member that is not accepted, and what is.
    pub fn from_settings(version: u64, settings: Object) -> Result<Self, String> {
        let sections = Sections::read(&settings)?;
        Ok(Self { version, settings, sections })
    }

    /// Settings that were adopted once. `decide` accepted them, so only another rule set can have read them differently:
    /// what cannot be read allows nothing.
    fn adopted(version: u64, settings: Object) -> Self {
        let sections = Sections::read(&settings).unwrap_or(Sections::STRICTEST);
        Self { version, settings, sections }
    }

    /// SHA-256 of the settings' canonical form.
    pub fn digest(&self) -> String {
        hex(&sha256(&[write_canonical(&Value::Object(self.settings.clone())).as_ref()]))
    }
}

impl Document for Configuration {
    const KIND: &'static str = "configuration";

    fn id(&self) -> String {
        Self::CURRENT.into()
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn to_value(&self) -> Value {
        Object::new().with("version", self.version).with("settings", self.settings.clone()).into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let version = value.get("version")?.as_number()?.to_u64()?;
        Some(Self::adopted(version, value.get("settings")?.as_object()?.clone()))
    }

    fn index(&self) -> Vec<IndexEntry> {
        Vec::new()
    }
}

impl Adopt {
    /// The command's name.
    pub const NAME: &'static str = "configuration.adopt";

    pub(super) fn write(&self, blobs: &mut BlobWriter) -> Object {
        Object::new().with("settings", blobs.put(&self.settings.clone().into()))
    }

    pub(super) fn read(name: &str, arguments: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        let settings = blobs.take(arguments.get("settings")?)?;
        (name == Self::NAME).then_some(Self { settings: settings.as_object()?.clone() })
    }
}

impl Adopted {
    const NAME: &'static str = "configuration.adopted";

    pub(super) fn write(&self, blobs: &mut BlobWriter) -> Object {
        Object::new().with("fact", Self::NAME).with("settings", blobs.put(&self.settings.clone().into()))
    }

    pub(super) fn read(object: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        let settings = blobs.take(object.get("settings")?)?;
        (object.str("fact")? == Self::NAME).then_some(Self { settings: settings.as_object()?.clone() })
    }
}

pub(super) fn decide(command: &Adopt, context: &Context<'_>, in_force: &Configuration) -> Outcome<Adopted> {
    if context.principal.established != Established::Desk {
        return Refusal::new("FORBIDDEN", "only the desk itself adopts a configuration").into();
    }
    let adopted = match Configuration::from_settings(in_force.version, command.settings.clone()) {
        Ok(adopted) => adopted,
        Err(message) => return Refusal::new("BAD_REQUEST", message).into(),
    };
    let digest = adopted.digest();
    let changed = digest != in_force.digest();
    let facts = if changed { [Adopted { settings: command.settings.clone() }].into() } else { Vec::new() };
    Outcome::accept(facts, Object::new().with("digest", digest.to_string()).with("changed", changed))
}

pub(super) fn apply(draft: &mut Draft<'_>, fact: &Adopted) -> Result<(), ViewError> {
    let version = draft.document::<Configuration>(Configuration::CURRENT)?.map_or(0, |before| before.version);
    draft.put(&Configuration::adopted(version.saturating_add(1), fact.settings.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_settings_that_cannot_be_read_open_nothing() {
        let settings = Object::new().with("a section of tomorrow", Object::new());
        let stored = Object::new().with("version", 3_u64).with("settings", settings.clone());
        let read = Configuration::from_value(stored.clone().into()).unwrap();
        assert_eq!(read.sections, Sections::STRICTEST);
        assert_ne!(read.sections, Sections::default(), "the built-in settings open reads");
        assert_eq!(read.to_value(), stored.into(), "and they stay as they are");
        assert!(Configuration::from_settings(1, settings).is_err(), "nobody can adopt them");
    }
}
