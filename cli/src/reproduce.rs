//! `samplin reproduce`: one pair of a trace as a program of its own, in C++ with nothing but the Vulkan headers or in Rust with ash.
//!
//! The program makes the pair by the recorded path, samples known texels at known points, and holds what comes out against values that the
//! [`samplin_testkit::reference`] has worked out here. What it needs of the layer is nothing.

mod needs;
mod sampler;

use std::fmt::Write as _;
use std::path::PathBuf;

use ash::vk;
use minijinja::{Environment, context};
use samplin_core::decide::Repairer;
use samplin_core::names;
use samplin_testkit::reference::Texture;
use samplin_testkit::scene::{Scene, pattern};
use samplin_testkit::shader::{self, Access, ResultKind};
use samplin_testkit::{NumericKind, Path, SamplePoint, SamplerDesc, Value, texel};
use serde::Serialize;

use self::needs::Needs;
use self::sampler::{form, rust_chains};
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::inspect;
use crate::output::Output;
use crate::prove::case::{Case, Cases, Trial, expected};
use crate::story::ObjectName;
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
    let wanted = ObjectName::of(&arguments.object);
    let mut found: Vec<Case> = cases
        .into_found()
        .0
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
    // The program's shader is one that divides, if the layer has shaders do so.
    let divides = !case.settings.iter().any(|(name, value)| {
        matches!((name.as_str(), value.as_str()), ("unnormalized", "base") | ("separate", "base" | "off"))
    });
    if divides && let Some(first) = changes.iter().find(|change| change.rule == "unnormalized").cloned() {
        let repaired_by = Repairer::Shader.word().map(str::to_owned);
        changes.push(RecordedChange { repaired_by, field: String::new(), ..first });
    }
    let may_be = expected(&case.state, &changes)?;
    let wanted = may_be.first().ok_or("nothing is expected")?;
    let legal = legal(&changes, &trial, wanted, may_be.len() == 1);
    let (points, values) = points(&trial, wanted)?;
    let kind = result_kind(&trial);
    let separate = matches!(trial.way, Path::Separate);
    let access = if separate { Access::Separate { image: 0, sampler: 1 } } else { Access::Single { binding: 0 } };
    let words = shader::words(trial.op.stage(), trial.scene.shape, kind, access);
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
    let view = trial.scene.shape.view_type();
    let title = title(case, names);
    let (components, exact) =
        (if trial.scene.aspect == vk::ImageAspectFlags::COLOR { 4 } else { 1 }, kind.numeric() != NumericKind::Float);
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
            lacks_linear => trial.numbers() == NumericKind::Float
                && case.changes.iter().any(|change| matches!(change.catalog.as_str(), "B-1" | "B-2")),
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
    let by_shader =
        |rule: &str| changes.iter().any(|change| change.rule == rule && change.is_repaired_by(Repairer::Shader));
    let mut legal = Legal { scene: trial.scene, sampler: trial.read_through(wanted), points: None };
    if by_shader("unnormalized") {
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
    if by_shader("compare") {
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
    // The bias is one that the recording device has; every device has two levels, VkPhysicalDeviceLimits::maxSamplerLodBias.
    let most = wanted.lod_bias.abs().max(2.0);
    let known: Vec<(SamplePoint, Value)> = trial
        .scene
        .points(trial.asked.unnormalized)
        .into_iter()
        .filter_map(|point| Some((point, trial.expected(&texture, &wanted, &point, most)?)))
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
