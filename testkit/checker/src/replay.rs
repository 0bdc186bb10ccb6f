//! Changes as a program: applying a decision's list to the state it was made for must give the state it decided.

use ash::vk;
use samplin_core::decide::{BorderMapping, Change, Field, SamplerState, Value};

/// Every member of a sampler that a change can be about.
pub const FIELDS: [Field; 23] = [
    Field::Flags,
    Field::MagFilter,
    Field::MinFilter,
    Field::MipmapMode,
    Field::AddressModeU,
    Field::AddressModeV,
    Field::AddressModeW,
    Field::MipLodBias,
    Field::AnisotropyEnable,
    Field::MaxAnisotropy,
    Field::CompareEnable,
    Field::CompareOp,
    Field::MinLod,
    Field::MaxLod,
    Field::BorderColor,
    Field::UnnormalizedCoordinates,
    Field::ReductionMode,
    Field::CustomBorderColor,
    Field::CustomBorderColorFormat,
    Field::BorderColorMapping,
    Field::CubicWeights,
    Field::BlockMatchWindow,
    Field::OpaqueCapture,
];

/// The words behind a value, so that NaN compares equal to itself and 0 to −0.
///
/// The kind of a custom colour is not part of it: the four words are one union, and `borderColor` tells the kind. A
/// mapping is four components and whether it is for sRGB.
pub fn words(value: Value) -> [i64; 5] {
    let one = |word: i64| [word, 0, 0, 0, 0];
    let float = |float: f32| if float == 0.0 { 0 } else { i64::from(float.to_bits()) };
    match value {
        Value::Filter(v) => one(v.as_raw().into()),
        Value::MipmapMode(v) => one(v.as_raw().into()),
        Value::AddressMode(v) => one(v.as_raw().into()),
        Value::CompareOp(v) => one(v.as_raw().into()),
        Value::BorderColor(v) => one(v.as_raw().into()),
        Value::ReductionMode(v) => one(v.as_raw().into()),
        Value::SamplerFlags(v) => one(v.as_raw().into()),
        Value::ChromaLocation(v) => one(v.as_raw().into()),
        Value::ImageFlags(v) | Value::Usage(v) | Value::Aspects(v) => one(v as i64),
        Value::Format(v) => one(v.as_raw().into()),
        Value::Bool(v) => one(v.into()),
        Value::Float(v) => one(float(v)),
        Value::FloatColor([r, g, b, a]) | Value::IntColor([r, g, b, a]) => [r.into(), g.into(), b.into(), a.into(), 0],
        Value::Extent([w, h]) => [w.into(), h.into(), 0, 0, 0],
        Value::Mapping(BorderMapping { components: [r, g, b, a], srgb }) => {
            [r.as_raw().into(), g.as_raw().into(), b.as_raw().into(), a.as_raw().into(), srgb.into()]
        }
        Value::Raw(v) => one(v.into()),
        Value::Spirv(word) => panic!("{word} is not of a sampler"),
        Value::Present => one(1),
        Value::Absent => one(i64::MIN),
    }
}

/// Current value of a field, in the words of [`words`].
pub fn current(state: &SamplerState, field: Field) -> [i64; 5] {
    let presence = |present| if present { Value::Present } else { Value::Absent };
    words(match field {
        Field::Flags => Value::SamplerFlags(state.flags),
        Field::MagFilter => Value::Filter(state.mag_filter),
        Field::MinFilter => Value::Filter(state.min_filter),
        Field::MipmapMode => Value::MipmapMode(state.mipmap_mode),
        Field::AddressModeU => Value::AddressMode(state.address_mode[0]),
        Field::AddressModeV => Value::AddressMode(state.address_mode[1]),
        Field::AddressModeW => Value::AddressMode(state.address_mode[2]),
        Field::MipLodBias => Value::Float(state.mip_lod_bias),
        Field::AnisotropyEnable => Value::Bool(state.anisotropy_enable),
        Field::MaxAnisotropy => Value::Float(state.max_anisotropy),
        Field::CompareEnable => Value::Bool(state.compare_enable),
        Field::CompareOp => Value::CompareOp(state.compare_op),
        Field::MinLod => Value::Float(state.min_lod),
        Field::MaxLod => Value::Float(state.max_lod),
        Field::BorderColor => Value::BorderColor(state.border_color),
        Field::UnnormalizedCoordinates => Value::Bool(state.unnormalized_coordinates),
        // An absent structure means WEIGHTED_AVERAGE.
        Field::ReductionMode => {
            Value::ReductionMode(state.reduction_mode.unwrap_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE))
        }
        Field::CustomBorderColor => state.custom_border.map_or(Value::Absent, |custom| Value::IntColor(custom.color)),
        Field::CustomBorderColorFormat => {
            state.custom_border.map_or(Value::Absent, |custom| Value::Format(custom.format))
        }
        Field::BorderColorMapping => state.border_mapping.map_or(Value::Absent, Value::Mapping),
        Field::CubicWeights => state.cubic_weights.map_or(Value::Absent, Value::Raw),
        Field::BlockMatchWindow => state.block_match.map_or(Value::Absent, |window| Value::Extent(window.extent)),
        Field::OpaqueCapture => presence(state.opaque_capture),
        Field::ChromaFilter
        | Field::XChromaOffset
        | Field::YChromaOffset
        | Field::ForceExplicitReconstruction
        | Field::BlitFilter
        | Field::Usage
        | Field::Capability
        | Field::Extension
        | Field::Decoration
        | Field::ImageFormat
        | Field::StorageClass
        | Field::MemorySemantics
        | Field::ExecutionMode
        | Field::BuiltIn
        | Field::Location
        | Field::Interpolation
        | Field::SampleShadingEnable
        | Field::MinSampleShading
        | Field::AspectMask
        | Field::SampleMaskWords => panic!("{field:?} is not a member of a sampler"),
    })
}

