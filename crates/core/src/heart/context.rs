//! What comes in from outside with a command.

use alloc::string::String;

use crate::hash::{hex, hmac_sha256};
use crate::principal::Principal;
use crate::time::Millis;
use crate::work::OutputSchemas;

/// Everything a decision depends on besides the command and the documents it reads.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The time of the decision, never before that of the journal's last entry
    pub now: Millis,
    /// Who acts
    pub principal: &'a Principal,
    /// Fresh ids for whatever the command creates
    pub fresh: Fresh,
    /// The JSON Schema engine that judges output schemas
    pub schemas: &'a dyn OutputSchemas,
}

/// A source of fresh ids: 32 random bytes, drawn once for a command and recorded in its journal entry, from which
/// every id the command needs is derived. So a verifier derives the same ids again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fresh(pub [u8; 32]);

impl Fresh {
    /// `digits` lower-case hexadecimal digits (64 at most), other ones for each label.
    pub fn hex(&self, label: &str, digits: usize) -> String {
        hex(&hmac_sha256(&self.0, &[label.as_bytes()])).chars().take(digits).collect()
    }

    /// A random (version 4) UUID, another one for each label.
    pub fn uuid(&self, label: &str) -> String {
        let hash = hmac_sha256(&self.0, &[label.as_bytes()]);
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(hash) {
            *to = from;
        }
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let mut text = String::with_capacity(36);
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text.push_str(&hex(&[*byte]));
        }
        text
    }
}
