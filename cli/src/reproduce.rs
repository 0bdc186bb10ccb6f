//! `samplin reproduce`: one pair of a trace as a program of its own, in C++ with nothing but the Vulkan headers or in Rust with ash.
//!
//! The program makes the pair by the recorded path, samples known texels at known points, and holds what comes out against values that the
//! [reference](samplin_testkit::reference) has worked out here. What it needs of the layer is nothing.

use std::fmt::Write as _;
use std::path::PathBuf;

use ash::vk;
use minijinja::{Environment, context};
use samplin_core::names;
use samplin_testkit::reference::{self, Texture};
use samplin_testkit::scene::{Scene, Shape, pattern};
use samplin_testkit::shader::{self, Access, ResultKind};
use samplin_testkit::{BorderValue, Path, SamplePoint, SamplerDesc, Value, texel};
use serde::Serialize;

use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::inspect;
use crate::output::Output;
use crate::prove::case::{Case, Cases, DIVIDED, Trial, expected};
use crate::story::Wanted;
use crate::trace::record::{RecordedChange, counted};

/// The arguments of `samplin reproduce`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A trace, best of the level all (`samplin run --trace-level all -- PROGRAM`). Without one, what is piped in, else the newest
    #[arg(value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// The sampler or view: its handle, debug name or fingerprint. Of several pairs, the first that was changed
    #[arg(long, value_name = "OBJECT")]
    pub object: String,
    /// Of several pairs with the object, the one whose record is in this line of the trace, as `prove --json` names it
    #[arg(long, value_name = "LINE")]
    pub line: Option<u64>,
    /// The program: FILE.cpp or FILE.rs
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Write the application's names of sampler and view into the program
    #[arg(long)]
    pub names: bool,
}

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Cpp,
    Rust,
}

/// Points of a program; more would say no more.
const POINTS: usize = 64;

/// Runs the command.
///
/// # Errors
///
/// When the trace has no such pair, or none that can be tried by itself.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let language = match arguments.output.extension().and_then(|extension| extension.to_str()) {
        Some("cpp" | "cc" | "cxx") => Language::Cpp,
        Some("rs") => Language::Rust,
        _ => return Err(Failure::usage("-o names a program: FILE.cpp or FILE.rs")),
    };
    let source = inspect::sources(arguments.trace.as_slice())?.remove(0);
    files::must_not_replace(&[("--output", &arguments.output)], std::slice::from_ref(&source), &[])?;
    let mut cases = Cases::default();
    source.read(true, |record| cases.record(record))?;
    let wanted = Wanted::of(&arguments.object);
    let mut found: Vec<Case> = cases
        .into_found()
        .into_iter()
        .filter(|case| case.is(wanted.text()) && arguments.line.is_none_or(|line| line == case.line))
        .collect();
    // What a draw says of a pair comes after, and tells more than, what an update does.
    found.sort_by_key(|case| (case.changes.is_empty(), case.path != "draw"));
    let count = found.len();
    let Some(case) = found.into_iter().next() else {
        return Err(Failure::input(format!("{}: no pair with {} has its view's class", source.name(), arguments.object))
            .hint("record it with `samplin run --trace-level all -- PROGRAM`; `samplin inspect --object` shows what the trace holds"));
    };
    let program = program(&case, arguments.names, language).map_err(Failure::input)?;
    files::write_output(&arguments.output, program.as_bytes())?;
    if count > 1 {
        output.line(format!(
            "{} with {}; the first that was changed is written",
            counted(count as u64, "pair"),
            arguments.object
        ));
    }
    output.line(format!("{}: {}", arguments.output.display(), case.sentence(&case.changes)));
    Ok(Outcome::Fine)
}

/// What is sampled: one form of it, as asked for or legal.
#[derive(Serialize)]
struct Texels {
    name: &'static str,
    format: String,
    rust_format: String,
    aspect: String,
    aspect_raw: u32,
    regions: Vec<Region>,
    texels: Vec<String>,
}

