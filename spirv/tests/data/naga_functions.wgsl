//# vulkan1.1 spv1.0
@group(0) @binding(0) var a: texture_2d<f32>;
@group(0) @binding(1) var b: texture_2d<f32>;
@group(0) @binding(2) var s: sampler;
@group(0) @binding(3) var t: sampler;
@group(0) @binding(4) var layers: texture_2d_array<f32>;
fn leaf(image: texture_2d<f32>, using_: sampler, at: vec2<f32>) -> vec4<f32> {
    return textureSampleLevel(image, using_, at, 0.0) + textureSampleBias(image, using_, at, 1.0);
}
fn nested(image: texture_2d<f32>, at: vec2<f32>) -> vec4<f32> { return leaf(image, s, at) * leaf(b, t, at); }
@fragment fn main(@location(0) at: vec2<f32>) -> @location(0) vec4<f32> {
    return nested(a, at) + nested(b, at.yx) + leaf(a, t, at) + textureSampleGrad(layers, s, at, 2, at, at.yx, vec2<i32>(1, 2));
}
//= main fragment
//= 0:0 + 0:2 2D float IMPLICIT LOD0 BIAS
//= 0:1 + 0:3 2D float IMPLICIT LOD0 BIAS
//= 0:1 + 0:2 2D float IMPLICIT LOD0 BIAS
//= 0:0 + 0:3 2D float IMPLICIT LOD0 BIAS
//= 0:4 + 0:2 2D array float GRAD OFFSET
