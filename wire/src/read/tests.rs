use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use samplin_core::decide::{Catalog, Change, Context};
use serde_json::{Map, json};

use super::*;
use crate::{kinds, record};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../manifest/trace.schema.json")).expect("the schema is JSON")
});

/// The schema of what stands at `pointer` below the definitions.
fn schema(pointer: &str) -> Validator {
    let whole = json!({ "$defs": SCHEMA["$defs"], "$ref": format!("#/$defs/{pointer}") });
    jsonschema::draft202012::new(&whole).expect("a schema")
}

/// Fails if the value is not what the schema says.
fn keeps_to(schema: &Validator, value: &Value) {
    let errors: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?} in {value:#}");
}

/// What a file that holds the value gives back.
fn through_text(value: &Value) -> Value {
    serde_json::from_str(&value.to_string()).expect("JSON")
}

#[test]
fn states_survive_their_record() {
    let base = SamplerState::default();
    let custom = CustomBorder {
        color: [1.5_f32.to_bits(), 0, f32::MIN_POSITIVE.to_bits(), 0.1_f32.to_bits()],
        format: vk::Format::R8G8B8A8_UNORM,
    };
    let states = [
        base,
        SamplerState {
            flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT | vk::SamplerCreateFlags::from_raw(1 << 30),
            mag_filter: vk::Filter::CUBIC_EXT,
            min_filter: vk::Filter::from_raw(77),
            mipmap_mode: vk::SamplerMipmapMode::LINEAR,
            address_mode: [
                vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
                vk::SamplerAddressMode::from_raw(0x2900),
                vk::SamplerAddressMode::CLAMP_TO_BORDER,
            ],
            mip_lod_bias: -0.1,
            anisotropy_enable: true,
            max_anisotropy: 3.3,
            compare_enable: true,
            compare_op: vk::CompareOp::GREATER_OR_EQUAL,
            min_lod: 0.25,
            max_lod: f32::INFINITY,
            border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
            reduction_mode: Some(vk::SamplerReductionMode::MAX),
            custom_border: Some(custom),
            border_mapping: Some(BorderMapping { components: [vk::ComponentSwizzle::ONE; 4], srgb: true }),
            cubic_weights: Some(2),
            ..base
        },
        SamplerState {
            border_color: vk::BorderColor::INT_CUSTOM_EXT,
            custom_border: Some(CustomBorder { color: [u32::MAX, 0, 7, 1 << 31], format: vk::Format::UNDEFINED }),
            ..base
        },
        SamplerState { border_color: vk::BorderColor::INT_OPAQUE_WHITE, mip_lod_bias: f32::NAN, ..base },
        SamplerState {
            ycbcr: Some(YcbcrConversion {
                handle: 5,
                chroma_filter: vk::Filter::LINEAR,
                separate_reconstruction: true,
                fingerprint: 0xfeed,
            }),
            block_match: Some(BlockMatchWindow { extent: [3, 4], compare_mode: 1 }),
            opaque_capture: true,
            unnormalized_coordinates: true,
            ..base
        },
    ];
    let schema = schema("state");
    for state in states {
        let written = record::state(&state);
        keeps_to(&schema, &written);
        let back = super::state(&through_text(&written)).expect("can be read");
        assert_eq!(back.key(), state.key(), "{state:?}");
    }
}

/// A view record of the level all, and what it says.
fn written(view: &ViewTraits, tiling: Tiling) -> Value {
    let view_class = Some(record::view_class(view, tiling));
    serde_json::to_value(record::ViewMembers { view_class, ..record::view(view) }).expect("serialises")
}

