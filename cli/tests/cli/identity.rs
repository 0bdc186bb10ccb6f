//! What a trace says about where it comes from.

use crate::common::*;

#[test]
fn the_program_says_its_version_and_commit() {
    let said = samplin(["--version"]).quiet(0);
    let (version, commit) = said.trim().strip_prefix("samplin ").unwrap().split_once(' ').unwrap_or((said.trim(), ""));
    assert!(version.ends_with(env!("CARGO_PKG_VERSION")), "{said}");
    let is_commit = |text: &str| text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Sources without a repository have none.
    let has_repository = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.git")).exists();
    let may_be_missing = !has_repository && std::env::var_os("SAMPLIN_COMMIT").is_none();
    assert!(is_commit(commit.trim_matches(['(', ')'])) || (commit.is_empty() && may_be_missing), "{said}");
}
