//! A device, by what it reports.

use alloc::{collections::BTreeMap, vec::Vec};

use ash::vk;

use super::{Change, Features, Outcome, View};
use crate::budget::{BorderPlace, BorderWish};
use crate::decide::{Changes, Context, DeviceCaps, Exempt, Policy, SamplerState};
use crate::features::FormatFeatures;
use crate::outcome::{self, Off, Refusal, Terms};

/// The limits that matter for sampling.
///
/// The default is the least that Vulkan 1.0 requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// `maxSamplerAnisotropy`.
    pub max_sampler_anisotropy: f32,
    /// `maxSamplerLodBias`.
    pub max_sampler_lod_bias: f32,
    /// `maxSamplerAllocationCount`.
    pub max_sampler_allocation_count: u32,
    /// `maxCustomBorderColorSamplers`.
    pub max_custom_border_color_samplers: u32,
    /// `filterMinmaxImageComponentMapping`.
    pub filter_minmax_image_component_mapping: bool,
    /// `maxBlockMatchWindow` of `VK_QCOM_image_processing2`.
    pub max_block_match_window: [u32; 2],
}

impl Limits {
    fn read(caps: &DeviceCaps) -> Self {
        Self {
            max_sampler_anisotropy: caps.max_sampler_anisotropy,
            max_sampler_lod_bias: caps.max_sampler_lod_bias,
            max_sampler_allocation_count: caps.max_sampler_allocation_count,
            max_custom_border_color_samplers: caps.max_custom_border_color_samplers,
            filter_minmax_image_component_mapping: caps.filter_minmax_component_mapping,
            max_block_match_window: caps.max_block_match_window,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::read(&DeviceCaps::default())
    }
}

impl From<&vk::PhysicalDeviceLimits> for Limits {
    fn from(of: &vk::PhysicalDeviceLimits) -> Self {
        Self {
            max_sampler_anisotropy: of.max_sampler_anisotropy,
            max_sampler_lod_bias: of.max_sampler_lod_bias,
            max_sampler_allocation_count: of.max_sampler_allocation_count,
            ..Self::default()
        }
    }
}

/// Which features each format has.
///
/// Of a format without an entry nothing is known, and nothing is taken away because of it. A format that the device does not support has an
/// entry without features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatProperties(BTreeMap<i32, FormatFeatures>);

impl FormatProperties {
    /// Of no format.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a format, or replaces what is said of it.
    pub fn insert(&mut self, format: vk::Format, features: FormatFeatures) {
        self.0.insert(format.as_raw(), features);
    }

    /// What is said of a format.
    pub fn get(&self, format: vk::Format) -> Option<&FormatFeatures> {
        self.0.get(&format.as_raw())
    }

    /// Every format that something is said of.
    pub fn iter(&self) -> impl Iterator<Item = (vk::Format, &FormatFeatures)> {
        self.0.iter().map(|(format, features)| (vk::Format::from_raw(*format), features))
    }
}

impl Extend<(vk::Format, FormatFeatures)> for FormatProperties {
    fn extend<I: IntoIterator<Item = (vk::Format, FormatFeatures)>>(&mut self, formats: I) {
        formats.into_iter().for_each(|(format, features)| self.insert(format, features));
    }
}

impl FromIterator<(vk::Format, FormatFeatures)> for FormatProperties {
    fn from_iter<I: IntoIterator<Item = (vk::Format, FormatFeatures)>>(formats: I) -> Self {
        let mut all = Self::new();
        all.extend(formats);
        all
    }
}

/// Choices where Vulkan leaves one. They have the names of the layer's settings, and its defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `border=strict`: the kind of a border colour counts even if no address mode reaches the border.
    pub border_strict: bool,
    /// `depth_linear=compare`: LINEAR on depth that cannot be filtered becomes a comparison with `ALWAYS`.
    pub depth_linear_compare: bool,
    /// `gl_clamp_rule=min`: GL_CLAMP reaches the border if `minFilter` is LINEAR, whatever `magFilter` is.
    pub gl_clamp_rule_min: bool,
    /// `aniso_nearest=off`: no anisotropy where both filters are NEAREST.
    pub aniso_nearest_off: bool,
}

/// A device, by what it reports and what a program enables on it.
///
/// ```
/// use samplin_core::{Device, Features, FormatFeatures, FormatProperties, Limits, Sampler, View, vk};
///
/// // A device that samples D32_SFLOAT, and cannot filter it.
/// let mut formats = FormatProperties::new();
/// let sampled = vk::FormatFeatureFlags2::SAMPLED_IMAGE | vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON;
/// formats.insert(vk::Format::D32_SFLOAT, FormatFeatures { optimal: sampled, ..FormatFeatures::default() });
/// let device = Device::from(&formats, &Limits::default(), &Features::default());
///
/// let sampler = Sampler { mag_filter: vk::Filter::LINEAR, ..Sampler::default() };
/// let outcome = device.decide(&sampler, &View::new_2d(vk::Format::D32_SFLOAT));
/// assert_eq!(outcome.state.mag_filter, vk::Filter::NEAREST);
/// let change = &outcome.changes[0];
/// assert_eq!((change.field, change.rule), ("magFilter", "linear-filter"));
/// assert_eq!(change.vuid, Some("VUID-vkCmdDraw-magFilter-04553"));
/// assert_eq!(change.because, "VK_FORMAT_D32_SFLOAT lacks SAMPLED_IMAGE_FILTER_LINEAR (optimal tiling)");
/// assert_eq!(change.lost, "smoothing");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    caps: DeviceCaps,
    formats: FormatProperties,
    policy: Policy,
}

