//! `cargo xtask web`: the dashboard, built and made ready to be served.
//!
//! Trunk builds page, style and wasm. What it leaves to do is done here, so that the files can be served under a strict
//! content security policy and kept by browsers for ever: the inline script becomes a file, every name but those of pages
//! carries a digest of its content, the checking engine gets a folder of its own, each file gets a `.br` beside it, and
//! `verify/index.html` opens the same dashboard wherever the folder is put.

mod fingerprint;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brotli::enc::BrotliEncoderParams;

use crate::failure::Failure;
use crate::package;
use crate::process::run;
use crate::project::{Project, wasm_flags};
use crate::setup;

use page::Names;

/// Copies of small functions are what makes a program of many small closures large: `wasm-opt` puts in those that pay.
const NO_INLINING: [&str; 2] = ["-C", "llvm-args=-inline-threshold=0"];

/// What the dashboard is made of. `web/tests`, and what is built, are not among them.
const INPUTS: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "trunk.toml",
    "web/Cargo.toml",
    "web/index.html",
    "web/src",
    "web/style",
    "web/assets",
    "crates/core",
    "crates/schema",
    "crates/wasm",
    "pkg/src",
    "crates/xtask/src/package.rs",
    "crates/xtask/src/dashboard.rs",
    "crates/xtask/src/dashboard",
];

/// Endings of files that gain nothing from compression.
const COMPRESSED_ALREADY: [&str; 3] = ["png", "woff2", "webp"];

/// A file of the dashboard: its path below `web/dist`, and what is in it.
struct Asset {
    path: String,
    content: Vec<u8>,
}

impl Asset {
    fn new(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into() }
    }

    /// A file whose name is `stem-DIGEST.ending`.
    fn named_by_content(stem: &str, ending: &str, content: Vec<u8>) -> Self {
        Self { path: format!("{stem}-{}.{ending}", fingerprint::of_bytes(&content)), content }
    }
}

/// The folder that the server serves.
pub(crate) fn folder(project: &Project) -> PathBuf {
    project.root.join("web/dist")
}

/// Builds `web/dist`, unless it is there and made of the same sources.
pub(crate) fn build(project: &Project) -> Result<(), Failure> {
    let sources = fingerprint::of_files(&project.root, INPUTS)?;
    let built = fs::read_to_string(folder(project).join("index.html")).ok();
    if built.is_some_and(|page| page::is_built_from(&page, &sources)) {
        println!("── web: web/dist is made of these sources already");
        return Ok(());
    }
    setup::set_up(project, setup::DASHBOARD)?;
    let engine = engine(project)?;
    let trunk = trunk(project)?;
    let assets = assemble(&trunk, engine, &sources)?;
    write(&folder(project), assets)
}

/// The engine: the full build of the rules for JavaScript, and the worker that runs it. The page loads it when something needs
/// checking that its own part of the rules cannot check. It stays in `web/engine`, where `trunk serve` finds it, too.
fn engine(project: &Project) -> Result<Vec<Asset>, Failure> {
    let home = project.root.join("web/engine");
    package::build_engine(project, &home)?;
    let worker = project.root.join("web/assets/worker.js");
    fs::copy(&worker, home.join("worker.js")).map_err(|error| unusable(&worker, "copied", &error))?;
    package::engine_files().chain(["worker.js"]).map(|name| Ok(Asset::new(name, read(&home.join(name))?))).collect()
}

/// Runs Trunk into a folder of its own, so that a failing build leaves `web/dist` as it was.
fn trunk(project: &Project) -> Result<PathBuf, Failure> {
    // Trunk works without the network, so that it takes the tools that set-up brought; what cargo needs is brought here.
    run(&mut project.cargo("fetch --locked --target wasm32-unknown-unknown"))?;
    let staging = project.target.join("web");
    let mut command = Command::new("trunk");
    command.current_dir(&project.root).env("PATH", setup::path_with_tools(project));
    // Components then have one type each instead of one for every place they stand in: a sixth less to load.
    command.env("CARGO_ENCODED_RUSTFLAGS", wasm_flags(&[["--cfg", "erase_components"], NO_INLINING].concat()));
    // Trunk takes its value for that of a flag, and refuses it.
    command.env_remove("NO_COLOR").env("CARGO_TARGET_DIR", &project.target);
    command.args("--config trunk.toml build --release --offline --dist".split(' ')).arg(&staging);
    run(&mut command)?;
    Ok(staging)
}

