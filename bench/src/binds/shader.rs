//! The shaders and pipelines of the rows of binds.

use ash::vk::{self, ShaderStageFlags as Stage};
use samplin_testkit::assembly::{Assembly, Op, StorageClass::UniformConstant};
use samplin_testkit::context::Context;

use super::SETS;

/// A module of a stage; a fragment shader reads both images of each set through its sampler.
pub(super) fn shader(is_fragment: bool) -> Vec<u32> {
    if !is_fragment {
        return Assembly::new(Stage::VERTEX).finish(0);
    }
    let mut m = Assembly::new(Stage::FRAGMENT);
    let float = m.ty(Op::TypeFloat, &[32]);
    let [vec2, vec4] = [2, 4].map(|count| m.ty(Op::TypeVector, &[float, count]));
    let [image, sampler] = [m.ty(Op::TypeImage, &[float, 1, 0, 0, 0, 1, 0]), m.ty(Op::TypeSampler, &[])];
    let pair = m.ty(Op::TypeSampledImage, &[image]);
    let [image_at, sampler_at] = [image, sampler].map(|ty| m.pointer(UniformConstant, ty));
    let zero = m.constant(Op::Constant, float, &[0]);
    let coordinates = m.constant(Op::ConstantComposite, vec2, &[zero, zero]);
    for set in 0..SETS {
        let loaded = [0, 1, 2].map(|binding| {
            let (pointer, ty) = if binding == 2 { (sampler_at, sampler) } else { (image_at, image) };
            let variable = m.bound_to(pointer, UniformConstant, [set, binding]);
            m.value(Op::Load, ty, &[variable])
        });
        for image in &loaded[..2] {
            let joined = m.value(Op::SampledImage, pair, &[*image, loaded[2]]);
            m.value(Op::ImageSampleExplicitLod, vec4, &[joined, coordinates, 2, zero]);
        }
    }
    m.finish(0)
}

/// Pipelines that are alike but for their handles.
pub(super) fn pipelines(
    context: &Context,
    layout: vk::PipelineLayout,
    pass: vk::RenderPass,
    count: usize,
) -> Vec<vk::Pipeline> {
    let device = context.device();
    let modules = [false, true].map(|is_fragment| {
        let words = shader(is_fragment);
        // SAFETY: valid words.
        unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
            .expect("a shader module")
    });
    let stages = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
    let stages: Vec<_> = stages
        .iter()
        .zip(modules)
        .map(|(stage, module)| vk::PipelineShaderStageCreateInfo::default().stage(*stage).module(module).name(c"main"))
        .collect();
    let (input, assembly) = (
        vk::PipelineVertexInputStateCreateInfo::default(),
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST),
    );
    let (viewports, scissors) =
        ([vk::Viewport { width: 1.0, height: 1.0, ..Default::default() }], [vk::Rect2D::default()]);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .layout(layout)
        .render_pass(pass);
    // SAFETY: valid create infos; the modules may go once the pipelines are there.
    unsafe {
        let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &vec![info; count], None);
        modules.iter().for_each(|module| device.destroy_shader_module(*module, None));
        made.map_err(|(_, error)| error).expect("pipelines")
    }
}
