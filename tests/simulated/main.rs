//! Simulated devices: what one scene becomes on each device of `devices/`, judged by a checker that reads the capability file by
//! itself and knows nothing of how the layer does.
//!
//! The scene is every sampler of [`samplers`] with every view of [`views`]. Nothing is drawn: the driver below can do more than the
//! device that is simulated, so only the trace can tell whether a pair is one that the device could take ([`Checker`]).
//! With `SAMPLIN_TEST_TABLE` set, this program prints the table of `docs/reference/devices.md` instead; `scripts/device-table` does that.

mod visible;

use ash::vk;
use run::{Folder, Judged, Outcome, Skip, build, silent, skip_if, trial, with_layer};
use samplin_suite::{run, scene};
use samplin_testkit::{
    BorderValue, Capability, Context, ContextBuilder, Held, Pair, SamplerDesc, Slot, Trace, again, descriptor, layer,
    sample, trace,
};
use scene::{Scene, Shape};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type C = vk::ComponentSwizzle;
type F = vk::Format;
type M = vk::SamplerAddressMode;

const GL_CLAMP: M = M::from_raw(0x2900);

// --- the scene --------------------------------------------------------------------------------------------------------

fn samplers() -> Vec<(&'static str, SamplerDesc)> {
    let (tri, linear, nearest) = (SamplerDesc::trilinear(), SamplerDesc::linear(), SamplerDesc::nearest());
    let custom = BorderValue::Float([0.25, 0.5, 0.75, 1.0]);
    vec![
        ("trilinear", tri.clone().address(M::REPEAT)),
        ("anisotropic", tri.clone().address(M::REPEAT).anisotropy(16.0)),
        ("shadow", linear.clone().compare(vk::CompareOp::LESS)),
        ("white integer border", nearest.clone().border(vk::BorderColor::INT_OPAQUE_WHITE)),
        ("black border", linear.clone().border(vk::BorderColor::FLOAT_OPAQUE_BLACK)),
        ("custom border", nearest.clone().custom_border(custom, F::R8G8B8A8_UNORM)),
        ("custom border without format", nearest.clone().custom_border(custom, F::UNDEFINED)),
        ("mirrored once", nearest.clone().address(M::MIRROR_CLAMP_TO_EDGE)),
        ("biased", SamplerDesc { lod_bias: 12.0, ..nearest.clone() }),
        ("minimum", linear.clone().reduction(vk::SamplerReductionMode::MIN)),
        ("GL clamp", linear.address(GL_CLAMP)),
        (
            "seams",
            SamplerDesc {
                flags: vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
                ..nearest.border(vk::BorderColor::FLOAT_OPAQUE_BLACK)
            },
        ),
    ]
}

fn views() -> Vec<Scene> {
    let bgra = vk::ComponentMapping { r: C::B, g: C::G, b: C::R, a: C::A };
    let rgba = Scene::colour(F::R8G8B8A8_UNORM);
    vec![
        rgba,
        Scene { components: bgra, ..rgba },
        rgba.linear_tiling(),
        rgba.shape(Shape::Cube),
        rgba.shape(Shape::D3),
        Scene::colour(F::R8G8B8A8_SRGB),
        Scene::colour(F::R8G8B8A8_UINT),
        Scene::colour(F::R5G6B5_UNORM_PACK16),
        Scene::colour(F::R16G16B16A16_UNORM),
        Scene::colour(F::R16G16B16A16_SFLOAT),
        Scene::colour(F::R32_SFLOAT),
        Scene::colour(F::R32G32B32A32_SFLOAT),
        Scene::depth(F::D16_UNORM),
        Scene::depth(F::D32_SFLOAT),
        Scene::depth(F::D24_UNORM_S8_UINT),
        Scene::stencil(F::D24_UNORM_S8_UINT),
    ]
}

/// What a view is called in the trace, where its tiling stands nowhere else.
fn label(scene: &Scene) -> String {
    format!("{:?} {:?} {}", scene.format, scene.shape, if scene.linear_tiling { "linear" } else { "optimal" })
}

