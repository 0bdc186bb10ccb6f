//! Limits of the device that second pipelines have to keep.

use ash::vk;
use samplin_core::left::Left;
use samplin_hot::memory;

use super::layouts::PipelineShape;
use super::recipe::{NO_SAMPLER, NO_SET};
use crate::device::driver::Driver;
use crate::kept;
use crate::pnext::{self, slice};

use vk::DescriptorSetLayoutCreateFlags as SetFlags;

/// Most bytes of a uniform buffer's descriptor: what every device allows (Required Limits, `maxUniformBufferRange`).
const BLOCK: u32 = 1 << 14;
/// Bytes of a task.
const TASK: u32 = 16;

/// What second pipelines and their hidden sets have to keep to.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// `maxBoundDescriptorSets`.
    pub sets: u32,
    /// Samplers.
    pub samplers: Most,
    /// Uniform buffers.
    pub blocks: Most,
    /// Storage buffers.
    pub storage: Most,
    /// Resources of a stage.
    pub resources: Most,
    /// `maxPerSetDescriptors`.
    pub set_descriptors: u32,
    /// `maxColorAttachments`.
    pub colors: u32,
    /// `advancedBlendCoherentOperations` is enabled, so that attachments without an advanced state need their blending.
    pub advanced_blend: bool,
    /// `minUniformBufferOffsetAlignment`, in bytes.
    pub block_alignment: u64,
    /// `minStorageBufferOffsetAlignment`, in bytes.
    pub storage_alignment: u64,
    /// `maxStorageBufferRange`, in bytes.
    pub storage_range: u32,
    /// Memory types that the host writes without a flush, one bit each.
    pub host_types: u32,
    /// Of these the ones that the host caches.
    pub cached_types: u32,
    /// `shaderSampledImageArrayDynamicIndexing` is enabled, so that shaders may index samplers.
    pub dynamic_indexing: bool,
    /// There are sets that may be updated after they were bound.
    pub after_bind: bool,
    /// Queue families that the device has queues of.
    pub families: Vec<u32>,
    /// The driver reads every descriptor that a set's layout has room for, also where the last binding of the set has fewer.
    pub reads_past_variable: bool,
}

/// The most descriptors of a kind in a pipeline layout. Sets that may be updated after they were bound do not count in the first of two;
/// they do in the second, which is the greater one of both limits (VUID-VkPipelineLayoutCreateInfo-descriptorType-03016, -03022).
#[derive(Clone, Copy, Debug, Default)]
pub struct Most {
    /// Those that a stage sees.
    pub of_stage: [u32; 2],
    /// All of them.
    pub all: [u32; 2],
}

impl Most {
    fn new(of_stage: u32, all: u32, stage_after_bind: u32, all_after_bind: u32) -> Self {
        Self { of_stage: [of_stage, of_stage.max(stage_after_bind)], all: [all, all.max(all_after_bind)] }
    }
}

