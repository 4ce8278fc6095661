//! Programs that cargo builds from crates.io, for the project's cache folder.
//!
//! They are built for a short wait, not for speed, and share one build folder, so that what several of them need is built
//! once. The folder is removed when those that a build of the dashboard needs are there.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;
use crate::process::{find_on_path, output_of, run};
use crate::project::Project;

const CARGO_DENY: &str = "0.20.2";
const TRUNK: &str = "0.21.14";

/// The folder whose `bin` holds the programs.
pub(super) fn home(project: &Project) -> PathBuf {
    project.cache.join("tools")
}

/// The program `cargo-deny`: ours, else the one on `PATH`.
pub(crate) fn cargo_deny(project: &Project) -> Option<PathBuf> {
    let ours = program(project, "cargo-deny");
    if ours.is_file() { Some(ours) } else { find_on_path("cargo-deny") }
}

pub(super) fn has_trunk(project: &Project) -> bool {
    says_version(project, "trunk", TRUNK)
}

pub(super) fn has_wasm_bindgen(project: &Project) -> bool {
    wasm_bindgen_version(project).is_ok_and(|version| says_version(project, "wasm-bindgen", &version))
}

/// It reads a few hundred manifests: not worth optimising.
pub(super) fn install_cargo_deny(project: &Project) -> Result<(), Failure> {
    install(project, &["cargo-deny", "--version", CARGO_DENY, "--locked"], "0")
}

/// It starts other programs: not worth optimising.
pub(super) fn install_trunk(project: &Project) -> Result<(), Failure> {
    install(project, &["trunk", "--version", TRUNK, "--locked"], "0")
}

/// It works through megabytes of wasm at each build, so its own speed counts. Not `--locked`: its lock file names releases that
/// can't be had any more.
pub(super) fn install_wasm_bindgen(project: &Project) -> Result<(), Failure> {
    let version = wasm_bindgen_version(project)?;
    install(project, &["wasm-bindgen-cli", "--version", &version], "2")
}

fn install(project: &Project, what: &[&str], opt_level: &str) -> Result<(), Failure> {
    let build = project.cache.join("build");
    let mut command = project.cargo("install --debug");
    command.args(what).arg("--root").arg(home(project)).arg("--target-dir").arg(&build);
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", opt_level).env("CARGO_PROFILE_DEV_CODEGEN_UNITS", "16");
    run(command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0"))?;
    if has_trunk(project) && has_wasm_bindgen(project) {
        fs::remove_dir_all(&build)
            .map_err(|error| Failure::new(format!("`{}` cannot be removed: {error}", build.display())))?;
    }
    Ok(())
}

fn program(project: &Project, name: &str) -> PathBuf {
    home(project).join("bin").join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// Whether our copy of a program answers `--version` with `name version`.
fn says_version(project: &Project, name: &str, version: &str) -> bool {
    let program = program(project, name);
    program.is_file()
        && output_of(Command::new(program).arg("--version"))
            .is_some_and(|said| said.split_whitespace().nth(1) == Some(version))
}

/// The version of the crate `wasm-bindgen` that our wasm is built with; the program must be of the same.
fn wasm_bindgen_version(project: &Project) -> Result<String, Failure> {
    let file = project.root.join("Cargo.lock");
    let lock = fs::read_to_string(&file)
        .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", file.display())))?;
    locked_version(&lock, "wasm-bindgen")
        .map(str::to_owned)
        .ok_or_else(|| Failure::new("`Cargo.lock` names no version of `wasm-bindgen`"))
}

/// The version of a crate in the text of a `Cargo.lock`; when there are several, the first.
fn locked_version<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{name}\""));
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"0.2.9\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";

    #[test]
    fn a_version_is_found_by_the_whole_name() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(locked_version(LOCK, "wasm"), None);
    }
}
