//! Values that may be enumerants of an extension younger than the layer.
//!
//! An enumerant is valid if it was added by an extension that is enabled or by a core version that the device supports
//! (Fundamentals > Valid Usage for Enumerated Types). Where one of these is not in the layer's registry, a value that only
//! an extension can have added is neither known to be legal nor known to be illegal, so it goes down as it came.

use ash::vk;

use super::{DeviceCaps, Field, SamplerState, Value, is_custom};

/// First value of the range from which extensions take their enumerants (Style Guide > Assigning Extension Token Values).
const EXTENSION_RANGE: i32 = 1_000_000_000;

/// Whether a member's value may be an enumerant that the layer does not know.
pub fn is_unknown_enumerant(value: Value, caps: &DeviceCaps) -> bool {
    let (raw, known) = match value {
        Value::Filter(v) => (v.as_raw(), v == vk::Filter::CUBIC_EXT),
        Value::MipmapMode(v) => (v.as_raw(), false),
        Value::AddressMode(v) => (v.as_raw(), false),
        Value::CompareOp(v) => (v.as_raw(), false),
        Value::BorderColor(v) => (v.as_raw(), is_custom(v)),
        Value::ReductionMode(v) => (v.as_raw(), v == vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM),
        Value::Raw(v) => (v, false),
        _ => return false,
    };
    // The greatest value is VK_..._MAX_ENUM, which is never valid.
    caps.unknown_extension && (EXTENSION_RANGE..i32::MAX).contains(&raw) && !known
}

/// The members of a sampler that hold such a value, but for those that nobody reads.
pub fn unknown_enumerants(state: &SamplerState, caps: &DeviceCaps) -> Vec<(Field, Value)> {
    if !caps.unknown_extension {
        return Vec::new();
    }
    let [u, v, w] = state.address_mode.map(Value::AddressMode);
    let unknown = |(field, value): (Field, Value)| is_unknown_enumerant(value, caps).then_some((field, value));
    // A mode that is not known may use the border.
    let bordered = state.uses_border() || [u, v, w].into_iter().any(|mode| is_unknown_enumerant(mode, caps));
    [
        Some((Field::MagFilter, Value::Filter(state.mag_filter))),
        Some((Field::MinFilter, Value::Filter(state.min_filter))),
        Some((Field::MipmapMode, Value::MipmapMode(state.mipmap_mode))),
        Some((Field::AddressModeU, u)),
        Some((Field::AddressModeV, v)),
        Some((Field::AddressModeW, w)),
        state.compare_enable.then_some((Field::CompareOp, Value::CompareOp(state.compare_op))),
        bordered.then_some((Field::BorderColor, Value::BorderColor(state.border_color))),
        state.reduction_mode.map(|mode| (Field::ReductionMode, Value::ReductionMode(mode))),
        state.cubic_weights.map(|weights| (Field::CubicWeights, Value::Raw(weights))),
    ]
    .into_iter()
    .flatten()
    .filter_map(unknown)
    .collect()
}
