//! The command line tool as a process. One binary, because each one more costs a link.

mod common;
mod devices;
#[cfg(feature = "parquet")]
mod export;
mod gates;
mod hostile;
mod inspect;
mod installation;
mod program;
mod programs;
mod report;
