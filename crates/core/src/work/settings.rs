//! Section `work` of the configuration.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Value;

/// The settings of this capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Whether a worker whose order is addressed to itself may review its own report in closed mode
    pub self_review: SelfReview,
    /// Who may read an order, and a track record
    pub reads: Reads,
}

/// `work.allow_self_review`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelfReview {
    /// `false`: somebody else must review
    #[default]
    Refused,
    /// `true`
    Allowed,
}

/// `work.restrict_reads`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    /// `false`: every authenticated principal
    #[default]
    Everyone,
    /// `true`: an order's `from`, `to` and `escalate_to`, and those of the orders above it; a track record's agent
    Parties,
}

impl Settings {
    /// The section's name.
    pub const SECTION: &'static str = "work";

    /// The settings, each `true` or `false`.
    pub const NAMES: [&'static str; 2] = ["allow_self_review", "restrict_reads"];

    /// What holds where the settings in force cannot be read: no more is allowed than under any settings.
    pub const STRICTEST: Self = Self { self_review: SelfReview::Refused, reads: Reads::Parties };

    /// Reads the section.
    ///
    /// # Errors
    ///
    /// A message naming the first setting that is not accepted, and what is.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        let object =
            value.as_object().ok_or_else(|| format!("`work` is a {}, must be an object", value.type_name()))?;
        let mut settings = Self::default();
        for (name, value) in object.iter() {
            let on = || value.as_bool().ok_or_else(|| format!("`work.{name}` must be true or false"));
            match name.as_str() {
                "allow_self_review" => {
                    settings.self_review = if on()? { SelfReview::Allowed } else { SelfReview::Refused }
                }
                "restrict_reads" => settings.reads = if on()? { Reads::Parties } else { Reads::Everyone },
                other => {
                    let accepted: Vec<String> = Self::NAMES.iter().map(|name| format!("`{name}`")).collect();
                    return Err(format!("unknown setting `work.{other}`; accepted: {}", accepted.join(", ")));
                }
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Object;

    #[test]
    fn every_name_is_a_setting_and_no_other() {
        for name in Settings::NAMES {
            assert_ne!(
                Settings::from_value(&Object::new().with(name, true).into()),
                Settings::from_value(&Object::new().with(name, false).into()),
                "{name}"
            );
        }
        let unknown = Settings::from_value(&Object::new().with("restrict_read", true).into()).unwrap_err();
        assert_eq!(unknown, "unknown setting `work.restrict_read`; accepted: `allow_self_review`, `restrict_reads`");
    }
}
