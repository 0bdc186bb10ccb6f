//! Which quirks of the vocabulary ([`samplin_core::quirk`]) the driver at hand has: a probe for each, and the file that says so.
//!
//! The probes run without the layer, and hold what comes out against the [reference] as the rest of `prove` does.

use ash::vk;
use samplin_core::quirk::Quirk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::lookup::Op;
use samplin_testkit::reference::{self, Texture};
use samplin_testkit::scene::Scene;
use samplin_testkit::{
    Capability, Context, Mapping, Painter, Pair, Path, SamplePoint, SamplerDesc, Value, ViewDesc, sample_via,
};
use serde::{Deserialize, Serialize};

use super::compared::Compared;
use super::stored::Format;

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Probed {
    /// The driver has the quirk: what was observed.
    Has(String),
    /// It has not.
    HasNot,
    /// It cannot be tried here, and why.
    Unknown(String),
}

/// The driver that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Driver {
    /// Name of the device with its versions.
    pub title: String,
    /// `driverID`, if the driver says it.
    pub id: Option<i32>,
    /// `driverName`.
    pub name: String,
    /// `driverInfo`.
    pub info: String,
    /// `driverVersion`.
    pub version: u32,
}

impl Driver {
    /// That of a context.
    pub(super) fn of(context: &Context) -> Self {
        let (version, properties) = (context.version(), context.properties());
        let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
        let driver_version = properties.driver_version;
        let title = format!("{} (Vulkan {major}.{minor}, driver {driver_version:#x})", context.device_name());
        let mut said = vk::PhysicalDeviceDriverProperties::default();
        if version >= vk::API_VERSION_1_2 {
            let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut said);
            // SAFETY: the physical device belongs to the instance, and has the version that brought the structure.
            unsafe { context.instance().get_physical_device_properties2(context.physical_device(), &mut all) };
        }
        let text = |text: Result<&std::ffi::CStr, _>| {
            text.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
        };
        Self {
            title,
            id: Some(said.driver_id.as_raw()).filter(|id| *id != 0),
            name: text(said.driver_name_as_c_str()),
            info: text(said.driver_info_as_c_str()),
            version: driver_version,
        }
    }

    /// The file of what was found.
    ///
    /// # Errors
    ///
    /// When the driver has no id by which the layer could know it.
    pub(super) fn file(&self, found: &[(Quirk, Probed)]) -> Result<String, String> {
        let id = self.id.ok_or("the driver does not say its driverID, which Vulkan has since version 1.2")?;
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let (name, title, version) = (quoted(&self.name), quoted(&self.title), self.version);
        // Drivers of Mesa have one version, and tell their builds apart in this text only.
        let info = if self.info.is_empty() { String::new() } else { format!("info = {}\n", quoted(&self.info)) };
        let mut out = format!(
            "# What this driver does where Vulkan leaves the result open.\n\
             driver = {name}\ndriver_id = {id}\nversions = {{ min = {version:#x}, max = {version:#x} }}\n{info}\
             measured_on = {title}\nmeasured_with = \"samplin prove --quirks FILE\"\n\n[quirks]\n"
        );
        for (quirk, probed) in found {
            if let Probed::Has(observed) = probed {
                out += &format!("{} = {}\n", quirk.name(), quoted(observed));
            }
        }
        let mut heading = "\n[not_measured]\n";
        for (quirk, probed) in found {
            if let Probed::Unknown(why) = probed {
                out += &format!("{heading}{} = {}\n", quirk.name(), quoted(why));
                heading = "";
            }
        }
        Ok(out)
    }
}

/// The probe of each quirk.
const PROBES: [(Quirk, Probe); 11] = [
    (Quirk::ANISOTROPY_SMOOTHS_NEAREST, smooths_nearest),
    (Quirk::ANISOTROPY_BELOW_ONE_CRASHES, below_one),
    (Quirk::LINEAR_BLENDS_INTEGERS, blends_integers),
    (Quirk::LINEAR_NEEDS_NO_BIT, linear_without_bit),
    (Quirk::INTEGER_GATHER_LINEAR_READS_1, integer_gather),
    (Quirk::INT_BORDER_WHITE_READS_0, int_border),
    (Quirk::FLOAT_BORDER_WHITE_READS_BITS, float_border),
    (Quirk::OPAQUE_BLACK_4444, opaque_black),
    (Quirk::COMPARE_NEEDS_NO_BIT, compare_without_bit),
    (Quirk::BOTH_ASPECTS_READ_WRONG, both_aspects),
    (Quirk::SMALL_FLOATS_STORED_WRONG, small_floats),
];

