//! What settings ask for beyond legality: added features, overrides by rules, simulated devices, GL's clamp, strict borders.

use crate::run::{self, Folder, Judged, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::case::{assert_reported, reported};
use samplin_testkit::{
    BorderValue, Capability, Context, ContextBuilder, Image, ImageDesc, Pair, SamplerDesc, Texture, ViewDesc, sample,
};
use serde_json::json;

const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);
const UINT: Scene = Scene::colour(vk::Format::R32_UINT);

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("augment/custom-border", augment_custom_border),
        ("augment/border-swizzle", augment_swizzle),
        ("augment/mirror-clamp", augment_mirror_clamp),
        ("augment/minmax", augment_minmax),
        ("augment/cube-array", augment_cube_array),
        ("rules/bias", rule_bias),
        ("rules/anisotropy-within-the-limit", rule_anisotropy),
        ("rules/guarded", rule_guarded),
        ("rules/what-does-not-match", rule_unmatched),
        ("simulated/format", simulated_format),
        ("simulated/limits", simulated_limits),
        ("gl-clamp/nearest", gl_clamp_nearest),
        ("border/strict", border_strict),
        ("depth-linear/compare", depth_linear),
    ])
}

/// Samples a scene and checks that the pixels are those of `wanted`.
fn check(context: &Context, scene: Scene, sampler: &SamplerDesc, wanted: &SamplerDesc) -> Outcome {
    Texture::new(context, scene)?.assert_reads(&sampler.create(context), wanted, "with samplin");
    Ok(())
}

// --- augment --------------------------------------------------------------------------------------------------------

/// What the application did not enable: illegal without samplin (`vuid`), legal and unchanged with it, because samplin enables
/// what is called `added`.
fn augmented(lacking: &[Capability], scene: Scene, sampler: &SamplerDesc, vuid: Option<&str>, added: &str) -> Outcome {
    let builder = || lacking.iter().fold(Context::builder(), |builder, capability| builder.without(*capability));
    let ((), errors) = without_layer(builder().refuse_errors(), |context| {
        skip_if(
            lacking
                .iter()
                .find(|capability| !context.offers(**capability))
                .map(|capability| format!("{} has no {}", context.device_name(), capability.name())),
        )?;
        let _ = sampler.try_create(context);
        Ok(())
    })?;
    let expected: Vec<&str> = vuid.into_iter().collect();
    assert_reported(&errors, &expected, "without samplin");
    let ((), judged) = silent(builder(), "with samplin", |context| check(context, scene, sampler, sampler))?;
    judged.assert_untouched("what was made legal by enabling it");
    let list = &judged.trace.first("device")["augmented"];
    assert!(list.as_array().is_some_and(|list| list.contains(&json!(added))), "{list}");
    Ok(())
}

/// The view is legal with the feature and without anything else.
fn augment_cube_array() -> Outcome {
    let builder = || Context::builder().without(Capability::ImageCubeArray);
    let look = |context: &Context| {
        skip_if((!context.offers(Capability::ImageCubeArray)).then(|| "the device has no arrays of cubes".into()))?;
        let image = Image::new(context, &ImageDesc::cube(vk::Format::R8G8B8A8_UNORM, 4).layers(12)).map_err(Skip)?;
        assert_eq!(image.view(&ViewDesc::default()).view_type(), vk::ImageViewType::CUBE_ARRAY);
        Ok(())
    };
    reported(builder().record_only(), &["VUID-VkImageViewCreateInfo-viewType-01004"], look)?;
    let ((), judged) = silent(builder(), "with samplin", look)?;
    assert_eq!(judged.trace.first("device")["augmented"], json!(["imageCubeArray"]));
    let ((), judged) = with_layer(builder().setting("augment", "off").record_only(), look)?;
    assert_reported(&judged.errors, &["VUID-VkImageViewCreateInfo-viewType-01004"], "augment=off");
    Ok(())
}

fn augment_custom_border() -> Outcome {
    augmented(
        &[Capability::CustomBorderColor, Capability::CustomBorderColorWithoutFormat],
        RGBA8,
        &SamplerDesc::nearest().custom_border(BorderValue::Float([0.2, 0.4, 0.6, 0.8]), vk::Format::R8G8B8A8_UNORM),
        Some("customBorderColors-04085|addressModeU-01078|ExtensionNotEnabled|pNext-pNext"),
        "VK_EXT_custom_border_color",
    )
}

fn augment_swizzle() -> Outcome {
    let components = vk::ComponentMapping { r: vk::ComponentSwizzle::A, ..Default::default() };
    augmented(
        &[Capability::BorderColorSwizzle, Capability::BorderColorSwizzleFromImage],
        Scene { components, ..RGBA8 },
        &SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_BLACK),
        // No valid usage id: the texels are undefined.
        None,
        "VK_EXT_border_color_swizzle",
    )
}

fn augment_mirror_clamp() -> Outcome {
    augmented(
        &[Capability::SamplerMirrorClampToEdge],
        RGBA8,
        &SamplerDesc::linear().address(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE),
        Some("addressModeU-01079"),
        "samplerMirrorClampToEdge",
    )
}

