//! The decision core, held against the Vulkan specification.
//!
//! The tables below read like the specification: one row per statement, with a sampler that must be changed, the
//! changes, the valid-usage id, and the twin that must be left alone. `samplin_checker` holds a checker of its own making,
//! [`properties`] what has to be true of every sampler, view and device.
#![allow(non_snake_case, reason = "the library's file name is what the Vulkan loader's manifests expect")]

mod addresses;
mod blits;
mod border_colors;
mod borders;
mod comparison;
mod conversions;
mod custom_borders;
mod filtering;
mod filters;
mod flags;
mod gl;
mod outcome;
mod properties;
mod samples;
mod setting;
mod unnormalized;
mod usages;
mod views;

use decide::Field;
use setting::*;

/// The tables, so that none is forgotten by the tests that count.
const TABLES: [&[Row]; 10] = [
    filters::ROWS,
    unnormalized::ROWS,
    addresses::ROWS,
    custom_borders::ROWS,
    conversions::ROWS,
    flags::ROWS,
    filtering::ROWS,
    comparison::ROWS,
    borders::ROWS,
    gl::ROWS,
];

#[test]
fn gl_address_modes() {
    // The shader saturates exactly the axes that became CLAMP_TO_BORDER.
    let mut setting = Setting::new();
    (gl::ROWS[0].illegal)(&mut setting);
    assert_eq!(setting.decide().saturate, [true, false, false]);
    (gl::ROWS[1].illegal)(&mut setting);
    assert_eq!(setting.decide().saturate, [false; 3]);
    // It drops signs for mirrored ones among them, and for no others.
    let mut setting = Setting::new();
    (gl::ROWS[6].illegal)(&mut setting);
    let decision = setting.decide();
    assert_eq!((decision.saturate, decision.mirror), ([true, true, false], [true, false, false]));
    let mut setting = Setting::new();
    (gl::ROWS[7].illegal)(&mut setting);
    let decision = setting.decide();
    assert_eq!((decision.saturate, decision.mirror), ([false; 3], [false; 3]));
}

/// What is said to be lost of GL_CLAMP, by what the pair filters and what shaders do.
#[test]
fn losses_of_gl_address_modes() {
    let edge = "the border of the filter that is LINEAR";
    let exact = "nothing where the shader saturates coordinates, edge texels of the filter that is NEAREST elsewhere";
    for (mode, mag, mip, saturates, lost) in [
        (decide::GL_CLAMP, true, false, true, exact),
        (decide::GL_CLAMP, true, false, false, edge),
        (decide::GL_CLAMP, false, false, true, "nothing but what gathers read"),
        (
            decide::GL_CLAMP,
            true,
            true,
            true,
            "trilinear-offset: between two levels offsets are those of the nearer one; the",
        ),
        (
            decide::GL_MIRROR_CLAMP,
            true,
            true,
            true,
            "trilinear-offset: between two levels offsets are those of the nearer one, and",
        ),
        (decide::GL_MIRROR_CLAMP, true, false, true, "nothing where the shader mirrors"),
        (decide::GL_MIRROR_CLAMP, true, true, false, "the border"),
    ] {
        let mut t = Setting::new();
        t.caps.gl_address_modes = true;
        t.policy.saturates = saturates;
        t.s.address_mode = [mode, Mode::REPEAT, Mode::REPEAT];
        t.s.mag_filter = if mag { LINEAR } else { NEAREST };
        t.s.mipmap_mode = if mip { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST };
        t.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        let decision = t.decide();
        let context = decide::Context {
            view: t.view.as_ref(),
            saturates,
            trilinear: mip,
            linear: [mag, false],
            ..decide::Context::new(&t.caps)
        };
        let change = decision.changes.iter().find(|change| change.catalog.rule() == decide::Rule::GlClamp);
        let change = change.expect("a change");
        let told = decide::lost(change, &context);
        assert!(told.starts_with(lost), "{mode:?} {mag} {mip} {saturates}: {told}");
        let by_some = decide::repairer(change, &context) == decide::Repairer::SomeShaders;
        assert_eq!(by_some, told.contains("shader "), "{told}");
    }
}

