//! Digests that name files by their content.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::failure::Failure;

use super::{Asset, read, unusable};

/// Hexadecimal digits in a name: enough that no two contents meet, few enough to read.
const DIGITS: usize = 16;

/// The digest of some bytes.
pub(super) fn of_bytes(content: &[u8]) -> String {
    in_digits(Sha256::new_with_prefix(content))
}

/// The digest of several files, their paths included.
pub(super) fn of_assets(assets: &[Asset]) -> String {
    let mut digest = Sha256::new();
    for Asset { path, content } in assets {
        add(&mut digest, path, content);
    }
    in_digits(digest)
}

/// The digest of the files and folders in `names`, all below `root`. One that is not there is as good as empty.
pub(super) fn of_files(root: &Path, names: &[&str]) -> Result<String, Failure> {
    let mut digest = Sha256::new();
    for name in names {
        let path = root.join(name);
        if path.is_file() {
            add(&mut digest, name, &read(&path)?);
        } else if path.is_dir() {
            for below in files_below(&path)? {
                add(&mut digest, &format!("{name}/{below}"), &read(&path.join(&below))?);
            }
        }
    }
    Ok(in_digits(digest))
}

/// The paths of all files below `folder`, with `/` between their parts, sorted.
pub(super) fn files_below(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        let here = folder.join(&prefix);
        for entry in fs::read_dir(&here).map_err(|error| unusable(&here, "read", &error))? {
            let entry = entry.map_err(|error| unusable(&here, "read", &error))?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() { folders.push(format!("{path}/")) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

/// Lengths go in as well, so that no two lists of files look alike.
fn add(digest: &mut Sha256, path: &str, content: &[u8]) {
    digest.update(format!("{}:{path}:{}:", path.len(), content.len()));
    digest.update(content);
}

fn in_digits(digest: Sha256) -> String {
    let mut digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(DIGITS);
    digits
}