#[derive(Serialize)]
struct Region {
    aspect: String,
    aspect_raw: u32,
    level: u32,
    layer: u32,
    extent: String,
    offset: usize,
}

#[derive(Serialize)]
struct Point {
    coord: String,
    lod: String,
    reference: String,
    rust: String,
}

#[derive(Serialize)]
struct Member {
    name: &'static str,
    value: String,
}

/// A form of the sampler.
#[derive(Serialize)]
struct Form {
    begin: String,
    chains: Vec<String>,
    members: Vec<Member>,
    rust: Vec<Member>,
}

/// Features of a structure that is chained to the device's.
#[derive(Clone, Serialize)]
struct Structure {
    name: &'static str,
    c_type: &'static str,
    c_s_type: &'static str,
    rust_type: &'static str,
    members: Vec<&'static str>,
    rust_members: Vec<&'static str>,
}

/// What the legal form of a case is.
struct Legal {
    scene: Scene,
    sampler: SamplerDesc,
    points: Option<Vec<SamplePoint>>,
}

/// The text of the program.
///
/// # Errors
///
/// Why there is none for this pair.
fn program(case: &Case, names: bool, language: Language) -> std::result::Result<String, String> {
    let trial = case.trial()?;
    let mut changes = case.changes.clone();
    // The program's shader is one that divides.
    if let Some(first) = changes.iter().find(|change| change.rule == "unnormalized").cloned() {
        changes.push(RecordedChange { catalog: DIVIDED.to_owned(), field: String::new(), ..first });
    }
    let may_be = expected(&case.state, &changes)?;
    let wanted = may_be.first().ok_or("nothing is expected")?;
    let legal = legal(&changes, &trial, wanted, may_be.len() == 1);
    let (points, values) = points(&trial, wanted)?;
    let kind = result_kind(&trial);
    let separate = matches!(trial.way, Path::Separate);
    let access = if separate { Access::Separate { image: 0, sampler: 1 } } else { Access::Single { binding: 0 } };
    let words = shader::words("sample", samplin_testkit::Shape::of(view_type(trial.scene.shape)), kind, access);
    let mut images = vec![texels("", &trial.scene, trial.both_aspects)];
    let scene = legal.as_ref().map_or(trial.scene, |legal| legal.scene);
    if scene.format != trial.scene.format {
        images.push(texels("LEGAL_", &scene, false));
    }
    let legal_points = legal.as_ref().and_then(|legal| legal.points.as_ref()).map(|all| {
        // The same ones of them.
        let kept = trial.scene.points(trial.asked.unnormalized);
        points
            .iter()
            .filter_map(|point| all.get(kept.iter().position(|other| other == point)?))
            .map(point_text)
            .collect::<Vec<_>>()
    });
    let legal_sampler = legal.as_ref().map_or(&trial.asked, |legal| &legal.sampler);
    let needs = Needs::of(&trial, legal_sampler, case);
    let desc = trial.scene.image_desc();
    let [width, height, depth] = desc.extent;
    let view = view_type(trial.scene.shape);
    let title = title(case, names);
    let (components, exact) = (
        if trial.scene.aspect == vk::ImageAspectFlags::COLOR { 4 } else { 1 },
        kind.numeric() != samplin_testkit::NumericKind::Float,
    );
    let (c_kind, rust_kind) = match kind {
        ResultKind::Float | ResultKind::Shadow => ("float", "f32"),
        ResultKind::Int => ("int32_t", "i32"),
        ResultKind::Uint => ("uint32_t", "u32"),
    };
    let mut environment = Environment::new();
    let trouble = |error: minijinja::Error| format!("the program cannot be written: {error:#}");
    let template = match language {
        Language::Cpp => include_str!("reproduce/program.cpp.jinja"),
        Language::Rust => include_str!("reproduce/program.rs.jinja"),
    };
    environment.add_template("program", template).map_err(trouble)?;
    let components_of =
        [trial.scene.components.r, trial.scene.components.g, trial.scene.components.b, trial.scene.components.a];
    let begin = if legal.is_some() {
        "#else"
    } else {
        "#else\n#error \"there is no legal form: what the layer makes good is in the shader\""
    };
    let text = environment
        .get_template("program")
        .map_err(trouble)?
        .render(context! {
            title,
            changes => case.changes.iter().map(|change| context! {
                brief => change.brief(), because => change.because, vuid => change.vuid,
            }).collect::<Vec<_>>(),
            settings => case.settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(),
            gl_clamp => case.gl_clamp,
            path => path_word(trial.way),
            separate,
            has_legal => legal.is_some(),
            shader => rows(&words.iter().map(|word| format!("{word:#010x}")).collect::<Vec<_>>(), 8),
            points => points.iter().map(point_text).collect::<Vec<_>>(),
            legal_points,
            kind => context! { c => c_kind, rust => rust_kind },
            expected => values.iter().map(|value| value_text(*value, true)).collect::<Vec<_>>(),
            expected_rust => values.iter().map(|value| value_text(*value, false)).collect::<Vec<_>>(),
            tolerance => if exact { "0.0".to_owned() } else { format!("{:?}", trial.scene.tolerance(wanted)) },
            components,
            images,
            image => context! {
                flags => format!("VkImageCreateFlags({:#x})", desc.flags.as_raw()),
                flags_raw => desc.flags.as_raw(),
                type => ["VK_IMAGE_TYPE_1D", "VK_IMAGE_TYPE_2D", "VK_IMAGE_TYPE_3D"].get(desc.image_type.as_raw() as usize),
                type_raw => desc.image_type.as_raw(),
                tiling => if trial.scene.linear_tiling { "VK_IMAGE_TILING_LINEAR" } else { "VK_IMAGE_TILING_OPTIMAL" },
                tiling_raw => desc.tiling.as_raw(),
                extent => format!("{width}, {height}, {depth}"),
                levels => desc.levels,
                layers => desc.layers,
            },
            view => context! {
                type => names::view_type(view),
                rust_type => format!("vk::ImageViewType::{view:?}"),
                components => components_of.map(names::component_swizzle).join(", "),
                rust_components => ["r", "g", "b", "a"].iter().zip(components_of).map(|(name, swizzle)| format!("{name}: vk::ComponentSwizzle::{swizzle:?}")).collect::<Vec<_>>().join(", "),
            },
            samplers => [form(&trial.asked, "#if !LEGAL".to_owned()), form(legal_sampler, begin.to_owned())],
            rust_chains => rust_chains(&trial.asked, legal_sampler),
            api => context! { c => needs.api.0, rust => needs.api.1 },
            core_features => needs.core,
            core_features_rust => needs.core_rust,
            structures => needs.structures,
            extensions => needs.extensions,
            needs => needs.words,
            rust_layout_flags => match trial.way {
                Path::Push | Path::PushTemplate => "PUSH_DESCRIPTOR_KHR",
                Path::DescriptorBuffer => "DESCRIPTOR_BUFFER_EXT",
                _ => "empty()",
            },
            rust_own_flags => if trial.way == Path::DescriptorBuffer { "DESCRIPTOR_BUFFER_EXT" } else { "empty()" },
            rust_pipeline_flags => if trial.way == Path::DescriptorBuffer { "DESCRIPTOR_BUFFER_EXT" } else { "empty()" },
        })
        .map_err(trouble)?;
    Ok(text + "\n")
}

