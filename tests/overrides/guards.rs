//! What is held back.

use super::*;
use samplin_testkit::path::{Path as Way, sample_via};

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("set/by-pair", by_pair_not_by_sampler),
        ("guards/forced-anisotropy", || forced_anisotropy(Way::Update)),
        ("guards/forced-anisotropy-separate", || forced_anisotropy(Way::Separate)),
        ("guards/off", || guards_off(Way::Update)),
        ("guards/off-separate", || guards_off(Way::Separate)),
        ("guards/by-member", guards_by_member),
        ("guards/ycbcr", ycbcr),
    ])
}

/// A pair that breaks when anisotropy is forced blindly.
struct Fragile {
    name: &'static str,
    /// The guard that holds it back.
    guard: &'static str,
    sampler: SamplerDesc,
    desc: ImageDesc,
    aspect: vk::ImageAspectFlags,
}

fn fragile() -> Vec<Fragile> {
    let tri = SamplerDesc::trilinear().address(M::REPEAT);
    let colour = vk::ImageAspectFlags::COLOR;
    let rgba = |levels| ImageDesc::d2(F::R8G8B8A8_UNORM, 32, 32).levels(levels);
    let target = |levels| rgba(levels).usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
    let fragile = |name, guard, sampler: &SamplerDesc, desc| Fragile {
        name,
        guard,
        sampler: sampler.clone(),
        desc,
        aspect: colour,
    };
    let shadow = SamplerDesc::linear().compare(vk::CompareOp::LESS);
    vec![
        Fragile {
            aspect: vk::ImageAspectFlags::DEPTH,
            ..fragile("shadow map", "compare", &shadow, ImageDesc::d2(F::D32_SFLOAT, 32, 32).levels(3))
        },
        fragile("integers", "integer", &SamplerDesc::nearest(), ImageDesc::d2(F::R8G8B8A8_UINT, 32, 32).levels(3)),
        fragile("integers, linear", "integer", &tri, ImageDesc::d2(F::R8G8B8A8_UINT, 32, 32).levels(3)),
        fragile("render target", "attachment", &tri, target(1)),
        fragile("render target with levels", "attachment", &tri, target(4)),
        fragile("one level", "single_mip", &tri, rgba(1)),
        fragile("texels", "unnormalized", &SamplerDesc::unnormalized(vk::Filter::LINEAR), rgba(1)),
        fragile("blocks", "nearest", &SamplerDesc::nearest(), rgba(4)),
        fragile("line", "one_dimensional", &tri, ImageDesc::d1(F::R8G8B8A8_UNORM, 32).levels(4)),
    ]
}

fn fill<'c>(context: &'c Context, desc: &ImageDesc) -> Result<Image<'c>, Skip> {
    let format = desc.format;
    Image::filled(context, desc, |aspect, level, layer, at| {
        pattern(texel::numeric_kind(format, aspect), level, layer, at)
    })
    .map_err(Skip)
}

/// A floor seen at a flat angle.
fn paint(context: &Context, way: Way, view: &View<'_>, sampler: &Sampler<'_>) -> Result<Vec<Value>, Skip> {
    let pair = Pair::new(view, sampler);
    let pair = if sampler.desc().compare_enable { pair.shadow() } else { pair };
    let held = match way {
        Way::Separate => Held::of(context, &[Slot::image(view, 0, 0), Slot::sampler(sampler, 1, 0)]),
        _ => Held::of(context, &[Slot::pair(view, sampler, 0, 0)]),
    };
    let make = if way == Way::Separate { Painter::of_separate } else { Painter::new };
    let painter = make(context, &held.layout, pair.shape, pair.kind, [48, 48]).map_err(Skip)?;
    let mapping = Mapping {
        origin: [-1.0, 1.0, 0.0, 0.0],
        dx: [2.0, 0.0, 0.0, 0.0],
        dy: [0.0; 4],
        divisor: [0.06, 0.0, 0.9],
        reference: 0.41,
        bias: 0.0,
    };
    Ok(painter.paint(held.set, &mapping))
}

/// What a pair looks like: by implicit LOD, or by a probe where the shader may not use that.
fn appearance(context: &Context, way: Way, view: &View<'_>, sampler: &Sampler<'_>) -> Result<Vec<Value>, Skip> {
    if sampler.desc().unnormalized {
        let points = Scene::colour(F::R8G8B8A8_UNORM).flat().points(true);
        return Ok(sample_via(context, way, &[Pair::new(view, sampler)], &points).map_err(Skip)?.remove(0));
    }
    paint(context, way, view, sampler)
}

/// The pictures of all fragile pairs, and of one that gains from anisotropy, plain and with the application's own.
fn pictures(context: &Context, way: Way) -> Result<Vec<(String, Vec<Value>)>, Skip> {
    let mut out = Vec::new();
    for case in fragile() {
        let image = fill(context, &case.desc)?;
        let view = image.view(&ViewDesc::aspect(case.aspect));
        out.push((case.name.to_owned(), appearance(context, way, &view, &case.sampler.clone().create(context))?));
    }
    let image = fill(context, &ImageDesc::d2(F::R8G8B8A8_UNORM, 32, 32).levels(6))?;
    let view = image.view(&ViewDesc::default());
    let tri = SamplerDesc::trilinear().address(M::REPEAT);
    out.push(("floor".into(), paint(context, way, &view, &tri.clone().create(context))?));
    Ok(out)
}

