// Stores rings to an image. HLSL has no word for the image's format, so that compilers declare Rgba32f.
RWTexture2D<float4> image : register(u0);

[numthreads(8, 8, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    float2 place = float2(id.xy) / 192.0;
    float ring = 0.5 + 0.5 * cos(length(place - 0.5) * 40.0);
    image[id.xy] = float4(place.x * ring, place.y, 1.0 - ring, 1.0);
}
