//! A throw-away PostgreSQL cluster: on loopback, on a free port, gone when the test run is.
//!
//! The cluster is kept by a small shell script that waits on a pipe from this process. When the pipe closes, because the
//! run ended, failed or was killed, the script stops the cluster and removes its folder. So nothing is left behind, whatever
//! happens to us. PostgreSQL refuses to run as root; then the script runs as the user `postgres`.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::failure::Failure;
use crate::process::{find_on_path, is_root};

/// Arguments: the folder of PostgreSQL's programs, the port. Durability is switched off: the cluster never outlives the run.
const KEEPER: &str = r#"
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/bailiwick-postgres.XXXXXX")
finish() {
    "$1/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap 'finish "$1"' EXIT
trap 'exit 1' HUP INT TERM
explain() { cat "$folder/log" >&2; exit 1; }
"$1/initdb" -A trust -U postgres -E UTF8 --locale=C -D "$folder/data" >"$folder/log" 2>&1 || explain
"$1/pg_ctl" -D "$folder/data" -l "$folder/log" -w \
    -o "-k $folder -h 127.0.0.1 -p $2 -c max_connections=200 -c fsync=off" start >>"$folder/log" 2>&1 </dev/null || explain
echo ready
read -r line || true
"#;

/// A running cluster. Dropping it stops it and removes its files.
pub(crate) struct Cluster {
    keeper: Child,
    port: u16,
}

impl Cluster {
    /// Starts a fresh cluster with the newest PostgreSQL that this machine has.
    pub(crate) fn start() -> Result<Self, Failure> {
        let programs = programs().ok_or_else(|| Failure::new("PostgreSQL's `initdb` was not found"))?;
        let port = free_port()?;
        println!("$ initdb, pg_ctl start (127.0.0.1:{port}, throw-away)");
        let mut command = as_ordinary_user();
        command.args(["-c", KEEPER, "keeper"]).arg(&programs).arg(port.to_string());
        command.current_dir(env::temp_dir()).stdin(Stdio::piped()).stdout(Stdio::piped());
        apart_from_the_terminal(&mut command);
        let mut keeper = command
            .spawn()
            .map_err(|error| Failure::new(format!("the shell that keeps PostgreSQL did not start: {error}")))?;
        let mut answer = String::new();
        if let Some(stdout) = keeper.stdout.take() {
            // An unreadable answer is no `ready`, and is refused below.
            let _ = BufReader::new(stdout).read_line(&mut answer);
        }
        let cluster = Self { keeper, port };
        if answer.trim() == "ready" {
            Ok(cluster)
        } else {
            Err(Failure::new(format!("PostgreSQL in `{}` did not start", programs.display()))
                .next("read the lines above; run the command again if the port was taken in between"))
        }
    }

    /// Where clients find it. Its superuser needs no password.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Closing the pipe is the order to stop; an error while waiting leaves nothing that we could do better.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// The folder with `initdb` and `pg_ctl`: of the one on `PATH`, else Debian's newest.
pub(crate) fn programs() -> Option<PathBuf> {
    if let Some(initdb) = find_on_path("initdb") {
        return initdb.parent().map(Path::to_path_buf);
    }
    let versions = Path::new("/usr/lib/postgresql").read_dir().ok()?.flatten();
    versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse::<u32>().ok()?, version.path().join("bin"))))
        .filter(|(_, programs)| programs.join("initdb").is_file())
        .max()
        .map(|(_, programs)| programs)
}

/// A shell that runs as ourselves, or as `postgres` when we are root.
fn as_ordinary_user() -> Command {
    if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", "sh"]);
        command
    } else {
        Command::new("sh")
    }
}

/// An interrupt from the keyboard must reach the keeper through the pipe only, after we have ended.
fn apart_from_the_terminal(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

fn free_port() -> Result<u16, Failure> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| Failure::new(format!("no free port on 127.0.0.1: {error}")))
}