/// Writes every pair of the scene on the device that `builder` simulates.
fn play(builder: ContextBuilder) -> Result<Judged, Skip> {
    let builder = builder.extension(c"VK_SAMPLIN_gl_address_modes").setting("trace_level", "all");
    let ((), judged) = silent(builder, "the scene", |context| {
        let made: Vec<_> = samplers().into_iter().map(|(name, desc)| desc.named(name).create(context)).collect();
        let held = Held::new(context, &[descriptor::Binding::combined(0, 1)], &[]);
        for scene in views() {
            let (_image, view) = scene.shown(context)?;
            context.set_name(view.handle(), &label(&scene));
            for sampler in &made {
                held.write(&[Slot::pair(&view, sampler, 0, 0)]);
            }
        }
        Ok(())
    })?;
    Ok(judged)
}

// --- the checker ------------------------------------------------------------------------------------------------------

/// Holds a trace against a capability file.
struct Checker {
    file: Json,
    /// The file knows the first 15 format-feature bits only.
    lossy: bool,
}

/// A sampler as the trace describes it: members by name.
type State = BTreeMap<String, Json>;

/// Whether a mapping, in letters, makes another colour of the border; of formats with four components.
fn changes_border(state: &State, swizzle: &str) -> bool {
    let number = |at: usize| match &state["borderColor"] {
        color if color.as_str().is_some_and(|color| color.contains("CUSTOM")) => {
            state["customBorderColor"][at].as_f64()
        }
        _ => Some(f64::from(u8::from(at == 3))),
    };
    swizzle.chars().enumerate().any(|(at, letter)| match "rgba01".find(letter) {
        Some(from @ 0..4) => number(from) != number(at),
        Some(constant) => Some((constant - 4) as f64) != number(at),
        None => true,
    })
}

impl Checker {
    fn new(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a capability file");
        let file: Json = serde_json::from_str(&text).expect("JSON");
        let lossy =
            file["formats_covered"]["lossy"] != Json::Null && file["formats_covered"]["lossy"] != Json::Bool(false);
        Self { file, lossy }
    }

    fn name(&self) -> &str {
        self.file["name"].as_str().expect("a name")
    }

    fn has(&self, feature: &str) -> bool {
        self.file["effective"][feature] != Json::Bool(false)
    }

    fn limit(&self, name: &str) -> f64 {
        self.file["limits"][name].as_f64().unwrap_or(f64::INFINITY)
    }

    fn can(&self, format: &str, tiling: &str, bit: &str) -> bool {
        let features = &self.file["formats"][format][format!("{tiling}TilingFeatures")];
        let wanted = format!("VK_FORMAT_FEATURE_{bit}_BIT");
        features.as_array().into_iter().flatten().any(|feature| *feature == wanted)
    }

