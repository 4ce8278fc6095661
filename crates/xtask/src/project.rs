//! Where things are: the project's root, its cache folder and its build folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The folders that every command needs.
pub(crate) struct Project {
    /// The workspace root: the folder with `Cargo.lock`.
    pub(crate) root: PathBuf,
    /// Tools and downloads of our own, never system-wide. `BAILIWICK_CACHE` names another one, so that a fresh clone
    /// can use what an earlier one installed; an empty folder there is as good as none.
    pub(crate) cache: PathBuf,
    /// Cargo's build folder.
    pub(crate) target: PathBuf,
}

impl Project {
    /// Finds the project around the current folder.
    pub(crate) fn find() -> Result<Self, Failure> {
        let here =
            env::current_dir().map_err(|error| Failure::new(format!("the current folder cannot be read: {error}")))?;
        let root = here
            .ancestors()
            .find(|folder| folder.join("crates/xtask/Cargo.toml").is_file())
            .ok_or_else(|| {
                Failure::new(format!("`{}` is not inside the project", here.display()))
                    .next("change into a folder of the project first")
            })?
            .to_path_buf();
        let cache = folder_from("BAILIWICK_CACHE", &here).unwrap_or_else(|| root.join(".cache"));
        let target = folder_from("CARGO_TARGET_DIR", &here).unwrap_or_else(|| root.join("target"));
        Ok(Self { root, cache, target })
    }

    /// The `bailiwick` program as cargo builds it; `profile` is the name of the folder, `debug` or `release`.
    pub(crate) fn binary(&self, profile: &str) -> PathBuf {
        self.target.join(profile).join(format!("bailiwick{}", env::consts::EXE_SUFFIX))
    }

    /// The folder of the MCP clients that drive the program from outside.
    pub(crate) fn clients(&self) -> PathBuf {
        self.root.join("crates/server/tests/clients")
    }

    /// A cargo command that runs at the root: `arguments` as one would type them, separated by spaces.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(arguments.split(' '));
        command
    }
}

/// What the compiler is told for WebAssembly, besides `more`, as `CARGO_ENCODED_RUSTFLAGS` takes it: panics name files, and
/// those of dependencies should not carry the path of whoever builds into what everybody loads.
pub(crate) fn wasm_flags(more: &[&str]) -> String {
    let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")));
    let hidden = home.map(|home| format!("--remap-path-prefix={home}=cargo"));
    let flags: Vec<&str> = more.iter().copied().chain(hidden.as_deref().ok()).collect();
    flags.join("\u{1f}")
}

/// The folder an environment variable names, made absolute; `None` when it is unset or empty.
fn folder_from(variable: &str, here: &Path) -> Option<PathBuf> {
    let value = env::var_os(variable)?;
    if value.is_empty() { None } else { Some(here.join(value)) }
}
