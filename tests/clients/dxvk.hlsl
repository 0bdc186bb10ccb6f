// Four images side by side, each read through a sampler as a program has them: one for colours, one for floats, one for depths.

Texture2D<float4> bytes : register(t0);
Texture2D<float4> wide : register(t1);
Texture2D<float> single : register(t2);
Texture2D<float> depth : register(t3);
SamplerState of_bytes : register(s0);
SamplerState of_floats : register(s1);
SamplerState of_depths : register(s2);

float4 corner(uint index : SV_VertexID) : SV_Position
{
    return float4(float2((index << 1) & 2, index & 2) * float2(2, -2) + float2(-1, 1), 0, 1);
}

float4 pixel(float4 position : SV_Position) : SV_Target
{
    // Above, a texel is four pixels wide. Below, a pixel is one texel wide and eight texels high.
    float2 texels = position.xy * (position.y < 32 ? float2(0.25, 0.25) : float2(1, 8));
    float2 place = texels / 64;
    float values[4] = { bytes.Sample(of_bytes, place).r, wide.Sample(of_floats, place).r, single.Sample(of_floats, place),
                        depth.Sample(of_depths, place) };
    float value = position.x < 16 ? values[0] : position.x < 32 ? values[1] : position.x < 48 ? values[2] : values[3];
    return float4(value, value, value, 1);
}
