//! What rules set.

use super::*;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[("set/keys", set_keys), ("set/compare", set_compare)])
}

/// One wish for one sampler.
pub(crate) struct Wish {
    pub(crate) set: &'static str,
    sampler: SamplerDesc,
    /// What it comes to.
    legal: SamplerDesc,
    /// Row of the catalogue, member, before and after.
    changes: &'static [&'static str],
}

/// A row: what is set, the sampler, what it comes to, and the changes.
macro_rules! wishes {
    ($($set:literal, $sampler:expr => $legal:expr, [$($change:literal),*];)*) => {
        vec![$(Wish { set: $set, sampler: $sampler.clone(), legal: $legal, changes: &[$($change),*] }),*]
    };
}

pub(crate) fn wishes() -> Vec<Wish> {
    let (linear, nearest, tri) = (SamplerDesc::linear(), SamplerDesc::nearest(), SamplerDesc::trilinear());
    let modes = |address| SamplerDesc { address, ..SamplerDesc::nearest() };
    let bias = |lod_bias| SamplerDesc { lod_bias, ..SamplerDesc::trilinear() };
    let lod = |least, most| SamplerDesc::trilinear().lod(least, most);
    let (half, rgba) = (BorderValue::Float([0.5; 4]), F::R8G8B8A8_UNORM);
    wishes! {
        "mag_filter = \"nearest\"", linear => SamplerDesc { mag_filter: vk::Filter::NEAREST, ..linear.clone() },
            ["O-1 magFilter VK_FILTER_LINEAR -> VK_FILTER_NEAREST"];
        "min_filter = \"linear\"", nearest => SamplerDesc { min_filter: vk::Filter::LINEAR, ..nearest.clone() },
            ["O-1 minFilter VK_FILTER_NEAREST -> VK_FILTER_LINEAR"];
        // No driver here has it: what is not legal comes to what is.
        "mag_filter = \"cubic\"", nearest => SamplerDesc { mag_filter: vk::Filter::LINEAR, ..nearest.clone() },
            ["O-1 magFilter VK_FILTER_NEAREST -> VK_FILTER_CUBIC_EXT", "A-1 magFilter VK_FILTER_CUBIC_EXT -> VK_FILTER_LINEAR"];
        "mipmap_mode = \"linear\"", nearest =>
            SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..nearest.clone() },
            ["O-1 mipmapMode VK_SAMPLER_MIPMAP_MODE_NEAREST -> VK_SAMPLER_MIPMAP_MODE_LINEAR"];
        "address_mode = \"repeat\"", nearest => nearest.clone().address(M::REPEAT),
            ["O-1 addressModeU VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_REPEAT",
             "O-1 addressModeV VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_REPEAT",
             "O-1 addressModeW VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_REPEAT"];
        "address_mode = { v = \"mirrored_repeat\" }", nearest =>
            modes([M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT, M::CLAMP_TO_EDGE]),
            ["O-1 addressModeV VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT"];
        "address_mode = { u = \"mirror_clamp_to_edge\", w = \"repeat\" }", nearest =>
            modes([M::MIRROR_CLAMP_TO_EDGE, M::CLAMP_TO_EDGE, M::REPEAT]),
            ["O-1 addressModeU VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE",
             "O-1 addressModeW VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_REPEAT"];
        "address_mode = \"clamp_to_border\", border = \"opaque_white\"", linear =>
            linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
            ["O-1 addressModeU VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER",
             "O-1 addressModeV VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER",
             "O-1 addressModeW VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE -> VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER",
             "O-1 borderColor VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK -> VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE"];
        // A custom colour goes with its structure.
        "border = \"opaque_black\"", linear.clone().custom_border(half, rgba) =>
            linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_BLACK),
            ["O-1 borderColor VK_BORDER_COLOR_FLOAT_CUSTOM_EXT -> VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK"];
        "mip_lod_bias = { add = 0.75 }", bias(0.5) => bias(1.25), ["O-1 mipLodBias 0.5 -> 1.25"];
        "mip_lod_bias = { set = -1 }", bias(2.5) => bias(-1.0), ["O-1 mipLodBias 2.5 -> -1.0"];
        "mip_lod_bias = 1.5", tri => bias(1.5), ["O-1 mipLodBias 0.0 -> 1.5"];
        // Mesa's software driver has a limit of 16; beyond it the wish is clamped like anybody's.
        "mip_lod_bias = { add = 1000.0 }", bias(0.25) => bias(16.0),
            ["O-1 mipLodBias 0.25 -> 1000.25", "A-2 mipLodBias 1000.25 -> 16.0"];
        "min_lod = 1", lod(0.0, 4.0) => lod(1.0, 4.0), ["O-1 minLod 0.0 -> 1.0"];
        "max_lod = 0.5", lod(0.0, 5.0) => lod(0.0, 0.5), ["O-1 maxLod 5.0 -> 0.5"];
        // Above what the application allows: the two ends are put in order again.
        "min_lod = 2.0", lod(0.0, 1.0) => lod(1.0, 2.0),
            ["O-1 minLod 0.0 -> 2.0", "A-4 minLod 2.0 -> 1.0", "A-4 maxLod 1.0 -> 2.0"];
        "max_anisotropy = 1", lod(0.0, 6.0).anisotropy(4.0) => lod(0.0, 6.0), ["O-1 anisotropyEnable true -> false"];
    }
}

