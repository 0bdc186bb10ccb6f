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
    /// (catalogue row, member, before, after)
    changes: Vec<(&'static str, &'static str, String, String)>,
}

fn change(
    catalog: &'static str,
    field: &'static str,
    from: impl ToString,
    to: impl ToString,
) -> (&'static str, &'static str, String, String) {
    (catalog, field, from.to_string(), to.to_string())
}

pub(crate) fn wishes() -> Vec<Wish> {
    let (linear, nearest, tri) = (SamplerDesc::linear(), SamplerDesc::nearest(), SamplerDesc::trilinear());
    let filter =
        |catalog, field, from, to| change(catalog, field, format!("VK_FILTER_{from}"), format!("VK_FILTER_{to}"));
    let mode = |field, from, to| {
        change("O-1", field, format!("VK_SAMPLER_ADDRESS_MODE_{from}"), format!("VK_SAMPLER_ADDRESS_MODE_{to}"))
    };
    let modes = |sampler: &SamplerDesc, address| SamplerDesc { address, ..sampler.clone() };
    vec![
        Wish {
            set: "mag_filter = \"nearest\"",
            sampler: linear.clone(),
            legal: SamplerDesc { mag_filter: vk::Filter::NEAREST, ..linear.clone() },
            changes: vec![filter("O-1", "magFilter", "LINEAR", "NEAREST")],
        },
        Wish {
            set: "min_filter = \"linear\"",
            sampler: nearest.clone(),
            legal: SamplerDesc { min_filter: vk::Filter::LINEAR, ..nearest.clone() },
            changes: vec![filter("O-1", "minFilter", "NEAREST", "LINEAR")],
        },
        Wish {
            // No driver here has it: what is not legal comes to what is.
            set: "mag_filter = \"cubic\"",
            sampler: nearest.clone(),
            legal: SamplerDesc { mag_filter: vk::Filter::LINEAR, ..nearest.clone() },
            changes: vec![
                filter("O-1", "magFilter", "NEAREST", "CUBIC_EXT"),
                filter("A-1", "magFilter", "CUBIC_EXT", "LINEAR"),
            ],
        },
        Wish {
            set: "mipmap_mode = \"linear\"",
            sampler: nearest.clone(),
            legal: SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..nearest.clone() },
            changes: vec![change(
                "O-1",
                "mipmapMode",
                "VK_SAMPLER_MIPMAP_MODE_NEAREST",
                "VK_SAMPLER_MIPMAP_MODE_LINEAR",
            )],
        },
        Wish {
            set: "address_mode = \"repeat\"",
            sampler: nearest.clone(),
            legal: nearest.clone().address(M::REPEAT),
            changes: ["addressModeU", "addressModeV", "addressModeW"]
                .map(|field| mode(field, "CLAMP_TO_EDGE", "REPEAT"))
                .to_vec(),
        },
        Wish {
            set: "address_mode = { v = \"mirrored_repeat\" }",
            sampler: nearest.clone(),
            legal: modes(&nearest, [M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT, M::CLAMP_TO_EDGE]),
            changes: vec![mode("addressModeV", "CLAMP_TO_EDGE", "MIRRORED_REPEAT")],
        },
        Wish {
            set: "address_mode = { u = \"mirror_clamp_to_edge\", w = \"repeat\" }",
            sampler: nearest.clone(),
            legal: modes(&nearest, [M::MIRROR_CLAMP_TO_EDGE, M::CLAMP_TO_EDGE, M::REPEAT]),
            changes: vec![
                mode("addressModeU", "CLAMP_TO_EDGE", "MIRROR_CLAMP_TO_EDGE"),
                mode("addressModeW", "CLAMP_TO_EDGE", "REPEAT"),
            ],
        },
        Wish {
            set: "address_mode = \"clamp_to_border\", border = \"opaque_white\"",
            sampler: linear.clone(),
            legal: linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
            changes: ["addressModeU", "addressModeV", "addressModeW"]
                .map(|field| mode(field, "CLAMP_TO_EDGE", "CLAMP_TO_BORDER"))
                .into_iter()
                .chain([change(
                    "O-1",
                    "borderColor",
                    "VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK",
                    "VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE",
                )])
                .collect(),
        },
        Wish {
            // A custom colour goes with its structure.
            set: "border = \"opaque_black\"",
            sampler: linear.clone().custom_border(BorderValue::Float([0.5; 4]), F::R8G8B8A8_UNORM),
            legal: linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_BLACK),
            changes: vec![change(
                "O-1",
                "borderColor",
                "VK_BORDER_COLOR_FLOAT_CUSTOM_EXT",
                "VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK",
            )],
        },
        Wish {
            set: "mip_lod_bias = { add = 0.75 }",
            sampler: SamplerDesc { lod_bias: 0.5, ..tri.clone() },
            legal: SamplerDesc { lod_bias: 1.25, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", 0.5, 1.25)],
        },
        Wish {
            set: "mip_lod_bias = { set = -1 }",
            sampler: SamplerDesc { lod_bias: 2.5, ..tri.clone() },
            legal: SamplerDesc { lod_bias: -1.0, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", 2.5, "-1.0")],
        },
        Wish {
            set: "mip_lod_bias = 1.5",
            sampler: tri.clone(),
            legal: SamplerDesc { lod_bias: 1.5, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", "0.0", 1.5)],
        },
        Wish {
            // Mesa's software driver has a limit of 16; beyond it the wish is clamped like anybody's.
            set: "mip_lod_bias = { add = 1000.0 }",
            sampler: SamplerDesc { lod_bias: 0.25, ..tri.clone() },
            legal: SamplerDesc { lod_bias: 16.0, ..tri.clone() },
            changes: vec![change("O-1", "mipLodBias", 0.25, 1000.25), change("A-2", "mipLodBias", 1000.25, "16.0")],
        },
        Wish {
            set: "min_lod = 1",
            sampler: tri.clone().lod(0.0, 4.0),
            legal: tri.clone().lod(1.0, 4.0),
            changes: vec![change("O-1", "minLod", "0.0", "1.0")],
        },
        Wish {
            set: "max_lod = 0.5",
            sampler: tri.clone().lod(0.0, 5.0),
            legal: tri.clone().lod(0.0, 0.5),
            changes: vec![change("O-1", "maxLod", "5.0", 0.5)],
        },
        Wish {
            // Above what the application allows: the two ends are put in order again.
            set: "min_lod = 2.0",
            sampler: tri.clone().lod(0.0, 1.0),
            legal: tri.clone().lod(1.0, 2.0),
            changes: vec![
                change("O-1", "minLod", "0.0", "2.0"),
                change("A-4", "minLod", "2.0", "1.0"),
                change("A-4", "maxLod", "1.0", "2.0"),
            ],
        },
        Wish {
            set: "max_anisotropy = 1",
            sampler: tri.clone().anisotropy(4.0).lod(0.0, 6.0),
            legal: tri.clone().lod(0.0, 6.0),
            changes: vec![change("O-1", "anisotropyEnable", "true", "false")],
        },
    ]
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
        let rows: Vec<_> = changes(record).into_iter().map(|c| (c.catalog, c.field, c.from, c.to)).collect();
        let wanted: Vec<_> = wish
            .changes
            .iter()
            .map(|(catalog, field, from, to)| ((*catalog).to_owned(), (*field).to_owned(), from.clone(), to.clone()))
            .collect();
        assert_eq!(rows, wanted, "{}: {record:#}", wish.set);
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
