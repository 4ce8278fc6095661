//! Where fresh ids come from.

use crate::DeskError;

/// A source of randomness, for ids and salts. Replace it to have the same ids every time, in tests.
pub trait Entropy: Send + Sync + 'static {
    /// 32 random bytes.
    ///
    /// # Errors
    ///
    /// [`DeskError::Entropy`] if there are none.
    fn draw(&self) -> Result<[u8; 32], DeskError>;
}

/// The operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn draw(&self) -> Result<[u8; 32], DeskError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| DeskError::Entropy(error.to_string()))?;
        Ok(bytes)
    }
}