/// What a device says of its limits beside `VkPhysicalDeviceProperties`.
#[derive(Default)]
pub struct LaterLimits<'a> {
    /// Those of sets that may be updated after they were bound.
    pub after_bind: vk::PhysicalDeviceDescriptorIndexingProperties<'a>,
    /// Those of one set.
    pub set: vk::PhysicalDeviceMaintenance3Properties<'a>,
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
        later: &LaterLimits<'_>,
    ) -> Self {
        // SAFETY: a valid create info by this function's contract: its chain, and as many queues as it says.
        let (blend, features, queues) = unsafe {
            let blend = pnext::find::<vk::PhysicalDeviceBlendOperationAdvancedFeaturesEXT<'_>>(info.p_next);
            let features = pnext::find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next).map(|of| &of.features);
            let features = features.or(info.p_enabled_features.as_ref());
            (blend, features, slice(info.p_queue_create_infos, info.queue_create_info_count))
        };
        let dynamic_indexing = |of: &vk::PhysicalDeviceFeatures| of.shader_sampled_image_array_dynamic_indexing;
        let mut families = memory::sorted(memory::collect(queues.iter().map(|queue| queue.queue_family_index)));
        families.dedup();
        let limits = &properties.limits;
        Self {
            sets: limits.max_bound_descriptor_sets,
            samplers: Most::new(
                limits.max_per_stage_descriptor_samplers,
                limits.max_descriptor_set_samplers,
                later.after_bind.max_per_stage_descriptor_update_after_bind_samplers,
                later.after_bind.max_descriptor_set_update_after_bind_samplers,
            ),
            blocks: Most::new(
                limits.max_per_stage_descriptor_uniform_buffers,
                limits.max_descriptor_set_uniform_buffers,
                later.after_bind.max_per_stage_descriptor_update_after_bind_uniform_buffers,
                later.after_bind.max_descriptor_set_update_after_bind_uniform_buffers,
            ),
            storage: Most::new(
                limits.max_per_stage_descriptor_storage_buffers,
                limits.max_descriptor_set_storage_buffers,
                later.after_bind.max_per_stage_descriptor_update_after_bind_storage_buffers,
                later.after_bind.max_descriptor_set_update_after_bind_storage_buffers,
            ),
            // There is no limit on those of all stages.
            resources: Most::new(
                limits.max_per_stage_resources,
                u32::MAX,
                later.after_bind.max_per_stage_update_after_bind_resources,
                u32::MAX,
            ),
            // What every device has (Required Limits).
            set_descriptors: later.set.max_per_set_descriptors.max(1024),
            colors: limits.max_color_attachments,
            advanced_blend: blend.is_some_and(|blend| blend.advanced_blend_coherent_operations != vk::FALSE),
            block_alignment: limits.min_uniform_buffer_offset_alignment.max(16),
            storage_alignment: limits.min_storage_buffer_offset_alignment.max(16),
            storage_range: limits.max_storage_buffer_range,
            host_types: host_types(memory, vk::MemoryPropertyFlags::empty()),
            cached_types: host_types(memory, vk::MemoryPropertyFlags::HOST_CACHED),
            dynamic_indexing: features.is_some_and(|of| dynamic_indexing(of) != vk::FALSE),
            after_bind: later.after_bind.max_update_after_bind_descriptors_in_all_pools > 0,
            families,
            reads_past_variable: properties.vendor_id == SWIFTSHADER,
        }
    }

    /// Most tasks of a pipeline.
    pub(super) const fn tasks(&self) -> u32 {
        BLOCK / TASK
    }

    /// Whether a set with a uniform buffer may come behind those of a pipeline layout.
    pub(super) fn has_room_for_block(&self, layout: &PipelineShape, colors: u32) -> bool {
        let block = More { kind: vk::DescriptorType::UNIFORM_BUFFER, count: 1, stages: vk::ShaderStageFlags::ALL };
        self.host_types != 0 && self.check(layout, &[block], colors).is_ok()
    }

    /// Whether a set of these may come behind those of a pipeline layout; the name of what is exceeded. Only limits to which the layer's
    /// own descriptors count are looked at: the application keeps to the others. `colors`: colour attachments of the pipeline.
    pub(super) fn check(&self, layout: &PipelineShape, more: &[More], colors: u32) -> Result<(), Left> {
        self.check_with(layout, more, SetFlags::empty(), colors)?;
        if self.is_one_set(more) { Ok(()) } else { Err(NO_SAMPLER) }
    }

    /// Whether a set may have these on every device with this limit. Of more the driver has to be asked (Limits, `maxPerSetDescriptors`).
    fn is_one_set(&self, more: &[More]) -> bool {
        more.iter().map(|more| u64::from(more.count)).sum::<u64>() <= u64::from(self.set_descriptors)
    }

    /// Whether a set may have these bindings.
    pub(super) fn is_supported(&self, driver: &Driver, more: &[More], kept: &kept::SetLayout) -> bool {
        let ask = || {
            let ask = driver.fns.get_descriptor_set_layout_support?;
            let mut support = vk::DescriptorSetLayoutSupport::default();
            // SAFETY: a create info of the layer's own within the limits of the device but for this one.
            kept.with_create_info(|info| unsafe { ask(driver.handle, info, &mut support) });
            Some(support.supported != vk::FALSE)
        };
        self.is_one_set(more) || ask().unwrap_or(false)
    }

    /// [`Limits::check`] of a set whose layout has flags, but for how many descriptors a set may have.
    pub(super) fn check_with(
        &self,
        layout: &PipelineShape,
        more: &[More],
        flags: SetFlags,
        colors: u32,
    ) -> Result<(), Left> {
        if layout.sets.len() >= self.sets as usize {
            return Err(NO_SET);
        }
        let kinds: [(&Most, Counts, Counts, u32, Left); 4] = [
            (&self.samplers, is_sampler, is_sampler, 0, NO_SAMPLER),
            (&self.blocks, is_block_of_stage, is_block, 0, NO_SAMPLER),
            (&self.storage, is_storage_of_stage, is_storage, 0, Left::StorageBuffers),
            // Colour attachments count for the fragment stage.
            (&self.resources, is_resource, |_| false, colors, NO_SAMPLER),
        ];
        // The application keeps to limits that the layer's own descriptors do not count for.
        let concerns = |of_stage: &Counts| more.iter().any(|more| of_stage(more.kind));
        let mut kinds = kinds.into_iter().filter(|(_, of_stage, ..)| concerns(of_stage));
        let exceeded = kinds.find(|(most, of_stage, all, colors, _)| {
            let fits =
                [false, true].into_iter().zip(most.of_stage.into_iter().zip(most.all)).all(|(after_bind, limits)| {
                    let count = |is_of, stage| count(layout, more, flags, is_of, stage, after_bind);
                    let stages = (0..u32::BITS).map(|bit| vk::ShaderStageFlags::from_raw(1 << bit));
                    let mut of_stages = stages.map(|stage| {
                        let colors = if stage == vk::ShaderStageFlags::FRAGMENT { *colors } else { 0 };
                        count(*of_stage, Some(stage)) + u64::from(colors)
                    });
                    count(*all, None) <= u64::from(limits.1) && of_stages.all(|count| count <= u64::from(limits.0))
                });
            !fits
        });
        exceeded.map_or(Ok(()), |(.., why)| Err(why))
    }
}

