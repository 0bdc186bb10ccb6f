//! Between [`SamplerState`] and create infos, on the application's side and on the driver's: written from the structures'
//! definitions and not from the layer's own conversion.

use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use ash::vk::{self, Handle};
use samplin_core::decide::{BlockMatchWindow, BorderMapping, CustomBorder, SamplerState, YcbcrConversion};

use crate::driver::SamplerModel;
use crate::pages::Guarded;

/// Where structures of a type that nobody knows stand in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    None,
    First,
    Last,
}

/// Writes an image info at `at`, member by member: a copy of the whole would copy padding, which has no value.
pub(crate) fn put(data: &mut [u8], at: usize, info: &vk::DescriptorImageInfo) {
    data[at..at + 8].copy_from_slice(&info.sampler.as_raw().to_ne_bytes());
    data[at + 8..at + 16].copy_from_slice(&info.image_view.as_raw().to_ne_bytes());
    data[at + 16..at + 20].copy_from_slice(&info.image_layout.as_raw().to_ne_bytes());
}

/// A create info that says `state`, as is each node of its chain in memory that ends with it. `backwards` turns the order of the chain
/// round.
pub(crate) fn info_of(
    state: &SamplerState,
    (unknown, backwards): (Unknown, bool),
    memory: &mut Guarded,
) -> vk::SamplerCreateInfo<'static> {
    let opaque_data = memory.slice(&[0x5a_u8; 16]);
    let mut reduction = state
        .reduction_mode
        .map(|reduction_mode| vk::SamplerReductionModeCreateInfo { reduction_mode, ..Default::default() });
    let mut conversion = state.ycbcr.map(|ycbcr| vk::SamplerYcbcrConversionInfo {
        conversion: vk::SamplerYcbcrConversion::from_raw(ycbcr.handle),
        ..Default::default()
    });
    let mut border = state.custom_border.map(|custom| vk::SamplerCustomBorderColorCreateInfoEXT {
        custom_border_color: vk::ClearColorValue { uint32: custom.color },
        format: custom.format,
        ..Default::default()
    });
    let mut mapping = state.border_mapping.map(|mapping| {
        let [r, g, b, a] = mapping.components;
        vk::SamplerBorderColorComponentMappingCreateInfoEXT {
            components: vk::ComponentMapping { r, g, b, a },
            srgb: u32::from(mapping.srgb),
            ..Default::default()
        }
    });
    let mut weights = state.cubic_weights.map(|weights| vk::SamplerCubicWeightsCreateInfoQCOM {
        cubic_weights: vk::CubicFilterWeightsQCOM::from_raw(weights),
        ..Default::default()
    });
    let mut window = state.block_match.map(|window| vk::SamplerBlockMatchWindowCreateInfoQCOM {
        window_extent: vk::Extent2D { width: window.extent[0], height: window.extent[1] },
        window_compare_mode: vk::BlockMatchWindowCompareModeQCOM::from_raw(window.compare_mode),
        ..Default::default()
    });
    let mut opaque = state.opaque_capture.then(|| vk::OpaqueCaptureDescriptorDataCreateInfoEXT {
        opaque_capture_descriptor_data: opaque_data.cast(),
        ..Default::default()
    });
    let mut nobodys = vk::BaseOutStructure { s_type: vk::StructureType::from_raw(0x7fff_0099), ..Default::default() };

    // Each with its bytes.
    let mut nodes: Vec<(*mut vk::BaseOutStructure<'_>, usize)> = Vec::new();
    macro_rules! node {
        ($($option:ident)+) => {
            $(nodes.extend($option.as_mut().map(|node| (ptr::from_mut(node).cast(), size_of_val(node))));)+
        };
    }
    node!(reduction conversion border mapping weights window opaque);
    if backwards {
        nodes.reverse();
    }
    match unknown {
        Unknown::None => {}
        Unknown::First => nodes.insert(0, (&raw mut nobodys, 16)),
        Unknown::Last => nodes.push((&raw mut nobodys, 16)),
    }
    let mut next: *mut vk::BaseOutStructure<'_> = ptr::null_mut();
    for (node, size) in nodes.into_iter().rev() {
        // SAFETY: a live local of this function of that size, whose first members are those of the base.
        let words = unsafe {
            (*node).p_next = next;
            std::slice::from_raw_parts(node.cast::<MaybeUninit<u64>>(), size / 8)
        };
        next = memory.slice(words).cast_mut().cast();
    }
    let [address_mode_u, address_mode_v, address_mode_w] = state.address_mode;
    vk::SamplerCreateInfo {
        p_next: next.cast_const().cast::<c_void>(),
        flags: state.flags,
        mag_filter: state.mag_filter,
        min_filter: state.min_filter,
        mipmap_mode: state.mipmap_mode,
        address_mode_u,
        address_mode_v,
        address_mode_w,
        mip_lod_bias: state.mip_lod_bias,
        anisotropy_enable: u32::from(state.anisotropy_enable),
        max_anisotropy: state.max_anisotropy,
        compare_enable: u32::from(state.compare_enable),
        compare_op: state.compare_op,
        min_lod: state.min_lod,
        max_lod: state.max_lod,
        border_color: state.border_color,
        unnormalized_coordinates: u32::from(state.unnormalized_coordinates),
        ..Default::default()
    }
}

/// The state that a sampler of the driver was created with.
pub(crate) fn read_back(model: &SamplerModel, conversions: &HashMap<u64, YcbcrConversion>) -> SamplerState {
    let i = &model.info;
    macro_rules! chained {
        ($type:ident) => {
            model.chain.iter().find_map(|node| node.get::<vk::$type<'static>>())
        };
    }
    SamplerState {
        flags: i.flags,
        mag_filter: i.mag_filter,
        min_filter: i.min_filter,
        mipmap_mode: i.mipmap_mode,
        address_mode: [i.address_mode_u, i.address_mode_v, i.address_mode_w],
        mip_lod_bias: i.mip_lod_bias,
        anisotropy_enable: i.anisotropy_enable != 0,
        max_anisotropy: i.max_anisotropy,
        compare_enable: i.compare_enable != 0,
        compare_op: i.compare_op,
        min_lod: i.min_lod,
        max_lod: i.max_lod,
        border_color: i.border_color,
        unnormalized_coordinates: i.unnormalized_coordinates != 0,
        reduction_mode: chained!(SamplerReductionModeCreateInfo).map(|node| node.reduction_mode),
        ycbcr: chained!(SamplerYcbcrConversionInfo)
            .and_then(|node| conversions.get(&node.conversion.as_raw()).copied()),
        custom_border: chained!(SamplerCustomBorderColorCreateInfoEXT).map(|node| CustomBorder {
            // SAFETY: every bit pattern of the union is four words.
            color: unsafe { node.custom_border_color.uint32 },
            format: node.format,
        }),
        border_mapping: chained!(SamplerBorderColorComponentMappingCreateInfoEXT).map(|node| BorderMapping {
            components: [node.components.r, node.components.g, node.components.b, node.components.a],
            srgb: node.srgb != 0,
        }),
        cubic_weights: chained!(SamplerCubicWeightsCreateInfoQCOM).map(|node| node.cubic_weights.as_raw()),
        block_match: chained!(SamplerBlockMatchWindowCreateInfoQCOM).map(|node| BlockMatchWindow {
            extent: [node.window_extent.width, node.window_extent.height],
            compare_mode: node.window_compare_mode.as_raw(),
        }),
        opaque_capture: chained!(OpaqueCaptureDescriptorDataCreateInfoEXT).is_some(),
    }
}