#[test]
fn views_survive_their_record() {
    let features = vk::FormatFeatureFlags2::from_raw(0x2_0000_d401);
    let mut views = Vec::new();
    for format in names::formats().chain([vk::Format::UNDEFINED, vk::Format::from_raw(1_900_000_000)]) {
        views.push(ViewTraits::new_2d(format, features));
    }
    let base = ViewTraits::new_2d(vk::Format::D24_UNORM_S8_UINT, features);
    for raw in 0..=6 {
        views.push(ViewTraits { view_type: vk::ImageViewType::from_raw(raw), ..base });
    }
    for raw in 0..=2 {
        views.push(ViewTraits { image_type: vk::ImageType::from_raw(raw), ..base });
    }
    for aspect in [Aspect::Color, Aspect::Depth, Aspect::Stencil] {
        views.push(ViewTraits { aspect, features: None, levels: 7, ..base });
    }
    use vk::ComponentSwizzle as C;
    for components in [[C::IDENTITY, C::R, C::ONE, C::ZERO], [C::B, C::A, C::IDENTITY, C::G]] {
        views.push(ViewTraits { components, ..base });
    }
    // Each fact alone.
    let facts: [fn(&mut ViewTraits) -> &mut bool; 8] = [
        |view| &mut view.single_level,
        |view| &mut view.single_layer,
        |view| &mut view.corner_sampled,
        |view| &mut view.subsampled,
        |view| &mut view.attachment,
        |view| &mut view.ycbcr,
        |view| &mut view.filter_cubic,
        |view| &mut view.filter_cubic_minmax,
    ];
    for one in 0..facts.len() {
        let mut view = base;
        for (at, fact) in facts.iter().enumerate() {
            *fact(&mut view) = at == one;
        }
        views.push(view);
    }
    let schema = schema("pair/properties/view_class");
    let mut told = BTreeSet::new();
    for view in views {
        for tiling in [Tiling::Optimal, Tiling::Linear, Tiling::Modifier] {
            let written = written(&view, tiling);
            keeps_to(&schema, &written["view_class"]);
            assert_eq!(super::view(&through_text(&written)), Some((view, tiling)));
            told.insert(written.to_string());
        }
    }
    assert!(told.len() > 3 * 250, "{} different views", told.len());
}

#[test]
fn what_is_damaged_is_no_view() {
    let view = ViewTraits::new_2d(vk::Format::R8_UNORM, vk::FormatFeatureFlags2::SAMPLED_IMAGE);
    let whole = written(&view, Tiling::Optimal);
    assert!(super::view(&whole).is_some());
    for (pointer, word) in [
        ("/format", "VK_FORMAT_OF_NOTHING"),
        ("/aspect", "colour"),
        ("/view_type", "2D"),
        ("/swizzle", "rgb"),
        ("/swizzle", "rgbx"),
        ("/view_class/tiling", "optimal tiling"),
        ("/view_class/features", "d401"),
        ("/view_class/image_type", ""),
    ] {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(pointer).expect("a member") = word.into();
        assert_eq!(super::view(&damaged), None, "{pointer}: {word}");
    }
}

/// A pair record of a link, with what the trace adds to each.
fn written_draw(told: &Joined) -> Value {
    let mut written = SCHEMA["$defs"]["pair"]["examples"][0].clone();
    written["path"] = "draw".into();
    let members = serde_json::to_value(told).expect("serialises");
    written.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    written
}

fn a_link() -> Link {
    let list = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    Link {
        image: Descriptor { set: 0, binding: 3, element: Some(2) },
        sampler: Descriptor { set: u32::MAX, binding: 0, element: None },
        uses: list(&["implicit_lod", "gather"]),
        stages: list(&["vertex", "fragment"]),
    }
}

#[test]
fn links_survive_their_record() {
    let whole = jsonschema::draft202012::new(&SCHEMA).expect("a schema");
    let unknown = Link { uses: None, stages: None, ..a_link() };
    let mut told = BTreeSet::new();
    for link in [a_link(), unknown] {
        for how in HOWS.into_iter().map(Some).chain([None]) {
            for name in [None, Some("shadows".to_owned())] {
                let source = name.as_ref().map(|name| record::SourceLine { file: name.clone(), line: u32::MAX });
                let label = how.map(|how| format!("{how} pass"));
                let draw = name.as_ref().map(|_| Draw { frame: u64::MAX, draw: u32::MAX, label });
                let joined = Joined {
                    pipeline: crate::text::handle(u64::MAX),
                    pipeline_name: name,
                    link: link.clone(),
                    source,
                    how: how.map(Cow::Borrowed),
                    draw,
                };
                let written = written_draw(&joined);
                keeps_to(&whole, &written);
                assert_eq!(super::joined(&through_text(&written)), Some(joined));
                told.insert(written.to_string());
            }
        }
    }
    assert_eq!(told.len(), 2 * (HOWS.len() + 1) * 2, "all that can be said of a link");
    // All that the schema knows of.
    let known = SCHEMA["$defs"]["pair"]["properties"]["how"]["enum"].as_array().expect("words");
    assert_eq!(known.iter().filter_map(Value::as_str).collect::<Vec<_>>(), HOWS);
}

