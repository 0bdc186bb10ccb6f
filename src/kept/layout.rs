//! Layouts of sets and pipelines.

use std::ptr;

use ash::vk;
use samplin_hot::memory::{self, Room};

use super::pointers::takes_samplers;
use crate::pnext::{self, slice};

/// A binding of a [`SetLayout`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Its number.
    pub binding: u32,
    /// What it holds.
    pub kind: vk::DescriptorType,
    /// How many descriptors, or bytes of an inline uniform block.
    pub count: u32,
    /// Stages that see it.
    pub stages: vk::ShaderStageFlags,
    /// Its element of `VkDescriptorSetLayoutBindingFlagsCreateInfo`.
    pub flags: vk::DescriptorBindingFlags,
    /// Immutable samplers: `count` or none.
    pub samplers: Vec<vk::Sampler>,
    /// Types that a mutable descriptor may have, ascending.
    pub kinds: Vec<vk::DescriptorType>,
}

/// A deep copy of a `VkDescriptorSetLayoutCreateInfo`. Equal ones define their layouts identically: the order of bindings does not
/// matter, and flags that are not given are zero.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SetLayout {
    /// Flags of the layout.
    pub flags: vk::DescriptorSetLayoutCreateFlags,
    /// By number, ascending.
    pub bindings: Vec<Binding>,
}