fn augment_minmax() -> Outcome {
    augmented(
        &[Capability::SamplerFilterMinmax],
        Scene::colour(vk::Format::R32_SFLOAT),
        &SamplerDesc::linear().reduction(vk::SamplerReductionMode::MIN),
        Some("pNext-06726"),
        "samplerFilterMinmax",
    )
}

// --- rules ----------------------------------------------------------------------------------------------------------

/// Runs `body` with a rules file.
fn with_rules(text: &str, body: impl FnOnce(&Context) -> Outcome) -> Result<Judged, Skip> {
    let folder = Folder::new();
    let ((), judged) = silent(Context::builder().rules(&folder, text), "with rules", body)?;
    let problems: Vec<_> = judged.trace.events("settings").collect();
    assert!(problems.is_empty(), "{problems:#?}");
    Ok(judged)
}

/// A bias for one sampler by its name; the other keeps its own.
fn rule_bias() -> Outcome {
    let text =
        "[[rule]]\nname = \"blur\"\nwhen = { mag_filter = \"linear\" }\nset = { mip_lod_bias = { add = 0.75 } }\n";
    let judged = with_rules(text, |context| {
        let biased = |desc: SamplerDesc| SamplerDesc { lod_bias: desc.lod_bias + 0.75, ..desc };
        let given = SamplerDesc { lod_bias: 0.5, ..SamplerDesc::trilinear() };
        check(context, RGBA8, &given, &biased(given.clone()))?;
        // Not a half, which drivers round either way.
        let other = SamplerDesc { lod_bias: 0.25, ..SamplerDesc::nearest() };
        check(context, RGBA8, &other, &other)
    })?;
    let changes = judged.changes("pair");
    assert_eq!(changes.len(), 1, "{changes:#?}");
    let change = &changes[0];
    assert_eq!((&*change.rule, &*change.field, &*change.from, &*change.to), ("override", "mipLodBias", "0.5", "1.25"));
    assert_eq!(judged.summary()["writes"]["update"], json!({"seen": 2, "rewritten": 1}));
    Ok(())
}

/// A wish beyond the limit ends at the limit, and below lies no illegal sampler.
fn rule_anisotropy() -> Outcome {
    let judged = with_rules("[[rule]]\nset = { max_anisotropy = 64 }\n", |context| {
        skip_if(context.missing(&[Capability::SamplerAnisotropy]))?;
        let (_image, view) = RGBA8.shown(context)?;
        let sampler = SamplerDesc::linear().create(context);
        sample(context, Pair::new(&view, &sampler), &RGBA8.points(false));
        Ok(())
    })?;
    let changes = judged.changes("pair");
    assert!(changes.iter().any(|change| change.rule == "override" && change.field == "maxAnisotropy"), "{changes:#?}");
    assert_eq!(judged.summary()["variants"]["created"], 1);
    Ok(())
}

/// Integers and views with one level are left alone.
fn rule_guarded() -> Outcome {
    let judged = with_rules("[[rule]]\nset = { max_anisotropy = 8, mip_lod_bias = 2.0 }\n", |context| {
        let nearest = SamplerDesc::nearest();
        check(context, UINT, &nearest, &nearest)?;
        check(context, RGBA8.flat(), &SamplerDesc::linear(), &SamplerDesc::linear())
    })?;
    assert_eq!(judged.summary()["variants"]["created"], 0);
    assert_eq!(judged.summary()["writes"]["update"]["rewritten"], 0);
    Ok(())
}

/// Rules for others do nothing.
fn rule_unmatched() -> Outcome {
    let text = "[[rule]]\nwhen = { exe = \"another-program\" }\nset = { mag_filter = \"nearest\" }\n\
                [[rule]]\nwhen = { format = \"BC7*\" }\nset = { mag_filter = \"nearest\" }\n\
                [[rule]]\nwhen = { app = \"another application\" }\nset = { mip_lod_bias = 1 }\n";
    let judged = with_rules(text, |context| check(context, RGBA8, &SamplerDesc::linear(), &SamplerDesc::linear()))?;
    judged.assert_untouched("what no rule matches");
    Ok(())
}

// --- simulated devices ----------------------------------------------------------------------------------------------

/// Runs `body` on a device reduced to what a capability file says.
fn simulated(file: &serde_json::Value, body: impl FnOnce(&Context) -> Outcome) -> Result<Judged, Skip> {
    let folder = Folder::new();
    let builder = Context::builder().file("device", folder.write("device.json", file.to_string()));
    let ((), judged) = silent(builder.setting("device_visible", "off"), "on a simulated device", body)?;
    assert_eq!(judged.trace.first("device")["simulated"], file["name"]);
    Ok(judged)
}

