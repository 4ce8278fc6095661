//! `bailiwick sign-in`: another link that signs a person in to a running server.

use bailiwick_core::json::{Object, Value};
use bailiwick_desk::{Desk, Failure as Refused, LINK_TIME};
use bailiwick_server::{ServerOptions, sign_in_url};

use crate::configuration::ServerSection;
use crate::failure::{Answer, Failure};
use crate::output::Output;
use crate::place::StoreArguments;

const EXAMPLES: &str = "\
Examples:
  bailiwick sign-in
  bailiwick sign-in --as human:ada --store desk.db
  bailiwick sign-in --address https://desk.example.com

The link works once, within 15 minutes, at a server on the same store. Whoever can write the store may make one,
for any person: they could change everything that it holds anyway.";

/// Who signs in unless somebody else is named.
pub(crate) const OPERATOR: &str = "human:operator";

/// The workspace that the server serves.
const WORKSPACE: &str = "desk";

/// Print a link that signs a person in to the dashboard, once
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Who signs in [default: `server.operator` of the configuration, else human:operator]
    #[arg(long = "as", value_name = "PERSON")]
    person: Option<String>,
    /// Where the server is reached [default: http:// and `server.host`:`server.port` of the configuration, else
    /// http://127.0.0.1:8787]
    #[arg(long, value_name = "URL")]
    address: Option<String>,
    #[command(flatten)]
    store: StoreArguments,
    /// Print {"sign_in", "person"} on one line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let (configuration, place) = arguments.store.read()?;
    let section = configuration.map(|configuration| configuration.server).unwrap_or_default();
    let base = match &arguments.address {
        Some(address) => checked(address)?,
        None => base(&section),
    };
    let person = arguments.person.clone().or(section.operator).unwrap_or_else(|| OPERATOR.to_owned());
    crate::block_on(async {
        let desk = place.open_existing_desk(WORKSPACE).await?;
        let url = link(&desk, &person, &base).await;
        desk.close().await;
        print(arguments, &url?, &person)
    })
}

/// A new link, as an address.
pub(crate) async fn link(desk: &Desk, person: &str, base: &str) -> Result<String, Failure> {
    match desk.issue_link(person).await {
        Ok(link) => Ok(sign_in_url(base, &link)),
        Err(Refused::Refused(refusal)) => Err(Failure::usage(refusal.message)),
        Err(failure) => Err(Failure::unable(failure)),
    }
}

/// Where a server can be reached that listens at an address: on every one, also on this machine's own.
pub(crate) fn reachable(host: &str, port: u16) -> String {
    match host {
        "0.0.0.0" => format!("http://127.0.0.1:{port}"),
        "::" => format!("http://[::1]:{port}"),
        host if host.contains(':') => format!("http://[{host}]:{port}"),
        host => format!("http://{host}:{port}"),
    }
}

fn base(section: &ServerSection) -> String {
    reachable(section.host.as_deref().unwrap_or("127.0.0.1"), section.port.unwrap_or(ServerOptions::DEFAULT_PORT))
}

fn checked(address: &str) -> Result<String, Failure> {
    let host = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    match host.map(|host| host.trim_end_matches('/')) {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', ' ']) => Ok(address.to_owned()),
        _ => Err(Failure::usage(format!(
            "`--address` is `{}`, must be `http://` or `https://` and a host, with a port or without",
            crate::text::shortened(address, 80)
        ))),
    }
}

fn print(arguments: &Arguments, url: &str, person: &str) -> Result<Answer, Failure> {
    let mut output = Output::new();
    if arguments.json {
        output.json_line(&Value::Object(Object::new().with("sign_in", url).with("person", person)))?;
    } else {
        output.line(url)?;
        let minutes = LINK_TIME.as_secs() / 60;
        output.line(format!("It signs {} in, once, within {minutes} minutes.", crate::text::shortened(person, 80)))?;
    }
    output.flush()?;
    Ok(Answer::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_address_is_reached_on_this_machine() {
        assert_eq!(reachable("0.0.0.0", 1), "http://127.0.0.1:1");
        assert_eq!(reachable("::", 1), "http://[::1]:1");
        assert_eq!(reachable("::1", 1), "http://[::1]:1");
        assert_eq!(reachable("localhost", 1), "http://localhost:1");
    }

    #[test]
    fn addresses_are_those_of_a_server() {
        for good in ["http://127.0.0.1:8787", "https://desk.example.com/", "http://[::1]:1"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in ["", "desk.example.com", "ftp://desk", "http://", "http:///", "http://desk/path", "http://a b"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
