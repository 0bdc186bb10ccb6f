//! Sizes of the structures that may be chained to the create infos of devices, images, views, samplers, set layouts and Y′CbCr
//! conversions, for copying a chain whose types the bindings may not have; and of those within the create infos of pipelines, with the
//! arrays that they lead to.

use core::mem::{align_of, size_of};

use ash::vk;

use crate::LayerDeviceCreateInfo;

mod pipeline;
mod table;

pub use pipeline::PIPELINE;
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

/// Offset of a pointer; offset of the number of elements, or [`ONE`]; size of an element, 0 where the pointer has to be null.
pub type Lengths = (u16, u16, u16);

/// A row of [`PIPELINE`]: sType; size in bytes and arrays in each of the layouts in [`COLUMNS`].
pub type Row = (i32, [u16; 3], &'static [[Lengths; 3]]);

/// In place of the offset of a count: the pointer leads to one element.
pub const ONE: u16 = 0xffff;

/// An array that a structure leads to. Offsets and sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Offset of the pointer.
    pub pointer: usize,
    /// Offset of the number of elements, 32 bits wide; `None`: there is one.
    pub count: Option<usize>,
    /// Size of an element; 0: nothing may be chained there, the pointer has to be null.
    pub element: usize,
}

/// A structure that can be copied together with its arrays, without knowing what it means.
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    /// Size in bytes.
    pub size: usize,
    arrays: &'static [[Lengths; 3]],
}

impl Flat {
    /// The arrays that it leads to. The specification allows a null pointer for some.
    pub fn arrays(self) -> impl Iterator<Item = Array> {
        self.arrays.iter().map(|columns| {
            let (pointer, count, element) = columns[COLUMN];
            Array { pointer: pointer.into(), count: (count != ONE).then_some(count.into()), element: element.into() }
        })
    }
}

/// The structure with this sType, if it may be chained to the create info of a graphics or compute pipeline, to one of its stages or
/// to one of its states, holds neither handles nor addresses of a device, and leads to nothing but arrays of plain data.
pub fn in_pipeline(s_type: vk::StructureType) -> Option<Flat> {
    let index = PIPELINE.binary_search_by_key(&s_type.as_raw(), |row| row.0).ok()?;
    PIPELINE.get(index).map(|row| Flat { size: row.1[COLUMN].into(), arrays: row.2 })
}