#[test]
fn what_is_damaged_is_no_link() {
    let (pipeline, pipeline_name) = ("0x1f".to_owned(), Some("shadows".to_owned()));
    let whole = written_draw(&Joined {
        pipeline,
        pipeline_name,
        link: a_link(),
        source: Some(record::SourceLine { file: "a.frag".into(), line: 1 }),
        how: Some("split".into()),
        draw: Some(Draw { frame: 0, draw: 1, label: Some("shadows".into()) }),
    });
    assert!(joined(&whole).is_some());
    assert_eq!(joined(&SCHEMA["$defs"]["pair"]["examples"][0]), None, "a pair of another path");
    for (pointer, word) in [
        ("/pipeline", json!("1f")),
        ("/pipeline_name", json!(1)),
        ("/how", json!("by hand")),
        ("/how", json!(null)),
        ("/link/image/set", json!(-1)),
        ("/link/image/element", json!(1_u64 << 32)),
        ("/link/sampler/binding", json!("0")),
        ("/link/uses", json!("gather")),
        ("/source", json!("a.frag:1")),
        ("/link/stages", json!([1])),
        ("/frame", json!(-1)),
        ("/draw", json!(1_u64 << 32)),
        ("/label", json!(null)),
    ] {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(pointer).expect("a member") = word.clone();
        assert_eq!(joined(&damaged), None, "{pointer}: {word}");
    }
    // Half of a draw is none; a record of an older trace has nothing of one.
    let without = |members: &[&str]| {
        let mut less = whole.clone();
        members.iter().for_each(|member| _ = less.as_object_mut().expect("an object").remove(*member));
        joined(&less).map(|joined| joined.draw)
    };
    assert_eq!((without(&["frame"]), without(&["draw"])), (None, None));
    assert_eq!(without(&["frame", "draw", "label"]), Some(None));
    assert_eq!(without(&["label"]), Some(Some(Draw { frame: 0, draw: 1, label: None })));
}

/// A blit record, of the level all if it tells what was `asked`, with what the trace adds to each.
fn written_blit(filter: vk::Filter, source: &BlitSource, tiling: Tiling, changes: &[Change], all: bool) -> Value {
    let caps = DeviceCaps::default();
    let context = Context { source: Some(source.format), tiling, ..Context::new(&caps) };
    let mut written = record::blit(source, changes, &context, !changes.is_empty(), all.then_some((filter, tiling)));
    for (key, value) in [("seq", 1), ("t_ns", 2), ("pid", 3), ("tid", 4)] {
        written[key] = value.into();
    }
    written["event"] = "blit".into();
    written
}

#[test]
fn blits_survive_their_record() {
    let whole = jsonschema::draft202012::new(&SCHEMA).expect("a schema");
    let change = Change {
        catalog: Catalog::C1,
        field: Field::BlitFilter,
        from: Decided::Filter(vk::Filter::LINEAR),
        to: Decided::Filter(vk::Filter::NEAREST),
    };
    let formats = [vk::Format::R8G8B8A8_SRGB, vk::Format::ASTC_4X4_UNORM_BLOCK, vk::Format::from_raw(1_900_000_000)];
    let features = [None, Some(vk::FormatFeatureFlags2::BLIT_SRC), Some(vk::FormatFeatureFlags2::from_raw(1 << 40))];
    let filters = [vk::Filter::NEAREST, vk::Filter::CUBIC_EXT, vk::Filter::from_raw(77)];
    for (format, features) in formats.into_iter().flat_map(|format| features.map(|features| (format, features))) {
        for (raw, tiling) in (0..=2).zip([Tiling::Optimal, Tiling::Linear, Tiling::Modifier]) {
            let source = BlitSource { format, image_type: vk::ImageType::from_raw(raw), features };
            for (filter, count) in filters.into_iter().flat_map(|filter| [(filter, 0), (filter, 1)]) {
                let changes = &[change][..count];
                let written = written_blit(filter, &source, tiling, changes, true);
                keeps_to(&whole, &written);
                let written = through_text(&written);
                assert_eq!(blit(&written), Some((filter, source, tiling)));
                assert_eq!(written["changes"].as_array().map(Vec::len), Some(changes.len()));
                assert_eq!(written["lossless"], !changes.is_empty());
            }
        }
    }
}

