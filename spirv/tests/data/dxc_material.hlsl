//# vulkan1.1 spv1.0
// dxc: -T ps_6_0
Texture2D albedo : register(t0, space0);
Texture2D normal : register(t1, space0);
SamplerState linear_ : register(s2, space0);
SamplerComparisonState compare : register(s3, space1);
Texture2DArray shadow : register(t4, space1);
float4 sampled(Texture2D from, SamplerState with, float2 at) { return from.Sample(with, at) + from.SampleLevel(with, at, 0); }
float4 main(float4 at : TEXCOORD0) : SV_Target {
    float lit = shadow.SampleCmpLevelZero(compare, at.xyz, at.w) + shadow.SampleCmp(compare, at.xyz, at.w, int2(1, 1));
    return sampled(albedo, linear_, at.xy) * lit + sampled(normal, linear_, at.zw) + albedo.Load(int3(0, 0, 0));
}
//= main fragment
//= 0:0 + 0:2 2D float IMPLICIT LOD0
//= 0:1 + 0:2 2D float IMPLICIT LOD0
//= 1:4 + 1:3 2D array float IMPLICIT LOD0 DREF OFFSET
