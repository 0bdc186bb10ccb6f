//! The shaders of the rows of binds.

use ash::vk::ShaderStageFlags as Stage;
use samplin_testkit::assembly::{Assembly, Op, StorageClass::UniformConstant};

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
