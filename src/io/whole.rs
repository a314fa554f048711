//! Files that are read whole, and files that are written whole or not at all.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Reads a file, or standard input if its name is `-`.
pub(crate) fn read_whole(name: &str) -> io::Result<Vec<u8>> {
    if name != "-" {
        return fs::read(name);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Fails where [`write_whole`] can't begin: there is no such directory, or it is read-only.
pub(crate) fn can_write(path: &Path) -> io::Result<()> {
    Place::find(path).map(drop)
}

/// The place of a file that is to be written.
struct Place {
    /// The path, without links.
    target: PathBuf,
    /// The file that is there.
    old: Option<Metadata>,
    /// The file that takes its place; none if there is a device or a pipe.
    file: Option<NamedTempFile>,
}

impl Place {
    fn find(path: &Path) -> io::Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target).ok();
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::metadata(folder)?;
        let file = match &old {
            Some(old) if old.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Some(old) if !old.is_file() => None,
            _ => Some(tempfile::Builder::new().prefix(".toolstream-").tempfile_in(folder)?),
        };
        Ok(Place { target, old, file })
    }
}

/// Writes a file by renaming one that is complete. The mode of a file that is there is kept; a new
/// one is the user's alone. A device or a pipe is written to.
pub(crate) fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let Place { target, old, file } = Place::find(path)?;
    let Some(mut file) = file else { return fs::write(&target, text) };
    file.write_all(text.as_ref())?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_replaced_with_its_mode() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write_whole(&path, "1").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("b");
        symlink("a", &link).unwrap();
        write_whole(&link, "2").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("2", 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old() {
        for path in ["/nowhere/a", "/"].map(Path::new) {
            assert!(write_whole(path, "1").is_err() && can_write(path).is_err());
        }
        can_write(Path::new("/dev/null")).unwrap();
        write_whole(Path::new("/dev/null"), "1").unwrap();
    }
}
