//! `cargo xtask serve` and `cargo xtask bench`: the release build, run.

use std::path::Path;
use std::process::Command;

use crate::dashboard;
use crate::failure::Failure;
use crate::process::run;
use crate::project::Project;

/// Builds the dashboard and the program, and becomes `bailiwick serve` with `arguments`. Where the dashboard cannot be built,
/// the server is of use without it.
pub(crate) fn serve(project: &Project, arguments: &[String]) -> Result<(), Failure> {
    if let Err(failure) = dashboard::build(project) {
        println!("xtask: {failure}\nxtask: serving without the dashboard");
    }
    let binary = build(project)?;
    let mut command = Command::new(binary);
    command.arg("serve").args(arguments);
    #[cfg(unix)]
    {
        // The server takes this process over, so that a signal reaches it and the prompt waits for it.
        let error = std::os::unix::process::CommandExt::exec(&mut command);
        Err(Failure::new(format!("`bailiwick serve` could not be started: {error}")))
    }
    #[cfg(not(unix))]
    run(&mut command)
}

/// Runs every file of `crates/NAME/benches`, with the program in `BAILIWICK_BIN`.
pub(crate) fn bench(project: &Project, arguments: &[String]) -> Result<(), Failure> {
    let benches = benches(&project.root.join("crates"));
    if benches.is_empty() {
        println!("no benchmark yet: a file `crates/NAME/benches/WHAT.rs` is one");
        return Ok(());
    }
    let binary = build(project)?;
    for (manifest, bench) in benches {
        let mut command = project.cargo("bench --locked --manifest-path");
        command.arg(manifest).args(["--bench", &bench, "--"]).args(arguments);
        run(command.env("BAILIWICK_BIN", &binary))?;
    }
    Ok(())
}

fn build(project: &Project) -> Result<std::path::PathBuf, Failure> {
    run(&mut project.cargo("build --release --package bailiwick --locked"))?;
    Ok(project.binary("release"))
}

/// Manifest and name of each benchmark, sorted.
fn benches(crates: &Path) -> Vec<(String, String)> {
    let folders = crates.read_dir().into_iter().flatten().flatten().map(|folder| folder.path());
    let mut found: Vec<_> = folders
        .flat_map(|folder| {
            let manifest = folder.join("Cargo.toml").display().to_string();
            let files = folder.join("benches").read_dir().into_iter().flatten().flatten().map(|file| file.path());
            files
                .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
                .filter_map(move |file| Some((manifest.clone(), file.file_stem()?.to_str()?.to_owned())))
        })
        .collect();
    found.sort();
    found
}