    /// What a sampler by itself may not be; the custom border's format counts once a view is known.
    fn check_sampler(&self, state: &State) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut need = |what: &str, ok: bool| {
            if !ok {
                wrong.push(what.to_owned());
            }
        };
        let text = |key: &str| state.get(key).and_then(Json::as_str).unwrap_or_default();
        let number = |key: &str| state.get(key).and_then(Json::as_f64).unwrap_or_default();
        let on = |key: &str| state.get(key) == Some(&Json::Bool(true));
        if on("anisotropyEnable") {
            need("samplerAnisotropy", self.has("samplerAnisotropy"));
            need("maxSamplerAnisotropy", number("maxAnisotropy") <= self.limit("maxSamplerAnisotropy"));
        }
        need("maxSamplerLodBias", number("mipLodBias").abs() <= self.limit("maxSamplerLodBias"));
        need("samplerMipLodBias", number("mipLodBias") == 0.0 || self.has("samplerMipLodBias"));
        for axis in ["U", "V", "W"] {
            let mode = text(&format!("addressMode{axis}"));
            need("a mode of Vulkan", mode.starts_with("VK_"));
            need("mirrorClampToEdge", !mode.ends_with("_MIRROR_CLAMP_TO_EDGE") || self.has("mirrorClampToEdge"));
        }
        let reduction = text("reductionMode");
        need("filterMinmax", reduction.is_empty() || reduction.ends_with("AVERAGE") || self.has("filterMinmax"));
        for filter in ["magFilter", "minFilter"] {
            need("filterCubic", !text(filter).contains("CUBIC") || self.has("filterCubic"));
        }
        let flags = state.get("flags").map(ToString::to_string).unwrap_or_default();
        need("nonSeamlessCubeMap", !flags.contains("NON_SEAMLESS") || self.has("nonSeamlessCubeMap"));
        if text("borderColor").contains("_CUSTOM_") {
            need("customBorderColors", self.has("customBorderColors"));
            let format = text("customBorderColorFormat");
            let formatless = format == "VK_FORMAT_UNDEFINED" || format.is_empty();
            need("customBorderColorWithoutFormat", !formatless || self.has("customBorderColorWithoutFormat"));
        }
        wrong
    }

    /// What a pair may not be. `told`: whether a record names it as one that a rule leaves.
    fn check_pair(&self, state: &State, record: &Json, told: impl Fn(&str) -> bool) -> Vec<String> {
        let mut wrong = self.check_sampler(state);
        let text = |key: &str| state.get(key).and_then(Json::as_str).unwrap_or_default();
        let format = record["format"].as_str().expect("a format");
        let tiling =
            if record["names"]["view"].as_str().expect("a name").ends_with("linear") { "linear" } else { "optimal" };
        let integer = record["aspect"] == "stencil" || format.contains("_UINT") && record["aspect"] == "color";
        let compares = state.get("compareEnable") == Some(&Json::Bool(true));
        let linear = ["magFilter", "minFilter"].iter().any(|key| text(key) == "VK_FILTER_LINEAR");
        let blends = text("mipmapMode") == "VK_SAMPLER_MIPMAP_MODE_LINEAR";
        let minmax = !(text("reductionMode").is_empty() || text("reductionMode").ends_with("AVERAGE"));
        // No filter mends that there is no such format.
        let sampled = self.can(format, tiling, "SAMPLED_IMAGE");
        if told("unsupported-format") == sampled {
            wrong.push(format!("{format} ({tiling}) sampled: {sampled}"));
        }
        if sampled && (linear || blends) && !compares {
            let bit = if minmax { "SAMPLED_IMAGE_FILTER_MINMAX" } else { "SAMPLED_IMAGE_FILTER_LINEAR" };
            let known = !(minmax && self.lossy);
            if integer || (known && !self.can(format, tiling, bit)) {
                wrong.push(format!("{bit} of {format} ({tiling})"));
            }
        }
        // A border that swizzling changes, where it can be seen.
        let reached = match record["view_type"].as_str().expect("a type") {
            "VK_IMAGE_VIEW_TYPE_3D" => &["U", "V", "W"][..],
            "VK_IMAGE_VIEW_TYPE_CUBE" if !state.contains_key("flags") => &[],
            _ => &["U", "V"],
        };
        let reached = reached.iter().any(|axis| text(&format!("addressMode{axis}")).ends_with("_CLAMP_TO_BORDER"));
        let colour = text("borderColor");
        if reached {
            let kind = if integer { "_INT_" } else { "_FLOAT_" };
            if !colour.contains(kind) {
                wrong.push(format!("{colour} on {format}"));
            }
            let sensitive = colour.contains("CUSTOM") || colour.contains("OPAQUE_BLACK");
            let mapped = state.contains_key("components") || state.contains_key("borderColorComponents");
            let swizzle = record["swizzle"].as_str().expect("a swizzle");
            if changes_border(state, swizzle)
                && sensitive
                && !told("border-swizzle")
                && !self.has("borderColorSwizzleFromImage")
                && !(mapped && self.has("borderColorSwizzle"))
            {
                wrong.push(format!("a swizzled {colour}"));
            }
        }
        wrong
    }

    /// Every pair and sampler of a trace of level `all`; panics with what is wrong.
    fn check(&self, trace: &Trace) {
        let mut bases: BTreeMap<&str, (State, State)> = BTreeMap::new();
        let mut customs = BTreeSet::new();
        let mut wrong = Vec::new();
        for record in trace.events("sampler") {
            let original: State = record["state"].as_object().expect("a state").clone().into_iter().collect();
            let base = apply(original.clone(), record);
            wrong.extend(self.check_sampler(&base).into_iter().map(|what| format!("{what}: {record:#}")));
            let handle = record["sampler"].as_str().expect("a handle");
            if is_custom(&base) {
                customs.insert(handle);
            }
            bases.insert(handle, (original, base));
        }
        let mut variants = BTreeSet::new();
        let mut refusals = 0;
        for record in trace.events("pair") {
            let (original, base) = &bases[record["sampler"].as_str().expect("a handle")];
            let state = match record["variant"].as_str() {
                None => base.clone(),
                Some(variant) => {
                    let state = apply(border_of(original, base, record), record);
                    wrong.extend(told_again(base, &state, record));
                    variants.insert(variant);
                    if is_custom(&state) {
                        customs.insert(variant);
                    }
                    state
                }
            };
            let refused = trace.events("unresolved").any(|said| {
                said["rule"] == "sampler-budget" && said["fingerprint"] == record["fingerprint"] && is_of(said, record)
            });
            if refused {
                assert!(
                    self.limit("maxSamplerAllocationCount") < 1024.0,
                    "only a small limit is the application's alone"
                );
                assert_eq!((&record["variant"], record["changes"].as_array().map(Vec::len)), (&Json::Null, Some(0)));
                refusals += 1;
                continue;
            }
            let told = |rule: &str| {
                trace.events("unresolved").any(|said| {
                    said["rule"] == rule && said["fingerprint"] == record["fingerprint"] && is_of(said, record)
                })
            };
            wrong.extend(self.check_pair(&state, record, told).into_iter().map(|what| format!("{what}: {record:#}")));
        }
        assert!(wrong.is_empty(), "{}: {} wrong, of which the first: {}", self.name(), wrong.len(), wrong[0]);
        assert!(customs.len() as f64 <= self.limit("maxCustomBorderColorSamplers"), "{}", self.name());
        let limit = self.limit("maxSamplerAllocationCount");
        assert!((bases.len() + variants.len()) as f64 <= limit, "{}", self.name());
        assert_eq!(refusals > 0, limit < 1024.0, "{}: {refusals} pairs are left alone for want of places", self.name());
    }
}

