//! Files that have owners and several names, devices and pipes.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Gid, OFlags, Uid, fchown};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::cut::Cut as _;
use crate::io::unix::signals::{wait_a_moment, wait_to_write};

/// Returns the options of a file that no one else may read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Lets others read a temporary file that is to be, as far as the umask does.
pub(crate) fn share(file: &mut tempfile::Builder<'_, '_>) {
    file.permissions(Permissions::from_mode(0o666));
}

/// Puts a file in the place of the one at a path, if there is one, with its owner and mode. Returns
/// false if it can't have that owner, or the old one has other names.
pub(crate) fn replace(
    file: NamedTempFile,
    path: &Path,
    old: Option<&Metadata>,
) -> io::Result<bool> {
    if let Some(old) = old {
        let own = file.as_file().metadata()?;
        let is_alike = (own.uid(), own.gid()) == (old.uid(), old.gid());
        let owner = (Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())));
        if old.nlink() != 1 || (!is_alike && fchown(file.as_file(), owner.0, owner.1).is_err()) {
            return Ok(false);
        }
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(true)
}

/// Writes to a device or a pipe, which may have to wait for its reader.
pub(crate) fn write_through(path: &Path, text: &[u8]) -> io::Result<()> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = loop {
        match File::options().write(true).custom_flags(flags).open(path) {
            // No one reads the pipe yet.
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                wait_a_moment()?
            }
            opened => break opened?,
        }
    };
    let mut rest = text;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(count) => rest = rest.after(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_to_write(&file, None)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a file, and holds it until what is returned is dropped: another that would hold it waits. Fails
/// if its name leads to another file by then.
pub(crate) fn hold(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let mut file = File::open(path)?;
    // It is given back when the file is closed. Where there are no locks, bytes alone decide.
    let _ = file.lock();
    let number = |file: Metadata| (file.dev(), file.ino());
    let named = fs::metadata(path).map(number).ok();
    if named != Some(number(file.metadata()?)) {
        return Err(ErrorKind::NotFound.into());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((file, bytes))
}
