//! Runs compute shaders that each read the image at set 0 binding 0 through the sampler at binding 1, into the buffer at binding 2: a
//! depth image that the sampler would filter. Nothing is executed; the layer decides when the set is bound.
//!
//!     samplin run -- target/debug/examples/lines a.spv b.spv

use std::process::ExitCode;

use ash::vk;
use samplin_testkit::context::ContextBuilder;
use samplin_testkit::descriptor::{Binding, Pair, Pool, SetLayout, write_images};
use samplin_testkit::image::{Image, ImageDesc, ViewDesc};
use samplin_testkit::sampler::SamplerDesc;
use samplin_testkit::separate::Commands;

fn main() -> ExitCode {
    match std::env::args_os().skip(1).try_for_each(|path| bind(path.as_ref())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("lines: {why}");
            ExitCode::from(4)
        }
    }
}

fn bind(path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let context = ContextBuilder::default().application("lines", 1).record_only().build()?;
    let bytes = std::fs::read(path)?;
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let image = Image::new(&context, &ImageDesc::d2(vk::Format::D32_SFLOAT, 8, 8))?;
    let view = image.view(&ViewDesc::default());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let sampler = SamplerDesc::linear().named(&name).create(&context);
    let buffer = Binding::new(2, vk::DescriptorType::STORAGE_BUFFER, 1);
    let layout = SetLayout::new(&context, &[Binding::image(0), Binding::sampler(1), buffer]);
    let pool = Pool::new(&context, &[&layout]);
    let set = pool.allocate(&layout);
    let pair = Pair::new(&view, &sampler).info();
    write_images(&context, set, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &[pair]);
    write_images(&context, set, (1, 0), vk::DescriptorType::SAMPLER, &[pair]);
    let device = context.device();
    let layouts = [layout.handle()];
    let layout_info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
    // SAFETY: the set layout lives.
    let pipeline_layout = unsafe { device.create_pipeline_layout(&layout_info, None) }?;
    let module_info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words are what a compiler made, which spirv-val has seen.
    let module = unsafe { device.create_shader_module(&module_info, None) }?;
    let stage =
        vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(module).name(c"main");
    let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline_layout);
    // SAFETY: module and layout live, and the shader uses what is in the layout.
    let pipelines = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
    let pipeline = *pipelines.map_err(|(_, error)| error)?.first().ok_or("no pipeline")?;
    let commands = Commands::primary(&context, |commands| {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is being recorded, and pipeline, layout and set live until it has gone.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, pipeline_layout, 0, &[set], &[]);
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    });
    drop(commands);
    // SAFETY: the command buffer has gone, so nothing uses them.
    unsafe {
        device.destroy_pipeline(pipeline, None);
        device.destroy_shader_module(module, None);
        device.destroy_pipeline_layout(pipeline_layout, None);
    }
    Ok(())
}
