//# vulkan1.1
#version 450
#extension GL_NV_shader_texture_footprint : require
layout(set = 0, binding = 0) uniform sampler2D pair;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    gl_TextureFootprint2DNV found;
    bool one = textureFootprintNV(pair, uv, 3, true, found);
    color = one ? texture(pair, uv) : vec4(float(found.lod));
}
//= main fragment
//= 0:0 + 0:0 2D float IMPLICIT FOOTPRINT COMBINED
