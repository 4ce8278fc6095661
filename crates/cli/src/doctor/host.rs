//! The machine under a store: space, and who can read the files.

use std::path::Path;

use super::Check;

/// Less free space than this is a problem.
#[cfg(unix)]
const BAD_BYTES: u64 = 64 << 20;
/// Less free space than this soon will be.
#[cfg(unix)]
const LOW_BYTES: u64 = 1 << 30;

/// How much room there is for a database.
#[cfg(unix)]
pub(super) fn check_disk(database: &Path) -> Option<Check> {
    // The nearest folder that exists: the database may not yet.
    let database = std::path::absolute(database).ok()?;
    let folder = database.ancestors().skip(1).find(|folder| folder.is_dir())?;
    let status = match rustix::fs::statvfs(folder) {
        Ok(status) => status,
        Err(error) => {
            let message = format!("the free space below `{}` cannot be read: {error}", folder.display());
            return Some(Check::warning("disk", message, "look for yourself"));
        }
    };
    let free = status.f_bavail.saturating_mul(status.f_frsize);
    let message = format!("{} free below `{}`", size(free), folder.display());
    if free < BAD_BYTES {
        return Some(Check::bad("disk", message, "make room; a full disk refuses every command"));
    }
    if free < LOW_BYTES {
        return Some(Check::warning("disk", message, "make room soon"));
    }
    Some(Check::good("disk", message))
}

#[cfg(unix)]
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    match bytes / MIB {
        mib if mib < 10 * 1024 => format!("{mib} MiB"),
        mib => format!("{} GiB", mib / 1024),
    }
}

/// Whether only the owner can read a database and what lies beside it.
#[cfg(unix)]
pub(super) fn check_permissions(database: &Path) -> Vec<Check> {
    let beside = |suffix: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        std::path::PathBuf::from(name)
    };
    let files = [database.to_owned(), beside("-wal"), beside("-shm")];
    let checks: Vec<Check> = files.iter().filter_map(|file| check_secret("permissions", file)).collect();
    match checks.iter().any(|check| check.advice.is_some()) {
        true => checks.into_iter().filter(|check| check.advice.is_some()).collect(),
        // One line for all of them is enough.
        false => checks.into_iter().take(1).collect(),
    }
}

/// Whether only the owner can read a file; nothing if it is not there.
#[cfg(unix)]
pub(super) fn check_secret(name: &'static str, file: &Path) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = file.metadata().ok()?.permissions().mode() & 0o777;
    let message = format!("`{}` has mode {mode:03o}", file.display());
    Some(match mode & 0o077 {
        0 => Check::good(name, message),
        _ => Check::warning(name, message, format!("`chmod 600 {}` keeps others out", file.display())),
    })
}

#[cfg(not(unix))]
pub(super) fn check_disk(_: &Path) -> Option<Check> {
    None
}

#[cfg(not(unix))]
pub(super) fn check_permissions(_: &Path) -> Vec<Check> {
    Vec::new()
}

#[cfg(not(unix))]
pub(super) fn check_secret(_: &'static str, _: &Path) -> Option<Check> {
    None
}
