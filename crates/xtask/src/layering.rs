//! The architecture as a test: which crate may know which, which words a room may not use, how long a file may grow.
//!
//! `ARCHITECTURE.md` says why. A breach here is either a slip, or a change of the architecture; then both change together.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::process::output_of;
use crate::project::Project;

/// Each crate of ours with the crates of ours that it may depend on (development dependencies aside).
const ARROWS: &[(&str, &[&str])] = &[
    ("bailiwick-core", &[]),
    ("bailiwick-schema", &["bailiwick-core"]),
    ("bailiwick-store", &["bailiwick-core"]),
    ("bailiwick-desk", &["bailiwick-core", "bailiwick-schema", "bailiwick-store"]),
    ("bailiwick-mcp", &["bailiwick-core", "bailiwick-schema", "bailiwick-desk"]),
    ("bailiwick-gateway", &["bailiwick-core", "bailiwick-desk"]),
    (
        "bailiwick-server",
        &["bailiwick-core", "bailiwick-schema", "bailiwick-desk", "bailiwick-mcp", "bailiwick-gateway"],
    ),
    (
        "bailiwick",
        &[
            "bailiwick-core",
            "bailiwick-schema",
            "bailiwick-store",
            "bailiwick-desk",
            "bailiwick-mcp",
            "bailiwick-gateway",
            "bailiwick-server",
        ],
    ),
    ("bailiwick-wasm", &["bailiwick-core", "bailiwick-schema"]),
    ("bailiwick-web", &["bailiwick-core"]),
    ("xtask", &[]),
];

/// Rooms that serve every capability alike and so may not speak of one.
const GENERAL_ROOMS: &[&str] =
    &["crates/core/src/heart", "crates/core/src/jose", "crates/core/src/journal", "crates/desk/src", "crates/store"];

/// Words of the work-order capability. One that starts or ends in a letter counts only as a whole word.
const WORDS_OF_WORK: &[&str] = &[
    "work_order",
    "workorder",
    "work order",
    "work::",
    "order_id",
    "worksettings",
    "self_review",
    "selfreview",
    "restrict_reads",
];

/// The file in a general room where capabilities are plugged in, one arm each.
const MAY_SPEAK_OF_WORK: &[&str] = &["crates/core/src/heart/capability.rs"];

/// The one name that every room may say: the port of the output-schema engine, which whoever runs the rules passes in.
const PORT: &str = "work::OutputSchemas";

const LONG_FILE_LINES: usize = 700;

/// Checks everything; prints each breach and, without failing, each file that is probably two rooms.
pub(crate) fn check(project: &Project) -> Result<(), Failure> {
    let mut command = project.cargo("tree --workspace --locked --edges normal,build --depth 1");
    command.args(["--prefix", "depth", "--format", " {p}"]);
    let tree = output_of(&mut command).ok_or_else(|| {
        Failure::new("`cargo tree --workspace --locked` failed")
            .next("run it to see why; the lock file may be behind the manifests")
    })?;
    let mut breaches = wrong_arrows(&tree);
    for file in sources(&project.root) {
        let path = name_of(&file, &project.root);
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        breaches.extend(wrong_words(&path, &text));
        let lines = text.lines().count();
        if lines > LONG_FILE_LINES {
            println!("note: {path} has {lines} lines: it is probably two rooms");
        }
    }
    for breach in &breaches {
        println!("{breach}");
    }
    match breaches.len() {
        0 => Ok(()),
        number => Err(Failure::new(format!("{number} breach(es) of the architecture"))
            .next("mend the code, or change ARCHITECTURE.md and crates/xtask/src/layering.rs together")),
    }
}