/// Tries one.
pub(super) fn probe(context: &Context, quirk: Quirk) -> Probed {
    let found = PROBES.iter().find(|(of, _)| *of == quirk);
    match found.map_or_else(|| Err("there is no probe".to_owned()), |(_, probe)| probe(context)) {
        Ok(Some(observed)) => Probed::Has(observed),
        Ok(None) => Probed::HasNot,
        Err(why) => Probed::Unknown(why),
    }
}

/// What was observed, if it is the quirk; why it cannot be tried.
type Observed = Result<Option<String>, String>;
type Probe = fn(&Context) -> Observed;

/// Points with what a sampler gives there, and the texels that are looked at.
struct SampledPoints {
    texture: Texture,
    all: Vec<(SamplePoint, Value)>,
}

fn look(context: &Context, scene: Scene, desc: &SamplerDesc, op: Op) -> Result<SampledPoints, String> {
    if !scene.features(context).contains(vk::FormatFeatureFlags::SAMPLED_IMAGE) {
        return Err(format!("{} cannot be sampled", samplin_core::names::format(scene.format)));
    }
    let (image, view) = scene.shown(context).map_err(|skip| skip.0)?;
    let sampler = desc.try_create(context).map_err(|error| format!("vkCreateSampler: {error:?}"))?;
    let mut pair = Pair { op, ..Pair::new(&view, &sampler) };
    if desc.compare_enable {
        pair = pair.shadow();
    }
    let points = scene.points(false);
    let got = sample_via(context, Path::Update, &[pair], &points)?.remove(0);
    Ok(SampledPoints { texture: Texture::read(&image, &view), all: points.into_iter().zip(got).collect() })
}

fn smooths_nearest(context: &Context) -> Observed {
    context.missing(&[Capability::SamplerAnisotropy]).map_or(Ok(()), Err)?;
    let (_image, view) = Scene::RGBA8.flat().shown(context).map_err(|skip| skip.0)?;
    let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
    let plain = SamplerDesc::nearest().address(vk::SamplerAddressMode::REPEAT);
    // A pixel is four texels wide and a fraction of one high.
    let mapping = Mapping::rectangle([0.03, 0.55], [8.03, 0.6]);
    let paint = |desc: &SamplerDesc| -> Result<Vec<Value>, String> {
        let sampler = desc.create(context);
        let (_pool, set) = Pool::set(context, &layout);
        let pair = Pair::new(&view, &sampler);
        write_combined(context, set, (0, 0), &[pair]);
        Ok(Painter::new(context, &layout, pair.shape, pair.kind, [16, 4])?.paint(set, &mapping))
    };
    let degree = context.limits().max_sampler_anisotropy;
    let (with, without) = (paint(&plain.clone().anisotropy(degree))?, paint(&plain)?);
    let differs = with.iter().zip(&without).find(|(with, without)| !with.is_near(**without, 0.02));
    Ok(differs.map(|(with, without)| {
        format!(
            "R8G8B8A8_UNORM with a degree of {degree}: {:.3?} instead of the texel {:.3?}",
            with.components(),
            without.components()
        )
    }))
}

/// Ends the process if the driver has the quirk.
fn below_one(context: &Context) -> Observed {
    context.missing(&[Capability::SamplerAnisotropy]).map_or(Ok(()), Err)?;
    for degree in [0.5, f32::NAN] {
        drop(SamplerDesc::linear().anisotropy(degree).try_create(context));
    }
    Ok(None)
}

