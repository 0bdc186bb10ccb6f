//! Copies of create infos when there is no memory for them.
//!
//! As in [`memory`](crate::memory), what goes wrong here ends the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk::{self, Handle};
use samplin::kept::{Compute, Context, Graphics, PipelineLayout, SetLayout, Shader};
use samplin::memory::faults::{self, Plan};
use samplin_hot::memory::OutOfMemory;
use samplin_testkit::again::alone;

use crate::words::*;

/// Runs `body` over and over, each time without another one of its allocations; returns how many it has.
fn starve(what: &str, body: impl Fn()) -> u64 {
    for first in 0.. {
        // Not even the reserve has any, so whatever does not ask first ends the process.
        faults::set(Some(Plan { smallest: 0, first, count: 1, reserve: false }));
        let outcome = catch_unwind(AssertUnwindSafe(|| faults::inside(&body)));
        let seen = faults::seen();
        faults::set(None);
        if first >= seen {
            assert!(outcome.is_ok(), "{what}: nothing failed");
            return seen;
        }
        let payload = outcome.expect_err("an allocation failed");
        assert!(payload.is::<OutOfMemory>(), "{what}: allocation {first} of {seen}");
    }
    unreachable!("it ends")
}

#[test]
fn copies_unwind_where_there_is_no_memory() {
    alone("kept::copies_unwind_where_there_is_no_memory", || {
        let samplers = [vk::Sampler::from_raw(1)];
        let kinds = [SAMPLER];
        let bindings = [
            vk::DescriptorSetLayoutBinding::default().descriptor_count(1).immutable_samplers(&samplers),
            vk::DescriptorSetLayoutBinding::default().binding(1).descriptor_type(Ty::MUTABLE_EXT),
        ];
        let flags = [vk::DescriptorBindingFlags::PARTIALLY_BOUND; 2];
        let lists = [Default::default(), vk::MutableDescriptorTypeListEXT::default().descriptor_types(&kinds)];
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let mut lists = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set = set.push_next(&mut flags).push_next(&mut lists);
        // SAFETY: all of it lives on this stack frame.
        let keep = || unsafe { SetLayout::new(&set) }.unwrap();
        assert!(starve("a set layout", || drop(keep())) >= 3);
        let kept = keep();
        assert_eq!(starve("a set layout's create info", || kept.with_create_info(|_| ())), 3);

        let ranges = [vk::PushConstantRange { size: 4, ..Default::default() }];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: as above.
        let keep = || drop(unsafe { PipelineLayout::new(&layout) }.unwrap());
        assert_eq!(starve("a pipeline layout", keep), 1);

        let entries = [vk::SpecializationMapEntry { size: 4, ..Default::default() }];
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&[0; 4]);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .module(vk::ShaderModule::from_raw(2))
            .name(c"main")
            .specialization_info(&constants);
        let mut robust = vk::PipelineRobustnessCreateInfoEXT::default();
        let compute = vk::ComputePipelineCreateInfo::default().stage(stage).push_next(&mut robust);
        // SAFETY: as above.
        let keep = || unsafe { Compute::new(&compute) }.unwrap();
        assert!(starve("a compute pipeline", || drop(keep())) >= 4);
        let kept = keep();
        assert_eq!(starve("its create info", || kept.with_create_info(Default::default(), stage.module, |_| ())), 1);

        let object = vk::ShaderCreateInfoEXT::default()
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .name(c"main")
            .push_constant_ranges(&ranges)
            .specialization_info(&constants);
        // SAFETY: as above.
        let keep = || unsafe { Shader::new(&object) }.unwrap();
        assert!(starve("a shader object", || drop(keep())) >= 4);
        let kept = keep();
        let make = || Shader::with_create_infos(&[(&kept, &[])], &[], |_| ());
        assert_eq!(starve("its create info", make), 3);

        let stages = [stage.stage(Stage::VERTEX), stage.stage(Stage::FRAGMENT)];
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let graphics = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .dynamic_state(&dynamic)
            .viewport_state(&viewport)
            .push_next(&mut robust);
        // SAFETY: as above.
        let keep = || unsafe { Graphics::new(&graphics, Context::default()) }.unwrap();
        assert!(starve("a graphics pipeline", || drop(keep())) >= 5);
        let kept = keep();
        let make = || kept.with_create_info(Default::default(), Default::default(), |stage| stage.module, |_| ());
        assert_eq!(starve("its create info", make), 1);
    });
}

#[test]
fn sizes_beyond_all_memory_unwind() {
    let constants = vk::SpecializationInfo {
        data_size: usize::MAX - 64,
        p_data: std::ptr::without_provenance(0x10),
        ..Default::default()
    };
    let stage = vk::PipelineShaderStageCreateInfo::default().name(c"main").specialization_info(&constants);
    let info = vk::ComputePipelineCreateInfo::default().stage(stage.module(vk::ShaderModule::from_raw(2)));
    // SAFETY: there is no room for the data, so it is not read.
    let outcome = catch_unwind(|| unsafe { Compute::new(&info) }.map(drop));
    assert!(outcome.expect_err("no room").is::<OutOfMemory>());
}
