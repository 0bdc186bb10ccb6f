//! Samplers that a stage or a shader object embeds (`VK_EXT_descriptor_heap`): they are part of what a shader is created with.

use std::ffi::c_void;

use ash::vk;
use samplin_core::declared::dimension;
use samplin_core::left::Cause;
use samplin_hot::memory::{self, Room};
use samplin_spirv::{ImageType, Link, Module, Sampled, Specialization, Uses};
use vk_layer_sys::{
    DescriptorMappingSourceEXT as Source, DescriptorSetAndBindingMappingEXT as Mapping,
    SPIRV_RESOURCE_COMBINED_SAMPLED_IMAGE, SPIRV_RESOURCE_SAMPLER,
    ShaderDescriptorSetAndBindingMappingInfoEXT as Mappings,
};

use crate::decide::{Reads, ShaderType};
use crate::device::{Device, model};
use crate::format::NumericClass;
use crate::hooks::heap::described;
use crate::hooks::sampler::read;
use crate::pnext::{self, Base, Copied, slice};
use crate::sampler_info::Owned;

/// A chain in which other samplers are embedded. It lives as long as this and the application's chain.
pub(super) struct Mapped {
    first: *const c_void,
    _before: Vec<Copied>,
    _info: Box<Mappings>,
    _mappings: Vec<Mapping>,
    _samplers: Vec<Owned>,
}

impl Mapped {
    /// The chain.
    pub(super) fn first(&self) -> *const c_void {
        self.first
    }
}

/// The embedded sampler of a mapping.
fn embedded(mapping: &mut Mapping) -> Option<&mut *const vk::SamplerCreateInfo<'static>> {
    let data = &mut mapping.source_data;
    // SAFETY: the source says which member of the union is set (VUID-VkDescriptorSetAndBindingMappingEXT-source-parameter).
    unsafe {
        Some(match mapping.source {
            Source::CONSTANT_OFFSET => &mut data.constant_offset.p_embedded_sampler,
            Source::PUSH_INDEX => &mut data.push_index.p_embedded_sampler,
            Source::INDIRECT_INDEX => &mut data.indirect_index.p_embedded_sampler,
            Source::INDIRECT_INDEX_ARRAY => &mut data.indirect_index_array.p_embedded_sampler,
            Source::SHADER_RECORD_INDEX => &mut data.shader_record_index.p_embedded_sampler,
            _ => return None,
        })
    }
}

/// What a shader joins, by its words, entry point, stage and specialization constants; `None` if that is not known.
pub(super) fn links(
    words: &[u32],
    name: &str,
    stage: vk::ShaderStageFlags,
    constants: &[(u32, &[u8])],
) -> Option<Vec<Link>> {
    let (model, constants) = (model(stage)?, Specialization(constants));
    let links = Module::read(words).and_then(|module| module.links(name, model, Some(&constants)));
    links.ok().filter(|links| links.iter().all(|link| !link.opaque && link.sampler.is_some()))
}

/// Whether a mapping is for the sampler of a link.
fn is_of(mapping: &Mapping, link: &Link) -> bool {
    let is_combined = link.uses.contains(Uses::COMBINED);
    let kind = if is_combined { SPIRV_RESOURCE_COMBINED_SAMPLED_IMAGE } else { SPIRV_RESOURCE_SAMPLER };
    let bindings = mapping.first_binding..mapping.first_binding.saturating_add(mapping.binding_count);
    let at = link.sampler.map(|sampler| (sampler.set, sampler.binding));
    link.uses.samples()
        && mapping.resource_mask & kind != 0
        && at.is_some_and(|(set, binding)| set == mapping.descriptor_set && bindings.contains(&binding))
}

fn class_of(ty: &ImageType) -> NumericClass {
    match ty.sampled {
        Sampled::Float => NumericClass::Float,
        Sampled::Sint => NumericClass::Sint,
        Sampled::Uint => NumericClass::Uint,
    }
}

