//# vulkan1.1
#version 450
// Pairs as arguments, an element of an array among them.
layout(set = 0, binding = 0) uniform sampler2D one;
layout(set = 0, binding = 1) uniform sampler2D several[4];
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
vec4 read(sampler2D from) { return texture(from, uv) + texelFetch(from, ivec2(uv), 0); }
void main() { color = read(one) + read(several[3]) + texture(several[int(uv.x)], uv); }
//= main fragment
//= 0:0 + 0:0 2D float IMPLICIT COMBINED FETCH
//= 0:1[3 of 4] + 0:1[3 of 4] 2D float IMPLICIT COMBINED FETCH
//= 0:1[any of 4] + 0:1[any of 4] 2D float IMPLICIT COMBINED