/// Whether a record of what is passed through is about the view of a pair's record.
fn is_of(said: &Json, pair: &Json) -> bool {
    ["format", "aspect", "view_type", "sampler", "view"].iter().all(|member| said[member] == pair[member])
}

/// Members that a pair's record claims to change and that creation had already left like that.
fn told_again(base: &State, state: &State, record: &Json) -> Vec<String> {
    let fields = record["changes"].as_array().expect("changes").iter();
    let fields: BTreeSet<&str> = fields.map(|change| change["field"].as_str().expect("a member")).collect();
    let of_sampler = |field: &&&str| !["format", "components", "customBorderColor"].contains(*field);
    let again = |field: &&&str| base.contains_key(**field) && base.get(**field) == state.get(**field);
    fields.iter().filter(of_sampler).filter(again).map(|field| format!("{field} told twice: {record:#}")).collect()
}

fn is_custom(state: &State) -> bool {
    state.get("borderColor").and_then(Json::as_str).is_some_and(|colour| colour.contains("_CUSTOM_"))
}

/// The state after the changes of a record.
fn apply(mut state: State, record: &Json) -> State {
    for change in record["changes"].as_array().expect("changes") {
        let field = change["field"].as_str().expect("a member");
        let held = change["catalog"] == "O-2";
        let key = match field {
            "format" => "customBorderColorFormat",
            "components" => "borderColorComponents",
            other => other,
        };
        match &change["to"] {
            _ if held => {}
            Json::Null => _ = state.remove(key),
            Json::Array(list) if list.is_empty() => _ = state.remove(key),
            to => _ = state.insert(key.to_owned(), to.clone()),
        }
    }
    state
}

/// The base, but with the border that the application asked for where the pair's changes start from that: creation cannot keep a
/// custom border whose format only the view tells.
fn border_of(original: &State, base: &State, record: &Json) -> State {
    let mut state = base.clone();
    let from_custom = record["changes"].as_array().expect("changes").iter().any(|change| {
        let field = change["field"].as_str().expect("a member");
        ["format", "customBorderColor"].contains(&field)
            || (field == "borderColor" && change["from"].as_str().is_some_and(|from| from.contains("_CUSTOM_")))
    });
    if from_custom {
        for key in ["borderColor", "customBorderColor", "customBorderColorFormat"] {
            if let Some(value) = original.get(key) {
                state.insert(key.to_owned(), value.clone());
            }
        }
    }
    state
}

