//! LOD biases that follow the scale at which a program renders.

use super::*;
use samplin_testkit::swapchain::Swapchain;
use samplin_testkit::upscaled::ScenePass;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("scale/output", output),
        ("scale/constant", constant),
        ("scale/already-biased", already_biased),
        ("scale/no-swapchain", no_swapchain),
        ("scale/auto", || auto(&SCALED_UP)),
        ("scale/auto-of-few-draws", || auto(&Auto { draws: 63, bias: 0.0, ..SCALED_UP })),
        ("scale/auto-of-squares", || auto(&Auto { extent: [540, 540], bias: 0.0, ..SCALED_UP })),
        ("scale/auto-of-full-size", || auto(&Auto { extent: [960, 540], bias: 0.0, ..SCALED_UP })),
        ("scale/auto-of-few-frames", || auto(&Auto { frames: 59, bias: 0.0, ..SCALED_UP })),
    ])
}

/// That a sampler reads as one would that has this bias.
fn assert_biased(context: &Context, desc: &SamplerDesc, bias: f32) -> Result<(), Skip> {
    assert_reads(context, &desc.clone().create(context), bias)
}

fn assert_reads(context: &Context, sampler: &Sampler<'_>, bias: f32) -> Result<(), Skip> {
    let legal = SamplerDesc { lod_bias: bias, ..sampler.desc().clone() };
    Texture::new(context, Scene::RGBA8)?.assert_reads(sampler, &legal, "biased");
    Ok(())
}

/// Catalogue row, value before and value after of each change of a bias.
fn biases(judged: &Judged) -> Vec<(String, String, String)> {
    let all = judged.changes("pair").into_iter().filter(|change| change.field == "mipLodBias");
    all.map(|change| (change.catalog, change.from, change.to)).collect()
}

fn row(catalog: &str, from: &str, to: &str) -> (String, String, String) {
    (catalog.to_owned(), from.to_owned(), to.to_owned())
}

/// The bias follows the newest swapchain.
fn output() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nname = \"sharp\"\nset = { mip_lod_bias = { output = \"1920x1080\" } }\n";
    let ((), judged) = silent(with_rules(&folder, text).windows(), "a scale by the output", |context| {
        let sampler = SamplerDesc::trilinear().create(context);
        // The last of them is as large as the output.
        for (extent, bias) in [([960, 540], -1.0), ([480, 270], -2.0), ([1920, 1080], 0.0)] {
            let _chain = Swapchain::new(context, extent)?;
            assert_reads(context, &sampler, bias)?;
        }
        Ok(())
    })?;
    assert_no_problem(&judged);
    assert_eq!(biases(&judged), [row("O-1", "0.0", "-1.0"), row("O-1", "0.0", "-2.0")]);
    let told: Vec<_> = judged.trace.events("scale").collect();
    let wanted = [([960, 540], -1.0), ([480, 270], -2.0), ([1920, 1080], 0.0)];
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (record, (rendered, bias)) in told.iter().zip(wanted) {
        assert_eq!((&record["rule"], &record["output"]), (&"sharp".into(), &serde_json::json!([1920, 1080])));
        assert_eq!(record["rendered"], serde_json::json!(rendered));
        assert_eq!(record["bias"].as_f64(), Some(bias), "{record:#}");
    }
    Ok(())
}

/// What a program renders in each frame, and shows in a swapchain of 960 × 540.
struct Auto {
    extent: [u32; 2],
    draws: u32,
    frames: u32,
    /// That of the rule then.
    bias: f32,
}

/// Half the height.
const SCALED_UP: Auto = Auto { extent: [480, 270], draws: 64, frames: 60, bias: -1.0 };

/// The bias follows a scene that is scaled up, where it is in 60 frames, and nothing else.
fn auto(how: &Auto) -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nname = \"sharp\"\nset = { mip_lod_bias = { scale = \"auto\" } }\n";
    let ((), judged) = silent(with_rules(&folder, text).windows(), "a scale that is observed", |context| {
        let sampler = SamplerDesc::trilinear().create(context);
        let chain = Swapchain::new(context, [960, 540])?;
        let scene = ScenePass::new(context, how.extent).map_err(Skip)?;
        assert_reads(context, &sampler, 0.0)?;
        for _ in 0..how.frames {
            scene.draw(how.draws);
            chain.show(scene.picture());
        }
        assert_reads(context, &sampler, how.bias)
    })?;
    assert_no_problem(&judged);
    let told: Vec<_> = judged.trace.events("scale").collect();
    if how.bias == 0.0 {
        assert!(told.is_empty() && biases(&judged).is_empty(), "{told:#?}");
        return Ok(());
    }
    assert_eq!(biases(&judged), [row("O-1", "0.0", "-1.0")]);
    assert_eq!(told.len(), 1, "{told:#?}");
    let of = ["output", "rendered", "scale", "bias", "observed"].map(|name| told[0][name].clone());
    let wanted = serde_json::json!([[960, 540], [480, 270], 0.5, -1.0, { "frames": 60, "draws": 64 }]);
    assert_eq!(serde_json::json!(of), wanted);
    Ok(())
}

/// A constant scale needs no swapchain.
fn constant() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nset = { mip_lod_bias = { scale = 0.25, strength = 0.5, offset = -0.5 } }\n";
    let ((), judged) = silent(with_rules(&folder, text), "a constant scale", |context| {
        assert_biased(context, &SamplerDesc { lod_bias: 0.25, ..SamplerDesc::trilinear() }, -1.25)
    })?;
    assert_eq!(biases(&judged), [row("O-1", "0.25", "-1.25")]);
    let told: Vec<_> = judged.trace.events("scale").map(|record| record["bias"].as_f64()).collect();
    assert_eq!(told, [Some(-1.5)]);
    Ok(())
}

/// A program that biases by itself is left alone, but for the user's own biases and where the guard is off.
fn already_biased() -> Outcome {
    let own = SamplerDesc { lod_bias: -0.5, ..SamplerDesc::trilinear() };
    let scale = "set = { mip_lod_bias = { scale = 0.5 } }\n";
    let of_user = "[[rule]]\nset = { mip_lod_bias = { add = -0.5 } }\n";
    let cases = [
        (format!("[[rule]]\n{scale}"), &own, -0.5, vec![row("O-2", "-1.5", "-0.5")]),
        (format!("[[rule]]\n{scale}guards_off = [\"already-biased\"]\n"), &own, -1.5, vec![row("O-1", "-0.5", "-1.5")]),
        (
            format!("{of_user}[[rule]]\n{scale}"),
            &SamplerDesc::trilinear(),
            -1.5,
            vec![row("O-1", "0.0", "-0.5"), row("O-1", "-0.5", "-1.5")],
        ),
        (of_user.to_owned(), &own, -1.0, vec![row("O-1", "-0.5", "-1.0")]),
    ];
    for (text, desc, bias, wanted) in cases {
        let folder = Folder::new();
        let ((), judged) =
            silent(with_rules(&folder, &text), "a bias of its own", |context| assert_biased(context, desc, bias))?;
        assert_eq!(biases(&judged), wanted, "{text}");
    }
    Ok(())
}

/// Without a swapchain it is not known what is rendered, so nothing changes.
fn no_swapchain() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nset = { mip_lod_bias = { output = \"1920x1080\" } }\n";
    let ((), judged) = silent(with_rules(&folder, text).windows(), "nothing is rendered", |context| {
        assert_biased(context, &SamplerDesc::trilinear(), 0.0)
    })?;
    assert_eq!((biases(&judged), judged.trace.events("scale").count()), (Vec::new(), 0));
    Ok(())
}
