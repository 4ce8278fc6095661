//! `bailiwick.yaml`: the rules in force, and how the server runs.
//!
//! Everything in the file must be known and of the right type; what is wrong is said with file, line and key, and
//! what is accepted. The section `work` goes to the desk, which records that it was adopted; the others stay here.
//!
//! The file is never looked for in the current folder: an agent may work in one that somebody else wrote, and such
//! a file would loosen its rules. It is the one named by `--config`, else by `BAILIWICK_CONFIG`, else
//! `bailiwick/bailiwick.yaml` in the user's own configuration folder.

mod yaml;

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use bailiwick_core::json::Object;
use bailiwick_core::principal::is_person;
use bailiwick_core::work::Settings;
use bailiwick_desk::Desk;

use crate::failure::{Failure, cause};
use crate::signer::MOST_TTL_SECONDS;
use yaml::{Data, Fault, Key, Node};

/// What a configuration file says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Configuration {
    /// Section `work`, as the rules take it
    pub(crate) work: Object,
    /// Section `server`
    pub(crate) server: ServerSection,
    /// `storage.path`: a file, or a store's address
    pub(crate) storage_path: Option<String>,
}

/// Section `server`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerSection {
    /// The address to listen on
    pub(crate) host: Option<String>,
    /// The port to listen on
    pub(crate) port: Option<u16>,
    /// The keys file
    pub(crate) keys: Option<PathBuf>,
    /// Host names by which clients may call the server, besides loopback ones
    pub(crate) allowed_hosts: Vec<String>,
    /// Origins from which pages may call the server
    pub(crate) allowed_origins: Vec<String>,
    /// Who may read the journal while `work.restrict_reads` keeps orders to their parties
    pub(crate) auditors: Vec<String>,
    /// Whom sign-in links are for
    pub(crate) operator: Option<String>,
    /// The private keys that sign passes
    pub(crate) pass_key: Option<PathBuf>,
    /// Who issues the passes
    pub(crate) issuer: Option<String>,
    /// How long a pass lives
    pub(crate) pass_ttl_seconds: Option<u64>,
}

/// Where the configuration comes from.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct ConfigurationArguments {
    /// The configuration file
    #[arg(long, value_name = "FILE", env = "BAILIWICK_CONFIG", global = true)]
    pub(crate) config: Option<PathBuf>,
}

/// Why a configuration file is not usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigurationError {
    file: PathBuf,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl From<ConfigurationError> for Failure {
    fn from(error: ConfigurationError) -> Self {
        Self::unable(error)
    }
}

impl ConfigurationArguments {
    /// The file to read, if there is any. One that was named must be there.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        if let Some(file) = &self.config {
            return Some(file.clone());
        }
        let file = user_folder("XDG_CONFIG_HOME", ".config")?.join("bailiwick").join("bailiwick.yaml");
        file.is_file().then_some(file)
    }

    /// Reads the file, if there is any.
    pub(crate) fn read(&self) -> Result<Option<Configuration>, ConfigurationError> {
        self.file().map(|file| Configuration::read(&file)).transpose()
    }
}

/// One of the user's own folders: from the environment, else below the home folder.
pub(crate) fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named(variable).or_else(|| Some(named("HOME")?.join(below_home)))
}

impl Configuration {
    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Result<Self, ConfigurationError> {
        let error = |line, message: String| ConfigurationError { file: file.to_owned(), line, message };
        let size = file.metadata().map_err(|why| error(None, format!("cannot be read: {}", cause(&why))))?.len();
        if size > u64::try_from(yaml::MOST_BYTES).unwrap_or(u64::MAX) {
            return Err(error(None, format!("has {size} bytes, at most {} are accepted", yaml::MOST_BYTES)));
        }
        let text =
            std::fs::read_to_string(file).map_err(|why| error(None, format!("cannot be read: {}", cause(&why))))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder).map_err(|fault| error(Some(fault.line), fault.message))
    }

    /// Reads a text; paths in it are relative to `folder`.
    fn parse(text: &str, folder: &Path) -> Result<Self, Fault> {
        let root = yaml::parse(text)?;
        let mut configuration = Self::default();
        for (key, node) in members("", &root)? {
            match key.name.as_str() {
                Settings::SECTION => configuration.work = work(node)?,
                "server" => configuration.server = server(node, folder)?,
                "storage" => configuration.storage_path = storage(node, folder)?,
                _ => return Err(unknown("", key, &[Settings::SECTION, "server", "storage"])),
            }
        }
        Ok(configuration)
    }

    /// Puts the rules in force at a desk, if they are not already.
    pub(crate) async fn adopt(&self, desk: &Desk) -> Result<(), Failure> {
        match desk.adopt(self.settings()).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(Failure::unable(format!("the configuration was not adopted: {failure}"))),
        }
    }

    /// The settings as the desk adopts them.
    fn settings(&self) -> Object {
        if self.work.is_empty() { Object::new() } else { Object::new().with(Settings::SECTION, self.work.clone()) }
    }
}

