//! Files that lines are appended to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::mem::MaybeUninit;
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::windows::io::{AsRawHandle, FromRawHandle as _, IntoRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr;
use std::time::SystemTime;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_TYPE_CHAR, FILE_TYPE_DISK, GetFileInformationByHandle, GetFileType, WriteFile,
};
use windows_sys::Win32::System::Console::{GetStdHandle, STD_ERROR_HANDLE};

use super::owner::is_own;
use crate::append::{AppendFile, FileId, created_or_existing, refused};

/// A handle as a number, of which 32 bits count. It says nothing about ownership.
///
/// Source: "Interprocess Communication Between 32-bit and 64-bit Applications": "64-bit versions of Windows use 32-bit handles for
/// interoperability".
pub type RawFile = i32;

/// Stands for standard error, whatever its handle is at that moment: handles are multiples of four.
pub const STDERR: RawFile = 2;

fn handle(file: RawFile) -> HANDLE {
    if file == STDERR {
        // SAFETY: GetStdHandle reads a field of the process and takes a number that names it.
        return unsafe { GetStdHandle(STD_ERROR_HANDLE) };
    }
    ptr::with_exposed_provenance_mut(file as isize as usize)
}

fn number(handle: HANDLE) -> RawFile {
    handle.expose_provenance() as RawFile
}

/// No path names a handle.
pub fn descriptor_path(_: &Path) -> Option<RawFile> {
    None
}

/// A copy of a handle that the process inherited. There is none, because no [path](descriptor_path) names one.
///
/// # Errors
/// Always.
pub fn inherit(_: RawFile) -> io::Result<AppendFile> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Opens `path` so that each write appends a line, and creates it if it is missing, with its folders. Who may read them is what
/// the folder above passes on.
///
/// An existing target is accepted if it is
///
/// * a regular file of this user's with a single name (another user may have put a link to one of our files in a shared
///   folder, or a file of his own to read what we write),
/// * a character device, such as `NUL` or a console.
///
/// # Errors
/// Those of the system, and a refusal for any other existing target: a link or a mount point in last place, a folder, a pipe,
/// another user's file. Nothing has been created then, except perhaps folders.
pub fn open_append(path: &Path) -> io::Result<AppendFile> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    created_or_existing(|| accepted(path, open(path, true)?), || open_existing(path))
}

