//! Creating pipelines of several samples, which a rule can have shaded for each of them.

use ash::vk;
use samplin_testkit::assembly::{Assembly, Decoration, Op, StorageClass};
use samplin_testkit::context::Context;

use crate::binds::render_pass;
use crate::sample::time;

/// Pipelines of one pass: each takes the driver's compiler.
const CALLS: usize = 8;
/// Those of which instructions are counted.
pub(crate) const COUNTED: usize = CALLS * crate::sample::PASSES;

/// A vertex shader with an output, or a fragment shader with an input that a rule has decorated.
fn shader(is_fragment: bool) -> Vec<u32> {
    let (stage, class) = match is_fragment {
        true => (vk::ShaderStageFlags::FRAGMENT, StorageClass::Input),
        false => (vk::ShaderStageFlags::VERTEX, StorageClass::Output),
    };
    let mut m = Assembly::new(stage);
    let float = m.ty(Op::TypeFloat, &[32]);
    let vec4 = m.ty(Op::TypeVector, &[float, 4]);
    let pointer = m.pointer(class, vec4);
    let variable = m.variable(pointer, class);
    m.decorate(variable, Decoration::Location, &[0]);
    if is_fragment {
        m.value(Op::Load, vec4, &[variable]);
    }
    m.finish(0)
}

/// ns of thread CPU time for creating and destroying one.
pub(crate) fn measure(context: &Context) -> f64 {
    let device = context.device();
    let pass = render_pass(context);
    // SAFETY: a create info without sets.
    let layout = unsafe { device.create_pipeline_layout(&Default::default(), None) }.expect("a pipeline layout");
    let modules = [false, true].map(|is_fragment| {
        let words = shader(is_fragment);
        // SAFETY: valid words.
        unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
            .expect("a shader module")
    });
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let stages = [stage(vk::ShaderStageFlags::VERTEX, modules[0]), stage(vk::ShaderStageFlags::FRAGMENT, modules[1])];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let (viewports, scissors) =
        ([vk::Viewport { width: 1.0, height: 1.0, ..Default::default() }], [vk::Rect2D::default()]);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_4);
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .layout(layout)
        .render_pass(pass)];
    let ns = time(&[(); CALLS], |()| {
        // SAFETY: valid create infos; nothing uses the pipeline.
        unsafe {
            let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None);
            device.destroy_pipeline(made.map_err(|(_, error)| error).expect("a pipeline")[0], None);
        }
    });
    // SAFETY: nothing uses them any more.
    unsafe {
        modules.iter().for_each(|module| device.destroy_shader_module(*module, None));
        device.destroy_pipeline_layout(layout, None);
        device.destroy_render_pass(pass, None);
    }
    ns
}
