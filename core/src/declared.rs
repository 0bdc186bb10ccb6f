//! Whether a view is what a shader declares of the variable that it is bound to.
//!
//! Taken from the specification's "Compatibility Between SPIR-V Image Dimensions and Vulkan ImageView Types" (by
//! VUID-vkCmdDraw-viewType-07752), from the numeric types of formats (VUID-vkCmdDraw-format-07753), from "Compatibility Between SPIR-V
//! Image Formats and Vulkan Formats" (Image Operations > Texel Format Validation: what is read or written is else undefined), and from
//! what formats need for accesses without one (VUID-vkCmdDraw-OpTypeImage-07027 to -07030). Ids of action commands are given for
//! `vkCmdDraw`; they exist for every one of them.

use ash::vk::{self, Format as F, FormatFeatureFlags2 as Feature, ImageViewType as T};

use crate::format::NumericClass;
use crate::left::Left;

/// What a shader declares of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Declared {
    /// `Dim`, as SPIR-V numbers it.
    pub dim: u32,
    /// Whether it has layers.
    pub arrayed: bool,
    /// What texels become.
    pub class: NumericClass,
    /// It is a storage image or a storage texel buffer.
    pub is_storage: bool,
    /// The image format, as SPIR-V numbers it; 0 for Unknown.
    pub format: u32,
    /// It is read, by something else than an atomic or a sampler.
    pub is_read: bool,
    /// It is written, by something else than an atomic.
    pub is_written: bool,
}

/// What is bound there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Viewed {
    /// Format of the view.
    pub format: vk::Format,
    /// `viewType`; none of a buffer.
    pub view_type: Option<vk::ImageViewType>,
    /// What its texels are; none if that is not known.
    pub class: Option<NumericClass>,
    /// Features of the format, if they are known.
    pub features: Option<Feature>,
    /// Descriptors show unsigned integers with the bits of its texels instead, so nothing converts them where a shader declares no format.
    pub is_lowered: bool,
}

/// `Dim::DimBuffer` and `Dim::DimSubpassData`.
const BUFFER: u32 = 5;
const SUBPASS: u32 = 6;

/// The view types with the dimension, and whether it has layers, that shaders declare for them ("Compatibility Between SPIR-V Image
/// Dimensions and Vulkan ImageView Types").
const DIMENSIONS: [(T, (u32, bool)); 7] = [
    (T::TYPE_1D, (0, false)),
    (T::TYPE_1D_ARRAY, (0, true)),
    (T::TYPE_2D, (1, false)),
    (T::TYPE_2D_ARRAY, (1, true)),
    (T::TYPE_3D, (2, false)),
    (T::CUBE, (3, false)),
    (T::CUBE_ARRAY, (3, true)),
];

/// The view type that a dimension asks for; none where any does, or it is not known.
fn view_type(dim: u32, arrayed: bool) -> Option<vk::ImageViewType> {
    DIMENSIONS.iter().find(|(_, declared)| *declared == (dim, arrayed)).map(|(own, _)| *own)
}

/// The dimension, as SPIR-V numbers it, and whether it has layers, that shaders declare for a view type; none if that is not known.
pub fn dimension(view_type: vk::ImageViewType) -> Option<(u32, bool)> {
    DIMENSIONS.iter().find(|(own, _)| *own == view_type).map(|(_, declared)| *declared)
}

/// By the number of an image format, the format of the texels that it stands for ("Compatibility Between SPIR-V Image Formats and Vulkan
/// Formats").
const FORMATS: [F; 42] = [
    F::UNDEFINED,
    F::R32G32B32A32_SFLOAT,
    F::R16G16B16A16_SFLOAT,
    F::R32_SFLOAT,
    F::R8G8B8A8_UNORM,
    F::R8G8B8A8_SNORM,
    F::R32G32_SFLOAT,
    F::R16G16_SFLOAT,
    F::B10G11R11_UFLOAT_PACK32,
    F::R16_SFLOAT,
    F::R16G16B16A16_UNORM,
    F::A2B10G10R10_UNORM_PACK32,
    F::R16G16_UNORM,
    F::R8G8_UNORM,
    F::R16_UNORM,
    F::R8_UNORM,
    F::R16G16B16A16_SNORM,
    F::R16G16_SNORM,
    F::R8G8_SNORM,
    F::R16_SNORM,
    F::R8_SNORM,
    F::R32G32B32A32_SINT,
    F::R16G16B16A16_SINT,
    F::R8G8B8A8_SINT,
    F::R32_SINT,
    F::R32G32_SINT,
    F::R16G16_SINT,
    F::R8G8_SINT,
    F::R16_SINT,
    F::R8_SINT,
    F::R32G32B32A32_UINT,
    F::R16G16B16A16_UINT,
    F::R8G8B8A8_UINT,
    F::R32_UINT,
    F::A2B10G10R10_UINT_PACK32,
    F::R32G32_UINT,
    F::R16G16_UINT,
    F::R8G8_UINT,
    F::R16_UINT,
    F::R8_UINT,
    F::R64_UINT,
    F::R64_SINT,
];