#[test]
fn what_is_damaged_or_says_too_little_is_no_blit() {
    let features = Some(vk::FormatFeatureFlags2::BLIT_SRC);
    let source = BlitSource { format: vk::Format::R8_UNORM, image_type: vk::ImageType::TYPE_2D, features };
    let write = |all| written_blit(vk::Filter::LINEAR, &source, Tiling::Linear, &[], all);
    let (whole, short) = (write(true), write(false));
    assert!(blit(&whole).is_some());
    keeps_to(&jsonschema::draft202012::new(&SCHEMA).expect("a schema"), &short);
    assert_eq!(blit(&short), None, "a record of another level");
    let members = whole.as_object().expect("an object").keys();
    assert!(short.as_object().expect("an object").keys().all(|key| members.clone().any(|other| other == key)));
    for (key, word) in [
        ("src_format", "VK_FORMAT_OF_NOTHING"),
        ("filter", "linear"),
        ("src_type", "2D"),
        ("src_tiling", "optimal tiling"),
        ("src_features", "d401"),
    ] {
        let mut damaged = whole.clone();
        damaged[key] = word.into();
        assert_eq!(blit(&damaged), None, "{key}: {word}");
    }
}

#[test]
fn changes_survive_their_record() {
    use Decided as V;
    let floats = [0.6, -0.0, f32::MAX, f32::INFINITY].map(f32::to_bits);
    let letters = [vk::ComponentSwizzle::IDENTITY, vk::ComponentSwizzle::R, vk::ComponentSwizzle::ZERO];
    let [own, r, zero] = letters;
    let clamp = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let flags = vk::SamplerCreateFlags::SUBSAMPLED_EXT | vk::SamplerCreateFlags::from_raw(0x4000_0000);
    let cases: &[(Field, &[V])] = &[
        (
            Field::Flags,
            &[V::SamplerFlags(flags), V::SamplerFlags(vk::SamplerCreateFlags::empty()), V::ImageFlags(0x108)],
        ),
        (Field::Usage, &[V::Usage(0x8000_0000_0000_010c), V::Usage(0)]),
        (Field::AspectMask, &[V::Aspects(6), V::Aspects(2)]),
        (Field::MagFilter, &[V::Filter(vk::Filter::CUBIC_EXT), V::Filter(vk::Filter::from_raw(-3))]),
        (Field::MinFilter, &[V::Filter(vk::Filter::LINEAR)]),
        (Field::MipmapMode, &[V::MipmapMode(vk::SamplerMipmapMode::NEAREST)]),
        (Field::AddressModeU, &[V::AddressMode(samplin_core::decide::GL_CLAMP)]),
        (Field::AddressModeV, &[V::AddressMode(samplin_core::decide::GL_MIRROR_CLAMP)]),
        (Field::AddressModeW, &[V::AddressMode(clamp), V::AddressMode(vk::SamplerAddressMode::from_raw(77))]),
        (Field::MipLodBias, &[V::Float(-0.1), V::Float(f32::NEG_INFINITY)]),
        (Field::AnisotropyEnable, &[V::Bool(true), V::Bool(false)]),
        (Field::MaxAnisotropy, &[V::Float(16.0)]),
        (Field::CompareEnable, &[V::Bool(true)]),
        (Field::CompareOp, &[V::CompareOp(vk::CompareOp::GREATER)]),
        (Field::MinLod, &[V::Float(0.0)]),
        (Field::MaxLod, &[V::Float(1000.0)]),
        (Field::BorderColor, &[V::BorderColor(vk::BorderColor::INT_CUSTOM_EXT)]),
        (Field::UnnormalizedCoordinates, &[V::Bool(false)]),
        (Field::ReductionMode, &[V::ReductionMode(vk::SamplerReductionMode::MIN), V::Absent]),
        (Field::CustomBorderColor, &[V::FloatColor(floats), V::IntColor([0, 1, 2, u32::MAX]), V::FloatColor([0; 4])]),
        (Field::CustomBorderColorFormat, &[V::Format(vk::Format::R8_UNORM), V::Format(vk::Format::UNDEFINED)]),
        (
            Field::BorderColorMapping,
            &[V::Mapping(BorderMapping { components: [own, r, zero, own], srgb: true }), V::Absent, V::Present],
        ),
        (Field::CubicWeights, &[V::Raw(2), V::Absent]),
        (Field::BlockMatchWindow, &[V::Extent([64, 0])]),
        (Field::OpaqueCapture, &[V::Present, V::Absent]),
        (Field::ChromaFilter, &[V::Filter(vk::Filter::NEAREST)]),
        (Field::XChromaOffset, &[V::ChromaLocation(vk::ChromaLocation::MIDPOINT)]),
        (Field::YChromaOffset, &[V::ChromaLocation(vk::ChromaLocation::COSITED_EVEN)]),
        (Field::ForceExplicitReconstruction, &[V::Bool(true)]),
        (Field::BlitFilter, &[V::Filter(vk::Filter::NEAREST)]),
        (Field::Capability, &[V::Spirv("StorageImageReadWithoutFormat"), V::Absent]),
        (Field::Extension, &[V::Spirv("SPV_KHR_shader_atomic_counter_ops")]),
        (Field::Decoration, &[V::Absent, V::Spirv("NonReadable")]),
        (Field::ImageFormat, &[V::Spirv("Rgba32f"), V::Spirv("Unknown")]),
        (Field::StorageClass, &[V::Spirv("AtomicCounter"), V::Spirv("StorageBuffer")]),
        (Field::MemorySemantics, &[V::Spirv("AtomicCounterMemory"), V::Spirv("UniformMemory")]),
        (Field::ExecutionMode, &[V::Spirv("OriginLowerLeft"), V::Spirv("OriginUpperLeft")]),
        (Field::BuiltIn, &[V::Spirv("VertexId"), V::Spirv("VertexIndex"), V::Absent]),
        (Field::Location, &[V::Spirv("Location"), V::Absent]),
        (Field::Interpolation, &[V::Spirv("InterpolateAtOffset"), V::Absent]),
        (Field::SampleShadingEnable, &[V::Bool(true), V::Bool(false)]),
        (Field::MinSampleShading, &[V::Float(f32::INFINITY), V::Float(0.0)]),
        (Field::SampleMaskWords, &[V::Raw(2), V::Raw(1)]),
    ];
    let schema = schema("change");
    let caps = DeviceCaps::default();
    let context = Context::new(&caps);
    for (field, values) in cases {
        for given in *values {
            let change = Change { catalog: Catalog::C1, field: *field, from: *given, to: V::Absent };
            let written = record::change(&change, &context);
            keeps_to(&schema, &written);
            let written = through_text(&written);
            assert_eq!(value(*field, &written["from"]), Some(*given), "{written}");
            assert_eq!(value(*field, &written["to"]), Some(V::Absent));
        }
    }
    // All that the schema knows of.
    let fields: BTreeSet<&str> = cases.iter().map(|(field, _)| field.name()).collect();
    let known = SCHEMA["$defs"]["change"]["properties"]["field"]["enum"].as_array().expect("names");
    assert_eq!(fields, known.iter().filter_map(Value::as_str).collect());
}