/// The dashboard's files, made of what Trunk wrote and of the engine.
fn assemble(trunk: &Path, engine: Vec<Asset>, sources: &str) -> Result<Vec<Asset>, Failure> {
    let mut page = String::new();
    let mut assets = Vec::new();
    let (mut script, mut module) = (None, None);
    for asset in read_all(trunk)? {
        match asset.path.as_str() {
            "index.html" => page = String::from_utf8_lossy(&asset.content).into_owned(),
            path if path.ends_with("_bg.wasm") => module = Some(asset),
            path if path.starts_with("bailiwick-web-") && path.ends_with(".js") => script = Some(asset),
            _ => assets.push(asset),
        }
    }
    let (Some(script), Some(module)) = (script, module) else {
        return Err(Failure::new(format!("Trunk left no script or no wasm in `{}`", trunk.display())));
    };
    let bound = Asset::named_by_content("dashboard", "js", script.content);
    let wasm = Asset::named_by_content("dashboard", "wasm", module.content);
    let boot = Asset::named_by_content("boot", "js", page::boot(&bound.path, &wasm.path).into_bytes());
    let engine_folder = format!("engine-{}", fingerprint::of_assets(&engine));
    let names = Names {
        boot: &boot.path,
        script: (&script.path, &bound.path),
        module: (&module.path, &wasm.path),
        engine: &engine_folder,
        sources,
    };
    let page = page::finish(&page, &names)?;
    let verify = page::with_base(&page, "../")?;
    assets.extend([bound, wasm, boot]);
    assets.extend(engine.into_iter().map(|asset| Asset { path: format!("{engine_folder}/{}", asset.path), ..asset }));
    assets.push(Asset::new("verify/index.html", verify));
    // The last one: whoever finds it finds the others, too.
    assets.push(Asset::new("index.html", page));
    Ok(assets)
}

/// Replaces the content of `folder` by `assets`, each with its compressed twin. A server of a development build reads from this
/// folder, so it is not empty for longer than writing takes.
fn write(folder: &Path, assets: Vec<Asset>) -> Result<(), Failure> {
    let mut files = Vec::new();
    for asset in assets {
        if !COMPRESSED_ALREADY.iter().any(|ending| asset.path.ends_with(&format!(".{ending}"))) {
            files.push(Asset::new(format!("{}.br", asset.path), brotli(&asset.content)?));
        }
        files.push(asset);
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| unusable(folder, "removed", &error))?;
    }
    for Asset { path, content } in &files {
        let file = folder.join(path);
        let home = file.parent().unwrap_or(folder);
        fs::create_dir_all(home).map_err(|error| unusable(home, "made", &error))?;
        fs::write(&file, content).map_err(|error| unusable(&file, "written", &error))?;
    }
    println!("── web: {} files in {}", files.len(), folder.display());
    Ok(())
}

/// Compresses as far as it goes: it is done once, and read often.
pub(crate) fn brotli(content: &[u8]) -> Result<Vec<u8>, Failure> {
    let parameters = BrotliEncoderParams { quality: 11, lgwin: 24, size_hint: content.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &content[..], &mut compressed, &parameters)
        .map_err(|error| Failure::new(format!("brotli failed: {error}")))?;
    Ok(compressed)
}

/// Every file below `folder`, in the order of their paths.
fn read_all(folder: &Path) -> Result<Vec<Asset>, Failure> {
    fingerprint::files_below(folder)?
        .into_iter()
        .map(|path| Ok(Asset { content: read(&folder.join(&path))?, path }))
        .collect()
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| unusable(file, "read", &error))
}

fn unusable(path: &Path, how: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be {how}: {error}", path.display()))
}
