//# vulkan1.0
#version 450
// The interface of 1.0 lists inputs and outputs only.
layout(set = 0, binding = 0) uniform texture2D heights;
layout(set = 0, binding = 1) uniform sampler s;
layout(location = 0) in vec4 position;
layout(location = 0) out vec2 uv;
void main() {
    uv = position.xy;
    gl_Position = position + textureLod(sampler2D(heights, s), position.xy, 0.0).x;
}
//= main vertex
//= 0:0 + 0:1 2D float LOD0