/// `tree` has a line `0 crate version (path)` for each of our crates, followed by `1 crate version` for what it depends on.
fn wrong_arrows(tree: &str) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut from = "";
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        let (Some(depth), Some(name)) = (words.next(), words.next()) else {
            continue;
        };
        if depth == "0" {
            from = name;
            if !ARROWS.iter().any(|(known, _)| *known == name) {
                breaches.push(format!("crate `{name}` has no place in the list of arrows yet"));
            }
        } else if ARROWS.iter().any(|(known, _)| *known == name) {
            let allowed = ARROWS.iter().find(|(known, _)| *known == from).map_or(&[][..], |(_, allowed)| allowed);
            if !allowed.contains(&name) {
                breaches.push(format!("`{from}` depends on `{name}`; it may depend on {}", in_words(allowed)));
            }
        }
    }
    breaches
}

fn in_words(allowed: &[&str]) -> String {
    if allowed.is_empty() { "none of our crates".into() } else { allowed.join(", ") }
}

fn wrong_words(path: &str, text: &str) -> Vec<String> {
    let general = GENERAL_ROOMS.iter().any(|room| path.strip_prefix(room).is_some_and(|rest| rest.starts_with('/')));
    if !general || MAY_SPEAK_OF_WORK.contains(&path) {
        return Vec::new();
    }
    let mut breaches = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.replace(PORT, "").to_lowercase();
        if let Some(word) = WORDS_OF_WORK.iter().find(|word| has_word(&line, word)) {
            breaches
                .push(format!("{path}:{number} says `{word}`: this room serves every capability and may not know one"));
        }
    }
    breaches
}

/// Whether `word` stands in `line` with no further letter, digit or underscore in front of it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

/// Our own source files, sorted. Builds, packages and generated files are left out.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("web"), root.join("pkg")];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", "node_modules", "dist", "__pycache__"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if [".rs", ".mjs", ".ts", ".py", ".css", ".sql"].iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The path below the root, with `/` on every system.
fn name_of(file: &Path, root: &Path) -> String {
    let below = file.strip_prefix(root).unwrap_or(file);
    below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_against_the_stream_is_named() {
        let tree =
            "0 bailiwick-core v0.1.0 (/p/crates/core)\n1 sha2 v0.11.0\n1 bailiwick-desk v0.1.0 (/p/crates/desk)\n";
        assert_eq!(
            wrong_arrows(tree),
            ["`bailiwick-core` depends on `bailiwick-desk`; it may depend on none of our crates"]
        );
        let tree = "0 bailiwick-mcp v0.1.0 (/p)\n1 bailiwick-store v0.1.0 (/p)\n";
        assert_eq!(wrong_arrows(tree).len(), 1);
    }

    #[test]
    fn arrows_with_the_stream_are_fine() {
        let tree = "0 bailiwick-desk v0.1.0 (/p)\n1 bailiwick-core v0.1.0 (/p)\n1 tokio v1.0.0\n0 bailiwick-core v0.1.0 (/p)\n";
        assert_eq!(wrong_arrows(tree), [""; 0]);
    }

    #[test]
    fn a_crate_without_a_place_is_named() {
        assert_eq!(
            wrong_arrows("0 bailiwick-attic v0.1.0 (/p)\n"),
            ["crate `bailiwick-attic` has no place in the list of arrows yet"]
        );
    }

    #[test]
    fn general_rooms_do_not_speak_of_work() {
        let said = |line: &str| !wrong_words("crates/store/src/sqlite.rs", line).is_empty();
        assert!(said("use bailiwick_core::work::Order;"));
        assert!(said("struct WorkOrderRow;"));
        assert!(said("// the work order's row"));
        assert!(said("SELECT order_id FROM documents"));
        assert!(!said("use bailiwick_core::work::OutputSchemas;"));
        assert!(!said("ORDER BY sequence"));
        assert!(!said("use crate::network::Socket; let border_id = 1;"));
    }

    #[test]
    fn other_rooms_may() {
        assert_eq!(wrong_words("crates/core/src/work/order.rs", "order_id"), [""; 0]);
        assert_eq!(wrong_words("crates/storefront/src/lib.rs", "order_id"), [""; 0]);
    }
}
