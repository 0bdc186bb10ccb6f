//! Writing files: the program's own, and those that a user names, which may be anything.

use std::fmt::Display;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::os::{self, FileKey};
use crate::system::System;
use crate::trace::reader::TraceSource;

/// What no other process can guess, for names in folders where others may write: who knew it could plant a link there.
fn unguessed() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Makes a folder for this user alone, whose name begins so.
///
/// # Errors
///
/// When it cannot be made.
pub fn new_folder(within: &Path, prefix: &str) -> io::Result<PathBuf> {
    let path = within.join(format!("{prefix}{}", unguessed()));
    os::make_private(&path)?;
    Ok(path)
}

/// A temporary folder, which is removed at the end.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes it, as [`new_folder`] does.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn new(prefix: &str) -> Result<Self> {
        let within = std::env::temp_dir();
        new_folder(&within, prefix).map(Self).map_err(|error| trouble(&within, error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of this content in the user's cache, below which it has this name. It stays.
///
/// # Errors
///
/// When it cannot be written.
pub fn in_cache(name: &Path, content: &[u8], system: &System) -> Result<PathBuf> {
    const HINT: &str = "set XDG_CACHE_HOME to a folder that can be written";
    let path = cache(system).map_err(|error| Failure::environment(error.to_string()).hint(HINT))?.join(name);
    if !std::fs::read(&path).is_ok_and(|there| there == content) {
        write_atomically(&path, content).map_err(|error| trouble(&path, error).hint(HINT))?;
    }
    Ok(path)
}

/// The user's cache.
fn cache(system: &System) -> io::Result<PathBuf> {
    system.cache_home().map_or_else(os::fallback_cache, Ok)
}

/// Writes a file so that readers see the old one or the new one whole. The folder is created.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A leading dot and another ending: the loader does not take it for a manifest.
    let temporary = folder.join(format!(".{name}.{}.new", unguessed()));
    let mut file = File::create_new(&temporary)?;
    let written = (|| {
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// How a file that a user names is written.
enum Destination {
    /// Anew, in the place of the old one.
    Replace(PathBuf),
    /// Into what is there: a device, a FIFO, a file with several names, what a descriptor of a process stands for.
    Into(PathBuf),
}

impl Destination {
    /// Follows links, also one to a file that is not there yet.
    fn of(path: &Path) -> io::Result<Self> {
        let mut at = std::path::absolute(path)?;
        for _ in 0..40 {
            // Links below /proc say what they lead to, which need not be a path.
            let folder = at.parent().and_then(|parent| parent.canonicalize().ok());
            if let Some(real) = folder.filter(|folder| folder.starts_with("/proc")) {
                return Ok(Self::Into(real.join(at.file_name().unwrap_or_default())));
            }
            match std::fs::symlink_metadata(&at) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Replace(at)),
                Err(error) => return Err(error),
                Ok(metadata) if metadata.is_symlink() => {
                    let target = std::fs::read_link(&at)?;
                    at = at.parent().unwrap_or(Path::new("/")).join(target);
                }
                Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
                Ok(metadata) if metadata.is_file() && os::names(&at, &metadata) == 1 => return Ok(Self::Replace(at)),
                Ok(_) => return Ok(Self::Into(at)),
            }
        }
        Err(io::Error::other("too many links"))
    }
}

/// Where an output goes. A folder that is not there is a mistyped one, so it is not made.
fn place_of(path: &Path) -> Result<Destination> {
    let place = Destination::of(path).map_err(|error| trouble(path, error))?;
    let real = match &place {
        Destination::Replace(real) if path.is_symlink() => real,
        Destination::Replace(_) => path,
        Destination::Into(_) => return Ok(place),
    };
    match real.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(trouble(path, format!("there is no folder {}", folder.display()))),
        None => Ok(place),
    }
}

fn trouble(path: &Path, error: impl Display) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

/// Refuses an output that [`write_output`] could not write, before anything is done for it.
///
/// # Errors
///
/// When it is a folder, or its folder is not there.
pub fn must_have_place(path: &Path) -> Result<()> {
    place_of(path).map(drop)
}

/// Writes a file that the user named: as [`write_atomically`] if it is or will be a file of its own, with the rights that it has; else
/// into what is there.
///
/// # Errors
///
/// When it cannot be written, with its name.
pub fn write_output(path: &Path, content: &[u8]) -> Result<()> {
    let written = match place_of(path)? {
        Destination::Replace(path) => replace(&path, content),
        Destination::Into(path) => write_into(&path, content),
    };
    written.map_err(|error| trouble(path, error))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let rights = std::fs::metadata(path).map(|metadata| metadata.permissions()).ok();
    write_atomically(path, content)?;
    rights.map_or(Ok(()), |rights| std::fs::set_permissions(path, rights))
}

fn write_into(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    let is_file = file.metadata()?.is_file();
    if is_file && path.starts_with("/proc") {
        // Others write there too, through the descriptor.
        file = File::options().append(true).open(path)?;
    } else if is_file {
        file.set_len(0)?;
    }
    file.write_all(content)
}

/// The file behind a symbolic link, which need not be there yet; nothing if it is none that is written as a file.
///
/// # Errors
///
/// When the link leads nowhere.
pub fn target(link: &Path) -> io::Result<Option<PathBuf>> {
    Ok(match Destination::of(link)? {
        Destination::Replace(path) => Some(path),
        Destination::Into(path) => Some(path).filter(|path| path.is_file()),
    })
}

/// Why the layer does not write into a file that is there, which so must not be emptied.
pub fn refusal(path: &Path) -> Option<&'static str> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    match metadata {
        _ if metadata.is_symlink() => Some("it is a symbolic link, which the layer does not follow"),
        _ if os::names(path, &metadata) > 1 => {
            Some("it has a second name (hard link), and the layer does not write into such a file")
        }
        _ if os::is_foreign(path, &metadata) => {
            Some("it belongs to another user, and the layer does not write into such a file")
        }
        _ => None,
    }
}

