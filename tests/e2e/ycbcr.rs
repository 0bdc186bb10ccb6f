//! Y′CbCr conversions and the samplers that have one: what is wrong with them is repaired when they are created.

use crate::run::{self, Judged, Outcome, Skip, silent, skip_if};
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::case::reported;
use samplin_testkit::{Capability, Context};

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("ycbcr/sampler-address", sampler_address),
        ("ycbcr/sampler-filter", sampler_filter),
        ("ycbcr/conversion-chroma-filter", chroma_filter),
        ("ycbcr/conversion-chroma-location", chroma_location),
        ("ycbcr/legal", legal),
    ])
}

const FORMAT: vk::Format = vk::Format::G8_B8R8_2PLANE_420_UNORM;

/// Features of the format, or why there are none.
fn features(context: &Context) -> Result<vk::FormatFeatureFlags, Skip> {
    use vk::FormatFeatureFlags as F;
    skip_if(context.missing(&[Capability::SamplerYcbcrConversion]))?;
    let found = context.format_features(FORMAT, vk::ImageTiling::OPTIMAL);
    if found.intersects(F::MIDPOINT_CHROMA_SAMPLES | F::COSITED_CHROMA_SAMPLES) {
        Ok(found)
    } else {
        Err(Skip(format!("{} has no conversion for {FORMAT:?}", context.device_name())))
    }
}

/// A chroma location that the format has, or (not `supported`) lacks.
fn location(features: vk::FormatFeatureFlags, supported: bool) -> Option<vk::ChromaLocation> {
    use vk::FormatFeatureFlags as F;
    [
        (F::MIDPOINT_CHROMA_SAMPLES, vk::ChromaLocation::MIDPOINT),
        (F::COSITED_CHROMA_SAMPLES, vk::ChromaLocation::COSITED_EVEN),
    ]
    .into_iter()
    .find_map(|(bit, location)| (features.contains(bit) == supported).then_some(location))
}

/// What is asked for.
struct Wanted {
    location: vk::ChromaLocation,
    chroma_filter: vk::Filter,
    address: vk::SamplerAddressMode,
    filter: vk::Filter,
}

impl Wanted {
    fn legal(features: vk::FormatFeatureFlags) -> Self {
        Self {
            location: location(features, true).unwrap_or_default(),
            chroma_filter: vk::Filter::NEAREST,
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            filter: vk::Filter::NEAREST,
        }
    }

    /// Creates a conversion and a sampler with it, and destroys both.
    fn create(&self, context: &Context) {
        let device = context.device();
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(FORMAT)
            .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_709)
            .ycbcr_range(vk::SamplerYcbcrRange::ITU_NARROW)
            .x_chroma_offset(self.location)
            .y_chroma_offset(self.location)
            .chroma_filter(self.chroma_filter);
        // SAFETY: the feature is enabled; members that the format does not allow are what the test wants to send.
        let Ok(conversion) = (unsafe { device.create_sampler_ycbcr_conversion(&info, None) }) else { return };
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(self.filter)
            .min_filter(self.filter)
            .address_mode_u(self.address)
            .address_mode_v(self.address)
            .address_mode_w(self.address)
            .push_next(&mut chained);
        // SAFETY: the conversion is alive; illegal members are what the test wants to send.
        if let Ok(sampler) = unsafe { device.create_sampler(&info, None) } {
            // SAFETY: created above and never used.
            unsafe { device.destroy_sampler(sampler, None) };
        }
        // SAFETY: its sampler is gone.
        unsafe { device.destroy_sampler_ycbcr_conversion(conversion, None) };
    }
}

/// Runs what `wanted` makes of the features without samplin, where validation must report `id`, and with it.
fn check(
    ids: &[&str],
    event: &str,
    rows: &[&str],
    wanted: impl Fn(&Context) -> Result<Wanted, Skip>,
) -> Result<Judged, Skip> {
    let body = |context: &Context| {
        wanted(context)?.create(context);
        Ok(())
    };
    reported(Context::builder().refuse_errors(), ids, body)?;
    let ((), judged) = silent(Context::builder(), "with samplin", body)?;
    let changes = judged.changes(event);
    assert_eq!(changes.iter().map(|change| &*change.catalog).collect::<Vec<_>>(), rows, "{changes:#?}");
    assert!(changes.iter().all(|change| change.rule == "ycbcr"), "{changes:#?}");
    Ok(judged)
}

fn sampler_address() -> Outcome {
    check(&["addressModeU-01646"], "sampler", &["A-41", "A-41", "A-41"], |context| {
        Ok(Wanted { address: vk::SamplerAddressMode::REPEAT, ..Wanted::legal(features(context)?) })
    })?;
    Ok(())
}

fn sampler_filter() -> Outcome {
    use vk::FormatFeatureFlags as F;
    check(&["minFilter-01645"], "sampler", &["A-40", "A-40"], |context| {
        let features = features(context)?;
        if features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER) {
            return Err(Skip(format!("{} filters luma and chroma separately", context.device_name())));
        }
        Ok(Wanted { filter: vk::Filter::LINEAR, ..Wanted::legal(features) })
    })?;
    Ok(())
}

fn chroma_filter() -> Outcome {
    use vk::FormatFeatureFlags as F;
    check(&["chromaFilter-01657"], "conversion", &["A-43"], |context| {
        let features = features(context)?;
        if features.contains(F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER) {
            return Err(Skip(format!("{} filters chroma", context.device_name())));
        }
        Ok(Wanted { chroma_filter: vk::Filter::LINEAR, filter: vk::Filter::NEAREST, ..Wanted::legal(features) })
    })?;
    Ok(())
}

fn chroma_location() -> Outcome {
    check(&["xChromaOffset-01651|xChromaOffset-01652"], "conversion", &["A-44", "A-44"], |context| {
        let features = features(context)?;
        match location(features, false) {
            Some(location) => Ok(Wanted { location, ..Wanted::legal(features) }),
            None => Err(Skip(format!("{} has chroma at both locations", context.device_name()))),
        }
    })?;
    Ok(())
}

fn legal() -> Outcome {
    let judged = check(&[], "sampler", &[], |context| Ok(Wanted::legal(features(context)?)))?;
    judged.assert_untouched("a legal conversion");
    Ok(())
}
