//! Files that are read whole, and files that are written whole or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::io::{hold, replace, share, wait_for_input, write_through};

/// Reads a file, or standard input if its name is `-`.
pub(crate) fn read_whole(name: &str) -> io::Result<Vec<u8>> {
    if name != "-" {
        return fs::read(name);
    }
    let mut bytes = Vec::new();
    loop {
        match io::stdin().read_to_end(&mut bytes) {
            // What has been read stays read.
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_for_input()?,
            read => return read.map(|_| bytes),
        }
    }
}

/// Fails where [`write_whole`] can't begin: there is no such directory, or it is read-only.
pub(crate) fn can_write(path: &Path) -> io::Result<()> {
    FilePlace::find(path, NewFile::Private).map(drop)
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug)]
enum NewFile {
    /// The user alone.
    Private,
    /// Those whom the user lets read what he makes.
    Shared,
}

/// The place of a file that is to be written.
struct FilePlace {
    /// The path, without links.
    target: PathBuf,
    /// The file that is there.
    old: Option<Metadata>,
    /// The file that takes its place; none if there is a device or a pipe.
    file: Option<NamedTempFile>,
}

impl FilePlace {
    /// Finds a place. A new file there is the user's alone, or as `kind` has it.
    fn find(path: &Path, kind: NewFile) -> io::Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target).ok();
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::metadata(folder)?;
        let file = match &old {
            Some(old) if old.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Some(old) if !old.is_file() => None,
            _ => {
                let mut file = tempfile::Builder::new();
                file.prefix(".toolstream-");
                if matches!(kind, NewFile::Shared) {
                    share(&mut file);
                }
                Some(file.tempfile_in(folder)?)
            }
        };
        Ok(FilePlace { target, old, file })
    }
}

/// Writes a file by renaming one that is complete. Owner and mode of a file that is there are kept;
/// a new one is the user's alone. Where a new file can't have that owner, or the old one has other
/// names, its bytes are replaced. A device or a pipe is written to.
pub(crate) fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    write(path, text.as_ref(), NewFile::Private)
}

/// Writes a file as [`write_whole`] does, but a new one is as the user's other files are.
pub(crate) fn write_shared(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    write(path, text.as_ref(), NewFile::Shared)
}

fn write(path: &Path, text: &[u8], kind: NewFile) -> io::Result<()> {
    let FilePlace { target, old, file } = FilePlace::find(path, kind)?;
    let Some(mut file) = file else { return write_through(&target, text) };
    file.write_all(text)?;
    if replace(file, &target, old.as_ref())? { Ok(()) } else { overwrite(&target, text) }
}

/// Replaces the bytes of a file. If they can't be written to the end, the old ones come back.
fn overwrite(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    let written = put(&mut file, text);
    if written.is_err() {
        put(&mut file, &old)?;
    }
    written
}

fn put(file: &mut File, text: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// A file that is written into only while it is what was read of it.
pub(crate) struct Original {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Original {
    /// Returns the file of which these bytes were read.
    pub(crate) fn new(path: PathBuf, bytes: Vec<u8>) -> Self {
        Original { path, bytes }
    }

    /// Writes the file. Fails if it is gone, or no longer what was read or written last: what another
    /// wrote stays. Of several programs that do this at once, each sees what the one before wrote.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        let changed = || {
            let why = "another has written or removed it since it was read: it stays as it is";
            io::Error::other(why)
        };
        let (_held, bytes) = hold(&self.path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => changed(),
            _ => error,
        })?;
        if bytes != self.bytes {
            return Err(changed());
        }
        write_whole(&self.path, text)?;
        self.bytes = text.as_bytes().to_vec();
        Ok(())
    }
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
    fn names_and_owners_of_a_file_stay() {
        let folder = tempfile::TempDir::new().unwrap();
        let [path, other] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&path, "a long text").unwrap();
        fs::hard_link(&path, &other).unwrap();
        write_whole(&path, "2").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_another_wrote_is_not_lost() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "1").unwrap();
        let mut originals = [(); 3].map(|()| Original::new(path.clone(), b"1".to_vec()));
        let written = std::thread::scope(|scope| {
            let runs = originals.each_mut().map(|file| scope.spawn(|| file.write("2")));
            runs.map(|run| run.join().unwrap().is_ok())
        });
        assert_eq!(written.iter().filter(|is_written| **is_written).count(), 1);
        let mut first = originals.into_iter().find(|file| file.bytes == b"2").unwrap();
        first.write("3").unwrap();
        fs::write(&path, "by hand").unwrap();
        assert!(first.write("4").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "by hand");
        fs::remove_file(&path).unwrap();
        assert!(first.write("4").is_err() && !path.exists());
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