#[test]
fn abilities_survive_their_record() {
    let limits = DeviceCaps {
        max_sampler_anisotropy: 16.0,
        max_sampler_lod_bias: 15.996,
        max_sampler_allocation_count: 4000,
        max_custom_border_color_samplers: 4096,
        filter_minmax_component_mapping: true,
        max_block_match_window: [64, 32],
        ..DeviceCaps::default()
    };
    let schema = schema("device/properties/limits");
    // Each ability alone, and none.
    for one in ABILITIES.iter().map(|ability| ability.field).chain([None]) {
        let mut caps = limits;
        for field in ABILITIES.iter().filter_map(|ability| ability.field) {
            *field(&mut caps) = false;
        }
        if let Some(field) = one {
            *field(&mut caps) = true;
        }
        let features: Map<String, Value> =
            caps.features().iter().map(|(name, on)| ((*name).to_owned(), (*on).into())).collect();
        let device = json!({ "features": features, "limits": record::limits(&caps) });
        keeps_to(&schema, &device["limits"]);
        let device = through_text(&device);
        assert_eq!(super::caps(&device), Some(caps));
        assert_eq!(super::features(&caps, device.get("features")), device["features"], "the same names both ways");
    }
}

#[test]
fn an_older_trace_without_the_layers_own_abilities_can_be_read() {
    let caps = DeviceCaps::default();
    let features: Map<String, Value> =
        caps.features().iter().map(|(name, on)| ((*name).to_owned(), (*on).into())).collect();
    let mut device = json!({ "features": features, "limits": record::limits(&caps) });
    let members = device["features"].as_object_mut().expect("an object");
    let before = members.len();
    members.retain(|name, _| !name.starts_with("VK_SAMPLIN_"));
    assert!(members.len() < before);
    assert!(super::caps(&device).is_some());
    device["features"].as_object_mut().expect("an object").remove("samplerAnisotropy").expect("a feature");
    assert_eq!(super::caps(&device), None, "what all traces tell is missing");
}

