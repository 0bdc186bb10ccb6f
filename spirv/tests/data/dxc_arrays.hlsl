//# vulkan1.2 spv1.5
// dxc: -T ps_6_0 -fspv-target-env=vulkan1.2
Texture2D<float4> images[] : register(t0, space0);
Texture2D<float4> few[6] : register(t0, space1);
SamplerState samplers[4] : register(s1, space1);
struct In { float4 at : TEXCOORD0; nointerpolation uint which : TEXCOORD1; };
float4 main(In i) : SV_Target {
    float4 color = images[NonUniformResourceIndex(i.which)].Sample(samplers[1], i.at.xy);
    color += few[i.which].SampleGrad(samplers[2], i.at.xy, i.at.zw, i.at.wz);
    color += few[5].SampleBias(samplers[i.which], i.at.xy, 0.5);
    return color + few[0].GatherRed(samplers[0], i.at.xy, int2(1, 0));
}
//= main fragment
//= 0:0[unbounded of 0] + 1:1[1 of 4] 2D float IMPLICIT
//= 1:0[any of 6] + 1:1[2 of 4] 2D float GRAD
//= 1:0[5 of 6] + 1:1[any of 4] 2D float IMPLICIT BIAS
//= 1:0[0 of 6] + 1:1[0 of 4] 2D float OFFSET GATHER
