//! Which store a command works on, and opening a desk on it.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_core::journal::Journal;
use bailiwick_desk::{Desk, Options, Signer};
use bailiwick_store::{Store, StoreError};

use crate::configuration::{Configuration, ConfigurationArguments, user_folder};
use crate::failure::Failure;

/// The database's name within a folder.
const DATABASE: &str = "bailiwick.db";

/// The store to work on.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct StoreArguments {
    /// The store: a file, a folder with a `bailiwick.db`, `sqlite:FILE` or `postgres://…`
    ///
    /// Without it: BAILIWICK_STORE, then AWL_STORE (a folder), then AGENTOOL_COLLAB_DB (a file), then `storage.path`
    /// of the configuration, then `bailiwick/bailiwick.db` in the user's own data folder.
    #[arg(long, value_name = "STORE", global = true)]
    pub(crate) store: Option<String>,
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArguments,
}

/// A store that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The address, as the store takes it
    pub(crate) address: String,
    /// The database's file, if it is one
    pub(crate) file: Option<PathBuf>,
}

impl StoreArguments {
    /// Chooses the store, given what the configuration says.
    pub(crate) fn place(&self, configuration: Option<&Configuration>) -> Result<Place, Failure> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(named) = &self.store {
            return Place::named(named);
        }
        if let Some(named) = variable("BAILIWICK_STORE") {
            return Place::named(&named.to_string_lossy());
        }
        if let Some(folder) = variable("AWL_STORE") {
            return Ok(Place::file(folder.join(DATABASE)));
        }
        if let Some(file) = variable("AGENTOOL_COLLAB_DB") {
            return Ok(Place::file(file));
        }
        if let Some(named) = configuration.and_then(|configuration| configuration.storage_path.as_deref()) {
            return Place::named(named);
        }
        match user_folder("XDG_DATA_HOME", ".local/share") {
            Some(folder) => Ok(Place::file(folder.join("bailiwick").join(DATABASE))),
            None => Err(Failure::usage("which store? there is no home folder to keep one in; name it with `--store`")),
        }
    }

    /// Reads the configuration and chooses the store.
    pub(crate) fn read(&self) -> Result<(Option<Configuration>, Place), Failure> {
        let configuration = self.configuration.read()?;
        let place = self.place(configuration.as_ref())?;
        Ok((configuration, place))
    }
}

impl Place {
    /// A store as people name it: an address, a file or a folder.
    fn named(named: &str) -> Result<Self, Failure> {
        if named.trim().is_empty() {
            return Err(Failure::usage("the store's name is empty; accepted: a file, a folder or an address"));
        }
        if let Some(file) = named.strip_prefix("sqlite:") {
            let file = file.strip_prefix("//").unwrap_or(file);
            let file = (file != ":memory:").then(|| PathBuf::from(file));
            return Ok(Self { address: named.to_owned(), file });
        }
        if is_address(named) {
            return Ok(Self { address: named.to_owned(), file: None });
        }
        let path = PathBuf::from(named);
        let is_folder = named.ends_with(std::path::MAIN_SEPARATOR) || path.is_dir();
        Ok(Self::file(if is_folder { path.join(DATABASE) } else { path }))
    }

    fn file(file: PathBuf) -> Self {
        Self { address: format!("sqlite:{}", file.display()), file: Some(file) }
    }

    /// A folder of another desk beside a database that does not exist yet: most likely somebody expects its orders.
    pub(crate) fn folder_to_import(&self) -> Option<PathBuf> {
        let file = self.file.as_ref().filter(|file| !file.exists())?;
        let folder = file.parent()?;
        let holds_orders = folder
            .join("orders")
            .read_dir()
            .ok()?
            .flatten()
            .any(|entry| entry.path().extension().is_some_and(|extension| extension == "json"));
        holds_orders.then(|| folder.to_owned())
    }

    /// Says so, if there is such a folder.
    pub(crate) fn warn_of_orders_to_import(&self) {
        if let Some(folder) = self.folder_to_import() {
            let folder = folder.display();
            tracing::warn!("`{folder}` holds orders of another desk; `bailiwick import awl {folder}` takes them over");
        }
    }

