//! The command line tool as a process. One binary, because each one more costs a link.

mod ci;
mod common;
mod devices;
#[cfg(feature = "parquet")]
mod export;
mod gates;
mod green;
mod hostile;
mod identity;
mod inspect;
mod installation;
mod judges;
mod lines;
mod presets;
mod program;
mod programs;
mod prove;
mod report;
mod transcripts;
mod watch;