/// Whether the change begins at the state's value. `Present` stands for a structure whatever it says.
pub fn starts_at(state: &SamplerState, change: &Change) -> bool {
    let now = current(state, change.field);
    match change.from {
        Value::Present => now != words(Value::Absent),
        from => words(from) == now,
    }
}

/// Applies one change; panics where its value has the wrong type for its field.
pub fn apply(state: &mut SamplerState, change: &Change) {
    match (change.field, change.to) {
        (Field::Flags, Value::SamplerFlags(to)) => state.flags = to,
        (Field::MagFilter, Value::Filter(to)) => state.mag_filter = to,
        (Field::MinFilter, Value::Filter(to)) => state.min_filter = to,
        (Field::MipmapMode, Value::MipmapMode(to)) => state.mipmap_mode = to,
        (Field::AddressModeU, Value::AddressMode(to)) => state.address_mode[0] = to,
        (Field::AddressModeV, Value::AddressMode(to)) => state.address_mode[1] = to,
        (Field::AddressModeW, Value::AddressMode(to)) => state.address_mode[2] = to,
        (Field::MipLodBias, Value::Float(to)) => state.mip_lod_bias = to,
        (Field::AnisotropyEnable, Value::Bool(to)) => state.anisotropy_enable = to,
        (Field::MaxAnisotropy, Value::Float(to)) => state.max_anisotropy = to,
        (Field::CompareEnable, Value::Bool(to)) => state.compare_enable = to,
        (Field::CompareOp, Value::CompareOp(to)) => state.compare_op = to,
        (Field::MinLod, Value::Float(to)) => state.min_lod = to,
        (Field::MaxLod, Value::Float(to)) => state.max_lod = to,
        (Field::BorderColor, Value::BorderColor(to)) => state.border_color = to,
        (Field::UnnormalizedCoordinates, Value::Bool(to)) => state.unnormalized_coordinates = to,
        (Field::ReductionMode, Value::ReductionMode(vk::SamplerReductionMode::WEIGHTED_AVERAGE)) => {
            state.reduction_mode = None;
        }
        (Field::CustomBorderColor, Value::FloatColor(to) | Value::IntColor(to)) => {
            state.custom_border.as_mut().expect("a custom colour is chained").color = to;
        }
        (Field::CustomBorderColorFormat, Value::Format(to)) => {
            state.custom_border.as_mut().expect("a custom colour is chained").format = to;
        }
        (Field::BorderColorMapping, Value::Absent) => state.border_mapping = None,
        (Field::BorderColorMapping, Value::Mapping(to)) => state.border_mapping = Some(to),
        (Field::CubicWeights, Value::Absent) => state.cubic_weights = None,
        (Field::BlockMatchWindow, Value::Extent(to)) => {
            state.block_match.as_mut().expect("a window is chained").extent = to;
        }
        (Field::OpaqueCapture, Value::Absent) => state.opaque_capture = false,
        _ => panic!("{change:?} has no meaning"),
    }
}

/// Whether two states agree in every member: the ones of [`FIELDS`], and what no change may touch.
pub fn identical(a: &SamplerState, b: &SamplerState) -> bool {
    FIELDS.iter().all(|field| current(a, *field) == current(b, *field))
        && a.ycbcr == b.ycbcr
        && a.block_match.map(|window| window.compare_mode) == b.block_match.map(|window| window.compare_mode)
}

/// Bit for bit the same, the absence of structures and the sign of zero included.
pub fn untouched(a: &SamplerState, b: &SamplerState) -> bool {
    let floats = |s: &SamplerState| [s.mip_lod_bias, s.max_anisotropy, s.min_lod, s.max_lod].map(f32::to_bits);
    identical(a, b) && floats(a) == floats(b) && a.reduction_mode == b.reduction_mode
}