fn title(case: &Case, names: bool) -> String {
    let mut title = case.sentence(&[]).replace(": legal", "");
    if names {
        for (what, name) in ["the sampler", "the view"].iter().zip(&case.names) {
            if let Some(name) = name {
                // A name must not end the comment.
                let name: String = name.chars().map(|c| if c.is_control() || c == '\\' { ' ' } else { c }).collect();
                let _ = write!(title, ", {what} \"{name}\"");
            }
        }
    }
    title
}

/// The legal form: the repaired sampler, or what the shader makes good by what does it without a repair.
fn legal(changes: &[RecordedChange], trial: &Trial, wanted: &SamplerDesc, is_all: bool) -> Option<Legal> {
    let has = |catalog: &str| changes.iter().any(|change| change.catalog == catalog);
    let mut legal = Legal { scene: trial.scene, sampler: wanted.clone(), points: None };
    if has(DIVIDED) {
        // Coordinates divided by the size, and a sampler that takes those.
        legal.sampler.unnormalized = false;
        let divided = |mut point: SamplePoint| {
            let [width, height, _] = trial.scene.image_desc().extent;
            point.coord[0] /= width as f32;
            point.coord[1] /= height as f32;
            point
        };
        legal.points = Some(trial.scene.points(true).into_iter().map(divided).collect());
    }
    if has("B-31") {
        // Depth of the same values, which can be compared.
        legal.scene = Scene { format: vk::Format::D32_SFLOAT, aspect: vk::ImageAspectFlags::DEPTH, ..trial.scene };
    }
    is_all.then_some(legal)
}

