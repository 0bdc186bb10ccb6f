//# vulkan1.1 spv1.0
// dxc: -T ps_6_0 -O0
Texture2D a : register(t0);
Texture2D b : register(t1);
SamplerState s : register(s2);
SamplerState t : register(s3);
float4 leaf(Texture2D from, SamplerState with, float2 at) { return from.Sample(with, at); }
float4 nested(Texture2D from, float2 at) { return leaf(from, s, at) + leaf(from, t, at); }
float4 main(float2 at : TEXCOORD0) : SV_Target { return nested(a, at) + nested(b, at.yx) + a.CalculateLevelOfDetail(s, at); }
//= main fragment
//= 0:0 + 0:2 2D float IMPLICIT QUERY_LOD
//= 0:1 + 0:2 2D float IMPLICIT
//= 0:0 + 0:3 2D float IMPLICIT
//= 0:1 + 0:3 2D float IMPLICIT
