//! Compute pipelines and what all stages have.

use std::ffi::CStr;

use ash::vk::{self, Handle};

use super::{dangling, same, types, unknown};
use crate::kept::{Compute, inline_words};
use crate::pnext::{self, Base};
use samplin_core::left::Left;

const MODULE: u64 = 0x71;

fn stage(name: &CStr) -> vk::PipelineShaderStageCreateInfo<'_> {
    vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(vk::ShaderModule::from_raw(MODULE))
        .name(name)
}

fn keep(info: &vk::ComputePipelineCreateInfo<'_>) -> Result<Compute, Left> {
    // SAFETY: each test passes what is valid but for members that are ignored.
    unsafe { Compute::new(info) }
}

/// What is kept of `stage` with `node` chained.
fn with_stage_node(node: *const Base) -> Result<Compute, Left> {
    let stage = vk::PipelineShaderStageCreateInfo { p_next: node.cast(), ..stage(c"main") };
    keep(&vk::ComputePipelineCreateInfo::default().stage(stage))
}

/// What is kept with `node` chained to the pipeline.
fn with_node(node: *const Base) -> Result<Compute, Left> {
    let info = vk::ComputePipelineCreateInfo::default().stage(stage(c"main"));
    keep(&vk::ComputePipelineCreateInfo { p_next: node.cast(), ..info })
}