/// What is said to be lost is what happens: each edit, the member whose change is looked at, and the words.
#[test]
fn losses_are_what_happens() {
    macro_rules! losses {
        ($t:ident: $($name:literal $edit:block => $field:path, $lost:expr;)*) => {
            [$(($name, |$t| $edit, $field, $lost)),*]
        };
    }
    type Case = (&'static str, fn(&mut Setting), Field, &'static str);
    let undefined = "what this driver happened to show";
    let cases: [Case; 25] = losses! { t:
        "no filter" { t.s.mag_filter = vk::Filter::from_raw(77); } => Field::MagFilter, undefined;
        "no mode" { t.s.mipmap_mode = vk::SamplerMipmapMode::from_raw(77); } => Field::MipmapMode, undefined;
        "no bias" { t.s.mip_lod_bias = f32::NAN; } => Field::MipLodBias, undefined;
        "no bias, of a device without" { (t.s.mip_lod_bias, t.caps.sampler_mip_lod_bias) = (f32::NAN, false); }
            => Field::MipLodBias, undefined;
        "no least level" { (t.s.min_lod, t.s.max_lod) = (f32::NAN, 1.0); } => Field::MinLod, undefined;
        "no last level" { t.s.max_lod = f32::NAN; } => Field::MaxLod, undefined;
        "levels in reverse" { (t.s.min_lod, t.s.max_lod) = (2.0, 1.0); }
            => Field::MinLod, "nothing: the same two ends, in order";
        "a long bias" { t.s.mip_lod_bias = 99.0; } => Field::MipLodBias, "part of the bias";
        "no address" { t.s.address_mode[1] = Mode::from_raw(77); } => Field::AddressModeV, undefined;
        "no colour" { t.border(vk::BorderColor::from_raw(77)); } => Field::BorderColor, undefined;
        "no structure" { t.border(vk::BorderColor::INT_CUSTOM_EXT); } => Field::BorderColor, undefined;
        "integers on floats" { t.border(vk::BorderColor::INT_OPAQUE_WHITE); t.sees(F::R8_UNORM, NONE); }
            => Field::BorderColor, undefined;
        "floats on integers" { t.float_border([0.5; 4], F::UNDEFINED); t.sees(F::R8_UINT, NONE); }
            => Field::CustomBorderColor, "what the format cannot hold of the colour";
        "white by another name"
            { t.float_border([1.0, 0.0, 0.0, 0.0], F::UNDEFINED); t.sees(F::R8_UNORM, NONE); t.caps.custom_border_colors = false; }
            => Field::BorderColor, "nothing: the predefined colour shows the same";
        "black by another name"
            { t.float_border([0.0, 0.0, 0.0, 1.0], F::UNDEFINED); t.sees(F::R5G5B5A1_UNORM_PACK16, NONE); t.caps.custom_border_colors = false; }
            => Field::BorderColor, "nothing: the predefined colour shows the same";
        "black whose alpha may be blue"
            { t.float_border([0.0, 0.0, 0.0, 1.0], F::UNDEFINED); t.sees(F::B4G4R4A4_UNORM_PACK16, NONE); t.caps.custom_border_colors = false; }
            => Field::BorderColor, "exact border colour";
        "grey" { t.float_border([0.5; 4], F::UNDEFINED); t.caps.custom_border_colors = false; }
            => Field::BorderColor, "exact border colour";
        "texels" { t.texels(); t.s.mipmap_mode = MIP_LINEAR; }
            => Field::MipmapMode, "nothing: only the first level is read";
        "range clamp" { t.s.reduction_mode = RANGE_CLAMP; t.caps.sampler_filter_minmax = false; }
            => Field::ReductionMode, "range clamp";
        "one level" { t.s.mipmap_mode = MIP_LINEAR; t.sees(F::R8_UNORM, NONE); }
            => Field::MipmapMode, "nothing: the view has one level";
        "levels" { t.s.mipmap_mode = MIP_LINEAR; t.sees(F::R8_UNORM, NONE).single_level = false; }
            => Field::MipmapMode, "blending between mip levels";
        "levels of integers" { t.s.mipmap_mode = MIP_LINEAR; t.sees(F::R8_UINT, NONE).single_level = false; }
            => Field::MipmapMode, "nothing: integer values have no average";
        "least stencil value" { t.filters(LINEAR); t.s.reduction_mode = MIN; t.sees(F::S8_UINT, NONE); }
            => Field::ReductionMode, "footprint minimum or maximum";
        "smoothing" { t.filters(LINEAR); t.sees(F::R8_UNORM, NONE); } => Field::MagFilter, "smoothing";
        "a gather" { t.filters(LINEAR); t.sees(F::R8_UNORM, NONE); }
            => Field::MinFilter, "nothing: the shader gathers, and gathers use no filter";
    };
    for (name, edit, field, wanted) in cases {
        let mut t = Setting::new();
        edit(&mut t);
        let decision = t.decide();
        let gathers = name == "a gather";
        let context = decide::Context { view: t.view.as_ref(), gathers, ..decide::Context::new(&t.caps) };
        let change = decision.changes.iter().find(|change| change.field == field);
        assert_eq!(decide::lost(change.expect(name), &context), wanted, "{name}");
    }
    // Where all shaders that read a pair do what the sampler does not, the row says so.
    let caps = DeviceCaps::default();
    for row in Catalog::ALL {
        let change = Change { catalog: *row, field: Field::Flags, from: Value::Absent, to: Value::Absent };
        let repairer = decide::repairer(&change, &decide::Context::new(&caps));
        let says =
            ["divides ", "compares,"].iter().any(|verb| row.lost().contains(&format!("nothing: the shader {verb}")));
        assert_eq!(repairer == decide::Repairer::Shader, says, "{}", row.id());
        assert_ne!(repairer, decide::Repairer::SomeShaders, "{}", row.id());
    }
    // What no sampler mends loses nothing by a repair, and everything else says something.
    for row in Catalog::ALL {
        let is_left = samplin_checker::VIEW_ONLY.contains(&row.id()) || row.rule() == decide::Rule::DeclaredView;
        assert_eq!(row.lost().is_empty(), is_left, "{}", row.id());
    }
}

