//! What every system knows of a process.

/// The id of the process. After a fork the child gets its own.
pub fn process_id() -> u32 {
    std::process::id()
}

/// The arguments that the process was started with, the first of which names the program. Bytes that are not UTF-8 appear as U+FFFD.
pub fn arguments() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}
