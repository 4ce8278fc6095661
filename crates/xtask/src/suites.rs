//! The suites of `cargo xtask test`, and the run that goes through them.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::dashboard;
use crate::failure::Failure;
use crate::layering;
use crate::package;
use crate::process::{run, run_counting};
use crate::project::Project;
use crate::setup::{self, Tool};
use crate::tally::Tally;

/// One suite.
struct Suite {
    name: &'static str,
    about: &'static str,
    /// Without one of these the suite is skipped.
    needs: &'static [Tool],
    /// Without one of these a part of the suite is skipped.
    wants: &'static [Tool],
    check: fn(&mut Run) -> Result<(), Failure>,
}

impl Suite {
    const fn new(name: &'static str, about: &'static str, check: fn(&mut Run) -> Result<(), Failure>) -> Self {
        Self { name, about, needs: &[], wants: &[], check }
    }

    const fn needs(self, needs: &'static [Tool]) -> Self {
        Self { needs, ..self }
    }

    const fn wants(self, wants: &'static [Tool]) -> Self {
        Self { wants, ..self }
    }
}

/// Cheap ones first, so that a slip is found early.
const SUITES: &[Suite] = &[
    Suite::new("fmt", "the code is formatted", Run::fmt),
    Suite::new("layering", "crate arrows, vocabulary, file lengths", Run::layering),
    Suite::new("clippy", "no lint fires", Run::clippy).needs(&[Tool::Targets]),
    Suite::new("no_std", "the rules build without std", Run::no_std).needs(&[Tool::Targets]),
    Suite::new("doc", "the documentation builds without a warning", Run::doc),
    Suite::new("deny", "licences, bans and sources", Run::deny).needs(&[Tool::CargoDeny]),
    Suite::new("unit", "every Rust test, on both databases", Run::unit).wants(&[Tool::PostgreSql]),
    Suite::new("conformance", "the vectors in conformance/", Run::conformance),
    Suite::new("client-node-v1", "the whole flow with MCP SDK v1 for Node", Run::client_node_v1)
        .needs(&[Tool::NodeClients]),
    Suite::new("client-node-v2", "the whole flow with MCP client v2 for Node", Run::client_node_v2)
        .needs(&[Tool::NodeClients]),
    Suite::new("client-python", "the whole flow with MCP client for Python", Run::client_python)
        .needs(&[Tool::PythonClient]),
    Suite::new("mcp-conformance", "the public MCP suite, both revisions", Run::mcp_conformance)
        .needs(&[Tool::NodeClients]),
    Suite::new("gateway", "a worker behind the gateway, with real MCP servers behind it", Run::gateway)
        .needs(&[Tool::NodeClients]),
    Suite::new("package", "the npm package as others get it", Run::package).needs(PACKAGE),
    Suite::new("parity", "the vectors natively, in Node and in a browser, byte for byte", Run::parity).needs(PACKAGE),
    Suite::new("browser", "people and agents at the dashboard, in a real browser", Run::browser).needs(&[
        Tool::Targets,
        Tool::WasmBindgen,
        Tool::Trunk,
        Tool::Binaryen,
        Tool::NodeClients,
        Tool::BrowserTests,
        Tool::Chromium,
    ]),
];

/// What the suites of the npm package need.
const PACKAGE: &[Tool] = &[Tool::Targets, Tool::WasmBindgen, Tool::Binaryen, Tool::PackageTests, Tool::Chromium];

/// Prints the suites' names.
pub(crate) fn list() {
    for suite in SUITES {
        println!("{:<16} {}", suite.name, suite.about);
    }
}

/// Runs the suites whose names start with one of `only`, or all of them when `only` is empty. A skip is a failure when
/// `CI` is `true`.
pub(crate) fn test(project: Project, only: &[String]) -> Result<(), Failure> {
    let chosen = choose(only)?;
    let mut run = Run::new(project);
    let mut failed = Vec::new();
    for suite in chosen {
        if !run.go_through(suite) {
            failed.push(suite.name);
        }
    }
    run.summarise();
    if !failed.is_empty() {
        let again = failed.first().copied().unwrap_or_default();
        return Err(Failure::new(format!("failed: {}", failed.join(", ")))
            .next(format!("read its lines above; `cargo xtask test --only {again}` runs it alone")));
    }
    if !run.skipped.is_empty() && std::env::var("CI").is_ok_and(|value| value == "true") {
        return Err(
            Failure::new("a suite was skipped, and with CI=true a skip is a failure").next("install what it names")
        );
    }
    Ok(())
}