    /// Refuses a file that is not there, for commands that only look.
    pub(crate) fn check_exists(&self) -> Result<(), Failure> {
        match &self.file {
            Some(file) if !file.exists() => {
                Err(Failure::unable(format!("there is no store at `{}`; name another with `--store`", file.display())))
            }
            _ => Ok(()),
        }
    }

    /// Opens the store.
    pub(crate) async fn open_store(&self) -> Result<Arc<dyn Store>, StoreError> {
        bailiwick_store::open(&self.address, bailiwick_store::Options::default()).await
    }

    /// Opens a desk, and makes it if there is none.
    pub(crate) async fn open_desk(&self) -> Result<Desk, Failure> {
        self.open_signing_desk(None).await
    }

    /// The same for a desk that signs passes, if it is given what to sign with.
    pub(crate) async fn open_signing_desk(&self, signer: Option<Signer>) -> Result<Desk, Failure> {
        let store = self.open_store().await.map_err(Failure::unable)?;
        Desk::open(store, Options { signer, ..Options::default() }).await.map_err(Failure::unable)
    }

    /// Opens a desk that must be there.
    pub(crate) async fn open_existing_desk(&self, workspace: &str) -> Result<Desk, Failure> {
        self.check_exists()?;
        let store = self.open_store().await.map_err(Failure::unable)?;
        desk_in(store, workspace).await?.ok_or_else(|| {
            Failure::unable(format!(
                "there is no workspace `{workspace}` in the store; name another with `--workspace`"
            ))
        })
    }
}

/// The desk of a workspace; `None` if there is no such workspace.
pub(crate) async fn desk_in(store: Arc<dyn Store>, workspace: &str) -> Result<Option<Desk>, Failure> {
    // Opening a desk would make the workspace, so this looks first.
    let mut snapshot = store.snapshot().await.map_err(Failure::unable)?;
    match snapshot.head(workspace, Journal::Decisions.name()).await {
        Err(StoreError::Missing(_)) => return Ok(None),
        head => head.map_err(Failure::unable)?,
    };
    drop(snapshot);
    let options = Options { workspace: workspace.to_owned(), ..Options::default() };
    Desk::open(store, options).await.map(Some).map_err(Failure::unable)
}

/// Whether it is a URL. The store says which ones are accepted.
fn is_address(named: &str) -> bool {
    named.contains("://")
}

/// A store named in a file: relative to the file's folder, unless it is an address.
pub(crate) fn beside(folder: &Path, named: &str) -> String {
    let in_folder = |file: &str| folder.join(file).display().to_string();
    match named.strip_prefix("sqlite:") {
        Some(":memory:") => named.to_owned(),
        Some(file) => format!("sqlite:{}", in_folder(file.strip_prefix("//").unwrap_or(file))),
        None if is_address(named) => named.to_owned(),
        // A separator at the end says that it is a folder; joining keeps it.
        None => in_folder(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(named: &str, address: &str) {
        assert_eq!(Place::named(named).unwrap().address, address);
    }

    #[test]
    fn stores_are_files_folders_or_addresses() {
        check("desk.db", "sqlite:desk.db");
        check("some/folder/", "sqlite:some/folder/bailiwick.db");
        check("sqlite:desk.db", "sqlite:desk.db");
        check("sqlite::memory:", "sqlite::memory:");
        check("postgres://localhost/desk", "postgres://localhost/desk");
        assert!(Place::named(" ").is_err());
    }

    #[test]
    fn stores_in_a_configuration_lie_beside_it() {
        assert_eq!(beside(Path::new("/etc/desk"), "desk.db"), "/etc/desk/desk.db");
        assert_eq!(beside(Path::new("/etc/desk"), "/var/desk.db"), "/var/desk.db");
        assert_eq!(beside(Path::new("/etc/desk"), "sqlite:desk.db"), "sqlite:/etc/desk/desk.db");
        assert_eq!(beside(Path::new("/etc/desk"), "sqlite:///var/desk.db"), "sqlite:/var/desk.db");
        assert_eq!(beside(Path::new("/etc/desk"), "postgres://h/d"), "postgres://h/d");
    }
}
