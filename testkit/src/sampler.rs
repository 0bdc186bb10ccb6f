//! Samplers from a plain description that can also be deliberately illegal.
//!
//! Enum members are `ash` newtypes, so `vk::Filter::from_raw(77)` and the like go down as they are.

use crate::context::Context;
use ash::vk;

/// A custom border colour and its format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CustomBorder {
    /// The value, read as the `border_color` of the sampler says.
    pub value: BorderValue,
    /// `VkSamplerCustomBorderColorCreateInfoEXT::format`; `UNDEFINED` needs `customBorderColorWithoutFormat`.
    pub format: vk::Format,
}

/// Value of a custom border colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BorderValue {
    /// For `FLOAT_CUSTOM_EXT`.
    Float([f32; 4]),
    /// For `INT_CUSTOM_EXT`, signed.
    Int([i32; 4]),
    /// For `INT_CUSTOM_EXT`, unsigned.
    Uint([u32; 4]),
}

impl BorderValue {
    fn raw(self) -> vk::ClearColorValue {
        match self {
            Self::Float(float32) => vk::ClearColorValue { float32 },
            Self::Int(int32) => vk::ClearColorValue { int32 },
            Self::Uint(uint32) => vk::ClearColorValue { uint32 },
        }
    }
}

/// Everything `VkSamplerCreateInfo` and the chained structures of sampler state hold.
///
/// The default is legal everywhere: NEAREST, CLAMP_TO_EDGE, LOD 0 to `VK_LOD_CLAMP_NONE`, nothing chained.
#[derive(Clone, Debug)]
pub struct SamplerDesc {
    /// Creation flags.
    pub flags: vk::SamplerCreateFlags,
    /// Magnification filter.
    pub mag_filter: vk::Filter,
    /// Minification filter.
    pub min_filter: vk::Filter,
    /// Mipmap mode.
    pub mipmap_mode: vk::SamplerMipmapMode,
    /// Address modes of U, V, W.
    pub address: [vk::SamplerAddressMode; 3],
    /// LOD bias in mip levels.
    pub lod_bias: f32,
    /// Whether anisotropy is enabled.
    pub anisotropy_enable: bool,
    /// Anisotropy limit; may be garbage while disabled.
    pub max_anisotropy: f32,
    /// Whether depth comparison is enabled.
    pub compare_enable: bool,
    /// Comparison; may be garbage while disabled.
    pub compare_op: vk::CompareOp,
    /// Least LOD in mip levels.
    pub min_lod: f32,
    /// Largest LOD in mip levels.
    pub max_lod: f32,
    /// Border colour; may be garbage when no address mode needs it.
    pub border_color: vk::BorderColor,
    /// Whether coordinates are in texels.
    pub unnormalized: bool,
    /// Chains `VkSamplerReductionModeCreateInfo`.
    pub reduction: Option<vk::SamplerReductionMode>,
    /// Chains `VkSamplerCustomBorderColorCreateInfoEXT`.
    pub custom_border: Option<CustomBorder>,
    /// Chains `VkSamplerBorderColorComponentMappingCreateInfoEXT`: (components, srgb).
    pub border_mapping: Option<(vk::ComponentMapping, bool)>,
    /// Debug name, set after creation.
    pub name: Option<String>,
}

impl Default for SamplerDesc {
    fn default() -> Self {
        Self {
            flags: vk::SamplerCreateFlags::empty(),
            mag_filter: vk::Filter::NEAREST,
            min_filter: vk::Filter::NEAREST,
            mipmap_mode: vk::SamplerMipmapMode::NEAREST,
            address: [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3],
            lod_bias: 0.0,
            anisotropy_enable: false,
            max_anisotropy: 1.0,
            compare_enable: false,
            compare_op: vk::CompareOp::NEVER,
            min_lod: 0.0,
            max_lod: vk::LOD_CLAMP_NONE,
            border_color: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
            unnormalized: false,
            reduction: None,
            custom_border: None,
            border_mapping: None,
            name: None,
        }
    }
}

impl SamplerDesc {
    /// All three filters NEAREST.
    pub fn nearest() -> Self {
        Self::default()
    }

    /// Min and mag LINEAR, mip NEAREST.
    pub fn linear() -> Self {
        Self { mag_filter: vk::Filter::LINEAR, min_filter: vk::Filter::LINEAR, ..Self::default() }
    }

    /// Min, mag and mip LINEAR.
    pub fn trilinear() -> Self {
        Self { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..Self::linear() }
    }

    /// A legal sampler for unnormalized coordinates with one filter.
    pub fn unnormalized(filter: vk::Filter) -> Self {
        Self { mag_filter: filter, min_filter: filter, max_lod: 0.0, unnormalized: true, ..Self::default() }
    }