impl SetLayout {
    /// Keeps `info`; `None` if something else is chained than binding flags and mutable types.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateDescriptorSetLayout-pCreateInfo-parameter).
    pub unsafe fn new(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> Option<Self> {
        let (mut flags, mut mutable): (&[vk::DescriptorBindingFlags], &[_]) = (&[], &[]);
        // SAFETY: a valid create info has a valid chain.
        for (number, node) in unsafe { pnext::chain(info.p_next) }.enumerate() {
            // SAFETY: at least the base of `node` can be read, as of all that `chain` yields from the valid create info.
            match unsafe { (*node).s_type } {
                _ if number + 1 == pnext::LIMIT => return None,
                vk::StructureType::DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO => {
                    // SAFETY: the sType says so (VUID-…-sType-sType).
                    let node = unsafe { &*node.cast::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>() };
                    // SAFETY: VUID-VkDescriptorSetLayoutBindingFlagsCreateInfo-pBindingFlags-parameter.
                    flags = unsafe { slice(node.p_binding_flags, node.binding_count) };
                }
                vk::StructureType::MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT => {
                    // SAFETY: the sType says so (VUID-…-sType-sType).
                    let node = unsafe { &*node.cast::<vk::MutableDescriptorTypeCreateInfoEXT<'_>>() };
                    let count = node.mutable_descriptor_type_list_count;
                    // SAFETY: VUID-VkMutableDescriptorTypeCreateInfoEXT-pMutableDescriptorTypeLists-parameter.
                    mutable = unsafe { slice(node.p_mutable_descriptor_type_lists, count) };
                }
                _ => return None,
            }
        }
        // SAFETY: VUID-VkDescriptorSetLayoutCreateInfo-pBindings-parameter.
        let given = unsafe { slice(info.p_bindings, info.binding_count) };
        let mut bindings = memory::vec(given.len());
        for (index, binding) in given.iter().enumerate() {
            let samplers: &[vk::Sampler] = if takes_samplers(binding) {
                // SAFETY: VUID-VkDescriptorSetLayoutBinding-descriptorType-00282.
                unsafe { slice(binding.p_immutable_samplers, binding.descriptor_count) }
            } else {
                &[]
            };
            let kinds: &[vk::DescriptorType] = match mutable.get(index) {
                Some(list) if binding.descriptor_type == vk::DescriptorType::MUTABLE_EXT => {
                    // SAFETY: VUID-VkMutableDescriptorTypeListEXT-pDescriptorTypes-parameter.
                    unsafe { slice(list.p_descriptor_types, list.descriptor_type_count) }
                }
                _ => &[],
            };
            let kinds = memory::sorted(memory::collect(kinds.iter().copied()));
            bindings.with_room().push(Binding {
                binding: binding.binding,
                kind: binding.descriptor_type,
                count: binding.descriptor_count,
                stages: binding.stage_flags,
                flags: flags.get(index).copied().unwrap_or_default(),
                samplers: memory::collect(samplers.iter().copied()),
                kinds,
            });
        }
        Some(Self { flags: info.flags, bindings: memory::sorted_by_key(bindings, |binding| binding.binding) })
    }

    /// Calls `then` with a create info that defines the same layout. What it leads to lives only as long as the call.
    pub fn with_create_info<R>(&self, then: impl FnOnce(&vk::DescriptorSetLayoutCreateInfo<'_>) -> R) -> R {
        let bindings = memory::collect(self.bindings.iter().map(|binding| vk::DescriptorSetLayoutBinding {
            binding: binding.binding,
            descriptor_type: binding.kind,
            descriptor_count: binding.count,
            stage_flags: binding.stages,
            p_immutable_samplers: pointer(&binding.samplers),
            ..Default::default()
        }));
        let flags = memory::collect(self.bindings.iter().map(|binding| binding.flags));
        let lists = memory::collect(self.bindings.iter().map(|binding| {
            let (count, kinds) = (binding.kinds.len() as u32, pointer(&binding.kinds));
            vk::MutableDescriptorTypeListEXT {
                descriptor_type_count: count,
                p_descriptor_types: kinds,
                ..Default::default()
            }
        }));
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().flags(self.flags).bindings(&bindings);
        let mut flags_node = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let mut lists_node = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
        if flags.iter().any(|flags| !flags.is_empty()) {
            info = info.push_next(&mut flags_node);
        }
        if self.bindings.iter().any(|binding| !binding.kinds.is_empty()) {
            info = info.push_next(&mut lists_node);
        }
        then(&info)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let lists = self.bindings.iter().map(|binding| {
            binding.samplers.capacity() * size_of::<vk::Sampler>()
                + binding.kinds.capacity() * size_of::<vk::DescriptorType>()
        });
        self.bindings.capacity() * size_of::<Binding>() + lists.sum::<usize>()
    }
}

/// What a `VkPipelineLayoutCreateInfo` says beside its set layouts, which are the caller's.
#[derive(Debug)]
pub struct PipelineLayout {
    /// Flags of the layout.
    pub flags: vk::PipelineLayoutCreateFlags,
    /// Push constants.
    pub ranges: Vec<vk::PushConstantRange>,
}

impl PipelineLayout {
    /// Keeps `info`; `None` if anything is chained.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreatePipelineLayout-pCreateInfo-parameter).
    pub unsafe fn new(info: &vk::PipelineLayoutCreateInfo<'_>) -> Option<Self> {
        if !info.p_next.is_null() {
            return None;
        }
        // SAFETY: VUID-VkPipelineLayoutCreateInfo-pPushConstantRanges-parameter.
        let ranges = unsafe { slice(info.p_push_constant_ranges, info.push_constant_range_count) };
        Some(Self { flags: info.flags, ranges: memory::collect(ranges.iter().copied()) })
    }

    /// Calls `then` with the same create info over `sets`.
    pub fn with_create_info<R>(
        &self,
        sets: &[vk::DescriptorSetLayout],
        then: impl FnOnce(&vk::PipelineLayoutCreateInfo<'_>) -> R,
    ) -> R {
        let info = vk::PipelineLayoutCreateInfo::default().flags(self.flags).set_layouts(sets);
        then(&info.push_constant_ranges(&self.ranges))
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<vk::PushConstantRange>()
    }
}

fn pointer<T>(items: &[T]) -> *const T {
    if items.is_empty() { ptr::null() } else { items.as_ptr() }
}
