//! Packages of npm: installed exactly as a lock file says, and again when it changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process::run;

use super::{copy, same_content};

/// A list of packages and the folder that they are installed in.
pub(super) struct Folder {
    /// Holds `package.json` and `package-lock.json`.
    list: PathBuf,
    /// Gets `node_modules`.
    home: PathBuf,
}

impl Folder {
    /// Packages installed beside their list.
    pub(super) fn in_place(list: PathBuf) -> Self {
        Self { home: list.clone(), list }
    }

    /// Packages installed in a folder of the cache.
    pub(super) fn elsewhere(list: PathBuf, home: PathBuf) -> Self {
        Self { list, home }
    }

    pub(super) fn is_installed(&self) -> bool {
        same_content(&self.lock(), &self.stamp())
    }

    /// Installs the packages; no script of theirs runs.
    pub(super) fn install(&self, downloads: &Path) -> Result<(), Failure> {
        if self.home != self.list {
            fs::create_dir_all(&self.home)
                .map_err(|error| Failure::new(format!("`{}` cannot be made: {error}", self.home.display())))?;
            copy(&self.list.join("package.json"), &self.home.join("package.json"))?;
            copy(&self.lock(), &self.home.join("package-lock.json"))?;
        }
        let mut command = Command::new("npm");
        command.current_dir(&self.home);
        command.args("ci --prefer-offline --no-audit --no-fund --ignore-scripts --cache".split(' '));
        run(command.arg(downloads))?;
        copy(&self.lock(), &self.stamp())
    }

    fn lock(&self) -> PathBuf {
        self.list.join("package-lock.json")
    }

    /// A copy of the lock file that was installed from.
    fn stamp(&self) -> PathBuf {
        self.home.join("node_modules/.installed-from.json")
    }
}