fn work(node: &Node) -> Result<Object, Fault> {
    let mut settings = Object::new();
    for (key, value) in members(Settings::SECTION, node)? {
        match key.name.as_str() {
            name if Settings::NAMES.contains(&name) => settings.insert(name, boolean(Settings::SECTION, key, value)?),
            _ => return Err(unknown(Settings::SECTION, key, &Settings::NAMES)),
        }
    }
    Ok(settings)
}

/// Every key of section `server`.
const SERVER_KEYS: [&str; 10] = [
    "host",
    "port",
    "keys",
    "allowed_hosts",
    "allowed_origins",
    "auditors",
    "operator",
    "pass_key",
    "issuer",
    "pass_ttl_seconds",
];

fn server(node: &Node, folder: &Path) -> Result<ServerSection, Fault> {
    let mut section = ServerSection::default();
    for (key, value) in members("server", node)? {
        match key.name.as_str() {
            "host" => section.host = Some(text("server", key, value)?.to_owned()),
            "port" => section.port = Some(port("server", key, value)?),
            "keys" => section.keys = Some(folder.join(text("server", key, value)?)),
            "allowed_hosts" => section.allowed_hosts = texts("server", key, value)?,
            "allowed_origins" => section.allowed_origins = texts("server", key, value)?,
            "auditors" => section.auditors = texts("server", key, value)?,
            "operator" => section.operator = Some(person("server", key, value)?.to_owned()),
            "pass_key" => section.pass_key = Some(folder.join(text("server", key, value)?)),
            "issuer" => section.issuer = Some(text("server", key, value)?.to_owned()),
            "pass_ttl_seconds" => section.pass_ttl_seconds = Some(ttl("server", key, value)?),
            _ => return Err(unknown("server", key, &SERVER_KEYS)),
        }
    }
    Ok(section)
}

fn storage(node: &Node, folder: &Path) -> Result<Option<String>, Fault> {
    let mut path = None;
    for (key, value) in members("storage", node)? {
        match key.name.as_str() {
            "path" => path = Some(crate::place::beside(folder, text("storage", key, value)?)),
            _ => return Err(unknown("storage", key, &["path"])),
        }
    }
    Ok(path)
}

/// The members of a section; an empty one has none.
fn members<'a>(section: &str, node: &'a Node) -> Result<&'a [(Key, Node)], Fault> {
    match &node.data {
        Data::Null => Ok(&[]),
        Data::Mapping(members) => Ok(members),
        _ if section.is_empty() => {
            Err(Fault::new(node.line, format!("the file is {}, must be a mapping of sections", node.type_name())))
        }
        _ => Err(Fault::new(node.line, format!("`{section}` is {}, must be a mapping", node.type_name()))),
    }
}

fn boolean(section: &str, key: &Key, node: &Node) -> Result<bool, Fault> {
    match node.data {
        Data::Bool(value) => Ok(value),
        _ => Err(wrong(section, key, node, "`true` or `false`")),
    }
}

fn text<'a>(section: &str, key: &Key, node: &'a Node) -> Result<&'a str, Fault> {
    match &node.data {
        Data::Text(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(wrong(section, key, node, "a text that is not blank")),
    }
}

fn person<'a>(section: &str, key: &Key, node: &'a Node) -> Result<&'a str, Fault> {
    match text(section, key, node)? {
        person if is_person(person) => Ok(person),
        _ => Err(wrong(section, key, node, "a person: `human:` and a name")),
    }
}

fn texts(section: &str, key: &Key, node: &Node) -> Result<Vec<String>, Fault> {
    match &node.data {
        Data::List(items) => items.iter().map(|item| text(section, key, item).map(str::to_owned)).collect(),
        _ => Err(wrong(section, key, node, "a list of texts")),
    }
}

fn port(section: &str, key: &Key, node: &Node) -> Result<u16, Fault> {
    match &node.data {
        Data::Number(digits) => digits.parse().ok(),
        _ => None,
    }
    .ok_or_else(|| wrong(section, key, node, "a whole number from 0 to 65535"))
}

