//! Limits of the device that second pipelines have to keep.

use ash::vk;
use samplin_hot::memory;

use super::layouts::PipelineShape;
use crate::hooks::slice;
use crate::pnext;

/// Most bytes of a uniform buffer's descriptor: what every device allows (Required Limits, `maxUniformBufferRange`).
const BLOCK: u32 = 1 << 14;
/// Bytes of a task.
const TASK: u32 = 16;

/// What second pipelines and their hidden sets have to keep to.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// `maxBoundDescriptorSets`.
    pub sets: u32,
    /// `maxPerStageDescriptorSamplers`.
    pub stage_samplers: u32,
    /// `maxDescriptorSetSamplers`.
    pub samplers: u32,
    /// `advancedBlendCoherentOperations` is enabled, so that attachments without an advanced state need their blending.
    pub advanced_blend: bool,
    /// `maxPerStageDescriptorUniformBuffers`.
    pub stage_blocks: u32,
    /// `maxDescriptorSetUniformBuffers`.
    pub blocks: u32,
    /// `minUniformBufferOffsetAlignment`, in bytes.
    pub block_alignment: u64,
    /// Memory types that the host writes without a flush, one bit each.
    pub host_types: u32,
    /// Queue families that the device has queues of.
    pub families: Vec<u32>,
    /// The driver reads every descriptor that a set's layout has room for, also where the last binding of the set has fewer.
    pub reads_past_variable: bool,
}

/// `vendorID` of SwiftShader. Submitting a draw it goes through all descriptors of the layouts of bound sets
/// (`DescriptorSet::ParseDescriptors`), and takes what lies behind a set with fewer for pointers to its images.
const SWIFTSHADER: u32 = 0x1ae0;

impl Limits {
    /// Those of a device.
    ///
    /// # Safety
    ///
    /// `info` is the valid create info that the device was made with.
    pub unsafe fn of(
        properties: &vk::PhysicalDeviceProperties,
        memory: &vk::PhysicalDeviceMemoryProperties,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> Self {
        // SAFETY: a valid create info by this function's contract: its chain, and as many queues as it says.
        let (blend, queues) = unsafe {
            let blend = pnext::find::<vk::PhysicalDeviceBlendOperationAdvancedFeaturesEXT<'_>>(info.p_next);
            (blend, slice(info.p_queue_create_infos, info.queue_create_info_count))
        };
        let mut families = memory::sorted(memory::collect(queues.iter().map(|queue| queue.queue_family_index)));
        families.dedup();
        let limits = &properties.limits;
        Self {
            sets: limits.max_bound_descriptor_sets,
            stage_samplers: limits.max_per_stage_descriptor_samplers,
            samplers: limits.max_descriptor_set_samplers,
            advanced_blend: blend.is_some_and(|blend| blend.advanced_blend_coherent_operations != vk::FALSE),
            stage_blocks: limits.max_per_stage_descriptor_uniform_buffers,
            blocks: limits.max_descriptor_set_uniform_buffers,
            block_alignment: limits.min_uniform_buffer_offset_alignment.max(16),
            host_types: host_types(memory),
            families,
            reads_past_variable: properties.vendor_id == SWIFTSHADER,
        }
    }
}

impl Limits {
    /// Most tasks of a pipeline.
    pub(super) const fn tasks(&self) -> u32 {
        BLOCK / TASK
    }

    /// Whether a set with a uniform buffer may come behind those of a pipeline layout.
    pub(super) fn has_room_for_block(&self, layout: &PipelineShape) -> bool {
        use vk::DescriptorType as T;
        let is_block = |ty: T| matches!(ty, T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::MUTABLE_EXT);
        let blocks = || {
            let bindings = layout.sets.iter().flatten().flat_map(|set| set.bindings.iter());
            bindings.filter(|binding| is_block(binding.ty))
        };
        let all: u64 = blocks().map(|binding| u64::from(binding.count)).sum();
        let of_stage = |bit: u32| -> u64 {
            let stage = vk::ShaderStageFlags::from_raw(1 << bit);
            blocks().filter(|binding| binding.stages.intersects(stage)).map(|binding| u64::from(binding.count)).sum()
        };
        self.host_types != 0
            && layout.sets.len() < self.sets as usize
            && all < u64::from(self.blocks)
            && (0..u32::BITS).all(|bit| of_stage(bit) < u64::from(self.stage_blocks))
    }
}

/// The memory types that are host-visible and host-coherent, and need no feature (VUID-vkAllocateMemory-deviceCoherentMemory-02790).
fn host_types(memory: &vk::PhysicalDeviceMemoryProperties) -> u32 {
    use vk::MemoryPropertyFlags as M;
    let (wanted, unwanted) = (M::HOST_VISIBLE | M::HOST_COHERENT, M::DEVICE_COHERENT_AMD | M::DEVICE_UNCACHED_AMD);
    let suits = |flags: M| flags.contains(wanted) && !flags.intersects(unwanted);
    let types = memory.memory_types.iter().take(memory.memory_type_count as usize).enumerate();
    types.filter(|(_, ty)| suits(ty.property_flags)).fold(0, |all, (number, _)| all | 1 << number)
}