/// Checks that a record is what the schema says, and comes back as it was.
fn survives<T>(event: &str, record: T)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let line = kinds::Line { seq: 1, t_ns: 2, pid: 3, tid: 4, event: event.to_owned(), record };
    let written = serde_json::to_value(&line).expect("serialises");
    keeps_to(&jsonschema::draft202012::new(&SCHEMA).expect("a schema"), &written);
    let back: kinds::Line<T> = serde_json::from_value(through_text(&written)).expect("can be read");
    assert_eq!(back, line);
}

#[test]
fn whole_records_survive() {
    let text = |text: &str| text.to_owned();
    let changes = vec![SCHEMA["$defs"]["pair"]["examples"][0]["changes"][0].clone()];
    let recorded = include_str!("../../../cli/tests/data/all.jsonl").lines().next().expect("a record");
    let recorded: Value = serde_json::from_str(recorded).expect("JSON");
    let api_version = Some(crate::text::api_version(vk::API_VERSION_1_2));
    let layer = kinds::Layer {
        version: text("0.1.0"),
        commit: Some(text("0123456789ab")),
        started: Some(text("2001-02-03T04:05:06Z")),
        arguments: vec![text("./game"), text("--level=3")],
        host: Some(text("builder")),
        exe: text("game"),
        app: None,
        engine: Some(text("e")),
        api_version,
        settings: recorded["settings"].clone(),
    };
    // As older ones are.
    let older = kinds::Layer {
        commit: None,
        started: None,
        arguments: Vec::new(),
        host: None,
        api_version: None,
        ..layer.clone()
    };
    survives("layer", layer);
    survives("layer", older);
    let driver = kinds::Driver {
        vendor_id: 1,
        device_id: u32::MAX,
        driver_version: 3,
        api_version: text("1.3.0"),
        name: text("llvmpipe").into(),
        info: None,
    };
    let known = [StorableFormats { there: 0xff, stored: 0x0f }, StorableFormats::default()];
    for (driver, storage) in [(None, Vec::new()), (Some(driver), words::stored(known))] {
        let device = kinds::Device {
            device: text("llvmpipe"),
            driver,
            limits: record::limits(&DeviceCaps::default()),
            features: kinds::Members(vec![(text("customBorderColors"), false), (text("samplerAnisotropy"), true)]),
            augmented: vec![text("VK_EXT_custom_border_color")],
            augmented_for: kinds::Members(vec![(text("VK_EXT_custom_border_color"), text("colours"))]),
            quirks: vec![text("opaque-black-4444")],
            simulated: Some(text("adreno-650")),
            intercepts: vec![text("vkCreateSampler")],
            storage,
        };
        survives("device", device);
    }
    let (handle, name, format) = (text("0x1f"), Some(text("shadow map")), text("VK_FORMAT_D16_UNORM"));
    let (fingerprint, state) = (text("00000000000000ff"), record::state(&SamplerState::default()));
    let (sampler, object) = (handle.clone(), || (handle.clone(), name.clone(), format.clone(), changes.clone()));
    survives(
        "sampler",
        kinds::Sampler {
            sampler,
            name: None,
            fingerprint,
            state,
            changes: changes.clone(),
            hint: Some("ignored".to_owned()),
            path: Some("heap_write".to_owned()),
            rules: vec!["sharp".to_owned()],
        },
    );
    let (conversion, _, format, changes) = object();
    survives("conversion", kinds::Conversion { conversion, format, changes });
    let (view, name, format, changes) = object();
    let (other, same) = (Some("VK_FORMAT_R32_UINT".to_owned()), changes.clone());
    let narrowed = kinds::View {
        view: view.clone(),
        name: name.clone(),
        format: format.clone(),
        alias_format: None,
        path: None,
        changes: same,
        class: Vec::new(),
    };
    survives("view", narrowed);
    let features = vk::FormatFeatureFlags2::from_raw(1);
    let class = UsageClass::write(0x1f, Some(features), 8, None);
    survives(
        "view",
        kinds::View { view, name, format, alias_format: other, path: Some("draw".into()), changes, class },
    );
    let (image, name, format, changes) = object();
    let list = [vk::Format::R8_UNORM];
    let class = ImageClass::write(Tiling::Linear, 8, 15, Some(&list), vk::Format::R8_SRGB, &|_| Some(features));
    survives("image", kinds::Image { image, name, format, changes, class });
    let traits = ViewTraits::new_2d(vk::Format::D16_UNORM, features);
    let pipeline_name = Some(text("shadows"));
    let draw = Some(Draw { frame: 12, draw: 7, label: Some(text("Shadow pass")) });
    let how = Some("split".into());
    let link = Joined { pipeline: handle.clone(), pipeline_name, link: a_link(), source: None, how, draw };
    for (path, joined, view_class, saturate) in [
        ("update", None, None, vec![text("u"), text("w")]),
        ("draw", Some(link.clone()), Some(record::view_class(&traits, Tiling::Linear)), vec![]),
    ] {
        let pair = kinds::Pair {
            sampler: text("0x1"),
            view: text("0x2"),
            names: kinds::Names { sampler: Some(text("s")), view: None },
            fingerprint: text("0123456789abcdef"),
            class: record::ViewMembers { view_class, ..record::view(&traits) },
            path: text(path),
            changes: object().3,
            rules: if saturate.is_empty() { vec![text("sharper")] } else { vec![] },
            saturate,
            variant: joined.is_none().then(|| text("0x3")),
            joined,
        };
        survives("pair", pair);
    }
    let mut about = json!({ "format": "VK_FORMAT_D16_UNORM" });
    link.draw.iter().for_each(|draw| draw.put_into(&mut about));
    let about = about.as_object().expect("an object").clone();
    let (what, why) = (text("view-usage"), text("the device cannot be told"));
    survives("unresolved", kinds::Unresolved { what, why, rule: Some(text("view-usage")), about });
    let (what, why) = (text("panic in a hook"), text("out of sorts"));
    survives("unresolved", kinds::Unresolved { what, why, rule: None, about: Map::new() });
    let shader = kinds::Shader {
        stage: text("VK_SHADER_STAGE_FRAGMENT_BIT"),
        module: text("0011223344556677"),
        pass: text("split"),
        pipeline: handle.clone(),
        bindings: vec![kinds::Binding { set: 1, binding: 2 }],
        changes: vec![],
        words: [100, 120],
        ms: 1.5,
        learned: true,
    };
    survives("shader", shader);
    let separate = kinds::Separate {
        links: 1,
        shadows: kinds::Alive { live: 2, peak: 3 },
        compile_ms: 0.25,
        unresolved: kinds::Members(vec![(text("bindless"), 2)]),
        ..Default::default()
    };
    for separate in [None, Some(separate)] {
        let summary = kinds::DeviceSummary {
            device: handle.clone(),
            samplers: kinds::Samplers {
                created: u64::MAX,
                live: 1,
                peak: 2,
                changed: 3,
                shared: Some(kinds::Sharing { given: 4, because: text("many") }),
            },
            views: kinds::Views { created: 1, live: 0, classes: 1 },
            writes: kinds::Members(vec![(text("draw"), kinds::Writes { seen: 4, rewritten: 2 })]),
            blits_rewritten: 0,
            changes: kinds::Members(vec![(text("linear-filter"), 7)]),
            variants: kinds::Variants { live: 0, peak: 1, created: 1 },
            census: kinds::Census {
                unique_states: kinds::Alive { live: 0, peak: 1 },
                headroom: kinds::Headroom { samplers: 1, custom_borders: 2 },
                limits: Some(kinds::Limits::default()),
                columns: Some(3),
                heaps: Some(kinds::Heaps { samplers: 2, ..kinds::Heaps::default() }),
            },
            separate,
            passed_through: false,
            dropped: 0,
            left_out: kinds::LeftOut { records: 1, bytes: 200 },
        };
        survives("summary", kinds::Summary::Device(Box::new(summary)));
    }
    let left_out = kinds::LeftOut::default();
    survives("summary", kinds::Summary::Instance { dropped: 5, left_out });
}

