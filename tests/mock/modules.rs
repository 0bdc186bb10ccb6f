//! Shaders that are rewritten as they come: which pointers go down, and that nothing of the layer's own is left.

use std::ptr;

use ash::vk::{self, Handle};

use crate::args;
use crate::driver::{Args, Kind};
use crate::loader::{Device, InstanceBuilder, allocator, binding, call};
use crate::pages::Pages;

const SUCCESS: vk::Result = vk::Result::SUCCESS;

/// A compute shader that counts, or does not.
fn words(counts: bool) -> Vec<u32> {
    let mut all = vec![0x0723_0203, 0x0001_0000, 0, 11, 0, 2 << 16 | 17, 1];
    if counts {
        all.extend([2 << 16 | 17, 21]);
    }
    let name = u32::from_le_bytes(*b"main");
    all.extend([3 << 16 | 14, 0, 1, 5 << 16 | 15, 5, 1, name, 0, 6 << 16 | 16, 1, 17, 1, 1, 1]);
    if counts {
        all.extend([4 << 16 | 71, 7, 33, 0, 4 << 16 | 71, 7, 35, 0]);
    }
    all.extend([2 << 16 | 19, 2, 3 << 16 | 33, 3, 2, 4 << 16 | 21, 4, 32, 0, 4 << 16 | 43, 4, 5, 1]);
    if counts {
        all.extend([4 << 16 | 43, 4, 10, 0, 4 << 16 | 32, 6, 10, 4, 4 << 16 | 59, 6, 7, 10]);
    }
    all.extend([5 << 16 | 54, 2, 1, 0, 3, 2 << 16 | 248, 8]);
    if counts {
        all.extend([6 << 16 | 232, 4, 9, 7, 5, 10]);
    }
    all.extend([1 << 16 | 253, 1 << 16 | 56]);
    all
}

/// A device on which counters are allowed, of an instance with these settings.
fn device(settings: &[(&str, &str)]) -> Device {
    let builder = InstanceBuilder::new().traced("decisions");
    let builder = settings.iter().fold(builder, |builder, (key, value)| builder.set(key, value));
    builder.device()
}

/// With samplers that are followed and without.
const SEPARATE: [&str; 2] = ["resolve", "base"];

#[test]
fn modules_of_no_interest_go_down_by_the_applications_pointer() {
    for separate in SEPARATE {
        let device = device(&[("separate", separate), ("counters", "auto")]);
        for counts in [false, true] {
            let (words, mut module) = (words(counts), vk::ShaderModule::null());
            let before = words.clone();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            device.driver.calls_of(c"vkCreateShaderModule");
            assert_eq!(call!(device.create_module(device.raw, &info, allocator(), &mut module)), SUCCESS);
            args!(device, c"vkCreateShaderModule", Args::Create { info: went, allocator: with, .. });
            assert_eq!(went != ptr::from_ref(&info) as usize, counts, "{separate}");
            assert_eq!((with, &words), (allocator() as usize, &before), "{separate}");
            call!(device.destroy_module(device.raw, module, allocator()));
        }
        let records = device.instance.records("shader");
        assert_eq!(records.len(), 1, "{records:#?}");
        device.finish();
    }
}

/// Without a setting that asks for anything the words go down as they came, with a line in front of that.
#[test]
fn counters_that_nobody_allows_are_told_and_go_down() {
    let device = device(&[]);
    let (words, mut module) = (words(true), vk::ShaderModule::null());
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    assert_eq!(call!(device.create_module(device.raw, &info, allocator(), &mut module)), SUCCESS);
    args!(device, c"vkCreateShaderModule", Args::Create { info: went, .. });
    assert_eq!(went, ptr::from_ref(&info) as usize);
    let told = device.instance.records("unresolved");
    assert_eq!((told.len(), &told[0]["what"]), (1, &"atomic-counters".into()), "{told:#?}");
    call!(device.destroy_module(device.raw, module, allocator()));
    device.finish();
}

