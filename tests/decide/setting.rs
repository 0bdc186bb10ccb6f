//! What the rows of every section are made of, and how they are judged.

pub(crate) use ash::vk;
pub(crate) use samplin_checker::{replay::untouched, violations};
pub(crate) use samplin_core::decide::{
    self, BlitSource, BlockMatchWindow, BorderMapping, Catalog, Change, ConversionState, CustomBorder, Decision,
    DeviceCaps, Divide, Policy, Reads, RuleSource, SamplerState, Value, ViewTraits, YcbcrConversion,
    normalize_components,
};
pub(crate) use std::collections::BTreeSet;

pub(crate) use vk::ComponentSwizzle as Swizzle;
pub(crate) use vk::Format as F;
pub(crate) use vk::FormatFeatureFlags2 as Feature;
pub(crate) use vk::SamplerAddressMode as Mode;

pub(crate) const LINEAR: vk::Filter = vk::Filter::LINEAR;
pub(crate) const NEAREST: vk::Filter = vk::Filter::NEAREST;
pub(crate) const CUBIC: vk::Filter = vk::Filter::CUBIC_EXT;
pub(crate) const MIP_LINEAR: vk::SamplerMipmapMode = vk::SamplerMipmapMode::LINEAR;
pub(crate) const MIP_NEAREST: vk::SamplerMipmapMode = vk::SamplerMipmapMode::NEAREST;
/// Features of a format beside that it may be sampled.
pub(crate) const NONE: Feature = Feature::empty();
pub(crate) const EVERY: Feature = Feature::from_raw(u64::MAX);
pub(crate) const FILTERS: Feature = Feature::SAMPLED_IMAGE_FILTER_LINEAR;
pub(crate) const COMPARES: Feature = Feature::SAMPLED_IMAGE_DEPTH_COMPARISON;
pub(crate) const MIN: Option<vk::SamplerReductionMode> = Some(vk::SamplerReductionMode::MIN);
pub(crate) const MAX: Option<vk::SamplerReductionMode> = Some(vk::SamplerReductionMode::MAX);
pub(crate) const RANGE_CLAMP: Option<vk::SamplerReductionMode> =
    Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM);
pub(crate) const SUBSAMPLED: vk::SamplerCreateFlags = vk::SamplerCreateFlags::SUBSAMPLED_EXT;
pub(crate) const PROCESSING: vk::SamplerCreateFlags = vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM;
pub(crate) const NON_SEAMLESS: vk::SamplerCreateFlags = vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT;
pub(crate) const REPLAY: vk::SamplerCreateFlags = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;

/// What a row starts from: the zero-filled sampler, no view, a device that can do everything.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) s: SamplerState,
    pub(crate) view: Option<ViewTraits>,
    pub(crate) caps: DeviceCaps,
    pub(crate) policy: Policy,
}

impl Setting {
    pub(crate) fn new() -> Self {
        let caps = DeviceCaps {
            sampler_anisotropy: true,
            max_sampler_anisotropy: 16.0,
            max_sampler_lod_bias: 15.0,
            max_sample_mask_words: 1,
            max_sampler_allocation_count: 4000,
            sampler_mirror_clamp_to_edge: true,
            sampler_filter_minmax: true,
            filter_minmax_component_mapping: true,
            filter_cubic_img: true,
            filter_cubic_ext: true,
            filter_linear_2d_img: true,
            custom_border_colors: true,
            custom_border_color_without_format: true,
            max_custom_border_color_samplers: 32,
            border_color_swizzle: true,
            border_color_swizzle_from_image: true,
            non_seamless_cube_map: true,
            cubic_range_clamp: true,
            selectable_cubic_weights: true,
            descriptor_buffer_capture_replay: true,
            max_block_match_window: [64, 64],
            sampler_mip_lod_bias: true,
            mutable_comparison_samplers: true,
            sampler_ycbcr_conversion: true,
            gl_address_modes: false,
            unknown_extension: false,
            view_usage: true,
            imageless_framebuffer: false,
            sample_rate_shading: true,
            storage_read_without_format: true,
            storage_write_without_format: true,
            format_feature_flags2: true,
            shader_draw_parameters: true,
            fragment_stores: true,
            vertex_stores: true,
            gl_shaders: false,
        };
        Self { s: SamplerState::default(), view: None, caps, policy: Policy::default() }
    }

