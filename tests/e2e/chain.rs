//! What the other tests rest on: which library is loaded, and that the validation layer lies below it.

use crate::run::{Folder, Outcome, build, read_trace, silent, trial, with_layer, without_layer};
use libtest_mimic::Trial;
use samplin_suite::case::assert_reported;
use samplin_testkit::{Context, SamplerDesc, layer};
use std::path::Path;
use std::time::SystemTime;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("chain/the-library-is-newer-than-its-sources", fresh),
        trial("chain/validation-sees-what-samplin-hands-down", order),
        trial("chain/without-the-layer-nothing-is-loaded", absent),
    ]
}

/// The newest source file of the layer.
fn newest_source(folder: &Path, newest: &mut Option<(SystemTime, std::path::PathBuf)>) {
    for entry in std::fs::read_dir(folder).expect("the sources").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            newest_source(&path, newest);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let time = entry.metadata().and_then(|data| data.modified()).expect("a time");
            if newest.as_ref().is_none_or(|(other, _)| time > *other) {
                *newest = Some((time, path));
            }
        }
    }
}

/// The loaded library is the one of the manifest ([`with_layer`] looks), and was built from the present sources.
fn fresh() -> Outcome {
    let ((), judged) = with_layer(Context::builder(), |_| Ok(()))?;
    assert_eq!(judged.trace.first("layer")["version"], env!("CARGO_PKG_VERSION"));
    let library = layer::loaded_library().expect("the layer is mapped");
    let built = std::fs::metadata(&library).and_then(|data| data.modified()).expect("a time");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut newest = None;
    for part in ["config", "core", "hot", "platform", "so", "vk-layer-sys", "wire", "."] {
        newest_source(&root.join(part).join("src"), &mut newest);
    }
    let (time, path) = newest.expect("sources");
    assert!(time <= built, "{} is older than {}: build it again", library.display(), path.display());
    Ok(())
}

/// With the layers in the other order, validation sees the application's illegal sampler, for all that samplin repairs it below.
fn order() -> Outcome {
    let illegal = SamplerDesc::nearest().lod(2.0, 0.5);
    let folder = Folder::new();
    let path = folder.join("trace.jsonl");
    let builder = Context::builder().validation().samplin().file("trace", &path);
    let context = build(&builder)?;
    let log = context.messages();
    drop(illegal.create(&context));
    drop(context);
    assert_reported(&log.errors(), &["maxLod-01973"], "with validation above");
    assert_eq!(read_trace(&path).events("sampler").count(), 1, "samplin was there, below");

    silent(Context::builder(), "with validation below", |context| {
        drop(illegal.create(context));
        Ok(())
    })?;
    Ok(())
}

/// In a process of its own: without asking for it, the layer is not there.
fn absent() -> Outcome {
    if std::env::var_os("NEXTEST").is_none() && layer::loaded_library().is_some() {
        // Another test of this process has loaded it, and it stays.
        return Ok(());
    }
    without_layer(Context::builder(), |_| Ok(()))?;
    assert_eq!(layer::loaded_library(), None);
    Ok(())
}
