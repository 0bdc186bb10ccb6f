//! `samplin preset`: the file, where it is, and what each preset does to pictures.

use crate::common::*;

/// A run of the example under the layer: what it saw, and what the trace says.
struct Looked {
    lines: Vec<String>,
    trace: Vec<serde_json::Value>,
}

impl Looked {
    fn with(words: &[&str]) -> Option<Self> {
        let vulkan = vulkan()?;
        let home = Folder::new();
        let ran = Ran::by(
            vulkan
                .drive(&mut tool(&home))
                .args(words)
                .args(["--trace", "t.jsonl", "--layer"])
                .arg(vulkan.layer.join("target/release"))
                .arg("--")
                .arg(example("looks")),
        );
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        if let ["preset", name, ..] = words {
            let file = home.join(format!(".config/samplin/presets/{name}.toml"));
            assert!(ran.stderr.contains(&file.display().to_string()), "{}", ran.stderr);
        }
        let trace = home.read("t.jsonl");
        let trace = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Some(Self { lines: ran.stdout.lines().map(str::to_owned).collect(), trace })
    }

    fn saw(&self, name: &str) -> &str {
        let line = self.lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("{name}: {:?}", self.lines))
    }

    /// The names of what is left.
    fn left(&self) -> Vec<&str> {
        let left = self.trace.iter().filter(|record| record["event"] == "unresolved");
        left.filter_map(|record| record["what"].as_str()).collect()
    }

    /// The overrides that were carried out, and the guards that held some back.
    fn overrides(&self) -> Vec<String> {
        let changes = self.trace.iter().filter_map(|record| record["changes"].as_array()).flatten();
        let mut found: Vec<String> = changes
            .filter(|change| change["rule"] == "override")
            .map(|change| {
                let because = change["because"].as_str().unwrap_or("");
                let guard = because.rsplit_once("(guard ").map_or("", |(_, guard)| guard.trim_end_matches(')'));
                format!("{} {} {guard}", change["catalog"].as_str().unwrap(), change["field"].as_str().unwrap())
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

/// What is seen between two texels, and between two levels, with each preset and without one.
#[test]
fn each_preset_does_what_it_says() {
    let Some(plain) = Looked::with(&["run"]) else { return };
    assert!(plain.overrides().is_empty());
    // The device does not filter depth. An immutable sampler stays as it is, which this driver filters all the same.
    for (name, saw) in [
        ("texture", "0.5 0.4"),
        ("font", "0.5 0.0"),
        ("target", "0.5 0.4"),
        ("depth", "1.0 0.0"),
        ("immutable", "0.5 0.0"),
    ] {
        assert_eq!(plain.saw(name), saw, "{name}");
    }
    assert_eq!(plain.left(), ["immutable sampler"]);
    let of = |name: &str| Looked::with(&["preset", name]).expect("there is a driver");
    let same = |looked: &Looked, names: &[&str]| {
        names.iter().for_each(|name| assert_eq!(looked.saw(name), plain.saw(name), "{name}"));
    };
    let sharp = of("sharp");
    assert_eq!(sharp.saw("texture"), "0.5 0.3");
    same(&sharp, &["font", "target", "depth", "immutable", "shadow"]);
    let held = ["O-2 maxAnisotropy attachment", "O-2 mipLodBias attachment"];
    assert_eq!(sharp.overrides(), [&["O-1 maxAnisotropy ", "O-1 mipLodBias "][..], &held].concat());
    let retro = of("retro");
    assert_eq!(retro.saw("texture"), "1.0 0.4");
    same(&retro, &["font", "target", "depth", "immutable", "shadow"]);
    assert_eq!(retro.overrides(), ["O-1 magFilter ", "O-2 magFilter attachment"]);
    for name in ["smooth-depth", "safe"] {
        let smooth = of(name);
        assert_eq!([smooth.saw("depth"), smooth.saw("immutable")].map(|saw| &saw[..3]), ["0.5"; 2], "{name}");
        same(&smooth, &["texture", "font", "target"]);
        assert_eq!(smooth.left(), [""; 0], "{name}");
        assert!(smooth.overrides().is_empty(), "{:?}", smooth.overrides());
    }
}
