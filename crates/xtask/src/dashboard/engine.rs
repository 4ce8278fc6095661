//! The engine: the full build of the rules for JavaScript, which the dashboard loads when something needs checking that the
//! page's own part of the rules cannot check.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::process::run;
use crate::project::Project;
use crate::setup;

use super::{read, unusable};

/// What the compiler's output uses beyond the first version of WebAssembly.
const WASM_FEATURES: [&str; 5] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
];

/// Builds `bailiwick.js` and `bailiwick.wasm` in `home`.
pub(super) fn build(project: &Project, home: &Path) -> Result<(), Failure> {
    run(&mut project.cargo(
        "build --package bailiwick-wasm --features full --profile wasm --target wasm32-unknown-unknown --locked",
    ))?;
    let tool = |name: &str| {
        let mut command = Command::new(name);
        command.env("PATH", setup::path_with_tools(project));
        command
    };
    let module = project.target.join("wasm32-unknown-unknown/wasm/bailiwick_wasm.wasm");
    run(tool("wasm-bindgen")
        .args("--target web --no-typescript --out-name bailiwick --out-dir".split(' '))
        .arg(home)
        .arg(module))?;
    let bound = home.join("bailiwick_bg.wasm");
    run(tool("wasm-opt").arg("-Oz").args(WASM_FEATURES).arg(&bound).arg("-o").arg(home.join("bailiwick.wasm")))?;
    fs::remove_file(&bound).map_err(|error| unusable(&bound, "removed", &error))?;
    let script = home.join("bailiwick.js");
    let text = String::from_utf8_lossy(&read(&script)?).replace("bailiwick_bg.wasm", "bailiwick.wasm");
    fs::write(&script, text).map_err(|error| unusable(&script, "written", &error))
}