// --- the shipped devices ----------------------------------------------------------------------------------------------

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("devices")
}

/// Paths of the shipped files, by name.
fn devices() -> Vec<PathBuf> {
    samplin_testkit::folder::files(folder(), "json")
}

fn simulate(path: &Path) -> ContextBuilder {
    Context::builder().file("device", path)
}

/// The scene on a shipped device: everything handed down is something that the device can do, and nothing else was changed
/// for a reason that the device does not give.
fn on_device(path: &Path) -> Outcome {
    let checker = Checker::new(path);
    let judged = play(simulate(path))?;
    assert_eq!(judged.trace.first("device")["simulated"], checker.name());
    assert_eq!(
        judged.trace.events("settings").count(),
        0,
        "{:#?}",
        judged.trace.events("settings").collect::<Vec<_>>()
    );
    let pairs = judged.trace.events("pair").count();
    assert_eq!(pairs, samplers().len() * views().len());
    checker.check(&judged.trace);
    // What the device can do is not taken away.
    for record in judged.trace.events("pair") {
        let format = record["format"].as_str().expect("a format");
        let tiling =
            if record["names"]["view"].as_str().expect("a name").ends_with("linear") { "linear" } else { "optimal" };
        for change in trace::changes(record).iter().filter(|change| ["B-1", "B-2"].contains(&change.catalog.as_str())) {
            let able = checker.can(format, tiling, "SAMPLED_IMAGE_FILTER_LINEAR");
            assert!(!able || is_driver_unable(format), "{change:?} on {format} ({tiling})");
        }
    }
    Ok(())
}

/// What Mesa's software driver of version 22.3 cannot filter itself.
fn is_driver_unable(format: &str) -> bool {
    format.starts_with("VK_FORMAT_D")
}

/// The checker finds what it is there for: without the simulation, most devices could not take what the driver takes.
fn checker_sees() -> Outcome {
    let judged = play(Context::builder())?;
    let able: Vec<String> = devices()
        .iter()
        .filter(|path| std::panic::catch_unwind(|| Checker::new(path).check(&judged.trace)).is_ok())
        .map(|path| Checker::new(path).name().to_owned())
        .collect();
    assert!(able.len() < devices().len() / 2, "these could take everything: {able:?}");
    Ok(())
}

/// There are enough devices, each with its source and licence, and each is of the schema.
fn shipped() -> Outcome {
    let files = devices();
    assert!(files.len() >= 12, "{files:?}");
    for path in &files {
        let checker = Checker::new(path);
        assert_eq!(checker.file["schema"], "device-caps/1", "{}", path.display());
        assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(checker.name()));
        let licence = checker.file["provenance"]["license"].as_str().unwrap_or_default();
        assert!(!licence.is_empty(), "{} has no licence", path.display());
    }
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("a README");
    assert!(readme.contains("CC BY 4.0") && readme.contains("vulkan.gpuinfo.org"), "attribution");
    Ok(())
}

// --- what the application sees ----------------------------------------------------------------------------------------