/// What makes a file the same one, be it there or not.
#[derive(PartialEq, Eq)]
enum Identity {
    There(FileKey),
    Path(PathBuf),
}

impl Identity {
    /// Of what would be written or read there as a file; nothing of devices, pipes and folders.
    fn of(path: &Path, is_input: bool) -> Option<Self> {
        if path.as_os_str() == "-" {
            return os::key_of_stdin().filter(|_| is_input).map(Self::There);
        }
        match std::fs::metadata(path) {
            Ok(metadata) => os::key(path).filter(|_| metadata.is_file()).map(Self::There),
            Err(_) => match Destination::of(path).ok()? {
                Destination::Replace(path) => {
                    Some(Self::Path(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
                }
                Destination::Into(_) => None,
            },
        }
    }
}

/// Refuses outputs that would replace an input, of a file in a folder that is one, or of one another; each with its name.
///
/// # Errors
///
/// When two are one file.
pub fn must_be_apart(outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]) -> Result<()> {
    let mut taken: Vec<(&str, Identity)> =
        inputs.iter().filter_map(|(what, path)| Some((*what, Identity::of(path, true)?))).collect();
    let folders: Vec<PathBuf> =
        inputs.iter().filter(|(_, path)| path.is_dir()).filter_map(|(_, path)| path.canonicalize().ok()).collect();
    for (what, path) in outputs {
        let Some(own) = Identity::of(path, false) else { continue };
        let within = path.canonicalize().ok().filter(|real| folders.iter().any(|folder| real.starts_with(folder)));
        let other = taken.iter().find(|(_, other)| *other == own).map(|(other, _)| *other);
        if let Some(other) = other.or(within.map(|_| "the input")) {
            return Err(would_replace(path, what, other));
        }
        taken.push((what, own));
    }
    Ok(())
}

/// The refusal to write over `other`.
pub fn would_replace(path: &Path, what: &str, other: &str) -> Failure {
    Failure::usage(format!("{}: {what} would replace {other}", path.display()))
}

/// Refuses outputs that would replace a trace, of a device's file or of one another.
///
/// # Errors
///
/// When two are one file.
pub fn must_not_replace(outputs: &[(&str, &Path)], traces: &[TraceSource], devices: &[PathBuf]) -> Result<()> {
    let traces = traces.iter().map(|source| ("the trace", source.path()));
    let devices = devices.iter().map(|path| ("the device", path.as_path()));
    must_be_apart(outputs, &traces.chain(devices).collect::<Vec<_>>())
}

/// Whether both lead to one file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    let [a, b] = [a, b].map(os::key);
    a.is_some() && a == b
}

/// Whether what a user names is standard output: `-`, or another name of it.
pub fn is_stdout(path: &Path) -> bool {
    let own = os::key_of_stdout();
    path.as_os_str() == "-" || (own.is_some() && os::key(path) == own)
}
