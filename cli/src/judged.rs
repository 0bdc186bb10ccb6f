//! What `check` and `diff` judge: traces, or folders with the tables that `samplin export` writes.

#[cfg(not(feature = "parquet"))]
use std::path::Path;
use std::path::PathBuf;

#[cfg(feature = "parquet")]
use crate::export::read::add as add_tables;
use crate::failure::{Failure, Result};
use crate::trace::analysis::Analysis;
use crate::trace::reader::TraceSource;

/// Reads traces and folders of tables; of tables only what is of this build, if one is given.
///
/// # Errors
///
/// When one cannot be read, or a folder has no run (of that build): what saw nothing must not be green.
pub(crate) fn read(paths: &[PathBuf], build: Option<&str>) -> Result<Analysis> {
    let mut analysis = Analysis::default();
    for path in paths {
        if path.is_dir() {
            add_tables(&mut analysis, path, build)?;
        } else {
            analysis.add(&TraceSource::from_argument(path), true)?;
        }
    }
    analysis.fill_names();
    Ok(analysis)
}

/// Refuses to pass what does not hold a run to its end: a program that was killed, or recorded nothing, may have had anything to find.
///
/// # Errors
///
/// When a trace has no run in it, or an instance or a device without a summary.
pub(crate) fn must_be_finished(runs: &[&Analysis]) -> Result<()> {
    for analysis in runs {
        if let Some((trace, why)) = analysis.unfinished().first_key_value() {
            let name = analysis.traces.get(*trace).map_or_else(|| "the trace".to_owned(), |read| read.source.name());
            return Err(Failure::input(format!("{name}: {why}")).hint("--allow-unfinished accepts it"));
        }
    }
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn add_tables(_: &mut Analysis, path: &Path, _: Option<&str>) -> Result<()> {
    Err(Failure::file(path, "this is a folder, and this samplin was built without the feature parquet"))
}