#[test]
fn the_schemas_examples_follow_it() {
    let whole = jsonschema::draft202012::new(&SCHEMA).expect("a schema");
    let events = SCHEMA["properties"]["event"]["enum"].as_array().expect("events");
    let mut count = 0;
    for event in events.iter().filter_map(Value::as_str) {
        for example in SCHEMA["$defs"][event]["examples"].as_array().expect("examples") {
            assert_eq!(example["event"], event);
            keeps_to(&whole, example);
            let mut with_more = example.clone();
            with_more["unheard_of"] = 1.into();
            assert!(!whole.is_valid(&with_more), "{event} may have any member");
            count += 1;
        }
    }
    assert!(count >= events.len(), "an example for each event");
}

#[test]
fn settings_are_read_from_a_layer_record() {
    let recorded = include_str!("../../../cli/tests/data/all.jsonl").lines().next().expect("a record");
    let layer: Value = serde_json::from_str(recorded).expect("JSON");
    let names: BTreeSet<&str> = settings(&layer).map(|setting| setting.name).collect();
    let promised = SCHEMA["$defs"]["layer"]["properties"]["settings"]["properties"].as_object().expect("settings");
    assert_eq!(names, promised.keys().map(String::as_str).collect());
    assert!(names.iter().all(|name| setting(&layer, name).is_some()));
    assert_eq!((setting(&layer, "trace_level"), setting(&layer, "mode")), (Some("all"), Some("legalize")));
    let set = settings(&layer).filter(|setting| setting.source != "default");
    assert_eq!(set.map(|setting| setting.name).collect::<Vec<_>>(), ["trace", "trace_level"]);
    for damaged in [json!({}), json!({ "settings": 1 }), json!({ "settings": { "mode": "audit" } })] {
        assert_eq!((setting(&damaged, "mode"), settings(&damaged).count()), (None, 0));
    }
}