fn blends_integers(context: &Context) -> Observed {
    let looked = look(context, Scene::UINT.flat(), &SamplerDesc::linear(), Op::Sample)?;
    Ok(looked.all.iter().find_map(|(point, got)| {
        let texels = reference::try_gather(&looked.texture, &SamplerDesc::nearest(), point)?.components();
        let got = got.components()[0];
        let (low, high) = (texels.iter().copied().fold(f64::MAX, f64::min), texels.iter().copied().fold(0.0, f64::max));
        let blends = got > low && got < high && !texels.contains(&got);
        blends.then(|| format!("R32_UINT: {got} between the texels {texels:?}"))
    }))
}

/// Formats that many devices do not filter.
const WITHOUT_LINEAR: [(vk::Format, bool); 7] = [
    (vk::Format::R16_UNORM, false),
    (vk::Format::R16G16B16A16_UNORM, false),
    (vk::Format::R32_SFLOAT, false),
    (vk::Format::R32G32_SFLOAT, false),
    (vk::Format::R32G32B32A32_SFLOAT, false),
    (vk::Format::D16_UNORM, true),
    (vk::Format::D32_SFLOAT, true),
];

fn linear_without_bit(context: &Context) -> Observed {
    let scenes =
        WITHOUT_LINEAR.map(|(format, is_depth)| if is_depth { Scene::depth(format) } else { Scene::colour(format) });
    let sampled = |scene: &Scene| {
        let features = scene.features(context);
        features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE)
            && !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR)
    };
    let mut formats = Vec::new();
    for scene in scenes.into_iter().filter(sampled) {
        let desc = SamplerDesc::linear();
        let looked = look(context, scene.flat(), &desc, Op::Sample)?;
        let tolerance = scene.tolerance(&desc);
        let right = looked.all.iter().all(|(point, got)| {
            reference::try_sample(&looked.texture, &desc, point, 0.0)
                .is_none_or(|wanted| scene.is_same(*got, wanted, tolerance))
        });
        if !right {
            return Ok(None);
        }
        formats.push(short(scene.format));
    }
    if formats.is_empty() {
        return Err("all formats that are tried have the bit".to_owned());
    }
    Ok(Some(format!("as the reference: {}", formats.join(", "))))
}

fn integer_gather(context: &Context) -> Observed {
    let looked = look(context, Scene::UINT.flat(), &SamplerDesc::linear(), Op::Gather)?;
    let wrong = looked.all.iter().find_map(|(point, got)| {
        let wanted = reference::try_gather(&looked.texture, &SamplerDesc::nearest(), point)?;
        (*got != wanted && got.bits() == [1; 4]).then_some(wanted)
    });
    Ok(wrong.map(|wanted| format!("R32_UINT: 1, 1, 1, 1 instead of {:?}", wanted.components())))
}

/// A border of a colour, looked at outside of the image.
fn border(context: &Context, scene: Scene, color: vk::BorderColor, is_quirk: fn(&Value) -> bool) -> Observed {
    let looked = look(context, scene.flat(), &SamplerDesc::nearest().border(color), Op::Sample)?;
    let outside = looked.all.iter().find(|(point, _)| point.coord[0] < 0.0);
    let found = outside.filter(|(_, got)| is_quirk(got));
    Ok(found.map(|(_, got)| format!("{}: {:?}", short(scene.format), got.components())))
}

fn int_border(context: &Context) -> Observed {
    border(context, Scene::RGBA8, vk::BorderColor::INT_OPAQUE_WHITE, |got| got.components()[0] == 0.0)
}

fn float_border(context: &Context) -> Observed {
    border(context, Scene::UINT, vk::BorderColor::FLOAT_OPAQUE_WHITE, |got| got.bits()[0] == 1f32.to_bits())
}

fn opaque_black(context: &Context) -> Observed {
    let formats = [vk::Format::R4G4B4A4_UNORM_PACK16, vk::Format::B4G4R4A4_UNORM_PACK16];
    let mut why = String::new();
    for format in formats {
        let is_wrong = |got: &Value| !got.is_near(Value::Float([0.0, 0.0, 0.0, 1.0]), 0.01);
        match border(context, Scene::colour(format), vk::BorderColor::FLOAT_OPAQUE_BLACK, is_wrong) {
            Ok(None) => why.clear(),
            Ok(found) => return Ok(found),
            Err(error) => why = error,
        }
    }
    if why.is_empty() { Ok(None) } else { Err(why) }
}

