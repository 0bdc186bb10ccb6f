//! There is nothing to build: a package with a build script has a folder for what is made of it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
