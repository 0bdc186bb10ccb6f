//! The header is what cbindgen makes of the sources.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let sources = ["src/lib.rs", "src/structures.rs"].map(|source| folder.join(source));
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), |all, source| all.with_src(source));
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let (path, made) = (folder.join("include/samplin_core.h"), String::from_utf8(made).unwrap());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, made, "UPDATE_DOCS=1 cargo test -p samplin-capi --test header writes it");
}
