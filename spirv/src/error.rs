//! Why a module is left alone.

use std::fmt;

/// Why a module could not be read, or not be changed as asked. Nothing has been changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The first word is not the magic number, or there are fewer than five words.
    NotSpirv,
    /// The words are in the byte order of another machine. Vulkan takes them in the host's, so nobody has to read these.
    BigEndian,
    /// More than [`Module::WORDS`](crate::Module::WORDS) words.
    TooManyWords,
    /// The bound of ids is 0 or above [`Module::IDS`](crate::Module::IDS).
    IdBound(u32),
    /// The instruction at this word offset is cut off, too short, defines an id twice or out of bounds, or stands where it must not.
    Instruction {
        /// Word offset of the instruction.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is no entry point of that name and execution model.
    NoEntryPoint,
    /// A function calls itself, through others or not.
    Recursion,
    /// More than [`Module::LINKS`](crate::Module::LINKS) links.
    TooManyLinks,
    /// Chains of copies, parameters or calls that would take longer to follow than a module of that size may.
    TooComplex,
    /// Two edits change the same words, or one changes words that are not in the module.
    Edits,
    /// An instruction would have more than 65,535 words.
    TooLong,
    /// The host has no memory left.
    Memory,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotSpirv => out.write_str("no SPIR-V header"),
            Error::BigEndian => out.write_str("SPIR-V in the other byte order"),
            Error::TooManyWords => out.write_str("too many words"),
            Error::IdBound(bound) => write!(out, "id bound {bound}"),
            Error::Instruction { at, what } => write!(out, "word {at}: {what}"),
            Error::NoEntryPoint => out.write_str("no such entry point"),
            Error::Recursion => out.write_str("recursive functions"),
            Error::TooManyLinks => out.write_str("too many links"),
            Error::TooComplex => out.write_str("too long to follow"),
            Error::Edits => out.write_str("edits that overlap"),
            Error::TooLong => out.write_str("an instruction above 65,535 words"),
            Error::Memory => out.write_str("out of memory"),
        }
    }
}

impl std::error::Error for Error {}

/// Appends to a vector, asking for room first.
#[inline]
pub(crate) fn push<T>(to: &mut Vec<T>, item: T) -> Result<(), Error> {
    if to.len() == to.capacity() {
        to.try_reserve(1).map_err(|_| Error::Memory)?;
    }
    to.push(item);
    Ok(())
}

/// A list that is the same everywhere.
pub(crate) fn filled<T: Clone>(count: usize, with: T) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Error::Memory)?;
    list.resize(count, with);
    Ok(list)
}

/// A copy of a list.
pub(crate) fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    list.try_reserve_exact(from.len()).map_err(|_| Error::Memory)?;
    list.extend_from_slice(from);
    Ok(list)
}

/// Appends words to a vector, asking for room first.
pub(crate) fn extend(to: &mut Vec<u32>, words: &[u32]) -> Result<(), Error> {
    to.try_reserve(words.len()).map_err(|_| Error::Memory)?;
    to.extend_from_slice(words);
    Ok(())
}
