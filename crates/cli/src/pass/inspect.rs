//! `bailiwick pass inspect`: what a token says, believed or not.

use std::path::PathBuf;

use bailiwick_core::jose::{Compact, base64url};
use bailiwick_core::json::Object;
use bailiwick_core::work::pass::MOST_PASS_BYTES;

use super::read_pass;
use crate::failure::{Answer, Failure};
use crate::output::print_json;

const EXAMPLES: &str = "\
Examples:
  bailiwick pass inspect pass.jwt

Prints {\"id\", \"header\", \"claims\"}. Nothing is verified: anybody can have written this.
Exit status: 0 it has the form of a pass, 1 it has not, 2 the file cannot be read.";

/// Show what a pass says, without verifying it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The pass; `-` is standard input
    pass: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let token = read_pass(&arguments.pass)?;
    let read = Compact::parse(&token, MOST_PASS_BYTES).and_then(|token| Ok((token.payload_object()?, token)));
    match read {
        Ok((claims, token)) => {
            let id = base64url::encode(&token.digest());
            let shown = Object::new().with("id", id).with("header", token.header().clone()).with("claims", claims);
            print_json(&shown.into())?;
            Ok(Answer::Yes)
        }
        Err(fault) => {
            eprintln!("bailiwick: {fault}");
            Ok(Answer::No)
        }
    }
}
