//# vulkan1.3 spv1.6
// dxc: -T cs_6_0 -fspv-target-env=vulkan1.3
[[vk::binding(0, 2)]] Texture3D<uint4> volume;
[[vk::binding(1, 2)]] SamplerState point_;
[[vk::binding(2, 2)]] TextureCube<float> sky;
[[vk::binding(3, 2)]] RWStructuredBuffer<float4> result;
[[vk::combinedImageSampler]] [[vk::binding(4, 2)]] Texture2D<float4> pair;
[[vk::combinedImageSampler]] [[vk::binding(4, 2)]] SamplerState its;
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    float3 at = float3(id) / 64.0;
    float w, h;
    pair.GetDimensions(w, h);
    result[id.x] = sky.SampleLevel(point_, at, at.z) + pair.SampleLevel(its, at.xy * float2(w, h), 1.5) + volume.Load(int4(id, 0));
}
//= main compute
//= 2:2 + 2:1 cube float LOD
//= 2:4 + 2:4 2D float LOD COMBINED QUERY
