//! Sizes of the structures that may be chained to the create infos of devices, images, views, samplers, set layouts and Y′CbCr
//! conversions, for copying a chain whose types the bindings may not have.

use core::mem::{align_of, size_of};

use ash::vk;

use crate::LayerDeviceCreateInfo;

mod table;

pub use table::{HEADER_VERSION, TABLE};

/// What a column of [`TABLE`] is for: size of a pointer, and alignment of a 64-bit number within a structure.
pub const COLUMNS: [(usize, usize); 3] = [(8, 8), (4, 8), (4, 4)];

/// The column of this target.
const COLUMN: usize = match (size_of::<usize>(), align_of::<u64>()) {
    (8, _) => 0,
    (_, 8) => 1,
    _ => 2,
};

/// Size in bytes of the structure with this sType on this target; `None` for one that the registry of [`HEADER_VERSION`] does not
/// name or that cannot stand in one of these chains.
///
/// The loader's own `VkLayerDeviceCreateInfo` is among them. `VkLayerInstanceCreateInfo` is not: it stands in no chain of these.
pub fn of(s_type: vk::StructureType) -> Option<usize> {
    if s_type == vk::StructureType::LOADER_DEVICE_CREATE_INFO {
        return Some(size_of::<LayerDeviceCreateInfo>());
    }
    let index = TABLE.binary_search_by_key(&s_type.as_raw(), |row| row.0).ok()?;
    TABLE.get(index).map(|row| usize::from(row.1[COLUMN]))
}