/// A module in the chain of a stage gets one of the layer's for as long as the call takes; behind other structures it stays.
#[test]
fn modules_in_chains_of_stages_are_replaced_for_the_call() {
    for separate in SEPARATE {
        let device = device(&[("separate", separate), ("counters", "auto")]);
        let set_layout = device.layout(&[binding(0, vk::DescriptorType::STORAGE_BUFFER, 1)]);
        let layout = device.pipeline_layout(&[set_layout]);
        for (counts, first) in [(false, true), (true, true), (true, false)] {
            let words = words(counts);
            let mut code = vk::ShaderModuleCreateInfo::default().code(&words);
            let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
            let mut stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .name(c"main")
                .push_next(&mut code);
            if !first {
                stage = stage.push_next(&mut size);
            }
            let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
            let mut pipeline = vk::Pipeline::null();
            let none = vk::PipelineCache::null();
            device.driver.calls();
            let result = call!(device.create_compute_pipelines(device.raw, none, 1, &info, allocator(), &mut pipeline));
            assert_eq!(result, SUCCESS);
            let replaced = counts && first;
            let calls = device.driver.calls();
            let [modules, pipelines] = [c"vkCreateShaderModule", c"vkCreateComputePipelines"]
                .map(|command| calls.iter().filter(|call| call.command == command).collect::<Vec<_>>());
            assert_eq!((modules.len(), pipelines.len()), (usize::from(replaced), 1), "{separate}");
            let Args::Create { info: went, .. } = pipelines[0].args else { panic!("{pipelines:?}") };
            assert_eq!(went != ptr::from_ref(&info) as usize, replaced, "{separate}");
            assert!(device.driver.live(Kind::Module).is_empty(), "{separate}: a module of the layer's is left");
            call!(device.destroy_pipeline(device.raw, pipeline, allocator()));
        }
        let told = device.instance.records("unresolved");
        assert_eq!((told.len(), &told[0]["what"]), (1, &"stage-chain".into()), "{told:#?}");
        call!(device.destroy_pipeline_layout(device.raw, layout, allocator()));
        call!(device.destroy_layout(device.raw, set_layout, allocator()));
        device.finish();
    }
}

#[test]
fn shader_objects_are_rewritten_in_a_copy() {
    let device = device(&[("counters", "auto")]);
    for counts in [false, true] {
        let words = [words(false), words(counts)];
        let bytes = words.each_ref().map(|words| {
            // SAFETY: any words are bytes.
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(&words[..])) }
        });
        let infos = bytes.map(|bytes| {
            vk::ShaderCreateInfoEXT::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .code_type(vk::ShaderCodeTypeEXT::SPIRV)
                .code(bytes)
                .name(c"main")
        });
        let mut shaders = [vk::ShaderEXT::null(); 2];
        device.driver.calls_of(c"vkCreateShadersEXT");
        let result = call!(device.create_shaders(device.raw, 2, infos.as_ptr(), allocator(), shaders.as_mut_ptr()));
        assert_eq!(result, SUCCESS);
        args!(device, c"vkCreateShadersEXT", Args::Create { info: went, .. });
        assert_eq!(went != infos.as_ptr() as usize, counts);
        assert_eq!(
            infos.map(|info| info.p_code),
            bytes.map(|bytes| bytes.as_ptr().cast()),
            "the application's are as before"
        );
        shaders.iter().for_each(|shader| call!(device.destroy_shader(device.raw, *shader, allocator())));
    }
    device.finish();
}

/// Multisample states that the rules ignore may dangle; legal ones go down by the application's own pointer.
#[test]
fn multisample_states_are_read_where_they_count() {
    let device = device(&[]);
    let layout = device.pipeline_layout(&[]);
    let pages = Pages::new(1);
    let dangling: *const vk::PipelineMultisampleStateCreateInfo<'_> = pages.start().cast();
    let discards = vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true);
    let plain = vk::PipelineRasterizationStateCreateInfo::default();
    let state = |least| vk::PipelineMultisampleStateCreateInfo::default().min_sample_shading(least);
    let states = [state(0.5), state(2.0)];
    let library = vk::GraphicsPipelineLibraryCreateInfoEXT::default();
    let chain = ptr::from_ref(&library).cast();
    for (raster, state, chain, differs) in [
        (&discards, dangling, ptr::null(), false),
        (&plain, dangling, chain, false),
        (&plain, ptr::null(), ptr::null(), false),
        (&plain, ptr::from_ref(&states[0]), ptr::null(), false),
        (&plain, ptr::from_ref(&states[1]), ptr::null(), true),
    ] {
        let mut info = vk::GraphicsPipelineCreateInfo::default().layout(layout).rasterization_state(raster);
        (info.p_multisample_state, info.p_next) = (state, chain);
        let mut pipeline = vk::Pipeline::null();
        device.driver.calls_of(c"vkCreateGraphicsPipelines");
        let none = vk::PipelineCache::null();
        let result = call!(device.create_graphics_pipelines(device.raw, none, 1, &info, allocator(), &mut pipeline));
        assert_eq!(result, SUCCESS);
        args!(device, c"vkCreateGraphicsPipelines", Args::Create { info: went, .. });
        assert_eq!(went != ptr::from_ref(&info) as usize, differs);
        assert_ne!(pipeline.as_raw(), 0);
        call!(device.destroy_pipeline(device.raw, pipeline, allocator()));
    }
    assert_eq!(states[1].min_sample_shading, 2.0, "the application's is as before");
    let records = device.instance.records("shader");
    assert_eq!((records.len(), &records[0]["changes"][0]["catalog"]), (1, &"J-3".into()), "{records:#?}");
    call!(device.destroy_pipeline_layout(device.raw, layout, allocator()));
    device.finish();
}
