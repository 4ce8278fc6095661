//! The server as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use super::Place;

pub(crate) struct Server {
    child: Child,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
    stderr: Option<ChildStderr>,
}

impl Server {
    pub(crate) fn start(place: &Place, line: &str) -> Self {
        Self::start_with(place, line, &[])
    }

    /// The same with variables of the environment.
    pub(crate) fn start_with(place: &Place, line: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = place.command(line.split(' '));
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let stderr = child.stderr.take();
        let Some((_, rest)) = first.split_once("http://") else {
            let mut why = String::new();
            stderr.unwrap().read_to_string(&mut why).unwrap();
            panic!("no address in {first:?}: {why}");
        };
        let address = rest.split(|c: char| c.is_whitespace() || c == '"' || c == '/').next().unwrap().to_owned();
        Self { child, address, stderr }
    }

    /// Status and body.
    pub(crate) fn request(&self, method: &str, path: &str, key: Option<&str>, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let authorization = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{authorization}Content-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    pub(crate) fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Asks it to stop and answers what it said on standard error.
    pub(crate) fn stop(mut self) -> String {
        self.signal("-TERM");
        assert!(self.child.wait().unwrap().success());
        let mut log = String::new();
        self.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    }

    #[track_caller]
    pub(crate) fn until(&self, what: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !what(self) {
            assert!(begun.elapsed() < Duration::from_secs(10), "it does not happen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone after `stop`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