/// A colour format that the simulated device cannot filter, next to one that it can.
fn simulated_format() -> Outcome {
    let sampled = "VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT";
    let linear = "VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT";
    let file = json!({
        "schema": "device-caps/1",
        "name": "a device that filters floats only",
        "formats": {
            "VK_FORMAT_R8G8B8A8_UNORM": {"optimalTilingFeatures": [sampled], "linearTilingFeatures": [sampled, linear]},
            "VK_FORMAT_R32_SFLOAT": {"optimalTilingFeatures": [sampled, linear]},
        },
    });
    let judged = simulated(&file, |context| {
        check(context, RGBA8, &SamplerDesc::linear(), &SamplerDesc::nearest())?;
        check(context, RGBA8.linear_tiling(), &SamplerDesc::linear(), &SamplerDesc::linear())?;
        let float = Scene::colour(vk::Format::R32_SFLOAT);
        check(context, float, &SamplerDesc::linear(), &SamplerDesc::linear())
    })?;
    let changes = judged.changes("pair");
    assert_eq!(changes.iter().map(|change| &*change.catalog).collect::<Vec<_>>(), ["B-1", "B-1"]);
    assert!(changes[0].because.contains("optimal tiling"), "{}", changes[0].because);
    Ok(())
}

fn simulated_limits() -> Outcome {
    let file = json!({
        "schema": "device-caps/1",
        "name": "a small device",
        "effective": {"mirrorClampToEdge": false},
        "limits": {"maxSamplerLodBias": 2.0},
        "formats": {"VK_FORMAT_R8G8B8A8_UNORM": {"optimalTilingFeatures": [
            "VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT", "VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT"]}},
    });
    let judged = simulated(&file, |context| {
        let given = SamplerDesc { lod_bias: 4.0, ..SamplerDesc::trilinear() };
        check(context, RGBA8, &given, &SamplerDesc { lod_bias: 2.0, ..given.clone() })?;
        let mirror = SamplerDesc::nearest().address(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE);
        check(context, RGBA8, &mirror, &mirror.clone().address(vk::SamplerAddressMode::MIRRORED_REPEAT))
    })?;
    let rows: Vec<String> = judged.changes("sampler").into_iter().map(|change| change.catalog).collect();
    assert_eq!(rows, ["A-2", "A-21", "A-21", "A-21"]);
    Ok(())
}

// --- others ---------------------------------------------------------------------------------------------------------

/// `GL_CLAMP` with NEAREST reads edge texels only.
fn gl_clamp_nearest() -> Outcome {
    let sampler = SamplerDesc::nearest().address(vk::SamplerAddressMode::from_raw(0x2900));
    let builder = || Context::builder().extension(c"VK_SAMPLIN_gl_address_modes");
    let ((), errors) = without_layer(builder().refuse_errors(), |context| {
        let _ = sampler.try_create(context);
        Ok(())
    })?;
    assert_reported(
        &errors,
        &["addressModeU-parameter", "addressModeV-parameter", "addressModeW-parameter"],
        "without samplin",
    );
    let edge = SamplerDesc::nearest();
    let ((), judged) = silent(builder(), "with samplin", |context| check(context, RGBA8, &sampler, &edge))?;
    let changes = judged.changes("sampler");
    assert_eq!(changes.len(), 3, "{changes:#?}");
    assert!(changes.iter().all(|change| change.rule == "gl-clamp"), "{changes:#?}");
    Ok(())
}

/// `border=strict` takes the specification by the letter: the kind of a border colour matters even if no texel shows it.
fn border_strict() -> Outcome {
    let sampler = SamplerDesc::nearest();
    let run = |builder: ContextBuilder| with_layer(builder, |context| check(context, UINT, &sampler, &sampler));
    let ((), texels) = run(Context::builder().setting("border", "texels"))?;
    texels.assert_silent("border=texels");
    texels.assert_untouched("border=texels");
    let ((), strict) = run(Context::builder().setting("border", "strict"))?;
    strict.assert_silent("border=strict");
    let rows: Vec<String> = strict.changes("pair").into_iter().map(|change| change.catalog).collect();
    assert_eq!(rows, ["B-51"]);
    Ok(())
}

/// `depth_linear=compare` keeps LINEAR on depth by a comparison that always holds. What a plain lookup then gives is not defined,
/// so nothing is executed.
fn depth_linear() -> Outcome {
    let scene = Scene::depth(vk::Format::D32_SFLOAT);
    let builder = Context::builder().record_only().setting("depth_linear", "compare");
    let ((), judged) = silent(builder, "with samplin", |context| {
        if scene.features(context).contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR) {
            return Err(Skip(format!("{} filters depth", context.device_name())));
        }
        let (_image, view) = scene.shown(context)?;
        let sampler = SamplerDesc::linear().create(context);
        sample(context, Pair::new(&view, &sampler), &scene.points(false));
        Ok(())
    })?;
    let changes: Vec<_> = judged.changes("pair").into_iter().map(|change| (change.rule, change.field)).collect();
    let wanted = [("depth-compare", "compareEnable"), ("depth-compare", "compareOp")];
    assert_eq!(changes, wanted.map(|(rule, field)| (rule.to_owned(), field.to_owned())));
    Ok(())
}