/// Forced 16× anisotropy: what would break is left as it is, down to the pixel, and the trace says why; the rest is what an
/// application's own 16× gives. The application never asked for the feature: the layer enables it.
fn forced_anisotropy(way: Way) -> Outcome {
    let plain = {
        let context = build(&Context::builder())?;
        skip_if(context.missing(&[Capability::SamplerAnisotropy]))?;
        // Without samplin a LINEAR sampler on integers is undefined, so its picture is not asked for here.
        let image = fill(&context, &ImageDesc::d2(F::R8G8B8A8_UNORM, 32, 32).levels(6))?;
        let view = image.view(&ViewDesc::default());
        let tri = SamplerDesc::trilinear().address(M::REPEAT);
        let none = paint(&context, way, &view, &tri.clone().create(&context))?;
        let own = paint(&context, way, &view, &tri.anisotropy(16.0).create(&context))?;
        assert_ne!(none, own, "the driver does nothing for anisotropy here");
        (none, own)
    };
    let (before, _) = with_layer(Context::builder(), |context| pictures(context, way))?;
    let folder = Folder::new();
    let builder = with_rules(&folder, "[[rule]]\nname = \"sharper\"\nset = { max_anisotropy = 16 }\n");
    let (after, judged) =
        silent(builder.without(Capability::SamplerAnisotropy), "forced anisotropy", |context| pictures(context, way))?;
    assert_no_problem(&judged);
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        if name == "floor" {
            assert_eq!(*before, plain.0, "without a rule");
            assert_eq!(*after, plain.1, "with the rule it is what the application's own 16 gives");
        } else {
            assert_eq!(before, after, "{name} was touched");
        }
    }
    let device = judged.trace.first("device");
    let augmented: Vec<_> = device["augmented"].as_array().expect("a list").iter().collect();
    assert!(augmented.contains(&&Json::from("samplerAnisotropy")), "{device:#}");
    // One record each, in order: the guard by its name, and the one that was changed.
    let records: Vec<_> = judged.trace.events("pair").collect();
    let held = |record: &Json| -> Vec<String> {
        let held = changes(record).into_iter().filter(|change| change.catalog == "O-2");
        held.map(|c| format!("{} {} {}: {}", c.rule, c.field, c.from, c.because)).collect()
    };
    let mut left = records.iter();
    for case in fragile() {
        let record = left.next().unwrap_or_else(|| panic!("no record of {}", case.name));
        let told = held(record);
        let guard = format!("(guard {})", case.guard);
        assert_eq!(told.len(), 1, "{}: {record:#}", case.name);
        assert!(
            told[0].starts_with("override maxAnisotropy 16.0") && told[0].ends_with(&guard),
            "{}: {told:?}",
            case.name
        );
        assert_eq!(record["rules"], serde_json::json!(["sharper"]), "{record:#}");
        // An illegal pair is repaired all the same; a legal one keeps its sampler.
        assert_eq!(record["variant"].is_null(), case.name != "integers, linear", "{}: {record:#}", case.name);
    }
    let floor = left.next().expect("a record of the floor");
    assert!(held(floor).is_empty() && floor["variant"].is_string(), "{floor:#}");
    assert_eq!(changes(floor)[0].catalog, "O-1");
    assert!(left.next().is_none());
    Ok(())
}