/// What these links declare of their images, each type once; `None` if one is of no view.
fn types_of<'l>(links: impl Iterator<Item = &'l Link>, integers: vk::FormatFeatureFlags2) -> Option<Vec<ShaderType>> {
    use vk::ImageViewType as T;
    const ALL: [vk::ImageViewType; 7] =
        [T::TYPE_1D, T::TYPE_2D, T::TYPE_3D, T::CUBE, T::TYPE_1D_ARRAY, T::TYPE_2D_ARRAY, T::CUBE_ARRAY];
    let mut found: Vec<ShaderType> = Vec::new();
    for link in links {
        let declared = Some((link.ty.dim, link.ty.arrayed));
        let view_type = ALL.into_iter().find(|view_type| dimension(*view_type) == declared)?;
        let reads = if link.uses.contains(Uses::DREF) { Reads::Compared } else { Reads::Plain };
        let own = ShaderType { class: class_of(&link.ty), view_type, reads, integers };
        match found.iter_mut().find(|all| (all.class, all.view_type) == (own.class, own.view_type)) {
            None => found.with_room().push(own),
            Some(all) if reads == Reads::Compared => all.reads = reads,
            Some(_) => {}
        }
    }
    Some(found)
}

/// What reaches the driver in place of a chain, if other samplers have to be embedded there. `links`: what the shader joins, if that is
/// known.
///
/// # Safety
///
/// `p_next` is the chain of a valid stage or of the valid create info of a shader object, alive for as long as the result is used.
pub(super) unsafe fn mapped(
    device: &Device,
    p_next: *const c_void,
    links: impl FnOnce() -> Option<Vec<Link>>,
) -> Option<Mapped> {
    // SAFETY: the chain of a valid create info by this function's contract.
    let info = unsafe { pnext::find_as::<Mappings>(p_next, Mappings::STRUCTURE_TYPE) }?;
    // SAFETY: VUID-VkShaderDescriptorSetAndBindingMappingInfoEXT-pMappings-parameter.
    let mut mappings: Vec<Mapping> =
        memory::collect(unsafe { slice(info.p_mappings, info.mapping_count) }.iter().copied());
    let links = links();
    let integers = device.pairs.heaps.integers(&device.ground.driver);
    let mut samplers = Vec::new();
    let mut is_embedded = Vec::new();
    for mapping in &mut mappings {
        let own = links.as_ref().map(|links| links.iter().filter(|link| is_of(mapping, link)));
        let types = own.and_then(|own| types_of(own, integers)).unwrap_or_default();
        let copy = *mapping;
        let Some(pointer) = embedded(mapping) else { continue };
        // SAFETY: null or valid (VUID-VkDescriptorMappingSourceConstantOffsetEXT-pEmbeddedSampler-parameter and those of its likes).
        let Some(own) = (unsafe { pointer.as_ref() }) else { continue };
        is_embedded.with_room().push(copy);
        // SAFETY: the create info is valid, as above, and its chain is part of what the command was called with.
        let made = unsafe {
            let given = read(device, own);
            let rules = device.ground.wishes.rules();
            let alone = device.pairs.heaps.embedded(&device.ground, &rules, &device.pairs.images, &given, &types);
            described(device, own, &given, &alone)
        };
        if let Some(made) = made {
            *pointer = made.info();
            samplers.with_room().push(made);
        }
    }
    let others = |integer: bool| {
        let of_heap = |link: &&Link| link.uses.samples() && !is_embedded.iter().any(|mapping| is_of(mapping, link));
        let is_meant = |link: &Link| class_of(&link.ty).is_integer() == integer;
        links.as_ref().is_none_or(|links| links.iter().filter(of_heap).any(is_meant))
    };
    device.pairs.heaps.read(others(false), others(true));
    if samplers.is_empty() {
        return None;
    }
    // SAFETY: the chain of a valid create info, as above.
    unsafe { linked(device, p_next, info, mappings, samplers) }
}

/// A chain with other mappings.
///
/// # Safety
///
/// As for [`mapped`]; `info` is a node of the chain.
unsafe fn linked(
    device: &Device,
    p_next: *const c_void,
    info: &Mappings,
    mappings: Vec<Mapping>,
    samplers: Vec<Owned>,
) -> Option<Mapped> {
    let own: *const Base = std::ptr::from_ref(info).cast();
    let mut before = Vec::new();
    // SAFETY: the chain of a valid create info by this function's contract.
    for node in unsafe { pnext::chain(p_next) }.take_while(|node| *node != own) {
        // SAFETY: a node of that chain.
        let Some(copy) = (unsafe { Copied::of_stage(node) }) else {
            device.ground.journal.unresolved(Cause::BeforeMappings, None, serde_json::json!({}), (0, 1));
            return None;
        };
        before.with_room().push(copy);
    }
    let info = Box::new(Mappings { p_mappings: mappings.as_ptr(), ..*info });
    let first = before.iter_mut().rev().fold((&raw const *info).cast(), |next, copy: &mut Copied| copy.link(next));
    Some(Mapped { first, _before: before, _info: info, _mappings: mappings, _samplers: samplers })
}