    /// Sets one address mode for all axes.
    pub fn address(mut self, mode: vk::SamplerAddressMode) -> Self {
        self.address = [mode; 3];
        self
    }

    /// Clamps all axes to a border of this colour.
    pub fn border(mut self, color: vk::BorderColor) -> Self {
        self.border_color = color;
        self.address(vk::SamplerAddressMode::CLAMP_TO_BORDER)
    }

    /// Clamps all axes to a custom border; the kind follows the value.
    pub fn custom_border(self, value: BorderValue, format: vk::Format) -> Self {
        let color = match value {
            BorderValue::Float(_) => vk::BorderColor::FLOAT_CUSTOM_EXT,
            BorderValue::Int(_) | BorderValue::Uint(_) => vk::BorderColor::INT_CUSTOM_EXT,
        };
        Self { custom_border: Some(CustomBorder { value, format }), ..self.border(color) }
    }

    /// Enables comparison.
    pub fn compare(mut self, op: vk::CompareOp) -> Self {
        (self.compare_enable, self.compare_op) = (true, op);
        self
    }

    /// Enables anisotropy.
    pub fn anisotropy(mut self, limit: f32) -> Self {
        (self.anisotropy_enable, self.max_anisotropy) = (true, limit);
        self
    }

    /// Sets the LOD range.
    pub fn lod(mut self, min: f32, max: f32) -> Self {
        (self.min_lod, self.max_lod) = (min, max);
        self
    }

    /// Chains a reduction mode.
    pub fn reduction(mut self, mode: vk::SamplerReductionMode) -> Self {
        self.reduction = Some(mode);
        self
    }

    /// Sets the debug name.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Calls `use_info` with the create info and its chain; both live for the call only.
    pub fn with_info<R>(&self, use_info: impl FnOnce(&vk::SamplerCreateInfo<'_>) -> R) -> R {
        let mut reduction =
            vk::SamplerReductionModeCreateInfo::default().reduction_mode(self.reduction.unwrap_or_default());
        let border = self
            .custom_border
            .unwrap_or(CustomBorder { value: BorderValue::Float([0.0; 4]), format: vk::Format::UNDEFINED });
        let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default()
            .custom_border_color(border.value.raw())
            .format(border.format);
        let (components, srgb) = self.border_mapping.unwrap_or_default();
        let mut mapping =
            vk::SamplerBorderColorComponentMappingCreateInfoEXT::default().components(components).srgb(srgb);
        let mut info = vk::SamplerCreateInfo::default()
            .flags(self.flags)
            .mag_filter(self.mag_filter)
            .min_filter(self.min_filter)
            .mipmap_mode(self.mipmap_mode)
            .address_mode_u(self.address[0])
            .address_mode_v(self.address[1])
            .address_mode_w(self.address[2])
            .mip_lod_bias(self.lod_bias)
            .anisotropy_enable(self.anisotropy_enable)
            .max_anisotropy(self.max_anisotropy)
            .compare_enable(self.compare_enable)
            .compare_op(self.compare_op)
            .min_lod(self.min_lod)
            .max_lod(self.max_lod)
            .border_color(self.border_color)
            .unnormalized_coordinates(self.unnormalized);
        if self.border_mapping.is_some() {
            info = info.push_next(&mut mapping);
        }
        if self.custom_border.is_some() {
            info = info.push_next(&mut custom);
        }
        if self.reduction.is_some() {
            info = info.push_next(&mut reduction);
        }
        use_info(&info)
    }

    /// Creates the sampler.
    pub fn try_create<'c>(&self, context: &'c Context) -> Result<Sampler<'c>, vk::Result> {
        // SAFETY: create info and chain are well-formed locals; illegal values are what the caller wants to send.
        let handle = self.with_info(|info| unsafe { context.device().create_sampler(info, None) })?;
        if let Some(name) = &self.name {
            context.set_name(handle, name);
        }
        Ok(Sampler { context, handle, desc: self.clone() })
    }

    /// Creates the sampler.
    pub fn create<'c>(&self, context: &'c Context) -> Sampler<'c> {
        self.try_create(context).unwrap_or_else(|error| panic!("vkCreateSampler: {error:?} for {self:?}"))
    }
}

/// A sampler object.
pub struct Sampler<'c> {
    context: &'c Context,
    handle: vk::Sampler,
    desc: SamplerDesc,
}

impl Sampler<'_> {
    /// The handle the application sees.
    pub fn handle(&self) -> vk::Sampler {
        self.handle
    }

    /// What it was asked to be.
    pub fn desc(&self) -> &SamplerDesc {
        &self.desc
    }
}

impl Drop for Sampler<'_> {
    fn drop(&mut self) {
        // SAFETY: the harness waits for each submission, so no pending work uses the sampler.
        unsafe { self.context.device().destroy_sampler(self.handle, None) };
    }
}
