//! Copies of create infos that outlive the call they came with.

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use crate::hooks::slice;
use crate::pnext;

/// A binding of a set layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Binding {
    binding: u32,
    ty: i32,
    count: u32,
    stages: u32,
    flags: u32,
    immutable: Vec<u64>,
    /// Types of a mutable one.
    types: Vec<i32>,
}

/// A set layout's definition: equal if and only if the layouts are defined alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetLayout {
    flags: u32,
    has_flags: bool,
    has_types: bool,
    bindings: Vec<Binding>,
}

impl SetLayout {
    /// The definition; none if it has members that are not known.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    pub unsafe fn keep(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> Option<Self> {
        use vk::DescriptorType as T;
        // SAFETY: the chain of a valid create info and its arrays.
        unsafe {
            let known = |node: *const pnext::Base| {
                matches!(
                    (*node).s_type,
                    vk::StructureType::DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO
                        | vk::StructureType::MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT
                )
            };
            if !pnext::chain(info.p_next).all(known) {
                return None;
            }
            let flags = pnext::find::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>(info.p_next);
            let types = pnext::find::<vk::MutableDescriptorTypeCreateInfoEXT<'_>>(info.p_next);
            let flag_list = flags.map_or(&[][..], |node| slice(node.p_binding_flags, node.binding_count));
            let type_list = types.map_or(&[][..], |node| {
                slice(node.p_mutable_descriptor_type_lists, node.mutable_descriptor_type_list_count)
            });
            let mut bindings = memory::collect(slice(info.p_bindings, info.binding_count).iter().enumerate().map(
                |(index, binding)| {
                    let takes = matches!(binding.descriptor_type, T::SAMPLER | T::COMBINED_IMAGE_SAMPLER);
                    let immutable = if takes && !binding.p_immutable_samplers.is_null() {
                        slice(binding.p_immutable_samplers, binding.descriptor_count)
                    } else {
                        &[]
                    };
                    let types = if binding.descriptor_type == T::MUTABLE_EXT { type_list.get(index) } else { None };
                    let types =
                        types.map_or(&[][..], |list| slice(list.p_descriptor_types, list.descriptor_type_count));
                    Binding {
                        binding: binding.binding,
                        ty: binding.descriptor_type.as_raw(),
                        count: binding.descriptor_count,
                        stages: binding.stage_flags.as_raw(),
                        flags: flag_list.get(index).map_or(0, |flags| flags.as_raw()),
                        immutable: memory::collect(immutable.iter().map(|sampler| sampler.as_raw())),
                        types: memory::collect(types.iter().map(|ty| ty.as_raw())),
                    }
                },
            ));
            bindings.sort_by_key(|binding| binding.binding);
            Some(Self { flags: info.flags.as_raw(), has_flags: flags.is_some(), has_types: types.is_some(), bindings })
        }
    }

    /// The flags of a binding.
    pub fn flags(&self, binding: u32) -> vk::DescriptorBindingFlags {
        let found = self.bindings.iter().find(|there| there.binding == binding);
        vk::DescriptorBindingFlags::from_raw(found.map_or(0, |there| there.flags))
    }

    /// Whether a sampler is immutable in it.
    pub fn has_sampler(&self, sampler: u64) -> bool {
        self.bindings.iter().any(|binding| binding.immutable.contains(&sampler))
    }

    /// Calls `with` with a create info of this definition.
    pub fn with_create_info<R>(&self, with: impl FnOnce(&vk::DescriptorSetLayoutCreateInfo<'_>) -> R) -> R {
        let mut samplers: Vec<Vec<vk::Sampler>> = memory::vec(self.bindings.len());
        let mut types: Vec<Vec<vk::DescriptorType>> = memory::vec(self.bindings.len());
        for binding in &self.bindings {
            samplers.push(memory::collect(binding.immutable.iter().map(|sampler| vk::Sampler::from_raw(*sampler))));
            types.push(memory::collect(binding.types.iter().map(|ty| vk::DescriptorType::from_raw(*ty))));
        }
        let bindings = memory::collect(self.bindings.iter().zip(&samplers).map(|(binding, samplers)| {
            vk::DescriptorSetLayoutBinding {
                binding: binding.binding,
                descriptor_type: vk::DescriptorType::from_raw(binding.ty),
                descriptor_count: binding.count,
                stage_flags: vk::ShaderStageFlags::from_raw(binding.stages),
                p_immutable_samplers: if samplers.is_empty() { std::ptr::null() } else { samplers.as_ptr() },
                ..Default::default()
            }
        }));
        let flags = memory::collect(self.bindings.iter().map(|b| vk::DescriptorBindingFlags::from_raw(b.flags)));
        let lists = memory::collect(
            types.iter().map(|list| vk::MutableDescriptorTypeListEXT::default().descriptor_types(list)),
        );
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let mut lists = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::from_raw(self.flags))
            .bindings(&bindings);
        if self.has_flags {
            info = info.push_next(&mut flags);
        }
        if self.has_types {
            info = info.push_next(&mut lists);
        }
        with(&info)
    }
}

/// A pipeline layout's definition, but for its set layouts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PipelineLayout {
    flags: u32,
    ranges: Vec<(u32, u32, u32)>,
}

impl PipelineLayout {
    /// The definition.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    pub unsafe fn keep(info: &vk::PipelineLayoutCreateInfo<'_>) -> Self {
        // SAFETY: VUID-VkPipelineLayoutCreateInfo-pPushConstantRanges-parameter.
        let ranges = unsafe { slice(info.p_push_constant_ranges, info.push_constant_range_count) };
        let mut own = Vec::new();
        for range in ranges {
            own.with_room().push((range.stage_flags.as_raw(), range.offset, range.size));
        }
        own.sort_unstable();
        Self { flags: info.flags.as_raw(), ranges: own }
    }

    /// Calls `with` with a create info of this definition and these set layouts.
    pub fn with_create_info<R>(
        &self,
        sets: &[vk::DescriptorSetLayout],
        with: impl FnOnce(&vk::PipelineLayoutCreateInfo<'_>) -> R,
    ) -> R {
        let ranges = memory::collect(self.ranges.iter().map(|(stages, offset, size)| vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::from_raw(*stages),
            offset: *offset,
            size: *size,
        }));
        with(
            &vk::PipelineLayoutCreateInfo::default()
                .flags(vk::PipelineLayoutCreateFlags::from_raw(self.flags))
                .set_layouts(sets)
                .push_constant_ranges(&ranges),
        )
    }
}