/// Descriptors of the layer's own.
#[derive(Clone, Copy)]
pub(super) struct More {
    pub(super) kind: vk::DescriptorType,
    pub(super) count: u32,
    pub(super) stages: vk::ShaderStageFlags,
}

impl More {
    /// A binding of these.
    pub(super) fn at(self, binding: u32, flags: vk::DescriptorBindingFlags) -> kept::Binding {
        let Self { kind, count, stages } = self;
        kept::Binding { binding, kind, count, stages, flags, samplers: Vec::new(), kinds: Vec::new() }
    }
}

/// Bindings of these, from a number on.
pub(super) fn bindings(first: u32, all: Vec<(More, vk::DescriptorBindingFlags)>) -> Vec<kept::Binding> {
    memory::collect((first..).zip(all).map(|(at, (more, flags))| more.at(at, flags)))
}

/// Whether descriptors of a type count towards a limit.
type Counts = fn(vk::DescriptorType) -> bool;

/// VUID-VkPipelineLayoutCreateInfo-descriptorType-03016, -03022, -03028 and -pSetLayouts-03036.
fn is_sampler(kind: vk::DescriptorType) -> bool {
    matches!(kind, vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
}

/// VUID-VkPipelineLayoutCreateInfo-descriptorType-03029 and -pSetLayouts-03037.
fn is_block(kind: vk::DescriptorType) -> bool {
    kind == vk::DescriptorType::UNIFORM_BUFFER
}

/// VUID-VkPipelineLayoutCreateInfo-descriptorType-03017 and -03023.
fn is_block_of_stage(kind: vk::DescriptorType) -> bool {
    is_block(kind) || kind == vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
}

/// VUID-VkPipelineLayoutCreateInfo-descriptorType-03031 and -pSetLayouts-03039.
fn is_storage(kind: vk::DescriptorType) -> bool {
    kind == vk::DescriptorType::STORAGE_BUFFER
}

/// VUID-VkPipelineLayoutCreateInfo-descriptorType-03018 and -03024.
fn is_storage_of_stage(kind: vk::DescriptorType) -> bool {
    is_storage(kind) || kind == vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
}

/// Limits, `maxPerStageResources`.
fn is_resource(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    is_block_of_stage(kind)
        || matches!(kind, T::COMBINED_IMAGE_SAMPLER | T::SAMPLED_IMAGE | T::STORAGE_IMAGE | T::INPUT_ATTACHMENT)
        || matches!(kind, T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER)
        || is_storage_of_stage(kind)
}

/// How many descriptors of these types a stage sees, or there are at all; with or without those of sets that may be updated after they
/// were bound. A descriptor of several types counts as each of them.
fn count(
    layout: &PipelineShape,
    more: &[More],
    flags: SetFlags,
    is_of: Counts,
    stage: Option<vk::ShaderStageFlags>,
    after_bind: bool,
) -> u64 {
    let is_seen = |stages: vk::ShaderStageFlags| stage.is_none_or(|stage| stages.intersects(stage));
    let counts = |flags: SetFlags| after_bind || !flags.contains(SetFlags::UPDATE_AFTER_BIND_POOL);
    let sets = layout.sets.iter().flatten().filter(|set| counts(set.kept.flags));
    let more = if counts(flags) { more } else { &[] };
    let own = sets.flat_map(|set| set.kept.bindings.iter()).filter(|binding| {
        is_seen(binding.stages) && (is_of(binding.kind) || binding.kinds.iter().any(|kind| is_of(*kind)))
    });
    let more = more.iter().filter(|more| is_seen(more.stages) && is_of(more.kind));
    own.map(|binding| u64::from(binding.count)).chain(more.map(|more| u64::from(more.count))).sum()
}

/// The memory types that are host-visible and host-coherent, with `more`, and need no feature
/// (VUID-vkAllocateMemory-deviceCoherentMemory-02790).
fn host_types(memory: &vk::PhysicalDeviceMemoryProperties, more: vk::MemoryPropertyFlags) -> u32 {
    use vk::MemoryPropertyFlags as M;
    let wanted = M::HOST_VISIBLE | M::HOST_COHERENT | more;
    let unwanted = M::DEVICE_COHERENT_AMD | M::DEVICE_UNCACHED_AMD;
    let suits = |flags: M| flags.contains(wanted) && !flags.intersects(unwanted);
    let types = memory.memory_types.iter().take(memory.memory_type_count as usize).enumerate();
    types.filter(|(_, ty)| suits(ty.property_flags)).fold(0, |all, (number, _)| all | 1 << number)
}

#[cfg(test)]
mod tests;