fn choose(only: &[String]) -> Result<Vec<&'static Suite>, Failure> {
    if let Some(unknown) = only.iter().find(|name| !SUITES.iter().any(|suite| suite.name.starts_with(name.as_str()))) {
        let names: Vec<_> = SUITES.iter().map(|suite| suite.name).collect();
        return Err(
            Failure::new(format!("no suite starts with `{unknown}`")).next(format!("choose from {}", names.join(", ")))
        );
    }
    let wanted = |suite: &&Suite| only.is_empty() || only.iter().any(|name| suite.name.starts_with(name.as_str()));
    Ok(SUITES.iter().filter(wanted).collect())
}

/// What a run has brought up so far, and how it went.
struct Run {
    project: Project,
    /// The tools that were looked for, each with whether it is missing.
    looked_for: Vec<(Tool, bool)>,
    built: bool,
    packed: bool,
    tally: Tally,
    lines: Vec<String>,
    skipped: Vec<String>,
}

impl Run {
    fn new(project: Project) -> Self {
        Self {
            project,
            looked_for: Vec::new(),
            built: false,
            packed: false,
            tally: Tally::default(),
            lines: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Runs one suite; false when it failed.
    fn go_through(&mut self, suite: &Suite) -> bool {
        println!("\n── {}: {}", suite.name, suite.about);
        let start = Instant::now();
        if let Some(tool) = self.first_missing(suite.needs) {
            self.skipped.push(format!("{}: {}", suite.name, tool.by_hand()));
            self.note(suite, "skipped", start.elapsed());
            return true;
        }
        if let Some(tool) = self.first_missing(suite.wants) {
            self.skipped.push(format!("{}, the part with {}: {}", suite.name, tool.name(), tool.by_hand()));
        }
        let before = self.tally;
        let outcome = (suite.check)(self);
        if self.tally == before {
            // A suite that counts no tests of its own counts as one.
            self.tally += Tally { passed: u64::from(outcome.is_ok()), failed: u64::from(outcome.is_err()) };
        } else if outcome.is_err() && self.tally.failed == before.failed {
            self.tally.failed += 1;
        }
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        self.note(suite, word, start.elapsed());
        outcome.inspect_err(|failure| println!("xtask: {}: {failure}", suite.name)).is_ok()
    }

    /// The first tool that is not here and cannot be brought here. Each is tried once in a run.
    fn first_missing(&mut self, tools: &[Tool]) -> Option<Tool> {
        tools.iter().copied().find(|tool| {
            if let Some((_, missing)) = self.looked_for.iter().find(|(known, _)| known == tool) {
                return *missing;
            }
            let outcome = tool.set_up(&self.project).inspect_err(|failure| println!("xtask: {failure}"));
            self.looked_for.push((*tool, outcome.is_err()));
            outcome.is_err()
        })
    }

    fn note(&mut self, suite: &Suite, word: &str, time: Duration) {
        self.lines.push(format!("{:<16} {word:<8} {:>7.1} s", suite.name, time.as_secs_f64()));
    }

    fn summarise(&self) {
        println!("\n── summary");
        for line in &self.lines {
            println!("{line}");
        }
        if self.skipped.is_empty() {
            println!("skipped: nothing");
        }
        for skipped in &self.skipped {
            println!("skipped: {skipped}");
        }
        println!("{} passed, {} failed", self.tally.passed, self.tally.failed);
    }

    /// The program under test, built once in a run.
    fn binary(&mut self) -> Result<PathBuf, Failure> {
        if !self.built {
            run(&mut self.project.cargo("build --package bailiwick --locked"))?;
            self.built = true;
        }
        Ok(self.project.binary("debug"))
    }

    /// Runs a client program in the clients' folder, with the program under test in its environment.
    fn client(&mut self, interpreter: PathBuf, script: &str) -> Result<(), Failure> {
        let binary = self.binary()?;
        let mut command = Command::new(interpreter);
        command.arg(script).current_dir(self.project.clients()).env("BAILIWICK_BIN", binary);
        run_counting(&mut command, &mut self.tally)
    }
}

/// The suites themselves.
impl Run {
    fn fmt(&mut self) -> Result<(), Failure> {
        run(&mut self.project.cargo("fmt --all --check")).map_err(|failure| failure.next("run `cargo fmt --all`"))
    }

    fn layering(&mut self) -> Result<(), Failure> {
        layering::check(&self.project)
    }

    /// What runs in browsers is looked at as browsers get it, too: parts of it exist for that target only.
    fn clippy(&mut self) -> Result<(), Failure> {
        run(&mut self.project.cargo("clippy --workspace --all-targets --locked -- -D warnings"))?;
        let for_browsers = "clippy --package bailiwick-wasm --package bailiwick-web --all-features --locked \
                            --target wasm32-unknown-unknown -- -D warnings";
        run(&mut self.project.cargo(for_browsers))
    }

    fn no_std(&mut self) -> Result<(), Failure> {
        let mut command = self.project.cargo("build --package bailiwick-core --locked");
        for target in setup::TARGETS_WITHOUT_STD {
            command.args(["--target", target]);
        }
        run(&mut command)
    }

    fn doc(&mut self) -> Result<(), Failure> {
        let mut command = self.project.cargo("doc --workspace --no-deps --locked");
        run(command.env("RUSTDOCFLAGS", "-D warnings"))
    }

    /// Advisories are left out: their database lives on the network, and this answer must not
    /// depend on one.
    fn deny(&mut self) -> Result<(), Failure> {
        let program = setup::cargo_deny(&self.project).ok_or_else(|| Failure::new("cargo-deny is not here"))?;
        let arguments = "--locked check --hide-inclusion-graph licenses bans sources";
        let mut command = Command::new(program);
        run(command.current_dir(&self.project.root).args(arguments.split(' ')))
    }

    /// Tests that need the program or PostgreSQL find them in `BAILIWICK_BIN` and
    /// `BAILIWICK_POSTGRES_URL`; without the latter they run on SQLite alone.
    fn unit(&mut self) -> Result<(), Failure> {
        let mut command = self.project.cargo("test --workspace --locked --no-fail-fast");
        command.env("BAILIWICK_BIN", self.binary()?).env_remove("BAILIWICK_POSTGRES_URL");
        // Stopped and removed when it leaves scope, however the tests end.
        let mut _cluster = None;
        if self.first_missing(&[Tool::PostgreSql]).is_none() {
            let cluster = Cluster::start()?;
            command.env("BAILIWICK_POSTGRES_URL", cluster.url());
            _cluster = Some(cluster);
        }
        run_counting(&mut command, &mut self.tally)
    }

    fn conformance(&mut self) -> Result<(), Failure> {
        let mut command = Command::new(self.binary()?);
        command.current_dir(&self.project.root).args(["conformance", "conformance"]);
        run_counting(&mut command, &mut self.tally)
    }

    fn client_node_v1(&mut self) -> Result<(), Failure> {
        self.client(setup::node(&self.project), "flow-sdk-v1.mjs")
    }

    fn client_node_v2(&mut self) -> Result<(), Failure> {
        self.client(setup::node(&self.project), "flow-client-v2.mjs")
    }

    fn client_python(&mut self) -> Result<(), Failure> {
        self.client(setup::python(&self.project), "flow_python.py")
    }

    fn mcp_conformance(&mut self) -> Result<(), Failure> {
        self.client(setup::node(&self.project), "conformance.mjs")
    }

    fn gateway(&mut self) -> Result<(), Failure> {
        self.client(setup::node(&self.project), "gateway.mjs")?;
        self.client(setup::node(&self.project), "gateway-far.mjs")
    }

    fn package(&mut self) -> Result<(), Failure> {
        self.judge_package(&["boundary.mjs", "package.mjs"])
    }

    fn parity(&mut self) -> Result<(), Failure> {
        self.judge_package(&["parity.mjs", "parity-browser.mjs"])
    }

    /// Builds the npm package, once in a run, and runs programs of `pkg/tests` on it.
    fn judge_package(&mut self, scripts: &[&str]) -> Result<(), Failure> {
        if !self.packed {
            package::build(&self.project)?;
            self.packed = true;
        }
        let chromium = setup::chromium().ok_or_else(|| Failure::new("Chromium is not here"))?;
        for script in scripts {
            let mut command = Command::new(setup::node(&self.project));
            command.arg(script).current_dir(self.project.root.join("pkg/tests"));
            command.env("BAILIWICK_BIN", self.binary()?).env("BAILIWICK_CHROMIUM", &chromium);
            run_counting(&mut command, &mut self.tally)?;
        }
        Ok(())
    }

    /// The program under test is built after the dashboard: one that was built where there was none holds none, wherever
    /// it looks. Screenshots of every page go into the build folder.
    fn browser(&mut self) -> Result<(), Failure> {
        dashboard::build(&self.project)?;
        self.built = false;
        let chromium = setup::chromium().ok_or_else(|| Failure::new("Chromium is not here"))?;
        let mut command = Command::new(setup::node(&self.project));
        command.arg("run.mjs").current_dir(self.project.root.join("web/tests"));
        command.env("BAILIWICK_BIN", self.binary()?).env("BAILIWICK_CHROMIUM", chromium);
        command.env("BAILIWICK_DASHBOARD", dashboard::folder(&self.project));
        command.env("BAILIWICK_SCREENSHOTS", self.project.target.join("screenshots"));
        run_counting(&mut command, &mut self.tally)
    }
}