fn ttl(section: &str, key: &Key, node: &Node) -> Result<u64, Fault> {
    match &node.data {
        Data::Number(digits) => digits.parse().ok().filter(|seconds| (1..=MOST_TTL_SECONDS).contains(seconds)),
        _ => None,
    }
    .ok_or_else(|| wrong(section, key, node, &format!("a whole number from 1 to {MOST_TTL_SECONDS}")))
}

fn wrong(section: &str, key: &Key, node: &Node, accepted: &str) -> Fault {
    let found = match &node.data {
        Data::Text(text) | Data::Number(text) => format!("`{}`", crate::text::shortened(text, 80)),
        _ => node.type_name().to_owned(),
    };
    Fault::new(node.line, format!("`{section}.{}` is {found}, must be {accepted}", key.name))
}

fn unknown(section: &str, key: &Key, accepted: &[&str]) -> Fault {
    let name = crate::text::shortened(&key.name, 80);
    let accepted: Vec<String> = accepted.iter().map(|name| format!("`{name}`")).collect();
    let accepted = accepted.join(", ");
    Fault::new(
        key.line,
        match section {
            "" => format!("unknown section `{name}`; accepted: {accepted}"),
            section => format!("unknown key `{section}.{name}`; accepted: {accepted}"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Configuration, Fault> {
        Configuration::parse(text, Path::new("/etc/desk"))
    }

    #[track_caller]
    fn check_fault(text: &str, line: usize, message: &str) {
        assert_eq!(parse(text).unwrap_err(), Fault::new(line, message), "{text}");
    }

    #[test]
    fn every_key_is_read() {
        let text = "work:\n  allow_self_review: true\n  restrict_reads: false\nserver:\n  host: 0.0.0.0\n  port: 9000\n  \
                    keys: keys.json\n  allowed_hosts: [desk.example]\n  allowed_origins:\n    - https://desk.example\n  auditors: [human:ada]\n  operator: human:ada\n  \
                    pass_key: desk-key.json\n  issuer: https://desk.example\n  pass_ttl_seconds: 300\n\
                    storage:\n  path: desk.db\n";
        let configuration = parse(text).unwrap();
        let work = Object::new().with("allow_self_review", true).with("restrict_reads", false);
        assert_eq!(configuration.settings(), Object::new().with("work", work));
        assert_eq!(configuration.server.host.as_deref(), Some("0.0.0.0"));
        assert_eq!(configuration.server.port, Some(9000));
        assert_eq!(configuration.server.keys, Some("/etc/desk/keys.json".into()));
        assert_eq!(configuration.server.allowed_hosts, ["desk.example"]);
        assert_eq!(configuration.server.allowed_origins, ["https://desk.example"]);
        assert_eq!(configuration.server.auditors, ["human:ada"]);
        assert_eq!(configuration.server.operator.as_deref(), Some("human:ada"));
        assert_eq!(configuration.server.pass_key, Some("/etc/desk/desk-key.json".into()));
        assert_eq!(configuration.server.issuer.as_deref(), Some("https://desk.example"));
        assert_eq!(configuration.server.pass_ttl_seconds, Some(300));
        assert_eq!(configuration.storage_path.as_deref(), Some("/etc/desk/desk.db"));
    }

    #[test]
    fn empty_files_and_sections_say_nothing() {
        for text in ["", "work:\n", "server: {}\nstorage:\n"] {
            assert!(parse(text).unwrap().settings().is_empty());
        }
    }

    #[test]
    fn faults_name_line_and_key() {
        check_fault("work: {}\n\nwrok: {}\n", 3, "unknown section `wrok`; accepted: `work`, `server`, `storage`");
        let accepted = "accepted: `allow_self_review`, `restrict_reads`";
        check_fault("work:\n  self_review: true\n", 2, &format!("unknown key `work.self_review`; {accepted}"));
        check_fault("work:\n  restrict_reads: yes\n", 2, "`work.restrict_reads` is `yes`, must be `true` or `false`");
        check_fault("server:\n  port: 70000\n", 2, "`server.port` is `70000`, must be a whole number from 0 to 65535");
        let wrong = "`server.pass_ttl_seconds` is `0`, must be a whole number from 1 to 86400";
        check_fault("server:\n  pass_ttl_seconds: 0\n", 2, wrong);
        let wrong = "`server.operator` is `ada`, must be a person: `human:` and a name";
        check_fault("server:\n  operator: ada\n", 2, wrong);
        check_fault("server: on\n", 1, "`server` is a text, must be a mapping");
        check_fault("- work\n", 1, "the file is a list, must be a mapping of sections");
        check_fault(
            "server:\n  allowed_hosts:\n    - a\n    - 1\n",
            4,
            "`server.allowed_hosts` is `1`, must be a text that is not blank",
        );
    }
}