/// Formats whose texels lie in memory as those of another do.
const ALIKE: [(F, F); 4] = [
    (F::A8B8G8R8_UNORM_PACK32, F::R8G8B8A8_UNORM),
    (F::A8B8G8R8_SNORM_PACK32, F::R8G8B8A8_SNORM),
    (F::A8B8G8R8_UINT_PACK32, F::R8G8B8A8_UINT),
    (F::A8B8G8R8_SINT_PACK32, F::R8G8B8A8_SINT),
];

/// The format that an image format stands for, by its number; none for Unknown and for numbers that are not known.
pub fn declared_format(number: u32) -> Option<vk::Format> {
    FORMATS.get(number as usize).copied().filter(|format| *format != F::UNDEFINED)
}

/// The number of the image format that a shader would have to declare for a format; none if there is none.
pub fn number_of(format: vk::Format) -> Option<u32> {
    let alike = ALIKE.iter().find(|(own, _)| *own == format).map_or(format, |(_, other)| *other);
    FORMATS.iter().position(|known| *known == alike && *known != F::UNDEFINED).map(|number| number as u32)
}

/// Something about a view that is not as the shader declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mismatch {
    /// Another dimension, or layers where the other has none.
    ViewType,
    /// Other numbers: integers where floats are declared, or the other way, or signs.
    Numbers,
    /// A storage image of another format.
    Format,
    /// Read without a format, which the format does not allow.
    Read,
    /// Written without a format, which the format does not allow.
    Write,
}

impl Mismatch {
    /// All of them, the one that makes most others follow first.
    pub const ALL: [Self; 5] = [Self::ViewType, Self::Numbers, Self::Format, Self::Read, Self::Write];

    /// The name of what is left as it is.
    pub const fn left(self) -> Left {
        match self {
            Self::ViewType => Left::DeclaredDimension,
            Self::Numbers => Left::DeclaredNumbers,
            Self::Format => Left::DeclaredFormat,
            Self::Read => Left::FormatUnreadable,
            Self::Write => Left::FormatUnwritable,
        }
    }

    /// The valid usage that is broken; none where what comes of it is undefined and nothing forbids it.
    pub const fn vuid(self, is_buffer: bool) -> Option<&'static str> {
        Some(match (self, is_buffer) {
            (Self::ViewType, _) => "VUID-vkCmdDraw-viewType-07752",
            (Self::Numbers, _) => "VUID-vkCmdDraw-format-07753",
            (Self::Format, _) => return None,
            (Self::Read, false) => "VUID-vkCmdDraw-OpTypeImage-07028",
            (Self::Write, false) => "VUID-vkCmdDraw-OpTypeImage-07027",
            (Self::Read, true) => "VUID-vkCmdDraw-OpTypeImage-07030",
            (Self::Write, true) => "VUID-vkCmdDraw-OpTypeImage-07029",
        })
    }
}

/// Whether something about a view is not as the shader declares it. Of what is not known nothing is.
pub fn differs(declared: &Declared, viewed: &Viewed, how: Mismatch) -> bool {
    let has = |bit| !viewed.is_lowered && viewed.features.is_none_or(|features| features.contains(bit));
    let is_unknown = declared.is_storage && declared.format == 0;
    match how {
        Mismatch::ViewType => match (viewed.view_type, view_type(declared.dim, declared.arrayed)) {
            (Some(own), Some(wanted)) => own != wanted && declared.dim != SUBPASS,
            _ => false,
        },
        Mismatch::Numbers => viewed.class.is_some_and(|class| class != declared.class),
        Mismatch::Format => {
            let wanted = declared_format(declared.format).filter(|_| declared.is_storage);
            wanted.is_some() && number_of(viewed.format) != Some(declared.format) && viewed.format != F::UNDEFINED
        }
        Mismatch::Read => is_unknown && declared.is_read && !has(Feature::STORAGE_READ_WITHOUT_FORMAT),
        Mismatch::Write => is_unknown && declared.is_written && !has(Feature::STORAGE_WRITE_WITHOUT_FORMAT),
    }
}

