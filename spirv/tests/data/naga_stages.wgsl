//# vulkan1.1 spv1.0
// Three entry points that join the same bindings differently.
@group(0) @binding(0) var heights: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var t: sampler;
@group(0) @binding(3) var ids: texture_2d<u32>;
@group(0) @binding(4) var<storage, read_write> result: array<vec4<f32>>;
fn height(at: vec2<f32>) -> vec4<f32> { return textureSampleLevel(heights, s, at, 3.0); }
@vertex fn place(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> { return height(at); }
@fragment fn paint(@location(0) at: vec2<f32>) -> @location(0) vec4<f32> { return textureSample(heights, t, at); }
@compute @workgroup_size(8) fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    result[id.x] = height(vec2<f32>(id.xy)) + vec4<f32>(textureLoad(ids, id.xy, 0)) + vec4<f32>(f32(textureDimensions(heights).x));
}
//= place vertex
//= 0:0 + 0:1 2D float LOD
//= paint fragment
//= 0:0 + 0:2 2D float IMPLICIT
//= count compute
//= 0:0 + 0:1 2D float LOD