#[test]
fn a_compute_pipeline_comes_back_when_its_create_info_is_gone() {
    let kept = {
        let mut name = c"other_main".to_owned().into_bytes_with_nul();
        let mut data = vec![1_u8, 2, 3, 4, 5, 6, 7, 8, 9];
        let mut entries = vec![
            vk::SpecializationMapEntry { constant_id: 4, offset: 0, size: 4 },
            vk::SpecializationMapEntry { constant_id: 9, offset: 5, size: 4 },
        ];
        let mut subgroup = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(32);
        let mut robust = vk::PipelineRobustnessCreateInfoEXT::default()
            .storage_buffers(vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS_2);
        let mut whole = vk::PipelineRobustnessCreateInfoEXT::default()
            .images(vk::PipelineRobustnessImageBehaviorEXT::ROBUST_IMAGE_ACCESS);
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DISPATCH_BASE | vk::PipelineCreateFlags::DERIVATIVE)
            .layout(vk::PipelineLayout::from_raw(0x81))
            .base_pipeline_handle(vk::Pipeline::from_raw(0x82))
            .base_pipeline_index(3)
            .push_next(&mut whole)
            .stage(
                stage(CStr::from_bytes_with_nul(&name).unwrap())
                    .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
                    .specialization_info(&constants)
                    .push_next(&mut subgroup)
                    .push_next(&mut robust),
            );
        let kept = keep(&info).unwrap();
        name.fill(0xee);
        data.fill(0xee);
        entries.fill(vk::SpecializationMapEntry { constant_id: 0xee, offset: 0xee, size: 0xee });
        subgroup.required_subgroup_size = 0xee;
        assert_eq!(subgroup.required_subgroup_size, 0xee);
        kept
    };
    assert_eq!(kept.stage().stage, vk::ShaderStageFlags::COMPUTE);
    assert_eq!(kept.stage().module.as_raw(), MODULE);
    assert_eq!(kept.flags(), u64::from(vk::PipelineCreateFlags::DISPATCH_BASE.as_raw()));
    // It may move.
    let copy = Box::new(kept);
    let (layout, module) = (vk::PipelineLayout::from_raw(0x91), vk::ShaderModule::from_raw(0x92));
    for _ in 0..2 {
        copy.with_create_info(layout, module, |info| {
            assert_eq!(info.s_type, vk::StructureType::COMPUTE_PIPELINE_CREATE_INFO);
            assert_eq!(info.flags, vk::PipelineCreateFlags::DISPATCH_BASE);
            assert_eq!((info.layout, info.base_pipeline_handle), (layout, vk::Pipeline::null()));
            assert_eq!(info.base_pipeline_index, -1);
            let stage = &info.stage;
            assert_eq!((stage.stage, stage.module), (vk::ShaderStageFlags::COMPUTE, module));
            assert_eq!(stage.flags, vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
            // SAFETY: all of it lives as long as the call.
            unsafe {
                assert_eq!(CStr::from_ptr(stage.p_name), c"other_main");
                let constants = &*stage.p_specialization_info;
                assert_eq!((constants.map_entry_count, constants.data_size), (2, 9));
                let entries = std::slice::from_raw_parts(constants.p_map_entries, 2);
                same!(entries[0], vk::SpecializationMapEntry { constant_id: 4, offset: 0, size: 4 }; constant_id, offset, size);
                same!(entries[1], vk::SpecializationMapEntry { constant_id: 9, offset: 5, size: 4 }; constant_id, offset, size);
                let data = std::slice::from_raw_parts(constants.p_data.cast::<u8>(), 9);
                assert_eq!(data, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
                let wanted = [
                    vk::StructureType::PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
                    vk::StructureType::PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
                ];
                assert_eq!(types(stage.p_next), wanted);
                assert_eq!(types(info.p_next), wanted[..1]);
                let size = pnext::find::<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'_>>(stage.p_next);
                assert_eq!(size.unwrap().required_subgroup_size, 32);
                let robust = pnext::find::<vk::PipelineRobustnessCreateInfoEXT<'_>>(stage.p_next).unwrap();
                let wanted = vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS_2;
                assert_eq!((robust.storage_buffers, robust.images.as_raw()), (wanted, 0));
                let whole = pnext::find::<vk::PipelineRobustnessCreateInfoEXT<'_>>(info.p_next).unwrap();
                assert_eq!(whole.images, vk::PipelineRobustnessImageBehaviorEXT::ROBUST_IMAGE_ACCESS);
            }
        });
    }
}

#[test]
fn wide_flags_count_and_lose_what_is_dropped() {
    let mut wide = vk::PipelineCreateFlags2CreateInfoKHR::default()
        .flags(vk::PipelineCreateFlags2KHR::from_raw(1 << 40 | 1 << 31 | 0b1_1111_1111));
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage(c"main"))
        .flags(vk::PipelineCreateFlags::LIBRARY_KHR)
        .push_next(&mut wide);
    let kept = keep(&info).expect("the narrow flags are ignored");
    // DISABLE_OPTIMIZATION, VIEW_INDEX_FROM_DEVICE_INDEX, DISPATCH_BASE, DEFER_COMPILE stay.
    let left = 1 << 40 | 0b11_1001;
    assert_eq!(kept.flags(), left);
    kept.with_create_info(vk::PipelineLayout::null(), vk::ShaderModule::null(), |info| {
        // SAFETY: it lives as long as the call.
        let wide = unsafe { pnext::find::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(info.p_next) };
        assert_eq!(wide.unwrap().flags.as_raw(), left);
    });
}

#[test]
fn words_in_the_chain_are_the_callers() {
    let words = [0x0723_0203, 1, 2, 3];
    let mut inline = vk::ShaderModuleCreateInfo::default().code(&words);
    let chained = stage(c"main").module(vk::ShaderModule::null()).push_next(&mut inline);
    // SAFETY: everything lives on this stack frame.
    assert_eq!(unsafe { inline_words(&chained) }, Some(&words[..]));
    let kept = keep(&vk::ComputePipelineCreateInfo::default().stage(chained)).unwrap();
    assert_eq!(kept.stage().module, vk::ShaderModule::null());
    let module = vk::ShaderModule::from_raw(0x92);
    kept.with_create_info(vk::PipelineLayout::null(), module, |info| {
        assert_eq!(info.stage.module, module);
        assert!(info.stage.p_next.is_null());
    });
    // A module counts more than the words, which are then not looked at.
    inline.p_code = dangling();
    let both = vk::PipelineShaderStageCreateInfo { p_next: (&raw const inline).cast(), ..stage(c"main") };
    // SAFETY: a stage whose chain is a live local.
    assert_eq!(unsafe { inline_words(&both) }, None);
    assert!(keep(&vk::ComputePipelineCreateInfo::default().stage(both)).is_ok());
}