/// Whether [`open_append`] is likely to succeed, found out without creating anything. Whether a folder may be written to is not
/// asked: its list of rights does not tell alone.
///
/// # Errors
/// What [`open_append`] would say.
pub fn check_append(path: &Path) -> io::Result<Option<AppendFile>> {
    if path.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is empty"));
    }
    match open_existing(path) {
        Ok(file) => return Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
        match std::fs::metadata(folder) {
            Ok(metadata) if metadata.is_dir() => return Ok(None),
            Ok(_) => return Err(io::Error::from(io::ErrorKind::NotADirectory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Opens for appending, only if new or only if there already. Handles that Rust opens are not inherited.
fn open(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(is_new).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    options.open(path)
}

fn open_existing(path: &Path) -> io::Result<AppendFile> {
    // Looked at before it is opened, because opening some things does something; and again after, because it may have been
    // replaced in between.
    if let Ok(metadata) = std::fs::symlink_metadata(path) {
        accept_attributes(metadata.file_attributes())?;
    } else if path.as_os_str().as_encoded_bytes().to_ascii_lowercase().starts_with(br"\\.\pipe\") {
        return Err(refused(NEITHER));
    }
    accepted(path, open(path, false)?)
}

const NEITHER: &str = "is neither a file nor a character device";

fn accept_attributes(attributes: u32) -> io::Result<()> {
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        Err(refused("is a symbolic link"))
    } else if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else {
        Ok(())
    }
}

fn accepted(path: &Path, file: File) -> io::Result<AppendFile> {
    let handle = file.as_raw_handle();
    // SAFETY: the handle is that of `file`, which is open.
    let kind = unsafe { GetFileType(handle) };
    let mut ends_mid_line = false;
    let mut id = FileId { device: 0, inode: 0 };
    if kind == FILE_TYPE_DISK {
        let known = information(handle).ok_or_else(io::Error::last_os_error)?;
        accept_attributes(known.dwFileAttributes)?;
        if known.nNumberOfLinks > 1 {
            return Err(refused("has a second name (hard link)"));
        }
        if !is_own(handle) {
            return Err(refused("belongs to another user"));
        }
        id = id_of(&known);
        ends_mid_line = !ends_with_newline(path).unwrap_or(false);
    } else if kind != FILE_TYPE_CHAR {
        return Err(refused(NEITHER));
    }
    Ok(AppendFile { descriptor: number(file.into_raw_handle()), id, ends_mid_line })
}

/// Whether the file's last byte is a newline; an empty file counts as ending with one.
fn ends_with_newline(path: &Path) -> io::Result<bool> {
    let mut file = OpenOptions::new().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut byte = [0_u8];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}

fn information(handle: HANDLE) -> Option<BY_HANDLE_FILE_INFORMATION> {
    let mut known = MaybeUninit::uninit();
    // SAFETY: the pointer is to storage for the structure that the function fills; of a handle that is closed or is no file's it
    // says so.
    let is_filled = unsafe { GetFileInformationByHandle(handle, known.as_mut_ptr()) } != 0;
    // SAFETY: the function has said that it filled the structure.
    is_filled.then(|| unsafe { known.assume_init() })
}

/// What is known of a file that is open.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Which file it is.
    pub id: FileId,
    /// How many names it has.
    pub names: u64,
}

/// What is known of a file on a disk that is open; none of consoles, pipes and devices.
pub fn known(file: &impl AsRawHandle) -> Option<Known> {
    let known = information(file.as_raw_handle())?;
    Some(Known { id: id_of(&known), names: u64::from(known.nNumberOfLinks) })
}

fn id_of(known: &BY_HANDLE_FILE_INFORMATION) -> FileId {
    let inode = u64::from(known.nFileIndexHigh) << 32 | u64::from(known.nFileIndexLow);
    FileId { device: u64::from(known.dwVolumeSerialNumber), inode }
}

/// Which file a handle stands for now; `None` if it is closed. Devices are all one file.
///
/// A process may close handles that are not its own and get the same number back for a file of its own. Compare before writing
/// to a number that was opened earlier.
pub fn file_id(file: RawFile) -> Option<FileId> {
    let handle = handle(file);
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return None;
    }
    if let Some(known) = information(handle) {
        return Some(id_of(&known));
    }
    // SAFETY: GetFileType takes any handle, and answers "unknown" for one that is no file's.
    (unsafe { GetFileType(handle) } == FILE_TYPE_CHAR).then_some(FileId { device: 0, inode: 0 })
}

/// Closes a handle that was [released](AppendFile::release), if it still stands for the same file.
pub fn close(file: RawFile, id: FileId) {
    if file_id(file) == Some(id) {
        // SAFETY: the caller gave up the handle, and the line above found that it is still the file that was opened.
        drop(unsafe { OwnedHandle::from_raw_handle(handle(file)) });
    }
}

/// Writes all of `bytes` with one `WriteFile`, or more only if the system takes them piecemeal.
///
/// # Errors
/// The first error of the system ends the attempt. The error holds the number of bytes that were written before.
pub fn write(file: RawFile, bytes: &[u8]) -> Result<(), usize> {
    let handle = handle(file);
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        if handle.is_null() || handle == INVALID_HANDLE_VALUE {
            return Err(written);
        }
        let length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let mut count = 0;
        // SAFETY: `rest` is a live slice of at least `length` bytes, `count` a live number, and nothing is overlapped. A handle
        // that is closed gives an error.
        let is_written = unsafe { WriteFile(handle, rest.as_ptr(), length, &raw mut count, ptr::null_mut()) } != 0;
        written += count as usize;
        if !is_written || count == 0 {
            return Err(written);
        }
    }
    Ok(())
}

/// When this user's file was last written. `None` for a link, a folder, a file of another user's, or one that is not there.
pub fn own_file_written(path: &Path) -> Option<SystemTime> {
    let flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    accept_attributes(metadata.file_attributes()).ok()?;
    is_own(file.as_raw_handle()).then(|| metadata.modified().ok()).flatten()
}