/// The points at which the reference knows what has to come out, and that.
fn points(trial: &Trial, wanted: &SamplerDesc) -> std::result::Result<(Vec<SamplePoint>, Vec<Value>), String> {
    let texture = Texture::of(&trial.scene);
    let wanted = trial.read_through(wanted);
    if wanted.anisotropy_enable && wanted.max_anisotropy > 1.0 {
        return Err("no reference for anisotropy".to_owned());
    }
    // What every device has at least, VkPhysicalDeviceLimits::maxSamplerLodBias.
    let most = 2.0;
    let known: Vec<(SamplePoint, Value)> = trial
        .scene
        .points(trial.asked.unnormalized)
        .into_iter()
        .filter(|point| !reference::is_tied(&texture, &wanted, point, most))
        .filter_map(|point| Some((point, reference::try_sample(&texture, &wanted, &point, most)?)))
        .collect();
    if known.is_empty() {
        return Err("the reference knows none of its enumerants".to_owned());
    }
    let step = known.len().div_ceil(POINTS);
    Ok(known.into_iter().step_by(step).unzip())
}

fn result_kind(trial: &Trial) -> ResultKind {
    if trial.compares { ResultKind::Shadow } else { trial.numbers().into() }
}

fn view_type(shape: Shape) -> vk::ImageViewType {
    match shape {
        Shape::D1 => vk::ImageViewType::TYPE_1D,
        Shape::D1Array => vk::ImageViewType::TYPE_1D_ARRAY,
        Shape::D2 => vk::ImageViewType::TYPE_2D,
        Shape::D2Array => vk::ImageViewType::TYPE_2D_ARRAY,
        Shape::D3 => vk::ImageViewType::TYPE_3D,
        Shape::Cube => vk::ImageViewType::CUBE,
        Shape::CubeArray => vk::ImageViewType::CUBE_ARRAY,
    }
}

/// The word of the template for a way.
fn path_word(way: Path) -> &'static str {
    match way {
        Path::Template => "template",
        Path::Push => "push",
        Path::PushTemplate => "push_template",
        Path::DescriptorBuffer => "get_descriptor",
        Path::Immutable => "layout",
        _ => "update",
    }
}

fn aspects(aspect: vk::ImageAspectFlags) -> String {
    let names = [
        (vk::ImageAspectFlags::COLOR, "VK_IMAGE_ASPECT_COLOR_BIT"),
        (vk::ImageAspectFlags::DEPTH, "VK_IMAGE_ASPECT_DEPTH_BIT"),
        (vk::ImageAspectFlags::STENCIL, "VK_IMAGE_ASPECT_STENCIL_BIT"),
    ];
    names.iter().filter(|(bit, _)| aspect.contains(*bit)).map(|(_, name)| *name).collect::<Vec<_>>().join(" | ")
}