/// Each guard can be named off; what is illegal then is repaired like an application's own mistake. Nothing is executed: what the
/// guards are there for does happen, and some drivers crash on anisotropic 1D images.
fn guards_off(way: Way) -> Outcome {
    let guards: BTreeSet<_> = fragile().into_iter().map(|case| case.guard).collect();
    for guard in guards {
        let folder = Folder::new();
        let text = format!("[[rule]]\nset = {{ max_anisotropy = 16 }}\nguards_off = [\"{guard}\"]\n");
        let (_, judged) = with_layer(with_rules(&folder, &text).record_only(), |context| pictures(context, way))?;
        judged.assert_silent(guard);
        assert_no_problem(&judged);
        let records: Vec<_> = judged.trace.events("pair").collect();
        for (case, record) in fragile().iter().zip(&records) {
            let rows: Vec<String> = changes(record).iter().map(|c| c.catalog.clone()).collect();
            // The next guard may still hold: a render target with one level, a nearest sampler on integers.
            let next = match case.name {
                "render target" => Some("single_mip"),
                "integers" => Some("nearest"),
                "texels" => Some("single_mip"),
                _ => None,
            };
            let off = case.guard == guard;
            match next {
                Some(next) if off => {
                    let because = &changes(record)[0].because;
                    assert!(because.ends_with(&format!("(guard {next})")), "{}: {because}", case.name);
                }
                _ => assert_eq!(rows.contains(&"O-2".to_owned()), !off, "{guard} off, {}: {record:#}", case.name),
            }
            if off && next.is_none() {
                assert_eq!(rows[0], "O-1", "{record:#}");
            }
            // With LINEAR filters gone there is nothing to be anisotropic about.
            if off && case.name == "integers, linear" {
                assert!(rows.contains(&"B-9".to_owned()), "{}: {record:#}", case.name);
            }
        }
    }
    // All at once, and every other wish with them: still nothing illegal.
    let folder = Folder::new();
    let all = "\"unnormalized\", \"compare\", \"ycbcr\", \"integer\", \"attachment\", \"single_mip\", \"nearest\", \"one_dimensional\"";
    let text = format!(
        "[[rule]]\nset = {{ max_anisotropy = 64, mip_lod_bias = {{ add = 99 }}, min_lod = 3, mag_filter = \"linear\", \
         min_filter = \"cubic\", mipmap_mode = \"linear\", address_mode = \"mirror_clamp_to_edge\", \
         border = \"opaque_white\" }}\nguards_off = [{all}]\n"
    );
    let builder = with_rules(&folder, &text).record_only();
    let builder = builder.without(Capability::SamplerMirrorClampToEdge).setting("augment", "off");
    let (_, judged) = silent(builder, "every wish at once", |context| pictures(context, way))?;
    assert_no_problem(&judged);
    Ok(())
}

/// A guard holds back what it concerns and lets the rest of the rule through.
fn guards_by_member() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nset = { max_anisotropy = 8, mip_lod_bias = 1, mag_filter = \"linear\" }\n";
    let ((), judged) = silent(with_rules(&folder, text), "one level", |context| {
        let scene = Scene::colour(F::R8G8B8A8_UNORM).flat();
        let (_image, view) = scene.shown(context)?;
        let mixed = SamplerDesc { min_filter: vk::Filter::LINEAR, ..SamplerDesc::nearest() };
        sample(context, Pair::new(&view, &mixed.create(context)), &scene.points(false));
        Ok(())
    })?;
    let told: Vec<String> = judged.changes("pair").iter().map(|c| format!("{} {}", c.catalog, c.field)).collect();
    assert_eq!(told, ["O-1 magFilter", "O-2 maxAnisotropy", "O-2 mipLodBias"]);
    Ok(())
}

/// Views that are not alike get what suits each of them, from one sampler.
fn by_pair_not_by_sampler() -> Outcome {
    let folder = Folder::new();
    let text =
        "[[rule]]\nwhen = { format = \"*_UNORM\" }\nset = { mag_filter = \"nearest\", min_filter = \"nearest\" }\n";
    let ((), judged) = silent(with_rules(&folder, text), "two views", |context| {
        let linear = SamplerDesc::linear();
        let sampler = linear.create(context);
        for (format, legal) in [(F::R8G8B8A8_UNORM, SamplerDesc::nearest()), (F::R16G16B16A16_SFLOAT, linear.clone())] {
            Texture::new(context, Scene::colour(format))?.assert_reads(&sampler, &legal, "two views");
        }
        Ok(())
    })?;
    assert_eq!(judged.trace.events("pair").count(), 1);
    Ok(())
}

/// A Y′CbCr sampler is its layout's, and no rule reaches it.
fn ycbcr() -> Outcome {
    let folder = Folder::new();
    let text = "[[rule]]\nset = { max_anisotropy = 16, mag_filter = \"nearest\", address_mode = \"repeat\" }\n";
    let builder = with_rules(&folder, text).setting("trace_level", "all");
    let ((), judged) = silent(builder, "a conversion under rules", |context| {
        skip_if(context.missing(&[Capability::SamplerYcbcrConversion]))?;
        let format = F::G8_B8R8_2PLANE_420_UNORM;
        let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
        let wanted = vk::FormatFeatureFlags::SAMPLED_IMAGE | vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES;
        skip_if((!features.contains(wanted)).then(|| format!("the device cannot sample {format:?}")))?;
        let device = context.device();
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(format)
            .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_709)
            .x_chroma_offset(vk::ChromaLocation::MIDPOINT)
            .y_chroma_offset(vk::ChromaLocation::MIDPOINT);
        // SAFETY: the feature is enabled and the format's features were asked for.
        let conversion = unsafe { device.create_sampler_ycbcr_conversion(&info, None) }.expect("a conversion");
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let clamp = M::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default()
            .address_mode_u(clamp)
            .address_mode_v(clamp)
            .address_mode_w(clamp)
            .push_next(&mut chained);
        // SAFETY: the chain is a live local.
        let sampler = unsafe { device.create_sampler(&info, None) }.expect("a sampler");
        // SAFETY: nothing uses the two.
        unsafe {
            device.destroy_sampler(sampler, None);
            device.destroy_sampler_ycbcr_conversion(conversion, None);
        }
        Ok(())
    })?;
    assert!(judged.changes("sampler").is_empty());
    Ok(())
}
