//! `cargo xtask size`: how much a browser has to load, against what it may be.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::dashboard;
use crate::failure::Failure;
use crate::package;
use crate::project::Project;

/// Something with a budget: one file, or several that are loaded together.
struct Parcel {
    name: &'static str,
    files: Vec<PathBuf>,
    /// The most it may weigh, compressed with brotli.
    budget_bytes: Option<usize>,
}

/// The weight of a parcel in bytes. Several files are compressed one by one, as they travel.
#[derive(Clone, Copy, Default)]
struct Weight {
    raw: usize,
    gzip: usize,
    brotli: usize,
}

/// Builds package and dashboard, prints what each weighs, and fails above a budget.
pub(crate) fn size(project: &Project) -> Result<(), Failure> {
    package::build(project)?;
    dashboard::build(project)?;
    println!("\n{:<36} {:>10} {:>10} {:>10} {:>10}", "bytes", "raw", "gzip", "brotli", "budget");
    let mut heavy = Vec::new();
    for Parcel { name, files, budget_bytes } in parcels(project)? {
        let weight = weigh(&files)?;
        let budget = budget_bytes.map_or_else(String::new, |bytes| bytes.to_string());
        println!("{name:<36} {:>10} {:>10} {:>10} {budget:>10}", weight.raw, weight.gzip, weight.brotli);
        if budget_bytes.is_some_and(|budget| weight.brotli > budget) {
            heavy.push(name);
        }
    }
    if heavy.is_empty() { Ok(()) } else { Err(Failure::new(format!("above budget: {}", heavy.join(", ")))) }
}

fn parcels(project: &Project) -> Result<Vec<Parcel>, Failure> {
    let package = project.root.join("pkg/dist");
    let first = first_load(&dashboard::folder(project))?;
    let wasm = first.iter().filter(|file| file.extension().is_some_and(|ending| ending == "wasm")).cloned().collect();
    Ok(vec![
        Parcel {
            name: "npm package, small build, wasm",
            files: vec![package.join("small/bailiwick.wasm")],
            budget_bytes: Some(100_000),
        },
        Parcel {
            name: "npm package, full build, wasm",
            files: vec![package.join("full/bailiwick.wasm")],
            budget_bytes: Some(500_000),
        },
        Parcel { name: "dashboard, wasm", files: wasm, budget_bytes: None },
        Parcel { name: "dashboard, all that it loads first", files: first, budget_bytes: Some(350_000) },
    ])
}

/// The page, and what it loads by itself: the files beside it. What stands in folders is loaded when it is needed.
fn first_load(dashboard: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::new(format!("`{}` cannot be read: {error}", dashboard.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(dashboard).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && path.extension().is_none_or(|ending| ending != "br") {
            files.push(path);
        }
    }
    Ok(files)
}

fn weigh(files: &[PathBuf]) -> Result<Weight, Failure> {
    let mut sum = Weight::default();
    for file in files {
        let unreadable = |error| Failure::new(format!("`{}` cannot be read: {error}", file.display()));
        let content = fs::read(file).map_err(unreadable)?;
        sum.raw += content.len();
        sum.gzip += gzip(&content).map_err(unreadable)?.len();
        sum.brotli += dashboard::brotli(&content)?.len();
    }
    Ok(sum)
}

fn gzip(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}
