//# vulkan1.0
#version 450
layout(set = 1, binding = 3) uniform sampler2D pair;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = texture(pair, uv) + textureLod(pair, uv, 0.0); }
//= main fragment
//= 1:3 + 1:3 2D float IMPLICIT LOD0 COMBINED