/// Whether anything about a view is not as the shader declares it.
pub fn differs_at_all(declared: &Declared, viewed: &Viewed) -> bool {
    (declared.dim == BUFFER) == viewed.view_type.is_none()
        && Mismatch::ALL.into_iter().any(|how| differs(declared, viewed, how))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT: Declared = Declared {
        dim: 1,
        arrayed: false,
        class: NumericClass::Float,
        is_storage: true,
        format: 4,
        is_read: true,
        is_written: true,
    };
    const RGBA8: Viewed = Viewed {
        format: F::R8G8B8A8_UNORM,
        view_type: Some(T::TYPE_2D),
        class: Some(NumericClass::Float),
        features: Some(Feature::STORAGE_IMAGE),
        is_lowered: false,
    };

    fn found(declared: Declared, viewed: Viewed) -> Vec<Mismatch> {
        Mismatch::ALL.into_iter().filter(|how| differs(&declared, &viewed, *how)).collect()
    }

    #[test]
    fn what_suits_is_left_alone() {
        assert_eq!(found(FLOAT, RGBA8), []);
        let packed = Viewed { format: F::A8B8G8R8_UNORM_PACK32, ..RGBA8 };
        assert_eq!(found(FLOAT, packed), [], "the same bytes");
        let features = Feature::STORAGE_READ_WITHOUT_FORMAT | Feature::STORAGE_WRITE_WITHOUT_FORMAT;
        let unknown = Declared { format: 0, ..FLOAT };
        assert_eq!(found(unknown, Viewed { features: Some(features), ..RGBA8 }), []);
        assert_eq!(found(unknown, Viewed { features: None, ..RGBA8 }), [], "nothing is known");
        let attachment = Declared { dim: SUBPASS, is_storage: false, format: 0, ..FLOAT };
        assert_eq!(found(attachment, Viewed { view_type: Some(T::TYPE_2D_ARRAY), ..RGBA8 }), []);
        let sampled = Declared { is_storage: false, format: 0, ..FLOAT };
        assert_eq!(found(sampled, Viewed { format: F::B8G8R8A8_UNORM, ..RGBA8 }), [], "no storage image has a format");
    }

    #[test]
    fn each_difference_is_found() {
        assert_eq!(found(FLOAT, Viewed { format: F::B8G8R8A8_UNORM, ..RGBA8 }), [Mismatch::Format]);
        assert_eq!(found(FLOAT, Viewed { format: F::R8G8B8A8_SRGB, ..RGBA8 }), [Mismatch::Format]);
        assert_eq!(found(Declared { format: 1, ..FLOAT }, RGBA8), [Mismatch::Format]);
        let integers = Viewed { format: F::R8G8B8A8_UINT, class: Some(NumericClass::Uint), ..RGBA8 };
        assert_eq!(found(FLOAT, integers), [Mismatch::Numbers, Mismatch::Format]);
        assert_eq!(found(Declared { format: 32, class: NumericClass::Sint, ..FLOAT }, integers), [Mismatch::Numbers]);
        for view_type in [T::TYPE_1D, T::TYPE_2D_ARRAY, T::TYPE_3D, T::CUBE] {
            assert_eq!(found(FLOAT, Viewed { view_type: Some(view_type), ..RGBA8 }), [Mismatch::ViewType]);
        }
        let unknown = Declared { format: 0, ..FLOAT };
        assert_eq!(found(unknown, RGBA8), [Mismatch::Read, Mismatch::Write]);
        let lowered = Viewed { features: None, is_lowered: true, ..RGBA8 };
        assert_eq!((found(unknown, lowered), found(FLOAT, lowered)), (vec![Mismatch::Read, Mismatch::Write], vec![]));
        assert_eq!(found(Declared { is_read: false, ..unknown }, RGBA8), [Mismatch::Write]);
        assert_eq!(found(Declared { is_written: false, ..unknown }, RGBA8), [Mismatch::Read]);
    }

    /// `spirv::ImageFormat` and the table agree, by what the names say.
    #[test]
    fn formats_stand_at_their_numbers() {
        let all = [
            (1, F::R32G32B32A32_SFLOAT),
            (4, F::R8G8B8A8_UNORM),
            (21, F::R32G32B32A32_SINT),
            (24, F::R32_SINT),
            (33, F::R32_UINT),
            (39, F::R8_UINT),
            (41, F::R64_SINT),
        ];
        for (number, format) in all {
            assert_eq!((declared_format(number), number_of(format)), (Some(format), Some(number)));
        }
        // The other table knows the formats that a device may lack.
        for number in 0..42 {
            if let Some(format) = declared_format(number)
                && let Some(known) = crate::storage::declared(format)
            {
                assert_eq!(known, number, "{format:?}");
            }
        }
        assert_eq!((declared_format(0), declared_format(42), number_of(F::B8G8R8A8_UNORM)), (None, None, None));
    }
}