// --- the catalogue as a whole --------------------------------------------------------------------------------------

#[test]
fn every_row_has_its_test() {
    let mut seen: BTreeSet<String> = TABLES.iter().flat_map(|rows| check(rows)).collect();
    seen.extend(views::ROWS.iter().map(|row| format!("{:?}", row.catalog)));
    let of_usage = |row: &&Catalog| {
        usages::ROWS.iter().any(|(_, vuid, ..)| row.vuid() == Some(*vuid)) || [Catalog::H2, Catalog::H6].contains(row)
    };
    seen.extend(Catalog::ALL.iter().filter(of_usage).map(|row| format!("{row:?}")));
    // The budget of custom colours and the user's rules are decided elsewhere; shaders by the passes of `spirv/`.
    let foreign = |row: &Catalog| {
        ["A-35", "A-37", "A-38", "H-3", "H-4", "H-5", "H-7", "H-8", "H-9", "J-2", "J-4", "K-1"].contains(&row.id())
            || row.id().starts_with("O-")
    };
    // Blits and conversions: their tables compare whole lists of changes, so the ids that they name are covered.
    let listed = blits::ROWS.iter().flat_map(|row| row.4).chain(conversions::AT_CREATION.iter().flat_map(|row| row.4));
    let listed = listed.chain(samples::ROWS.iter().flat_map(|row| row.4));
    let elsewhere: BTreeSet<_> = listed.map(|line| line.split(' ').next().expect("an id")).collect();
    let missed: Vec<_> = Catalog::ALL
        .iter()
        .filter(|row| !seen.contains(&format!("{row:?}")) && !elsewhere.contains(row.id()) && !foreign(row))
        .collect();
    assert!(missed.is_empty(), "rows without a test: {missed:?}");
    let rows = TABLES.iter().map(|rows| rows.len()).sum::<usize>()
        + views::ROWS.len()
        + blits::ROWS.len()
        + conversions::AT_CREATION.len();
    assert!(rows >= 150, "only {rows} rows");
}

/// Every rule is Vulkan's, by a valid-usage id or by chapter and heading, or it is one of the layer's own.
#[test]
fn every_row_says_where_it_stands() {
    for row in Catalog::ALL {
        let own = row.id().starts_with("O-") || row.id() == "S-4";
        let stands = match row.source() {
            RuleSource::Vuid(id) => {
                !own && ["VUID-Vk", "VUID-vkCmd", "VUID-vkWrite", "VUID-RuntimeSpirv-", "VUID-StandaloneSpirv-"]
                    .iter()
                    .any(|of| id.starts_with(of))
            }
            RuleSource::Text(heading) => !own && heading.split(" > ").count() == 2,
            RuleSource::Layer => own,
        };
        assert!(stands, "{} stands at {:?}", row.id(), row.source());
    }
}

