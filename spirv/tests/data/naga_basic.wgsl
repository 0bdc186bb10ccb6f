//# vulkan1.1 spv1.0
// A depth texture read through a sampler that may filter, and one that compares.
@group(0) @binding(0) var depth: texture_depth_2d;
@group(0) @binding(1) var filtering: sampler;
@group(0) @binding(2) var compare: sampler_comparison;
@group(1) @binding(0) var albedo: texture_2d<f32>;
@fragment fn main(@location(0) at: vec3<f32>) -> @location(0) vec4<f32> {
    let d = textureSample(depth, filtering, at.xy);
    let c = textureSampleCompareLevel(depth, compare, at.xy, at.z) + textureSampleCompare(depth, compare, at.xy, at.z);
    return textureSample(albedo, filtering, at.xy) * d * c + textureGather(1, albedo, filtering, at.xy);
}
//= main fragment
//= 0:0 + 0:1 2D float IMPLICIT
//= 0:0 + 0:2 2D float IMPLICIT LOD0 DREF
//= 1:0 + 0:1 2D float IMPLICIT GATHER
