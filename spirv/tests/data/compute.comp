//# vulkan1.3
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 3, binding = 0) uniform texture2DArray layers;
layout(set = 3, binding = 1) uniform sampler s;
layout(set = 3, binding = 2) uniform texture1D ramp;
layout(set = 3, binding = 3, rgba8) uniform writeonly image2D result;
vec4 one(texture2DArray image, vec3 at) { return textureLod(sampler2DArray(image, s), at, 0.0); }
void main() {
    vec2 at = vec2(gl_GlobalInvocationID.xy) / 64.0;
    vec4 color = one(layers, vec3(at, 1.0));
    imageStore(result, ivec2(gl_GlobalInvocationID.xy), color * textureLod(sampler1D(ramp, s), color.x, 0.0));
}
//= main compute
//= 3:0 + 3:1 2D array float LOD0
//= 3:2 + 3:1 1D float LOD0
