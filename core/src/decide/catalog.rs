//! Names of fields and values, and the [`Change`] that carries them and a row of the catalogue (`rules.rs`).

use ash::vk;
use smallvec::SmallVec;

use super::{BorderMapping, Catalog};
use crate::names;
use core::fmt;

/// Where a row's rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSource {
    /// A valid-usage statement, by its id. Ids of action commands are given for `vkCmdDraw`; they exist for every one of them.
    Vuid(&'static str),
    /// The specification's running text: chapter and heading. Its breach is undefined, and nothing reports it.
    Text(&'static str),
    /// Not Vulkan's rule but the layer's own: a setting, a wish of the user, an address mode of OpenGL.
    Layer,
}

/// Member of a create info (or of a structure in its chain), or what of a shader, that a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the member of that name")]
pub enum Field {
    Flags,
    MagFilter,
    MinFilter,
    MipmapMode,
    AddressModeU,
    AddressModeV,
    AddressModeW,
    MipLodBias,
    AnisotropyEnable,
    MaxAnisotropy,
    CompareEnable,
    CompareOp,
    MinLod,
    MaxLod,
    BorderColor,
    UnnormalizedCoordinates,
    ReductionMode,
    CustomBorderColor,
    CustomBorderColorFormat,
    BorderColorMapping,
    CubicWeights,
    BlockMatchWindow,
    OpaqueCapture,
    ChromaFilter,
    XChromaOffset,
    YChromaOffset,
    ForceExplicitReconstruction,
    BlitFilter,
    Usage,
    AspectMask,
    Capability,
    Extension,
    Decoration,
    ImageFormat,
    StorageClass,
    MemorySemantics,
    ExecutionMode,
    BuiltIn,
    Location,
    Interpolation,
    SampleShadingEnable,
    MinSampleShading,
    SampleMaskWords,
}

impl Field {
    /// The three address modes in axis order.
    pub const ADDRESS_MODES: [Self; 3] = [Self::AddressModeU, Self::AddressModeV, Self::AddressModeW];

    /// Vulkan's name of the member.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags => "flags",
            Self::MagFilter => "magFilter",
            Self::MinFilter => "minFilter",
            Self::MipmapMode => "mipmapMode",
            Self::AddressModeU => "addressModeU",
            Self::AddressModeV => "addressModeV",
            Self::AddressModeW => "addressModeW",
            Self::MipLodBias => "mipLodBias",
            Self::AnisotropyEnable => "anisotropyEnable",
            Self::MaxAnisotropy => "maxAnisotropy",
            Self::CompareEnable => "compareEnable",
            Self::CompareOp => "compareOp",
            Self::MinLod => "minLod",
            Self::MaxLod => "maxLod",
            Self::BorderColor => "borderColor",
            Self::UnnormalizedCoordinates => "unnormalizedCoordinates",
            Self::ReductionMode => "reductionMode",
            Self::CustomBorderColor => "customBorderColor",
            Self::CustomBorderColorFormat => "format",
            Self::BorderColorMapping => "components",
            Self::CubicWeights => "cubicWeights",
            Self::BlockMatchWindow => "windowExtent",
            Self::OpaqueCapture => "opaqueCaptureDescriptorData",
            Self::ChromaFilter => "chromaFilter",
            Self::XChromaOffset => "xChromaOffset",
            Self::YChromaOffset => "yChromaOffset",
            Self::ForceExplicitReconstruction => "forceExplicitReconstruction",
            Self::BlitFilter => "filter",
            Self::Usage => "usage",
            Self::AspectMask => "aspectMask",
            Self::Capability => "capability",
            Self::Extension => "extension",
            Self::Decoration => "decoration",
            Self::ImageFormat => "image format",
            Self::StorageClass => "storage class",
            Self::MemorySemantics => "memory semantics",
            Self::ExecutionMode => "execution mode",
            Self::BuiltIn => "built-in",
            Self::Location => "location",
            Self::Interpolation => "interpolation",
            Self::SampleShadingEnable => "sampleShadingEnable",
            Self::MinSampleShading => "minSampleShading",
            Self::SampleMaskWords => "sample mask words",
        }
    }
}

