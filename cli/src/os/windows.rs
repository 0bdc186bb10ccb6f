//! Windows.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use samplin_platform::FileId;
use windows_registry::{CURRENT_USER, Key, LOCAL_MACHINE};

/// What stands between names of layers and folders in the loader's variables.
pub const SEPARATOR: &str = ";";

/// What makes a file the same one, whatever leads to it.
pub type FileKey = (u64, u64);

fn key_of(id: FileId) -> FileKey {
    (id.device, id.inode)
}

/// That of a file that is there.
pub fn key(path: &Path) -> Option<FileKey> {
    samplin_platform::known(&File::open(path).ok()?).map(|known| key_of(known.id))
}

/// That of a file that is open.
pub fn key_of_open(file: &File, _: &Metadata) -> Option<FileKey> {
    samplin_platform::known(file).map(|known| key_of(known.id))
}

/// That of standard input, if it is a file.
pub fn key_of_stdin() -> Option<FileKey> {
    samplin_platform::known(&io::stdin()).map(|known| key_of(known.id))
}

/// That of standard output.
pub fn key_of_stdout() -> Option<FileKey> {
    samplin_platform::known(&io::stdout()).map(|known| key_of(known.id))
}

/// Whether something is to be read there: a pipe or a file, and no console.
pub fn is_piped(stream: impl IsTerminal) -> bool {
    !stream.is_terminal()
}

/// How many names a file has.
pub fn names(path: &Path, _: &Metadata) -> u64 {
    File::open(path).ok().and_then(|file| samplin_platform::known(&file)).map_or(1, |known| known.names)
}

/// Whether it belongs to another user.
pub fn is_foreign(path: &Path, _: &Metadata) -> bool {
    samplin_platform::own_file_written(path).is_none()
}

/// Makes a folder; those that it is made in are of the user alone.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_private(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// There is none: a user without a folder of his own has no other place either.
///
/// # Errors
///
/// Always.
pub fn fallback_cache() -> io::Result<PathBuf> {
    Err(io::Error::other("there is no home folder"))
}

/// Whether it is not marked as one to read only.
pub fn is_writable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.permissions().readonly())
}

/// Whether it is a file that can be started.
pub fn is_program(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    path.is_file() && ending.is_some_and(|ending| ["exe", "com", "bat", "cmd"].iter().any(|known| ending == *known))
}

/// Nobody asks a process of Windows to end but by its console, which this one reads.
///
/// # Errors
///
/// None.
pub fn note_end(_: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

/// Ends a process and those that it started: they have no signal to hear.
pub fn ask_to_end(process: u32) {
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID"]).arg(process.to_string()).output();
}

/// Something that another process writes lines to, opened to read: a file, which the last that opens it has for itself.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_log(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Begins such a file again if it was emptied.
///
/// # Errors
///
/// Those of the system.
pub fn begin_again(file: &mut File) -> io::Result<()> {
    if file.stream_position()? > file.metadata()?.len() {
        file.seek(SeekFrom::Start(0))?;
    }
    Ok(())
}

/// The name of a variable, as it is looked up: in capitals, because Windows does not tell them from small letters.
pub fn variable(name: OsString) -> OsString {
    name.to_ascii_uppercase()
}

/// The variable of the home folder.
pub const HOME: &str = "USERPROFILE";
/// The variable of the folder for data, and what holds without it, below the home folder.
pub const DATA: (&str, &str) = ("LOCALAPPDATA", "AppData/Local");
/// The same for what can be made again.
pub const CACHE: (&str, &str) = DATA;
/// The same for traces.
pub const STATE: (&str, &str) = DATA;
/// The variable of folders in which libraries are looked for.
pub const LIBRARIES: &str = "PATH";
/// What a name of a program may be written without.
pub const ENDINGS: [&str; 5] = ["", ".exe", ".com", ".bat", ".cmd"];

/// The folders of libraries besides those: the program's own, and the system's.
pub fn library_folders() -> Vec<PathBuf> {
    let own = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_path_buf()));
    own.into_iter().chain(std::env::var_os("SystemRoot").map(|root| Path::new(&root).join("System32"))).collect()
}

/// Whether the loader ignores folders of layers in the environment of programs that this one starts, and what is installed for one
/// user: above medium integrity it does, and Wine starts all with that.
///
/// Source: LoaderLayerInterface.md, "Exception for Elevated Privileges".
pub fn loader_passes_over_paths() -> bool {
    samplin_platform::has_high_integrity()
}

fn hive(for_all: bool) -> &'static Key {
    if for_all { LOCAL_MACHINE } else { CURRENT_USER }
}

/// Where the loader looks.
fn key_of_registry(key: &str) -> String {
    format!(r"Software\Khronos\Vulkan\{key}")
}

/// The manifests that a key of the loader lists and does not switch off, those for all users first.
pub fn registered(key: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for for_all in [true, false] {
        if !for_all && loader_passes_over_paths() {
            continue;
        }
        let Ok(opened) = hive(for_all).open(key_of_registry(key)) else { continue };
        let Ok(values) = opened.values() else { continue };
        for (name, value) in values {
            if u32::try_from(value).is_ok_and(|off| off == 0) {
                found.push(PathBuf::from(name));
            }
        }
    }
    found
}

/// Lists a manifest.
///
/// # Errors
///
/// When the registry cannot be written.
pub fn register(key: &str, for_all: bool, manifest: &Path) -> io::Result<()> {
    let opened = hive(for_all).create(key_of_registry(key)).map_err(io::Error::from)?;
    opened.set_u32(manifest.to_string_lossy(), 0).map_err(io::Error::from)
}

/// What the registry answers where there is no such value: `ERROR_FILE_NOT_FOUND` as a HRESULT.
const NOT_THERE: u32 = 0x8007_0002;

/// Takes a manifest out of the list, if it is there.
///
/// # Errors
///
/// When the registry cannot be written.
pub fn unregister(key: &str, for_all: bool, manifest: &Path) -> io::Result<()> {
    let Ok(opened) = hive(for_all).options().read().write().open(key_of_registry(key)) else { return Ok(()) };
    match opened.remove_value(manifest.to_string_lossy()) {
        Err(error) if error.code().0.cast_unsigned() != NOT_THERE => Err(error.into()),
        _ => Ok(()),
    }
}

/// Where `install --system` puts things.
pub fn for_all() -> PathBuf {
    PathBuf::from(std::env::var_os("ProgramFiles").unwrap_or_else(|| r"C:\Program Files".into())).join("samplin")
}
