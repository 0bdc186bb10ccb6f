//! What the passes make of modules breaks no rule of the device that it is for, and what breaks none stays as it is; by the checker, which
//! reads the words by itself.

use samplin_checker::{ModuleDevice, module_violations};
use samplin_spirv::passes::{ModuleOptions, Outcome, for_module};
use samplin_spirv::scan::scan;
use samplin_spirv::{atomic_counters, image_access};

use crate::corpus::{glsl, shaders};
use crate::passes::everything;

/// Devices of every combination of what the rules depend on.
fn devices() -> impl Iterator<Item = ModuleDevice> {
    (0..32_u32).map(|bits| {
        let has = |bit: u32| bits >> bit & 1 != 0;
        ModuleDevice {
            sample_rate_shading: has(0),
            max_sample_mask_words: 1 + (bits >> 1 & 1),
            without_format: [has(2), has(3)],
            format_feature_flags2: has(4),
        }
    })
}

/// The passes as a device asks for them, with counters allowed.
fn rewritten(words: &[u32], device: &ModuleDevice) -> Outcome {
    let [read, write] = device.without_format;
    let images = image_access::Options { read, write, may_declare: device.format_feature_flags2, relax: false };
    let options = ModuleOptions {
        images: Some(images),
        counters: Some(atomic_counters::Options {
            target: atomic_counters::Target::Auto,
            draw_parameters: true,
            storage_buffers: 0,
        }),
        without_samples: !device.sample_rate_shading,
        mask_words: device.max_sample_mask_words,
        ..ModuleOptions::default()
    };
    for_module(words, scan(words), &options).expect("an outcome")
}

/// Modules that break rules of some device: capabilities, masks, counters, images without a format.
fn breaking() -> Vec<Vec<u32>> {
    let head = "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\n";
    let fragment = |text: &str| glsl("frag", "vulkan1.1", &format!("{head}layout(location = 0) out vec4 o;\n{text}"));
    let mut mask = fragment("void main() { gl_SampleMask[0] = 1; o = vec4(1); }");
    let masked = mask.clone();
    let mut at = 5;
    while at < mask.len() {
        // The one constant of value 1 that is no float is the length of the mask.
        if mask[at] == 4 << 16 | 43 && mask[at + 3] == 1 {
            mask[at + 3] = 2;
        }
        at += (mask[at] >> 16) as usize;
    }
    assert_ne!(mask, masked);
    let mut unfounded = masked.clone();
    unfounded.splice(5..5, [2 << 16 | 17, 55, 2 << 16 | 17, 56]);
    vec![
        everything(),
        mask,
        unfounded,
        fragment("void main() { o = vec4(gl_SampleID); }"),
        fragment("layout(location = 0) sample in vec4 i;\nvoid main() { o = i; }"),
        fragment("layout(location = 0) in vec4 i;\nvoid main() { o = interpolateAtSample(i, 0); }"),
        fragment(
            "layout(binding = 0) writeonly uniform image2D a;\nvoid main() { imageStore(a, ivec2(0), vec4(1)); o = vec4(0); }",
        ),
        fragment(
            "layout(binding = 0) uniform image2D a[2];\nvoid main() { imageStore(a[1], ivec2(0), vec4(1)); o = vec4(0); }",
        ),
        fragment("layout(binding = 0) uniform image2D a;\nvoid main() { o = imageLoad(a, ivec2(0)); }"),
    ]
}

#[test]
fn what_is_rewritten_breaks_no_rule() {
    let mut found = std::collections::BTreeSet::new();
    for words in breaking() {
        for device in devices() {
            let before = module_violations(&words, &device);
            let outcome = rewritten(&words, &device);
            let after = module_violations(outcome.words.as_deref().unwrap_or(&words), &device);
            if outcome.refusals.is_empty() {
                assert_eq!(after, [], "{device:?}: before {before:?}, {:?}", outcome.changes);
                found.extend(before.iter().map(|(id, source)| (*id, *source, outcome.words.is_some())));
            }
            // What is left is named, and is all that is still wrong.
            assert!(after.iter().all(|one| before.contains(one)), "{device:?}: {before:?} {after:?}");
            assert!(
                before.is_empty() || outcome.words.is_some() || !outcome.refusals.is_empty(),
                "{device:?}: {before:?}"
            );
        }
    }
    let ids: Vec<&str> = found.iter().map(|(id, ..)| *id).collect();
    for id in ["H-3", "J-2", "J-4", "K-1"] {
        assert!(ids.contains(&id), "{id} is broken by none: {found:?}");
    }
    assert!(found.iter().all(|(.., is_rewritten)| *is_rewritten), "{found:?}");
}

#[test]
fn what_breaks_no_rule_stays_as_it_is() {
    let plain = ModuleDevice {
        sample_rate_shading: true,
        max_sample_mask_words: 2,
        without_format: [true; 2],
        format_feature_flags2: true,
    };
    let mut legal = 0;
    let others = shaders().iter().map(|shader| shader.words.clone());
    for words in breaking().into_iter().skip(1).chain(others) {
        for device in devices().chain([plain]) {
            if module_violations(&words, &device).is_empty() {
                let outcome = rewritten(&words, &device);
                assert_eq!((outcome.words, outcome.changes), (None, Vec::new()), "{device:?}");
                legal += 1;
            }
        }
    }
    assert!(legal > 1000, "{legal}");
}