    /// With a view the sampler is decided as part of a dynamic combined image sampler, else at creation.
    pub(crate) fn decide(&self) -> Decision {
        match &self.view {
            Some(view) => decide::pair(&self.s, view, &self.caps, &self.policy),
            None => decide::create(&self.s, &self.caps, &self.policy),
        }
    }

    pub(crate) fn violations(&self) -> Vec<&'static str> {
        violations(&self.s, self.view.as_ref(), self.view.is_some(), &self.caps, &self.policy)
    }

    /// A 2D view of a format with these features and no other.
    pub(crate) fn sees(&mut self, format: vk::Format, features: Feature) -> &mut ViewTraits {
        self.view.insert(ViewTraits::new_2d(format, Feature::SAMPLED_IMAGE | features))
    }

    /// A view with a mapping that the device knows nothing of.
    pub(crate) fn untold(&mut self, format: vk::Format, components: [Swizzle; 4]) {
        self.sees(format, Feature::empty()).components = components;
        self.caps.border_color_swizzle_from_image = false;
        self.caps.border_color_swizzle = false;
    }

    pub(crate) fn seen(&mut self) -> &mut ViewTraits {
        self.view.as_mut().expect("the row has a view")
    }

    /// The view's format has these features and no other.
    pub(crate) fn gains(&mut self, features: Feature) {
        self.seen().features = Some(Feature::SAMPLED_IMAGE | features);
    }

    pub(crate) fn anisotropic(&mut self, degree: f32) {
        (self.s.anisotropy_enable, self.s.max_anisotropy) = (true, degree);
    }

    pub(crate) fn filters(&mut self, filter: vk::Filter) {
        (self.s.mag_filter, self.s.min_filter) = (filter, filter);
    }

    pub(crate) fn float_border(&mut self, color: [f32; 4], format: vk::Format) {
        self.s.address_mode = [Mode::CLAMP_TO_BORDER; 3];
        self.s.border_color = vk::BorderColor::FLOAT_CUSTOM_EXT;
        self.s.custom_border = Some(CustomBorder { color: color.map(f32::to_bits), format });
    }

    pub(crate) fn int_border(&mut self, color: [i32; 4], format: vk::Format) {
        self.s.address_mode = [Mode::CLAMP_TO_BORDER; 3];
        self.s.border_color = vk::BorderColor::INT_CUSTOM_EXT;
        self.s.custom_border = Some(CustomBorder { color: color.map(|word| word as u32), format });
    }

    pub(crate) fn border(&mut self, color: vk::BorderColor) {
        self.s.address_mode = [Mode::CLAMP_TO_BORDER; 3];
        self.s.border_color = color;
    }

    /// A legal sampler with unnormalized coordinates.
    pub(crate) fn texels(&mut self) {
        self.s.unnormalized_coordinates = true;
        self.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
    }

    /// The same, read through a 2D view by a shader that divides coordinates.
    pub(crate) fn divides(&mut self, divide: Divide) {
        self.texels();
        self.policy.divides = true;
        let view = self.sees(vk::Format::R8_UNORM, Feature::SAMPLED_IMAGE_FILTER_LINEAR);
        (view.reads, view.divide) = (Reads::Plain, divide);
    }

    /// A legal sampler with a LINEAR conversion.
    pub(crate) fn converts(&mut self) {
        self.filters(LINEAR);
        self.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
        self.s.ycbcr =
            Some(YcbcrConversion { handle: 7, chroma_filter: LINEAR, separate_reconstruction: false, fingerprint: 1 });
    }

    /// A legal sampler of the flag's family.
    pub(crate) fn flagged(&mut self, flag: vk::SamplerCreateFlags) {
        self.s.flags = flag;
        self.s.address_mode = [Mode::CLAMP_TO_EDGE; 3];
    }
}