/// Value of a field before or after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is the Vulkan type of that name")]
pub enum Value {
    Filter(vk::Filter),
    MipmapMode(vk::SamplerMipmapMode),
    AddressMode(vk::SamplerAddressMode),
    CompareOp(vk::CompareOp),
    BorderColor(vk::BorderColor),
    ReductionMode(vk::SamplerReductionMode),
    SamplerFlags(vk::SamplerCreateFlags),
    ImageFlags(u64),
    Usage(u64),
    Aspects(u64),
    ChromaLocation(vk::ChromaLocation),
    Format(vk::Format),
    Bool(bool),
    Float(f32),
    /// Float words of a custom border colour.
    FloatColor([u32; 4]),
    /// Integer words of a custom border colour.
    IntColor([u32; 4]),
    Extent([u32; 2]),
    Mapping(BorderMapping),
    Raw(i32),
    /// A word of SPIR-V's.
    Spirv(&'static str),
    /// The structure is chained.
    Present,
    /// The structure is not chained.
    Absent,
}

impl Value {
    /// The number of an enumerant, the bits of flags, 0 or 1 of a boolean.
    pub fn number(&self) -> Option<i64> {
        Some(match *self {
            Self::Filter(v) => v.as_raw().into(),
            Self::MipmapMode(v) => v.as_raw().into(),
            Self::AddressMode(v) => v.as_raw().into(),
            Self::CompareOp(v) => v.as_raw().into(),
            Self::BorderColor(v) => v.as_raw().into(),
            Self::ReductionMode(v) => v.as_raw().into(),
            Self::ChromaLocation(v) => v.as_raw().into(),
            Self::Format(v) => v.as_raw().into(),
            Self::SamplerFlags(v) => v.as_raw().into(),
            Self::ImageFlags(v) | Self::Usage(v) | Self::Aspects(v) => v.cast_signed(),
            Self::Bool(v) => v.into(),
            Self::Raw(v) => v.into(),
            Self::Float(_)
            | Self::FloatColor(_)
            | Self::IntColor(_)
            | Self::Extent(_)
            | Self::Mapping(_)
            | Self::Spirv(_)
            | Self::Present
            | Self::Absent => return None,
        })
    }
}

/// As Vulkan spells it, with commas between several words.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Filter(v) => f.write_str(&names::filter(v)),
            Self::MipmapMode(v) => f.write_str(&names::mipmap_mode(v)),
            Self::AddressMode(v) => f.write_str(&names::address_mode(v)),
            Self::CompareOp(v) => f.write_str(&names::compare_op(v)),
            Self::BorderColor(v) => f.write_str(&names::border_color(v)),
            Self::ReductionMode(v) => f.write_str(&names::reduction_mode(v)),
            Self::SamplerFlags(v) => listed(f, names::sampler_flags(v)),
            Self::ImageFlags(v) => listed(f, names::image_flags(v)),
            Self::Usage(v) => listed(f, names::image_usage(v)),
            Self::Aspects(v) => listed(f, names::image_aspects(v)),
            Self::ChromaLocation(v) => f.write_str(&names::chroma_location(v)),
            Self::Format(v) => f.write_str(&names::format(v)),
            Self::Bool(v) => f.write_str(if v { "VK_TRUE" } else { "VK_FALSE" }),
            Self::Float(v) => v.fmt(f),
            Self::FloatColor(words) => listed(f, words.map(f32::from_bits)),
            Self::IntColor(words) => listed(f, words),
            Self::Extent(v) => listed(f, v),
            Self::Mapping(v) => {
                listed(f, v.components.map(names::component_swizzle))?;
                f.write_str(if v.srgb { ", sRGB" } else { "" })
            }
            Self::Raw(v) => v.fmt(f),
            Self::Spirv(v) => f.write_str(v),
            Self::Present => f.write_str("chained"),
            Self::Absent => f.write_str("not chained"),
        }
    }
}

fn listed<T: fmt::Display>(f: &mut fmt::Formatter<'_>, words: impl IntoIterator<Item = T>) -> fmt::Result {
    let mut any = false;
    for word in words {
        write!(f, "{}{word}", if any { ", " } else { "" })?;
        any = true;
    }
    if any { Ok(()) } else { f.write_str("0") }
}

/// One change to one field, with the rule that asked for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The rule.
    pub catalog: Catalog,
    /// What was changed.
    pub field: Field,
    /// Value before.
    pub from: Value,
    /// Value after.
    pub to: Value,
}

/// The changes of one decision, in the order they were made. A field may appear twice (CUBIC to LINEAR
/// to NEAREST); the second `from` is then the first `to`.
///
/// Room for four without allocating, which is more than most samplers that change at all need; small, because every decision
/// carries it.
#[derive(Clone, Default)]
pub struct Changes(SmallVec<[Change; 4]>);

impl Changes {
    /// No change.
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    /// Those that `keep` says.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Change) -> bool) {
        self.0.retain(|change| keep(change));
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.0.push(change);
    }

    /// The changes in order.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
