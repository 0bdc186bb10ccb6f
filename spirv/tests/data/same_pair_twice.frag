//# vulkan1.3
#version 450
// Levels that are constant, and one that is a constant by specialization.
layout(constant_id = 0) const int lod = 0;
layout(set = 0, binding = 0) uniform texture2D a;
layout(set = 0, binding = 1) uniform sampler s;
layout(location = 0) out vec4 color;
void main() {
    color = textureLod(sampler2D(a, s), vec2(0.5), 0.0) + textureLod(sampler2D(a, s), vec2(0.5), 1.0);
    if (lod == 1) {
        color += texture(sampler2D(a, s), vec2(0.5));
    }
}
//= main fragment
//= 0:0 + 0:1 2D float IMPLICIT LOD LOD0