/// `device_visible`: the application's own queries are answered by the simulated device; else by the real one.
fn shown() -> Outcome {
    let path = folder().join("verisilicon-gc-debian.json");
    let float = F::R32_SFLOAT;
    let linear = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
    // What the application learns: anisotropy, bias, features of a float format and of one that the file does not list.
    let asks = |context: &Context| {
        let optimal = vk::ImageTiling::OPTIMAL;
        // SAFETY: the physical device belongs to the instance.
        let core = unsafe { context.instance().get_physical_device_features(context.physical_device()) };
        let mut three = vk::FormatProperties3::default();
        let mut two = vk::FormatProperties2::default().push_next(&mut three);
        // SAFETY: version 1.1, and a chain of live locals.
        unsafe {
            context.instance().get_physical_device_format_properties2(context.physical_device(), float, &mut two);
        }
        let plain = two.format_properties.optimal_tiling_features;
        let wide = three.optimal_tiling_features.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_LINEAR);
        let all = [context.format_features(float, optimal), plain];
        assert_eq!(all[0].contains(linear), all[1].contains(linear), "the two queries agree");
        assert_eq!(all[0].contains(linear), wide, "the three queries agree");
        assert_eq!(core.sampler_anisotropy != 0, context.offers(Capability::SamplerAnisotropy));
        (
            core.sampler_anisotropy != 0,
            context.offers(Capability::CustomBorderColor),
            context.limits().max_sampler_lod_bias,
            all[0].contains(linear),
            context.format_features(F::R16_UNORM, optimal).is_empty(),
        )
    };
    let (hidden, _) = silent(simulate(&path), "a device that is not shown", |context| Ok(asks(context)))?;
    skip_if((hidden != (true, true, 16.0, true, false)).then(|| "made for Mesa's software driver".into()))?;
    let (shown, _) =
        silent(simulate(&path).setting("device_visible", "on"), "a device that is shown", |context| Ok(asks(context)))?;
    assert_eq!(shown, (false, false, 2.0, false, true));
    // An application that looks first then has nothing illegal in it.
    let builder = simulate(&path).setting("device_visible", "on");
    let (_, judged) = with_layer(builder, |context| {
        let scene = Scene::colour(float);
        let (_image, view) = scene.shown(context)?;
        let able = context.format_features(float, vk::ImageTiling::OPTIMAL).contains(linear);
        let sampler = if able { SamplerDesc::linear() } else { SamplerDesc::nearest() };
        Ok(sample(context, Pair::new(&view, &sampler.create(context)), &scene.points(false)[..1]))
    })?;
    judged.assert_untouched("an application that takes its own fallback");
    Ok(())
}

// --- names and mistakes -----------------------------------------------------------------------------------------------

/// What [`named`] starts: a context with a trace at this path.
fn be_child(trace: &str) -> Outcome {
    build(&Context::builder().samplin().setting("trace", trace)).map(drop)
}

/// Runs this program again with `SAMPLIN_DEVICE` set, on a copy of the layer that has the shipped devices beside it.
fn named(folder: &Folder, device: &str) -> Result<(Trace, String), Skip> {
    let trace = folder.join("trace.jsonl");
    let _ = std::fs::remove_file(&trace);
    let mut command = again::command(trace.to_str().expect("temporary paths are UTF-8"));
    command.env("SAMPLIN_DEVICE", device).env(layer::LAYER_DIR_VARIABLE, folder.join("layer"));
    let ended = again::run(&mut command)?;
    Ok((run::read_trace(&trace), ended.stderr))
}

/// Short names: the whole name of a shipped file, or enough of its words.
fn short_names() -> Outcome {
    drop(build(&Context::builder().samplin())?);
    let folder = Folder::new();
    let place = folder.join("layer");
    std::fs::create_dir_all(&place).expect("a folder");
    let library = place.join(layer::LIBRARY);
    std::fs::copy(layer::loaded_library().expect("the layer is loaded"), &library).expect("a copy");
    layer::write_manifest(&place, &library).expect("a manifest");
    let beside = place.join("devices");
    std::fs::create_dir_all(&beside).expect("a folder");
    for file in devices() {
        std::fs::copy(&file, beside.join(file.file_name().expect("a name"))).expect("a copy");
    }
    for shipped in samplin_config::devices::SHIPPED {
        // Every name that the tool prints.
        for given in [shipped.short, shipped.name] {
            let (trace, said) = named(&folder, given)?;
            assert_eq!(trace.first("device")["simulated"], shipped.name, "{given}");
            assert_eq!((trace.events("settings").count(), said.contains("samplin:")), (0, false), "{given}: {said}");
        }
    }
    let whole = beside.join("apple-a8-moltenvk.json");
    assert_eq!(named(&folder, whole.to_str().expect("UTF-8"))?.0.first("device")["simulated"], "apple-a8-moltenvk");
    // Mistakes: said once, in the trace and on standard error, and the device is as it is.
    for (given, told) in [
        ("adreno-605", "no device is called adreno-605; did you mean adreno-"),
        ("moltenvk", "moltenvk may be any of apple-a12-moltenvk, apple-a8-moltenvk"),
    ] {
        let (trace, said) = named(&folder, given)?;
        let lines: Vec<_> = said.lines().filter(|line| line.starts_with("samplin:")).collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert!(lines[0].starts_with(&format!("samplin: the device {given} is not simulated: {told}")), "{said}");
        assert_eq!(trace.first("device")["simulated"], Json::Null, "{given}");
        let problem = trace.first("settings");
        assert_eq!((&problem["level"], &problem["key"]), (&"error".into(), &"device".into()));
        assert!(problem["message"].as_str().expect("a text").starts_with(told), "{problem:#}");
    }
    Ok(())
}