fn compare_without_bit(context: &Context) -> Observed {
    let scene = Scene::colour(vk::Format::R32_SFLOAT).flat();
    if compares(context, scene.format) {
        return Err("R32_SFLOAT has the bit".to_owned());
    }
    let desc = SamplerDesc::nearest().compare(vk::CompareOp::LESS);
    let looked = look(context, scene, &desc, Op::Sample)?;
    let is_so = looked.all.iter().all(|(point, got)| {
        let wanted = reference::try_sample(&looked.texture, &desc, point, 0.0);
        wanted.is_none_or(|wanted| got.components()[0] == wanted.components()[0])
    });
    Ok(is_so.then(|| "R32_SFLOAT with LESS: as the reference".to_owned()))
}

/// Whether a format has `SAMPLED_IMAGE_DEPTH_COMPARISON`, as far as the driver can say.
fn compares(context: &Context, format: vk::Format) -> bool {
    if context.version() < vk::API_VERSION_1_3 {
        return false;
    }
    let mut three = vk::FormatProperties3::default();
    let mut all = vk::FormatProperties2::default().push_next(&mut three);
    // SAFETY: the physical device belongs to the instance, and has the version that brought the structure.
    unsafe { context.instance().get_physical_device_format_properties2(context.physical_device(), format, &mut all) };
    three.optimal_tiling_features.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON)
}

fn both_aspects(context: &Context) -> Observed {
    let formats = [vk::Format::D32_SFLOAT_S8_UINT, vk::Format::D24_UNORM_S8_UINT];
    let scenes = formats.map(|format| Scene::depth(format).flat());
    let sampled = |scene: &&Scene| scene.features(context).contains(vk::FormatFeatureFlags::SAMPLED_IMAGE);
    let scene = scenes.iter().find(sampled).ok_or("no format with depth and stencil can be sampled")?;
    let (image, plain) = scene.shown(context).map_err(|skip| skip.0)?;
    let aspect = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let both = image.view(&ViewDesc { aspect, ..scene.view_desc() });
    let desc = SamplerDesc::nearest();
    let sampler = desc.create(context);
    let points = scene.points(false);
    let pair = Pair { kind: plain.numeric_kind().into(), ..Pair::new(&both, &sampler) };
    let got = sample_via(context, Path::Update, &[pair], &points)?.remove(0);
    let texture = Texture::read(&image, &plain);
    Ok(points.iter().zip(got).find_map(|(point, got)| {
        let wanted = reference::try_sample(&texture, &desc, point, 0.0)?;
        let is_wrong = !scene.is_same(got, wanted, 1e-4);
        is_wrong.then(|| {
            format!(
                "{}: {:.3} instead of the depth {:.3}",
                short(scene.format),
                got.components()[0],
                wanted.components()[0]
            )
        })
    }))
}

fn small_floats(context: &Context) -> Observed {
    let formats = [
        vk::Format::R16_SFLOAT,
        vk::Format::R16G16_SFLOAT,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::B10G11R11_UFLOAT_PACK32,
    ];
    let stored = |format: &vk::Format| {
        let features = context.format_features(*format, vk::ImageTiling::OPTIMAL);
        features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE)
    };
    let mut tried = false;
    for format in formats.into_iter().filter(stored) {
        match Format::of(format).compared(context) {
            Compared::Same => tried = true,
            Compared::Failed(how) => return Ok(Some(format!("{}: {how}", short(format)))),
            other => return Err(format!("{other:?}")),
        }
    }
    if tried { Ok(None) } else { Err("no such format can be stored".to_owned()) }
}

fn short(format: vk::Format) -> String {
    samplin_core::names::format(format).trim_start_matches("VK_FORMAT_").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quirk_has_a_probe() {
        assert!(Quirk::all().eq(PROBES.iter().map(|(quirk, _)| *quirk)));
    }
}