/// Human form of a value: Vulkan's name without prefix, floats as numbers.
pub(crate) fn show(value: Value) -> String {
    match value {
        Value::Filter(v) => format!("{v:?}"),
        Value::MipmapMode(v) => format!("{v:?}"),
        Value::AddressMode(v) => format!("{v:?}"),
        Value::CompareOp(v) => format!("{v:?}"),
        Value::BorderColor(v) => format!("{v:?}"),
        Value::ReductionMode(v) => format!("{v:?}"),
        Value::SamplerFlags(v) if v.is_empty() => "0".into(),
        Value::SamplerFlags(v) => format!("{v:?}"),
        Value::ImageFlags(v) | Value::Usage(v) | Value::Aspects(v) => format!("{v:#x}"),
        Value::ChromaLocation(v) => format!("{v:?}"),
        Value::Format(v) => format!("{v:?}"),
        Value::Bool(v) => format!("{v}"),
        Value::Float(v) => format!("{v}"),
        Value::FloatColor(v) => format!("{:?}", v.map(f32::from_bits)),
        Value::IntColor(v) => format!("{:?}", v.map(|word| word as i32)),
        Value::Extent([w, h]) => format!("{w}x{h}"),
        Value::Mapping(v) => format!("{:?} srgb={}", v.components, v.srgb),
        Value::Raw(v) => format!("{v}"),
        Value::Spirv(v) => v.into(),
        Value::Present => "present".into(),
        Value::Absent => "absent".into(),
    }
}

pub(crate) fn line(change: &Change) -> String {
    format!("{} {} {} -> {}", change.catalog.id(), change.field.name(), show(change.from), show(change.to))
}

/// One statement of the catalogue.
pub(crate) struct Row {
    pub(crate) id: &'static str,
    /// Valid-usage id as the specification has it, for `vkCmdDraw`; `None` where the rule stands in the text alone.
    pub(crate) vuid: Option<&'static str>,
    /// What is wrong, in words.
    pub(crate) what: &'static str,
    /// Makes the sampler that must change.
    pub(crate) illegal: fn(&mut Setting),
    /// Every change, in order.
    pub(crate) changes: &'static [&'static str],
    /// On top of `illegal`: makes the sampler that must be left alone.
    pub(crate) legal: fn(&mut Setting),
}

/// Rows of other tables, as they stand: each has a line or a few.
macro_rules! table {
    ($($row:expr),* $(,)?) => { &[$($row),*] };
}
pub(crate) use table;

/// Rows by their statements: the id, its valid usage, and for each row what is wrong, what is done to the setting `$t` for that, the changes,
/// and what makes it legal.
macro_rules! rows {
    ($t:ident: $($id:literal $vuid:expr => $($what:literal $illegal:block => [$($change:expr),*] but $legal:block)*;)*) => {
        &[$($(Row { id: $id, vuid: $vuid, what: $what, illegal: |$t| $illegal, changes: &[$($change),*], legal: |$t| $legal },)*)*]
    };
}
pub(crate) use rows;

/// Rows seen so far, by the variants of [`Catalog`] that their changes name.
pub(crate) fn check(rows: &[Row]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for Row { id, vuid, what, illegal, changes, legal } in rows {
        let mut setting = Setting::new();
        illegal(&mut setting);
        assert!(setting.violations().contains(id), "{id} {what}: not a violation, {:?} are", setting.violations());
        let decision = setting.decide();
        let lines: Vec<_> = decision.changes.iter().map(line).collect();
        assert_eq!(lines, *changes, "{id} {what}");
        for change in decision.changes.iter() {
            if change.catalog.id() == *id {
                assert_eq!(change.catalog.vuid(), *vuid, "{id} {what}: {change:?}");
            }
            assert!(!change.catalog.lost().is_empty(), "{id} {what}: {change:?} does not say what is lost");
            seen.insert(format!("{:?}", change.catalog));
        }

        legal(&mut setting);
        assert_eq!(setting.violations(), [""; 0], "{id} {what}: the twin is illegal");
        let decision = setting.decide();
        assert!(decision.changes.is_empty(), "{id} {what}: the twin was changed: {:?}", decision.changes);
        assert!(untouched(&setting.s, &decision.state), "{id} {what}: the twin was touched");
        assert_eq!(decision.unresolved, None, "{id} {what}: the twin has something unresolved");
    }
    seen
}
