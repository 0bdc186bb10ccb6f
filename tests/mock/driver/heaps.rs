//! Descriptor heaps: what is written to them, and the samplers that stages embed.

use std::ptr;

use ash::vk;
use vk_layer_sys::{
    DescriptorMappingSourceEXT as Source, HostAddressRangeEXT, ResourceDescriptorInfoEXT,
    ShaderDescriptorSetAndBindingMappingInfoEXT as Mappings,
};

use super::{Args, Chained, DeviceState, array, copy, dev, lock};

/// A sampler that a stage embeds, with its set and binding, as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Embedded {
    pub(crate) at: (u32, u32),
    pub(crate) info: Chained<vk::SamplerCreateInfo<'static>>,
    /// Types of the chain that the mappings were in.
    pub(crate) chain: Vec<i32>,
}

answers! {
    pub(super) fn write_samplers(
        device: vk::Device, count: u32, samplers: *const vk::SamplerCreateInfo<'_>,
        descriptors: *const HostAddressRangeEXT,
    ) -> VkResult {
        let infos = (0..count as usize).map(|index| copy(samplers.add(index))).collect();
        dev(device).arrive(c"vkWriteSamplerDescriptorsEXT", Args::HeapSamplers { at: samplers as usize, infos });
        for range in array(descriptors, count) {
            ptr::write_bytes(range.address.cast::<u8>(), 0xab, range.size);
        }
    }

    pub(super) fn write_resources(
        device: vk::Device, count: u32, resources: *const ResourceDescriptorInfoEXT,
        _descriptors: *const HostAddressRangeEXT,
    ) -> VkResult {
        let of = |resource: &ResourceDescriptorInfoEXT| match resource.ty {
            vk::DescriptorType::SAMPLED_IMAGE | vk::DescriptorType::STORAGE_IMAGE => {
                let image = resource.data.p_image.as_ref()?;
                Some(copy(image.p_view))
            }
            _ => None,
        };
        let views = array(resources, count).iter().map(of).collect();
        let args = Args::HeapResources { at: resources as usize, views };
        dev(device).arrive(c"vkWriteResourceDescriptorsEXT", args);
    }

    pub(super) fn register(
        device: vk::Device, _color: *const vk::SamplerCustomBorderColorCreateInfoEXT<'_>, is_requested: vk::Bool32,
        index: *mut u32,
    ) -> VkResult {
        let state = dev(device);
        state.arrive(c"vkRegisterCustomBorderColorEXT", Args::Other(Vec::new()));
        state.fails(c"vkRegisterCustomBorderColorEXT")?;
        if is_requested == 0 {
            let mut next = lock(&state.colours);
            index.write(*next);
            *next += 1;
        }
    }

    pub(super) fn unregister(device: vk::Device, index: u32) {
        dev(device).arrive(c"vkUnregisterCustomBorderColorEXT", Args::Other(vec![index.into()]));
    }
}

/// Takes note of what a stage or a shader object embeds.
///
/// # Safety
///
/// `p_next` is its valid chain.
pub(super) unsafe fn note(state: &DeviceState, p_next: *const std::ffi::c_void) {
    let (mut next, mut chain) = (p_next.cast::<vk::BaseInStructure<'_>>(), Vec::new());
    let mut found = Vec::new();
    // SAFETY: every node is whole, by the caller's contract.
    unsafe {
        while let Some(node) = next.as_ref() {
            chain.push(node.s_type.as_raw());
            if node.s_type == Mappings::STRUCTURE_TYPE {
                let mappings = &*next.cast::<Mappings>();
                for mapping in array(mappings.p_mappings, mappings.mapping_count) {
                    let data = mapping.source_data;
                    let sampler = match mapping.source {
                        Source::CONSTANT_OFFSET => data.constant_offset.p_embedded_sampler,
                        Source::PUSH_INDEX => data.push_index.p_embedded_sampler,
                        Source::INDIRECT_INDEX => data.indirect_index.p_embedded_sampler,
                        Source::INDIRECT_INDEX_ARRAY => data.indirect_index_array.p_embedded_sampler,
                        Source::SHADER_RECORD_INDEX => data.shader_record_index.p_embedded_sampler,
                        _ => ptr::null(),
                    };
                    if !sampler.is_null() {
                        found.push(((mapping.descriptor_set, mapping.first_binding), copy(sampler)));
                    }
                }
            }
            next = node.p_next;
        }
    }
    let all = found.into_iter().map(|(at, info)| Embedded { at, info, chain: chain.clone() });
    lock(&state.embedded).extend(all);
}
