//! Link flags of the shared object.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // A host thread may still return through one of our functions after the loader's dlclose:
        // the object stays mapped for the life of the process.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        // Another object that exports a symbol of the same name must not redirect ours.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,relro,-z,now");
        // The profile's own `strip` is lost to packages that override another of its settings.
        if std::env::var("PROFILE").as_deref() == Ok("release") {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-s");
        }
    }
}