impl Device {
    /// A device with these formats, these limits, and these features enabled. Settings are the layer's defaults.
    pub fn from(formats: &FormatProperties, limits: &Limits, features: &Features) -> Self {
        let mut caps = DeviceCaps {
            max_sampler_anisotropy: limits.max_sampler_anisotropy.max(1.0),
            max_sampler_lod_bias: limits.max_sampler_lod_bias,
            max_sampler_allocation_count: limits.max_sampler_allocation_count,
            max_custom_border_color_samplers: limits.max_custom_border_color_samplers,
            filter_minmax_component_mapping: limits.filter_minmax_image_component_mapping,
            max_block_match_window: limits.max_block_match_window,
            ..DeviceCaps::default()
        };
        features.write(&mut caps);
        Self::with_caps(caps, formats.clone())
    }

    /// A device whose capabilities the layer or the tool knows.
    #[doc(hidden)]
    pub fn with_caps(caps: DeviceCaps, formats: FormatProperties) -> Self {
        Self { caps, formats, policy: Policy::default() }
    }

    /// The same device with other settings.
    #[must_use]
    pub fn with_settings(mut self, settings: &Settings) -> Self {
        self.policy = Policy {
            strict_border: settings.border_strict,
            depth_compare: settings.depth_linear_compare,
            gl_clamp_min: settings.gl_clamp_rule_min,
            flat_nearest: settings.aniso_nearest_off,
            ..self.policy
        };
        self
    }

    /// Its limits.
    pub fn limits(&self) -> Limits {
        Limits::read(&self.caps)
    }

    /// What is enabled on it.
    pub fn features(&self) -> Features {
        Features::read(&self.caps)
    }

    /// Its formats.
    pub fn formats(&self) -> &FormatProperties {
        &self.formats
    }

    /// What the layer knows of it.
    #[doc(hidden)]
    pub fn caps(&self) -> &DeviceCaps {
        &self.caps
    }

    fn terms(&self) -> Terms<'_> {
        Terms { caps: &self.caps, policy: &self.policy, audit: false }
    }

    fn changes(&self, changes: &Changes, context: &Context<'_>) -> Vec<Change> {
        changes.iter().map(|change| Change::new(change, context)).collect()
    }

    /// What the sampler comes to by itself, which is what `vkCreateSampler` may be called with.
    pub fn create(&self, sampler: &SamplerState) -> Outcome {
        let created = outcome::creation(sampler, Exempt::NONE, &self.terms(), granted);
        let context = Context::new(&self.caps);
        let changes = self.changes(&created.decision.changes, &context);
        let unresolved = created.decision.unresolved.map(|catalog| outcome::Unresolved::of(catalog, &context).into());
        Outcome { state: created.decision.state, changes, unresolved: unresolved.into_iter().collect() }
    }

    /// What the sampler comes to in a descriptor with the view: what the sampler of that descriptor may be created with.
    ///
    /// `sampler` is what the program asks for, so what [`Device::create`] takes away for want of a view may come back. How many samplers
    /// and custom border colours a device may have is the caller's to count.
    pub fn decide(&self, sampler: &SamplerState, view: &View) -> Outcome {
        let terms = self.terms();
        let kept = outcome::creation(sampler, Exempt::NONE, &terms, granted).kept(sampler);
        let traits = self.traits(view);
        let meeting = outcome::meeting(&kept, &traits, [], Off::NONE, &terms, |_| Ok::<(), Refusal>(()));
        let context = Context {
            view: Some(&traits),
            tiling: view.image.tiling,
            trilinear: sampler.mipmap_mode == vk::SamplerMipmapMode::LINEAR,
            linear: meeting.linear(false),
            ..Context::new(&self.caps)
        };
        Outcome {
            state: meeting.state,
            changes: self.changes(&meeting.decided, &context),
            unresolved: meeting.unresolved(&context).map(Into::into).collect(),
        }
    }

    /// What decisions look at of a view on this device.
    #[doc(hidden)]
    pub fn traits(&self, view: &View) -> crate::decide::ViewTraits {
        let image = &view.image;
        let features = self.formats.get(view.format).map(|of| of.with_tiling(image.tiling, image.modifier));
        let cubic = features.is_some_and(|f| f.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT));
        // Without either there is nothing that a device could be asked.
        let is_asked = self.caps.filter_cubic_ext && cubic;
        let (filter_cubic, filter_cubic_minmax) =
            if is_asked { (view.filter_cubic, view.filter_cubic_minmax) } else { (true, true) };
        View { filter_cubic, filter_cubic_minmax, ..*view }.traits(features, false)
    }
}

/// The place of a custom border colour that a sampler has where none is short.
fn granted(wish: BorderWish) -> BorderPlace {
    match wish {
        BorderWish::Take { .. } => BorderPlace::Held,
        BorderWish::GiveUp => BorderPlace::GivenUp,
    }
}
