//! Running the built program, away from whatever the user keeps.

#![allow(dead_code, reason = "each test file uses its own part")]

#[cfg(unix)]
pub(crate) mod server;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Standard output line by line as JSON.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// A folder of its own, which is also the home folder of what runs in it.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn write_json(&self, name: &str, value: &Value) -> PathBuf {
        self.write(name, value.to_string())
    }

    /// The program, ready to run in the folder.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command.args(arguments).current_dir(self.folder.path()).env("HOME", self.folder.path());
        for name in [
            "AWL_STORE",
            "AWL_ACTOR",
            "AGENTOOL_COLLAB_DB",
            "BAILIWICK_STORE",
            "BAILIWICK_CONFIG",
            "BAILIWICK_LOG",
            "XDG_DATA_HOME",
            "XDG_CONFIG_HOME",
        ] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        finish(self.command(arguments), b"")
    }

    pub(crate) fn run_with<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: impl AsRef<[u8]>,
    ) -> Run {
        finish(self.command(arguments), input.as_ref())
    }

    /// Words of a command line, separated by spaces.
    pub(crate) fn say(&self, line: &str) -> Run {
        self.run(line.split(' '))
    }
}

/// Runs a command to its end, feeding it from another thread so that no pipe fills up.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that does not read its input closes it: no failure of the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the repository's conformance vectors.
pub(crate) fn conformance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(name)
}

/// An order as `order create` takes it.
pub(crate) fn order(id: &str) -> Value {
    json!({
        "id": id, "to": "agent:worker", "goal": "File the ticket",
        "criteria": [{"id": "c1", "text": "A ticket exists"}],
        "budget": {"usd": 1, "tool_calls": 5}, "deadline": "2999-01-01T00:00:00Z", "tools": ["tracker/*"],
    })
}

/// A report that proves it.
pub(crate) fn report() -> Value {
    json!({
        "status": "done", "result": {"summary": "Filed"},
        "evidence": [{"criterion": "c1", "type": "tool_call", "ref": "tracker/create#1"}],
        "cost": {"usd": 0.5, "tool_calls": 1}, "tools_used": ["tracker/create"],
    })
}
