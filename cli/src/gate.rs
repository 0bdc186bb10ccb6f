//! What the gates `check` and `diff` read: traces, or folders with the tables that `samplin export` writes.

use std::path::PathBuf;

#[cfg(not(feature = "parquet"))]
use crate::failure::Failure;
use crate::failure::Result;
use crate::trace::analysis::Analysis;
use crate::trace::reader::Source;

/// Reads traces and folders of tables; of tables only what is of this build, if one is given.
///
/// # Errors
///
/// When one cannot be read, or a folder has no run (of that build): a gate that saw nothing must not be green.
pub(crate) fn read(paths: &[PathBuf], build: Option<&str>) -> Result<Analysis> {
    let mut analysis = Analysis::default();
    for path in paths {
        if path.is_dir() {
            #[cfg(feature = "parquet")]
            crate::export::read::add(&mut analysis, path, build)?;
            #[cfg(not(feature = "parquet"))]
            return Err(Failure::file(
                path,
                "this is a folder, and this samplin was built without the feature parquet",
            ));
        } else {
            analysis.add(&Source::from_argument(path), true)?;
        }
    }
    analysis.fill_names();
    Ok(analysis)
}
