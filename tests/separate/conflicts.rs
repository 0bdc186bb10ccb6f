//! What images and samplers can conflict about, and what validation says about it.

use super::*;

/// What the validation layer says. Ids are given by suffix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Oracle {
    /// These and no others.
    Reports(&'static [&'static str]),
    /// These or nothing: not every version of the layer looks.
    MayReport(&'static [&'static str]),
    /// Nothing: the specification says that the values are undefined, no valid usage id does.
    Blind,
}

impl Oracle {
    /// What it says where not every version pairs image and sampler: in different sets, in functions, and in arrays.
    pub(crate) fn where_seen(self) -> Self {
        match self {
            Self::Reports(ids) => Self::MayReport(ids),
            other => other,
        }
    }

    pub(crate) fn assert(self, errors: &[Message], what: &str) {
        let ids: BTreeSet<&str> = errors.iter().map(|message| message.id.as_str()).collect();
        let (known, required) = match self {
            Self::Reports(known) => (known, true),
            Self::MayReport(known) => (known, false),
            Self::Blind => (&[][..], false),
        };
        let is_known = |id: &&str| known.iter().any(|suffix| id.ends_with(suffix));
        assert!(ids.iter().all(is_known), "{what}: reported {ids:?}, expected only {known:?}: {errors:#?}");
        let all = known.iter().all(|suffix| ids.iter().any(|id| id.ends_with(suffix)));
        assert!(!required || all, "{what}: reported {ids:?}, expected all of {known:?}");
    }
}

/// An image and a sampler that must not meet.
#[derive(Clone)]
pub(crate) struct Conflict {
    pub(crate) name: &'static str,
    pub(crate) scene: Scene,
    pub(crate) sampler: SamplerDesc,
    /// The sampler whose values the image must give.
    pub(crate) legal: SamplerDesc,
    /// An image that the sampler suits.
    pub(crate) good: Scene,
    pub(crate) oracle: Oracle,
    needs: &'static [Capability],
    /// Format features without which the pair is illegal.
    lacks: vk::FormatFeatureFlags,
}

pub(crate) const UINT: Scene = Scene::colour(F::R32_UINT);

/// LINEAR on integers, which no device filters.
pub(crate) fn uint() -> Conflict {
    Conflict {
        name: "r32-uint",
        scene: UINT,
        sampler: SamplerDesc::linear(),
        legal: SamplerDesc::nearest(),
        good: RGBA8,
        oracle: Oracle::Reports(&["magFilter-04553"]),
        needs: &[],
        lacks: vk::FormatFeatureFlags::empty(),
    }
}

fn depth(name: &'static str, format: F) -> Conflict {
    Conflict { name, scene: Scene::depth(format), lacks: vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR, ..uint() }
}

pub(crate) fn d16() -> Conflict {
    depth("d16", F::D16_UNORM)
}

/// LINEAR on floats that [`weak`] devices do not filter. Drivers do, so that validation has nothing to say.
pub(crate) fn simulated() -> Conflict {
    Conflict { name: "r32-float", scene: Scene::colour(F::R32_SFLOAT), oracle: Oracle::Blind, ..uint() }
}

/// A device on which 32-bit floats cannot be filtered.
pub(crate) fn weak() -> String {
    format!("{}/devices/broadcom-v3d-4.2-v3dv.json", env!("CARGO_MANIFEST_DIR"))
}

/// An integer border on an image of floats.
pub(crate) fn border() -> Conflict {
    let nearest = SamplerDesc::nearest;
    Conflict {
        name: "border-kind",
        scene: RGBA8,
        sampler: nearest().border(vk::BorderColor::INT_OPAQUE_WHITE),
        legal: nearest().border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
        good: UINT,
        oracle: Oracle::Blind,
        ..uint()
    }
}

/// The least of texels on a format without that.
pub(crate) fn minmax() -> Conflict {
    Conflict {
        name: "minmax",
        scene: RGBA8,
        sampler: SamplerDesc::linear().reduction(vk::SamplerReductionMode::MIN),
        good: Scene::colour(F::R32_SFLOAT),
        oracle: Oracle::MayReport(&["magFilter-09598"]),
        needs: &[Capability::SamplerFilterMinmax],
        lacks: vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX,
        ..uint()
    }
}

/// A border colour for another format. Both images hold floats, which hardly any device does not filter.
pub(crate) fn border_format() -> Conflict {
    let custom = |format| SamplerDesc::nearest().custom_border(BorderValue::Float([1.0, 0.0, 1.0, 0.0]), format);
    Conflict {
        name: "border-format",
        scene: Scene::colour(F::R16G16B16A16_SFLOAT),
        sampler: custom(F::R8G8B8A8_UNORM),
        legal: custom(F::R16G16B16A16_SFLOAT),
        oracle: Oracle::MayReport(&["format-04015"]),
        needs: &[Capability::CustomBorderColor],
        ..uint()
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Conflict> {
    vec![
        uint(),
        d16(),
        depth("d32", F::D32_SFLOAT),
        border(),
        minmax(),
        Conflict {
            name: "stencil",
            scene: Scene::stencil(F::D32_SFLOAT_S8_UINT),
            // Validation judges stencil by the bits of the whole format, which are about depth.
            oracle: Oracle::MayReport(&["magFilter-04553"]),
            ..uint()
        },
    ]
}

impl Conflict {
    /// Skips where the pair is legal or cannot be made.
    pub(crate) fn check(&self, context: &Context) -> Outcome {
        skip_if(context.missing(self.needs))?;
        let present = self.scene.features(context) & self.lacks;
        if !present.is_empty() {
            let (device, format) = (context.device_name(), self.scene.format);
            return Err(Skip(format!("{device} has {present:?} for {format:?}, so the pair is legal")));
        }
        Ok(())
    }

    /// Image and sampler that are legal together in the places of the conflict: the same image, by the sampler that suits it.
    pub(crate) fn twin(&self) -> Self {
        Self { sampler: self.legal.clone(), ..self.clone() }
    }

    /// The same sampler with the image that it suits.
    pub(crate) fn good_twin(&self) -> Self {
        Self { scene: self.good, legal: self.sampler.clone(), ..self.clone() }
    }
}
