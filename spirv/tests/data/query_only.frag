//# vulkan1.1
#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Pairs whose sampler plays no part, and an image without any.
layout(set = 0, binding = 0) uniform sampler2D asked;
layout(set = 0, binding = 1) uniform usampler2DMS fetched;
layout(set = 0, binding = 2) uniform texture2D alone;
layout(set = 0, binding = 3) uniform samplerBuffer texels;
layout(set = 0, binding = 4) uniform sampler unused;
layout(location = 0) out vec4 color;
void main() {
    color = vec4(textureSize(asked, 1), textureQueryLevels(asked), textureSamples(fetched));
    color += vec4(texelFetch(fetched, ivec2(3), 2)) + texelFetch(texels, 9);
    color += texelFetch(alone, ivec2(1), 0) + vec4(textureSize(alone, 0), 0.0, 1.0);
}
//= main fragment
//= 0:0 + 0:0 2D float COMBINED QUERY
//= 0:1 + 0:1 2D ms uint COMBINED FETCH QUERY