/// The texels of a scene.
fn texels(name: &'static str, scene: &Scene, both: bool) -> Texels {
    let (desc, mut bytes, mut regions) = (scene.image_desc(), Vec::new(), Vec::new());
    for aspect in [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL] {
        if !texel::aspects(scene.format).contains(aspect) {
            continue;
        }
        let kind = texel::numeric_kind(scene.format, aspect);
        for level in 0..desc.levels {
            for layer in 0..desc.layers {
                let [width, height, depth] = desc.level_extent(level);
                // Offsets of copies are multiples of four and of the texel's size.
                bytes.resize(bytes.len().next_multiple_of(48), 0);
                let extent = format!("{width}, {height}, {depth}");
                regions.push(Region {
                    aspect: aspects(aspect),
                    aspect_raw: aspect.as_raw(),
                    level,
                    layer,
                    extent,
                    offset: bytes.len(),
                });
                for (z, y, x) in
                    (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
                {
                    texel::encode(scene.format, aspect, pattern(kind, level, layer, [x, y, z]), &mut bytes);
                }
            }
        }
    }
    let aspect = if both { vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL } else { scene.aspect };
    Texels {
        name,
        format: names::format(scene.format),
        rust_format: format!("vk::Format::{:?}", scene.format),
        aspect: aspects(aspect),
        aspect_raw: aspect.as_raw(),
        regions,
        texels: rows(&bytes.iter().map(u8::to_string).collect::<Vec<_>>(), 24),
    }
}

/// Items in rows of so many.
fn rows(items: &[String], length: usize) -> Vec<String> {
    items.chunks(length).map(|row| row.join(", ") + ",").collect()
}

/// A float that both languages read.
fn float(value: f32) -> String {
    format!("{value:?}")
}

fn point_text(point: &SamplePoint) -> Point {
    let coord = point.coord.map(float).join(", ");
    let (lod, reference) = (float(point.lod), float(point.reference));
    let c = |text: &str| format!("{text}f");
    Point {
        rust: format!("{coord}, {lod}, {reference}"),
        coord: point.coord.map(|value| c(&float(value))).join(", "),
        lod: c(&lod),
        reference: c(&reference),
    }
}

fn value_text(value: Value, is_c: bool) -> String {
    match value {
        Value::Float(value) => value.map(|one| if is_c { format!("{}f", float(one)) } else { float(one) }).join(", "),
        Value::Int(value) => value.map(|one| one.to_string()).join(", "),
        Value::Uint(value) => value.map(|one| one.to_string()).join(", "),
    }
}

/// A float of a create info, which may be none.
fn number(value: f32, is_c: bool) -> String {
    match (value, is_c) {
        (value, true) if value.is_nan() => "NAN".to_owned(),
        (value, true) if value.is_infinite() => if value > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned(),
        (value, true) => format!("{}f", float(value)),
        (value, false) if value.is_nan() => "f32::NAN".to_owned(),
        (value, false) if value.is_infinite() => {
            if value > 0.0 { "f32::INFINITY" } else { "f32::NEG_INFINITY" }.to_owned()
        }
        (value, false) => float(value),
    }
}

/// An enumerant by its name in C, or by its number.
fn c_name(name: &str, ty: &str, raw: i32) -> String {
    if name.starts_with("VK_") { name.to_owned() } else { format!("static_cast<{ty}>({raw:#x})") }
}

/// An enumerant of ash's, which has names for what it knows.
fn rust_name(debug: &str, ty: &str, raw: i32) -> String {
    if debug.starts_with(|first: char| first.is_ascii_alphabetic()) {
        format!("vk::{ty}::{debug}")
    } else {
        format!("vk::{ty}::from_raw({raw:#x})")
    }
}

fn form(sampler: &SamplerDesc, begin: String) -> Form {
    let mut form = Form { begin, chains: chains(sampler), members: Vec::new(), rust: Vec::new() };
    let mut put = |c: &'static str, rust: &'static str, values: (String, String)| {
        form.members.push(Member { name: c, value: values.0 });
        form.rust.push(Member { name: rust, value: values.1 });
    };
    macro_rules! enumerant {
        ($value:expr, $c:literal, $rust:literal, $names:path) => {{
            let value = $value;
            (c_name(&$names(value), $c, value.as_raw()), rust_name(&format!("{value:?}"), $rust, value.as_raw()))
        }};
    }
    let float = |value: f32| (number(value, true), number(value, false));
    let flag = |on: bool| {
        let text = |on: bool| if on { "TRUE" } else { "FALSE" };
        (format!("VK_{}", text(on)), format!("vk::{}", text(on)))
    };
    let flags = sampler.flags.as_raw();
    put(
        "flags",
        "flags",
        (format!("VkSamplerCreateFlags({flags:#x})"), format!("vk::SamplerCreateFlags::from_raw({flags:#x})")),
    );
    put("magFilter", "mag_filter", enumerant!(sampler.mag_filter, "VkFilter", "Filter", names::filter));
    put("minFilter", "min_filter", enumerant!(sampler.min_filter, "VkFilter", "Filter", names::filter));
    let mode = enumerant!(sampler.mipmap_mode, "VkSamplerMipmapMode", "SamplerMipmapMode", names::mipmap_mode);
    put("mipmapMode", "mipmap_mode", mode);
    let axes =
        [("addressModeU", "address_mode_u"), ("addressModeV", "address_mode_v"), ("addressModeW", "address_mode_w")];
    for ((c, rust), mode) in axes.into_iter().zip(sampler.address) {
        put(c, rust, enumerant!(mode, "VkSamplerAddressMode", "SamplerAddressMode", names::address_mode));
    }
    put("mipLodBias", "mip_lod_bias", float(sampler.lod_bias));
    put("anisotropyEnable", "anisotropy_enable", flag(sampler.anisotropy_enable));
    put("maxAnisotropy", "max_anisotropy", float(sampler.max_anisotropy));
    put("compareEnable", "compare_enable", flag(sampler.compare_enable));
    put("compareOp", "compare_op", enumerant!(sampler.compare_op, "VkCompareOp", "CompareOp", names::compare_op));
    put("minLod", "min_lod", float(sampler.min_lod));
    put("maxLod", "max_lod", float(sampler.max_lod));
    put(
        "borderColor",
        "border_color",
        enumerant!(sampler.border_color, "VkBorderColor", "BorderColor", names::border_color),
    );
    put("unnormalizedCoordinates", "unnormalized_coordinates", flag(sampler.unnormalized));
    form
}

/// The words of a custom colour, as integers.
fn color(value: BorderValue) -> [u32; 4] {
    match value {
        BorderValue::Float(value) => value.map(f32::to_bits),
        BorderValue::Int(value) => value.map(i32::cast_unsigned),
        BorderValue::Uint(value) => value,
    }
}

/// What is chained to the create info, in C++.
fn chains(sampler: &SamplerDesc) -> Vec<String> {
    let mut all = Vec::new();
    let mut chain = |ty: &str, s_type: &str, name: &str, members: &[String]| {
        all.push(format!("{ty} {name} = {{{s_type}}};"));
        all.extend(members.iter().map(|member| format!("{name}.{member};")));
        all.push(format!("{name}.pNext = sampler_info.pNext;"));
        all.push(format!("sampler_info.pNext = &{name};"));
    };
    if let Some(mode) = sampler.reduction {
        let value = c_name(&names::reduction_mode(mode), "VkSamplerReductionMode", mode.as_raw());
        let s_type = "VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO";
        chain("VkSamplerReductionModeCreateInfo", s_type, "reduction", &[format!("reductionMode = {value}")]);
    }
    if let Some(border) = sampler.custom_border {
        let words = color(border.value).map(|word| format!("{word:#x}"));
        let mut members: Vec<String> =
            words.iter().enumerate().map(|(at, word)| format!("customBorderColor.uint32[{at}] = {word}")).collect();
        members.push(format!("format = {}", names::format(border.format)));
        let s_type = "VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT";
        chain("VkSamplerCustomBorderColorCreateInfoEXT", s_type, "custom", &members);
    }
    if let Some((mapping, srgb)) = sampler.border_mapping {
        let components = [mapping.r, mapping.g, mapping.b, mapping.a].map(names::component_swizzle).join(", ");
        let s_type = "VK_STRUCTURE_TYPE_SAMPLER_BORDER_COLOR_COMPONENT_MAPPING_CREATE_INFO_EXT";
        let members = [format!("components = {{{components}}}"), format!("srgb = {}", u32::from(srgb))];
        chain("VkSamplerBorderColorComponentMappingCreateInfoEXT", s_type, "mapping", &members);
    }
    all
}

/// The same in Rust, of both forms.
fn rust_chains(asked: &SamplerDesc, legal: &SamplerDesc) -> Vec<String> {
    let mut all = Vec::new();
    let mut chain = |name: &str, forms: [Option<String>; 2]| {
        let Some(default) = forms.iter().flatten().next().cloned() else { return };
        let [asked, legal] = &forms;
        let of = |form: &Option<String>| form.clone().unwrap_or_else(|| default.clone());
        all.push(format!("let mut {name} = if LEGAL {{ {} }} else {{ {} }};", of(legal), of(asked)));
        all.push(format!("if if LEGAL {{ {} }} else {{ {} }} {{", legal.is_some(), asked.is_some()));
        all.push(format!("    info = info.push_next(&mut {name});"));
        all.push("}".to_owned());
    };
    chain(
        "reduction",
        [asked, legal].map(|sampler| {
            let mode = sampler.reduction?;
            let mode = rust_name(&format!("{mode:?}"), "SamplerReductionMode", mode.as_raw());
            Some(format!("vk::SamplerReductionModeCreateInfo::default().reduction_mode({mode})"))
        }),
    );
    chain("custom", [asked, legal].map(|sampler| {
        let border = sampler.custom_border?;
        let words = color(border.value).map(|word| format!("{word:#x}")).join(", ");
        let format = rust_name(&format!("{:?}", border.format), "Format", border.format.as_raw());
        Some(format!(
            "vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(vk::ClearColorValue {{ uint32: [{words}] }}).format({format})"
        ))
    }));
    chain("mapping", [asked, legal].map(|sampler| {
        let (mapping, srgb) = sampler.border_mapping?;
        let of = |swizzle: vk::ComponentSwizzle| format!("vk::ComponentSwizzle::{swizzle:?}");
        let [r, g, b, a] = [mapping.r, mapping.g, mapping.b, mapping.a].map(of);
        Some(format!(
            "vk::SamplerBorderColorComponentMappingCreateInfoEXT::default().components(vk::ComponentMapping {{ r: {r}, g: {g}, b: {b}, a: {a} }}).srgb({srgb})"
        ))
    }));
    all
}

/// What a program asks of the device.
struct Needs {
    api: (&'static str, &'static str),
    core: Vec<&'static str>,
    core_rust: Vec<&'static str>,
    structures: Vec<Structure>,
    extensions: Vec<&'static str>,
    words: String,
}

impl Needs {
    fn of(trial: &Trial, legal: &SamplerDesc, case: &Case) -> Self {
        let mut needs = Self {
            api: ("VK_API_VERSION_1_1", "vk::API_VERSION_1_1"),
            core: Vec::new(),
            core_rust: Vec::new(),
            structures: Vec::new(),
            extensions: Vec::new(),
            words: String::new(),
        };
        let forms = [&trial.asked, legal];
        // What the application left off stays off.
        let on = |ability: &str| !case.off.iter().any(|off| off == ability);
        let any = |is: &dyn Fn(&SamplerDesc) -> bool| forms.iter().any(|sampler| is(sampler));
        let mut core = |c: &'static str, rust: &'static str| {
            needs.core.push(c);
            needs.core_rust.push(rust);
        };
        if on("samplerAnisotropy") && any(&|sampler| sampler.anisotropy_enable) {
            core("samplerAnisotropy", "sampler_anisotropy");
        }
        if trial.scene.shape == Shape::CubeArray {
            core("imageCubeArray", "image_cube_array");
        }
        let mut twelve: Vec<(&'static str, &'static str)> = Vec::new();
        let mirrored = |sampler: &SamplerDesc| sampler.address.contains(&vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE);
        if on("samplerMirrorClampToEdge") && any(&mirrored) {
            twelve.push(("samplerMirrorClampToEdge", "sampler_mirror_clamp_to_edge"));
        }
        if on("samplerFilterMinmax") && any(&|sampler| sampler.reduction.is_some()) {
            twelve.push(("samplerFilterMinmax", "sampler_filter_minmax"));
        }
        let mut chain = |name: &'static str,
                         c: [&'static str; 2],
                         rust: &'static str,
                         members: Vec<(&'static str, &'static str)>| {
            let (members, rust_members) = members.into_iter().unzip();
            needs.structures.push(Structure {
                name,
                c_type: c[0],
                c_s_type: c[1],
                rust_type: rust,
                members,
                rust_members,
            });
        };
        if on("customBorderColors") && any(&|sampler| sampler.custom_border.is_some()) {
            let mut members = vec![("customBorderColors", "custom_border_colors")];
            if on("customBorderColorWithoutFormat") {
                members.push(("customBorderColorWithoutFormat", "custom_border_color_without_format"));
            }
            let c = [
                "VkPhysicalDeviceCustomBorderColorFeaturesEXT",
                "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT",
            ];
            chain("custom_border", c, "PhysicalDeviceCustomBorderColorFeaturesEXT", members);
            needs.extensions.push("VK_EXT_custom_border_color");
        }
        if on("borderColorSwizzle") && any(&|sampler| sampler.border_mapping.is_some()) {
            let mut members = vec![("borderColorSwizzle", "border_color_swizzle")];
            if on("borderColorSwizzleFromImage") {
                members.push(("borderColorSwizzleFromImage", "border_color_swizzle_from_image"));
            }
            let c = [
                "VkPhysicalDeviceBorderColorSwizzleFeaturesEXT",
                "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT",
            ];
            chain("border_swizzle", c, "PhysicalDeviceBorderColorSwizzleFeaturesEXT", members);
            needs.extensions.push("VK_EXT_border_color_swizzle");
            if !needs.extensions.contains(&"VK_EXT_custom_border_color") {
                needs.extensions.push("VK_EXT_custom_border_color");
            }
        }
        if trial.way == Path::DescriptorBuffer {
            let c = [
                "VkPhysicalDeviceDescriptorBufferFeaturesEXT",
                "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT",
            ];
            chain(
                "descriptor_buffer",
                c,
                "PhysicalDeviceDescriptorBufferFeaturesEXT",
                vec![("descriptorBuffer", "descriptor_buffer")],
            );
            twelve.push(("bufferDeviceAddress", "buffer_device_address"));
            needs.extensions.push("VK_EXT_descriptor_buffer");
            needs.api = ("VK_API_VERSION_1_3", "vk::API_VERSION_1_3");
        } else if !twelve.is_empty() {
            needs.api = ("VK_API_VERSION_1_2", "vk::API_VERSION_1_2");
        }
        if !twelve.is_empty() {
            let c = ["VkPhysicalDeviceVulkan12Features", "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES"];
            chain("vulkan12", c, "PhysicalDeviceVulkan12Features", twelve);
        }
        if matches!(trial.way, Path::Push | Path::PushTemplate) {
            needs.extensions.push("VK_KHR_push_descriptor");
        }
        let members = needs.structures.iter().flat_map(|structure| structure.members.iter());
        let all: Vec<&str> = needs.core.iter().chain(members).chain(&needs.extensions).copied().collect();
        needs.words = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
        needs
    }
}
