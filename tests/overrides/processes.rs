//! Rules files of processes: where they are found, and what is the same in each.

use super::when::samplers;
use super::*;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[("fingerprints", fingerprints), ("which-file", which_file)])
}

/// Runs this program again under whatever rules the environment leads to, and returns its trace.
fn child(folder: &Folder, name: &str, environment: &[(&str, &Path)]) -> Result<Trace, Skip> {
    let trace = folder.join(name);
    let part = trace.to_str().expect("temporary paths are UTF-8");
    again::run(again::command(part).envs(environment.iter().copied()))?;
    Ok(run::read_trace(&trace))
}

/// What [`child`] starts: samples a few samplers, with a trace at this path.
pub(crate) fn be_child(trace: &str) -> Outcome {
    let builder = Context::builder().samplin().setting("trace", trace).setting("trace_level", "all");
    let context = build(&builder)?;
    let scene = Scene::colour(F::R8G8B8A8_UNORM);
    let image = scene.image(&context)?;
    let view = scene.view(&image);
    // Members that count for nothing must not show in the fingerprint.
    let garbage = SamplerDesc {
        max_anisotropy: f32::from_bits(std::process::id()),
        compare_op: vk::CompareOp::from_raw(std::process::id().cast_signed()),
        ..SamplerDesc::nearest()
    };
    let custom = SamplerDesc::nearest().custom_border(BorderValue::Float([0.25, 0.5, 0.75, 1.0]), F::R8G8B8A8_UNORM);
    for desc in samplers().into_iter().map(|(_, desc)| desc).chain([garbage, custom]) {
        let sampler = desc.create(&context);
        if !desc.unnormalized && !desc.compare_enable {
            sample(&context, Pair::new(&view, &sampler), &scene.points(false)[..1]);
        }
    }
    Ok(())
}

/// A fingerprint is the same in every process, and on every machine: some are written down here.
fn fingerprints() -> Outcome {
    // Also tells whether there is a device at all.
    drop(build(&Context::builder().samplin())?);
    let folder = Folder::new();
    let prints = |name| -> Result<Vec<String>, Skip> {
        let trace = child(&folder, name, &[])?;
        Ok(trace.events("sampler").map(|r| r["fingerprint"].as_str().expect("a text").to_owned()).collect())
    };
    let (first, second) = (prints("first.jsonl")?, prints("second.jsonl")?);
    assert_eq!(first, second);
    assert_eq!(first[0], first[samplers().len()], "ignored members count");
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), first.len() - 1, "{first:?}");
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fingerprints.txt");
    let known = std::fs::read_to_string(known).expect("the known fingerprints");
    assert_eq!(first, known.lines().collect::<Vec<_>>());
    Ok(())
}

/// The file of the application wins over the general one, and the setting over both.
fn which_file() -> Outcome {
    drop(build(&Context::builder().samplin())?);
    let folder = Folder::new();
    let own = again::program();
    let own = own.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let config = folder.join("config");
    std::fs::create_dir_all(config.join("samplin")).expect("a folder");
    let put = |path: &Path, rule: &str| {
        let text = format!("[[rule]]\nname = \"{rule}\"\nset = {{ min_lod = 0.0 }}\n");
        std::fs::write(path, text).expect("a rules file");
    };
    let rules = |name: &str, environment: &[(&str, &Path)]| -> Result<BTreeSet<String>, Skip> {
        let trace = child(&folder, name, environment)?;
        let all = trace.events("pair").flat_map(|record| record["rules"].as_array().cloned().unwrap_or_default());
        Ok(all.map(|rule| rule.as_str().unwrap_or_default().to_owned()).collect())
    };
    let home: (&str, &Path) = ("XDG_CONFIG_HOME", &config);
    let only = |rule: &str| BTreeSet::from([rule.to_owned()]);
    assert_eq!(rules("none.jsonl", &[home])?, BTreeSet::new());
    put(&config.join("samplin/samplin.toml"), "general");
    assert_eq!(rules("general.jsonl", &[home])?, only("general"));
    put(&config.join(format!("samplin/{own}.toml")), "own");
    assert_eq!(rules("own.jsonl", &[home])?, only("own"));
    let named = folder.join("named.toml");
    put(&named, "named");
    assert_eq!(rules("named.jsonl", &[home, ("SAMPLIN_CONFIG", &named)])?, only("named"));
    Ok(())
}
