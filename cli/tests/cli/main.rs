//! The command line tool as a process. One binary, because each one more costs a link.

mod common;
mod devices;
#[cfg(feature = "parquet")]
mod export;
mod hostile;
mod identity;
mod inspect;
mod installation;
mod judges;
mod program;
mod programs;
mod report;
mod words;