/// Names of rules are a stable interface: traces, rules files and `samplin check` match on them.
#[test]
fn rule_names_are_stable() {
    const NAMES: &[(&str, &[&str])] = &[
        ("linear-filter", &["B-1", "B-16"]),
        ("linear-mipmap", &["B-2"]),
        ("minmax", &["B-3", "B-4", "B-13"]),
        ("cubic", &["A-1", "B-5", "B-6", "B-7", "B-8"]),
        ("stencil", &["B-15"]),
        ("anisotropy", &["A-5", "A-6", "A-7", "B-9", "S-6"]),
        ("lod-bias", &["A-2", "A-3"]),
        ("lod-range", &["A-4"]),
        ("unnormalized", &["A-10", "A-11", "A-12", "A-13", "A-14", "A-15", "B-40", "B-41", "S-5"]),
        ("mirror-clamp", &["A-21"]),
        ("address-mode", &["A-20", "B-64"]),
        ("compare", &["A-25", "B-30", "B-31", "B-33", "B-35", "B-36"]),
        ("reduction", &["A-26", "A-27", "A-28", "B-10", "B-11", "B-12"]),
        ("border-type", &["A-22", "B-50", "B-51"]),
        ("border-value", &["A-33", "A-34", "B-58"]),
        ("border-format", &["A-32", "B-56", "B-57"]),
        ("border-swizzle", &["B-52", "B-53", "B-54", "B-55", "B-65"]),
        ("border-budget", &["A-35"]),
        ("gl-clamp", &["S-4"]),
        ("override", &["O-1", "O-2"]),
        ("border-custom", &["A-30", "A-31", "A-36", "A-37", "A-38"]),
        ("ycbcr", &["A-40", "A-41", "A-42", "A-43", "A-44", "A-45"]),
        ("flags", &["A-52", "A-53", "A-54", "A-55", "A-56", "A-57", "B-78"]),
        ("blit-filter", &["C-1", "C-2", "C-3", "C-4", "C-10"]),
        ("view-usage", &["H-1"]),
        ("aspect", &["H-6"]),
        ("unsupported-format", &["B-66"]),
        ("declared-view", &["H-9"]),
        ("image-usage", &["H-2"]),
        ("storage-access", &["H-3"]),
        ("storage-format", &["H-4", "H-5"]),
        ("storage-unknown", &["H-7", "H-8"]),
        ("sample-shading", &["J-2", "J-3", "J-4"]),
        ("atomic-counters", &["K-1"]),
        ("depth-compare", &["S-2"]),
    ];
    for row in Catalog::ALL {
        // A-59 covers two structures, one of each family.
        if row.id() == "A-59" {
            assert!(["cubic", "reduction"].contains(&row.rule().name()));
            continue;
        }
        let (name, _) = NAMES.iter().find(|(_, ids)| ids.contains(&row.id())).expect("a family");
        assert_eq!(row.rule().name(), *name, "{}", row.id());
    }
    let unique: BTreeSet<_> = decide::Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(unique.len(), decide::Rule::ALL.len());
}

/// Fingerprints are the same in every run, process and machine, so they can be written down: FNV-1a over the
/// little-endian words of the normalised state. The values were computed from that definition by another program.
#[test]
fn fingerprints_are_stable() {
    let golden = |name: &str, edit: fn(&mut Setting), expected: u64| {
        let mut setting = Setting::new();
        edit(&mut setting);
        let actual = setting.s.fingerprint();
        assert_eq!(actual, expected, "{name}: {actual:#018x}");
    };
    golden("zero-filled", |_| {}, 0xeb4f_6126_0020_abd5);
    golden(
        "trilinear",
        |t| {
            t.filters(LINEAR);
            (t.s.mipmap_mode, t.s.max_lod) = (MIP_LINEAR, 1000.0);
            (t.s.anisotropy_enable, t.s.max_anisotropy) = (true, 16.0);
        },
        0xf664_eccb_1d51_d964,
    );
    golden(
        "shadow map",
        |t| {
            t.filters(LINEAR);
            t.border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
            (t.s.compare_enable, t.s.compare_op) = (true, vk::CompareOp::LESS_OR_EQUAL);
        },
        0xa4ed_5d95_6e79_7430,
    );
    golden(
        "every structure chained",
        |t| {
            t.filters(CUBIC);
            t.float_border([0.25, 0.5, 0.75, 1.0], vk::Format::R8G8B8A8_UNORM);
            t.s.reduction_mode = RANGE_CLAMP;
            t.s.border_mapping = Some(BorderMapping {
                components: [Swizzle::B, Swizzle::IDENTITY, Swizzle::R, Swizzle::ONE],
                srgb: true,
            });
            t.s.cubic_weights = Some(1);
            t.s.block_match = Some(BlockMatchWindow { extent: [8, 4], compare_mode: 1 });
            t.s.opaque_capture = true;
            t.s.ycbcr = Some(YcbcrConversion {
                handle: 99,
                chroma_filter: LINEAR,
                separate_reconstruction: true,
                fingerprint: 0x0123_4567_89ab_cdef,
            });
        },
        0xc86a_a79e_8a82_129d,
    );
}
