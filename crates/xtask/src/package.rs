//! `cargo xtask pkg`: the npm package, and the part of it that the dashboard uses as its engine.
//!
//! One wasm file per build, small and full, each in a folder with everything that its entries import. Nothing but the
//! entries differs between Node, browsers and edge workers. `pkg/README.md` is for those who use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process::{output_of, run};
use crate::project::{Project, wasm_flags};
use crate::setup::{self, Tool};

/// What a build of the package needs.
const TOOLS: &[Tool] = &[Tool::Targets, Tool::WasmBindgen, Tool::Binaryen];

/// What the compiler's output uses beyond the first version of WebAssembly.
const WASM_FEATURES: [&str; 5] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
];

/// What every entry imports, beside the module and its glue.
const SHARED: [&str; 4] = ["api.js", "boundary.js", "journal.js", "ready.js"];

/// One of the two builds.
#[derive(Clone, Copy)]
struct Build {
    folder: &'static str,
    features: &'static str,
    /// Cargo's
    profile: &'static str,
    /// How `wasm-opt` weighs size against speed
    optimise: &'static [&'static str],
}

const BUILDS: [Build; 2] = [SMALL, FULL];
const SMALL: Build = Build { folder: "small", features: "", profile: "wasm", optimise: &["-Oz", "--converge"] };
const FULL: Build = Build { folder: "full", features: "full", profile: "engine", optimise: &["-O3"] };

/// Builds `pkg/dist`.
pub(crate) fn build(project: &Project) -> Result<(), Failure> {
    setup::set_up(project, TOOLS)?;
    let dist = project.root.join("pkg/dist");
    for build in BUILDS {
        let home = dist.join(build.folder);
        fill(project, build, &home)?;
        for entry in ["node.js", "browser.js", "worker.js"] {
            copy(&source(project, entry), &home.join(entry))?;
        }
        write(&home.join("index.d.ts"), &declarations(project, build)?)?;
        println!("── pkg: {}", home.display());
    }
    // npm takes them from the package's own folder only.
    ["LICENSE", "NOTICE"]
        .iter()
        .try_for_each(|file| copy(&project.root.join(file), &project.root.join("pkg").join(file)))
}

/// Builds the dashboard's engine in `home`: the full build, its entry for browsers as `bailiwick.js`.
pub(crate) fn build_engine(project: &Project, home: &Path) -> Result<(), Failure> {
    setup::set_up(project, TOOLS)?;
    fill(project, FULL, home)?;
    copy(&source(project, "browser.js"), &home.join("bailiwick.js"))
}

/// The files of [`build_engine`].
pub(crate) fn engine_files() -> impl Iterator<Item = &'static str> {
    ["bailiwick.js", "bailiwick.wasm", "constants.js", "rules.js"].into_iter().chain(SHARED)
}

/// Writes what all entries of a build have in common.
fn fill(project: &Project, build: Build, home: &Path) -> Result<(), Failure> {
    if home.exists() {
        fs::remove_dir_all(home).map_err(|error| unusable(home, "removed", &error))?;
    }
    fs::create_dir_all(home).map_err(|error| unusable(home, "made", &error))?;
    let bound = bind(project, build)?;
    let mut optimise = tool(project, "wasm-opt");
    optimise.args(build.optimise).args(WASM_FEATURES).arg(bound.join("rules_bg.wasm"));
    run(optimise.arg("-o").arg(home.join("bailiwick.wasm")))?;
    copy(&bound.join("rules.js"), &home.join("rules.js"))?;
    for file in SHARED {
        copy(&source(project, file), &home.join(file))?;
    }
    write(&home.join("constants.js"), &constants(project)?)
}

/// Compiles the crate and writes the JavaScript around it; answers the folder where that is.
fn bind(project: &Project, build: Build) -> Result<PathBuf, Failure> {
    let mut cargo = project.cargo("build --package bailiwick-wasm --target wasm32-unknown-unknown --locked");
    cargo.args(["--profile", build.profile, "--features", build.features]);
    run(cargo.env("CARGO_ENCODED_RUSTFLAGS", wasm_flags(&[])))?;
    let module = project.target.join("wasm32-unknown-unknown").join(build.profile).join("bailiwick_wasm.wasm");
    let bound = project.target.join("pkg").join(build.folder);
    // The entries say where the module is, and start it afresh when they must.
    let arguments = "--target web --omit-default-module-path --experimental-reset-state-function --out-name rules";
    run(tool(project, "wasm-bindgen").args(arguments.split(' ')).arg("--out-dir").arg(&bound).arg(module))?;
    Ok(bound)
}

/// What TypeScript is told: what wasm-bindgen wrote, without its ways of loading a module, for which the entries have
/// their own.
fn declarations(project: &Project, build: Build) -> Result<String, Failure> {
    let file = project.target.join("pkg").join(build.folder).join("rules.d.ts");
    let text = fs::read_to_string(&file).map_err(|error| unusable(&file, "read", &error))?;
    match text.split_once("export type InitInput") {
        Some((types, _)) => Ok(types.replace("export function __wbg_reset_state(): void;\n\n", "")),
        None => Err(Failure::new(format!("`{}` is not what wasm-bindgen used to write", file.display()))),
    }
}

/// The constants as a module of JavaScript, from the rules themselves.
fn constants(project: &Project) -> Result<String, Failure> {
    let mut cargo = project.cargo("run --quiet --package bailiwick-wasm --example constants --locked");
    output_of(&mut cargo).ok_or_else(|| {
        Failure::new("the constants of the npm package cannot be written")
            .next("run `cargo run --package bailiwick-wasm --example constants` to see why")
    })
}

fn source(project: &Project, file: &str) -> PathBuf {
    project.root.join("pkg/src").join(file)
}

fn tool(project: &Project, name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("PATH", setup::path_with_tools(project));
    command
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map(|_| ()).map_err(|error| unusable(from, "copied", &error))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    fs::write(file, text).map_err(|error| unusable(file, "written", &error))
}

fn unusable(path: &Path, how: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be {how}: {error}", path.display()))
}
