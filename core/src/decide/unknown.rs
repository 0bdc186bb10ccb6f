//! Values that may be enumerants of an extension younger than the layer.
//!
//! An enumerant is valid if it was added by an extension that is enabled or by a core version that the device supports
//! (Fundamentals > Valid Usage for Enumerated Types). Where one of these is not in the layer's registry, a value that only
//! an extension can have added is neither known to be legal nor known to be illegal, so it reaches the driver unchanged.

use ash::vk;

use super::state::CATMULL_ROM;
use super::{DeviceCaps, Field, SamplerState, Value, is_custom};

/// First value of the range from which extensions take their enumerants (Style Guide > Assigning Extension Token Values).
const EXTENSION_RANGE: i32 = 1_000_000_000;

/// Whether a member's value may be an enumerant that the layer does not know.
#[inline]
pub fn is_unknown_enumerant(value: Value, caps: &DeviceCaps) -> bool {
    caps.unknown_extension && is_in_extension_range(value)
}

/// Whether the value is one that only an extension can have added, and none of those that the layer knows.
#[cold]
#[inline(never)]
fn is_in_extension_range(value: Value) -> bool {
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
    (EXTENSION_RANGE..i32::MAX).contains(&raw) && !known
}

/// Calls `with` for each member of a sampler that holds such a value, but for those that nobody reads.
pub fn unknown_enumerants(state: &SamplerState, caps: &DeviceCaps, mut with: impl FnMut(Field, Value)) {
    let mut look = |field, value, read: bool| {
        let unknown = read && is_unknown_enumerant(value, caps);
        if unknown {
            with(field, value);
        }
        unknown
    };
    look(Field::MagFilter, Value::Filter(state.mag_filter), true);
    look(Field::MinFilter, Value::Filter(state.min_filter), true);
    look(Field::MipmapMode, Value::MipmapMode(state.mipmap_mode), true);
    // An address mode that is not known may use the border.
    let mut bordered = state.uses_border();
    for (field, mode) in Field::ADDRESS_MODES.into_iter().zip(state.address_mode) {
        bordered |= look(field, Value::AddressMode(mode), true);
    }
    look(Field::CompareOp, Value::CompareOp(state.compare_op), state.compare_enable);
    look(Field::BorderColor, Value::BorderColor(state.border_color), bordered);
    look(Field::ReductionMode, Value::ReductionMode(state.reduction()), true);
    look(Field::CubicWeights, Value::Raw(state.cubic_weights.unwrap_or(CATMULL_ROM)), true);
}
