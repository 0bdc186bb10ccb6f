//! What images and samplers can conflict about, and what validation says about it.

use super::*;

/// An image and a sampler that must not meet; the twin's image is one that the sampler suits.
pub(crate) type Conflict = Case;

pub(crate) const UINT: Scene = Scene::UINT;

/// LINEAR on integers, which no device filters.
pub(crate) fn uint() -> Conflict {
    filtered("r32-uint", UINT, Oracle::Reports(&["magFilter-04553"]))
}

/// A LINEAR sampler on an image of another kind than its twin.
fn filtered(name: &'static str, scene: Scene, oracle: Oracle) -> Conflict {
    Case::pair(name, scene, linear(), nearest(), oracle)
}

fn depth(name: &'static str, format: F) -> Conflict {
    let lacks = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
    filtered(name, Scene::depth(format), Oracle::Reports(&["magFilter-04553"])).lacking(lacks)
}

pub(crate) fn d16() -> Conflict {
    depth("d16", F::D16_UNORM)
}

/// LINEAR on floats that [`WEAK`] devices do not filter. Drivers do, so that validation has nothing to say.
pub(crate) fn simulated() -> Conflict {
    filtered("r32-float", Scene::colour(F::R32_SFLOAT), Oracle::Blind)
}

/// A device on which 32-bit floats cannot be filtered.
pub(crate) const WEAK: &str = "broadcom-v3d-4.2-v3dv";

/// An integer border on an image of floats.
pub(crate) fn border() -> Conflict {
    let of = |color| nearest().border(color);
    let (illegal, legal) = (of(B::INT_OPAQUE_WHITE), of(B::FLOAT_OPAQUE_WHITE));
    Case::pair("border-kind", RGBA8, illegal.clone(), legal, Oracle::Blind).twin(UINT, illegal)
}

/// The least of texels on a format without that.
pub(crate) fn minmax() -> Conflict {
    let sampler = linear().reduction(vk::SamplerReductionMode::MIN);
    Case::pair("minmax", RGBA8, sampler.clone(), nearest(), Oracle::MayReport(&["magFilter-09598"]))
        .twin(Scene::colour(F::R32_SFLOAT), sampler)
        .needs([Capability::SamplerFilterMinmax])
        .lacking(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX)
}

/// A border colour for another format. Both images hold floats, which hardly any device does not filter.
pub(crate) fn border_format() -> Conflict {
    let custom = |format| custom_float([1.0, 0.0, 1.0, 0.0], format);
    let (half, oracle) = (F::R16G16B16A16_SFLOAT, Oracle::MayReport(&["format-04015"]));
    Case::pair("border-format", Scene::colour(half), custom(F::R8G8B8A8_UNORM), custom(half), oracle)
        .needs([Capability::CustomBorderColor])
}

/// All of them.
pub(crate) fn all() -> Vec<Conflict> {
    // Validation judges stencil by the bits of the whole format, which are about depth.
    let oracle = Oracle::MayReport(&["magFilter-04553"]);
    let stencil = filtered("stencil", Scene::stencil(F::D32_SFLOAT_S8_UINT), oracle);
    vec![uint(), d16(), depth("d32", F::D32_SFLOAT), border(), minmax(), stencil]
}