/// A capability file that cannot be used is said so, with its place, and the device is as it is.
fn unusable() -> Outcome {
    let folder = Folder::new();
    let path = folder.join("device.json");
    for (text, line, told) in [
        (None, Json::Null, "the capability file cannot be read: "),
        (
            Some("{\n  \"schema\": \"device-caps/1\",\n  \"formats\": [}\n}"),
            3.into(),
            "the capability file is not JSON: ",
        ),
        (Some("{\"schema\": \"device-caps/2\"}"), Json::Null, "the file is not a capability file: "),
        (Some("{\"schema\": \"device-caps/1\"}"), Json::Null, "the capability file has no member \"formats\""),
    ] {
        if let Some(text) = text {
            std::fs::write(&path, text).expect("a file");
        }
        let ((), judged) = with_layer(simulate(&path), |_| Ok(()))?;
        assert_eq!(judged.trace.first("device")["simulated"], Json::Null);
        let problem = judged.trace.first("settings");
        assert_eq!(problem["file"].as_str(), path.to_str(), "{problem:#}");
        assert_eq!(problem["line"], line, "{problem:#}");
        assert!(problem["message"].as_str().expect("a text").starts_with(told), "{problem:#}");
    }
    Ok(())
}

// --- the table --------------------------------------------------------------------------------------------------------

/// Prints rule → count for each device, as a table in Markdown.
fn print_table() {
    let counts = |builder| -> BTreeMap<String, u64> {
        let judged = play(builder).unwrap_or_else(|Skip(reason)| panic!("{reason}"));
        let changes = judged.summary()["changes"].as_object().expect("counts").clone();
        changes.into_iter().map(|(rule, count)| (rule, count.as_u64().unwrap_or_default())).collect()
    };
    let mut rows = vec![("*(none)*".to_owned(), counts(Context::builder()))];
    for path in devices() {
        rows.push((format!("`{}`", Checker::new(&path).name()), counts(simulate(&path))));
    }
    let rules: BTreeSet<&str> = rows.iter().flat_map(|(_, counts)| counts.keys().map(String::as_str)).collect();
    println!("| device |{} all |", rules.iter().map(|rule| format!(" `{rule}` |")).collect::<String>());
    println!("| --- |{} --: |", " --: |".repeat(rules.len()));
    for (name, counts) in &rows {
        let cell = |rule: &&str| counts.get(*rule).map_or_else(|| " |".to_owned(), |count| format!(" {count} |"));
        println!("| {name} |{} {} |", rules.iter().map(cell).collect::<String>(), counts.values().sum::<u64>());
    }
}

fn main() -> std::process::ExitCode {
    if let Some(trace) = again::part() {
        again::tell(be_child(&trace));
        return std::process::ExitCode::SUCCESS;
    }
    if std::env::var_os("SAMPLIN_TEST_TABLE").is_some() {
        print_table();
        return std::process::ExitCode::SUCCESS;
    }
    let mut trials: Vec<_> = devices()
        .into_iter()
        .map(|path| trial(format!("device/{}", Checker::new(&path).name()), move || on_device(&path)))
        .collect();
    trials.extend(
        devices()
            .into_iter()
            .map(|path| trial(format!("visible/{}", Checker::new(&path).name()), move || visible::consistent(&path))),
    );
    trials.push(trial("checker-sees", checker_sees));
    trials.push(trial("shipped", shipped));
    trials.push(trial("visible", shown));
    trials.push(trial("short-names", short_names));
    trials.push(trial("unusable", unusable));
    samplin_suite::forked::main(trials)
}
