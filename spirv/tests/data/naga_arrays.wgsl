//# vulkan1.2 spv1.0
enable wgpu_binding_array;
struct Which { at: vec2<f32>, index: u32 }
@group(0) @binding(0) var images: binding_array<texture_2d<f32>, 10>;
@group(0) @binding(1) var samplers: binding_array<sampler, 5>;
@group(0) @binding(2) var<uniform> which: Which;
@fragment fn main(@location(0) at: vec2<f32>, @location(1) @interpolate(flat) i: u32) -> @location(0) vec4<f32> {
    return textureSample(images[i], samplers[3], at) + textureSample(images[which.index], samplers[which.index], at)
        + textureSampleLevel(images[9], samplers[0], at, 0.0);
}
//= main fragment
//= 0:0[nonuniform any of 10] + 0:1[3 of 5] 2D float IMPLICIT
//= 0:0[any of 10] + 0:1[any of 5] 2D float IMPLICIT
//= 0:0[9 of 10] + 0:1[0 of 5] 2D float LOD0