#[test]
fn what_is_known_of_images_survives() {
    let some = Some(vk::FormatFeatureFlags2::from_raw(1 << 32 | 1));
    let (srgb, uint) = (vk::Format::R8G8B8A8_SRGB, vk::Format::R32_UINT);
    let of = |format| some.filter(|_| format == uint);
    for list in [None, Some(&[][..]), Some(&[srgb, uint])] {
        for (tiling, own) in [(Tiling::Optimal, srgb), (Tiling::Modifier, uint)] {
            let written = json!({ "class": ImageClass::write(tiling, 0x108, 0x2c, list, own, &of) });
            let views = list.map(|list| list.iter().map(|format| (*format, of(*format))).collect());
            let class = ImageClass { tiling, flags: 0x108, usage: 0x2c, features: of(own), views };
            assert_eq!(image_class(&through_text(&written)), Some(class));
        }
    }
    for (features, stated) in [(None, None), (some, Some(0)), (some, Some(1 << 40))] {
        let written = json!({ "class": UsageClass::write(0xabc, features, 12, stated) });
        let class = UsageClass { image: 0xabc, features, inherited: 12, stated };
        assert_eq!(usage_class(&through_text(&written)), Some(class));
    }
    let known = [StorableFormats { there: u64::MAX, stored: 1 << 39 }, StorableFormats::default()];
    assert_eq!(stored(&json!({ "storage": words::stored(known) })), Some(known));
    for other in [json!({}), json!({ "class": [7] }), json!({ "class": [9, 0, 0, 0, 0] }), json!({ "storage": [-1] })] {
        assert_eq!((image_class(&other), usage_class(&other), stored(&other)), (None, None, None));
    }
}