/// Every key of `set` does what it says, and comes to something legal.
fn set_keys() -> Outcome {
    let wishes = wishes();
    let rules: Vec<String> = wishes
        .iter()
        .enumerate()
        .map(|(index, wish)| format!("[[rule]]\nwhen = {{ name = \"wish {index}\" }}\nset = {{ {} }}\n", wish.set))
        .collect();
    let folder = Folder::new();
    let ((), judged) = silent(with_rules(&folder, &rules.concat()), "wishes", |context| {
        skip_if(
            (!context.device_name().contains("llvmpipe")).then(|| "limits are those of Mesa's software driver".into()),
        )?;
        skip_if(context.missing(&[Capability::CustomBorderColor, Capability::SamplerMirrorClampToEdge]))?;
        let texture = Texture::new(context, Scene::RGBA8)?;
        for (index, wish) in wishes.iter().enumerate() {
            let sampler = wish.sampler.clone().named(&format!("wish {index}")).create(context);
            texture.assert_reads(&sampler, &wish.legal, wish.set);
        }
        Ok(())
    })?;
    assert_no_problem(&judged);
    let records: Vec<_> = judged.trace.events("pair").collect();
    assert_eq!(records.len(), wishes.len(), "{records:#?}");
    for (record, wish) in records.iter().zip(&wishes) {
        let told = changes(record).into_iter().map(|c| format!("{} {} {} -> {}", c.catalog, c.field, c.from, c.to));
        assert_eq!(told.collect::<Vec<_>>(), wish.changes, "{}: {record:#}", wish.set);
        assert!(record["variant"].is_string(), "{record:#}");
    }
    Ok(())
}

/// `compare` changes samplers that compare, once its guard is off; and never makes one compare.
fn set_compare() -> Outcome {
    let folder = Folder::new();
    let text = "
        [[rule]]
        when = { name = \"greater\" }
        set = { compare = \"greater\" }
        guards_off = [\"compare\"]
        [[rule]]
        when = { name = \"guarded\" }
        set = { compare = \"greater\" }
        [[rule]]
        when = { name = \"off\" }
        set = { compare = \"off\" }
        guards_off = [\"compare\"]
        [[rule]]
        when = { name = \"plain\" }
        set = { compare = \"greater\" }
        guards_off = [\"compare\"]
    ";
    let ((), judged) = silent(with_rules(&folder, text), "comparison under rules", |context| {
        let texture = Texture::new(context, Scene::D32)?;
        let less = SamplerDesc::nearest().compare(vk::CompareOp::LESS);
        for (name, sampler, legal) in [
            ("greater", &less, SamplerDesc::nearest().compare(vk::CompareOp::GREATER)),
            ("guarded", &less, less.clone()),
            ("off", &less, SamplerDesc::nearest()),
            ("plain", &SamplerDesc::nearest(), SamplerDesc::nearest()),
        ] {
            texture.assert_reads(&sampler.clone().named(name).create(context), &legal, name);
        }
        Ok(())
    })?;
    assert_no_problem(&judged);
    let held: Vec<String> = judged.changes("pair").iter().map(|c| format!("{} {}", c.catalog, c.field)).collect();
    assert_eq!(held, ["O-1 compareOp", "O-2 compareOp", "O-1 compareEnable"]);
    Ok(())
}