#[test]
fn stages_without_words_are_refused_by_name() {
    let identifier = [7_u8; 16];
    let node = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(&identifier);
    assert_eq!(with_stage_node((&raw const node).cast()).err(), Some(Left::HiddenSpirv));
    let none = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT { identifier_size: 0, ..node };
    assert!(with_stage_node((&raw const none).cast()).is_ok(), "it identifies nothing");
    let nothing = stage(c"main").module(vk::ShaderModule::null());
    assert_eq!(keep(&vk::ComputePipelineCreateInfo::default().stage(nothing)).err(), Some(Left::HiddenSpirv));
}

#[test]
fn what_cannot_be_copied_is_refused_wherever_it_stands() {
    let unknown = unknown();
    assert_eq!(with_node(&raw const unknown).err(), Some(Left::PipelineChain));
    assert_eq!(with_stage_node(&raw const unknown).err(), Some(Left::PipelineChain));
    // An address of the application's memory, which the driver would write to a second time.
    let indirect = vk::ComputePipelineIndirectBufferInfoNV::default();
    assert_eq!(with_node((&raw const indirect).cast()).err(), Some(Left::PipelineChain));
    let mut loops = unknown;
    loops.s_type = vk::StructureType::PIPELINE_CREATION_FEEDBACK_CREATE_INFO;
    let node = &raw mut loops;
    // SAFETY: it lives on this stack frame.
    unsafe { (*node).p_next = node.cast() };
    assert_eq!(with_node(node).err(), Some(Left::PipelineChain), "a chain without end");
}

#[test]
fn feedback_names_and_caches_are_dropped() {
    let feedback = vk::PipelineCreationFeedbackCreateInfo {
        p_pipeline_creation_feedback: dangling::<vk::PipelineCreationFeedback>().cast_mut(),
        ..Default::default()
    };
    with_node((&raw const feedback).cast()).unwrap().with_create_info(
        vk::PipelineLayout::null(),
        vk::ShaderModule::null(),
        |info| assert!(info.p_next.is_null()),
    );
    let name = vk::DebugUtilsObjectNameInfoEXT { p_object_name: dangling(), ..Default::default() };
    let p_next = (&raw const name).cast();
    let cache = vk::ShaderModuleValidationCacheCreateInfoEXT { p_next, ..Default::default() };
    with_stage_node((&raw const cache).cast()).unwrap().with_create_info(
        vk::PipelineLayout::null(),
        vk::ShaderModule::null(),
        |info| assert!(info.stage.p_next.is_null()),
    );
}

#[test]
fn empty_arrays_may_dangle() {
    let constants =
        vk::SpecializationInfo { p_map_entries: dangling(), p_data: dangling(), ..vk::SpecializationInfo::default() };
    let kept =
        keep(&vk::ComputePipelineCreateInfo::default().stage(stage(c"main").specialization_info(&constants))).unwrap();
    kept.with_create_info(vk::PipelineLayout::null(), vk::ShaderModule::null(), |info| {
        // SAFETY: it lives as long as the call.
        let constants = unsafe { &*info.stage.p_specialization_info };
        assert!(constants.p_map_entries.is_null() && constants.p_data.is_null());
    });
}

#[test]
fn bytes_are_what_lies_on_the_heap() {
    let small = with_node(std::ptr::null()).unwrap();
    let info = size_of::<vk::ComputePipelineCreateInfo<'_>>();
    assert!((info + 8..info + 64).contains(&small.bytes()), "{}", small.bytes());
    let data = [0_u8; 1000];
    let constants = vk::SpecializationInfo::default().data(&data);
    let large =
        keep(&vk::ComputePipelineCreateInfo::default().stage(stage(c"main").specialization_info(&constants))).unwrap();
    let more = large.bytes() - small.bytes();
    let least = data.len() + size_of::<vk::SpecializationInfo<'_>>();
    assert!((least..least + 64).contains(&more), "{more}");
}
