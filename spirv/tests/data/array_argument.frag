//# vulkan1.1
#version 450
// Whole arrays as arguments.
layout(set = 0, binding = 0) uniform texture2D images[3];
layout(set = 0, binding = 1) uniform sampler samplers[2];
layout(set = 0, binding = 2) uniform sampler others[2];
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
vec4 second(texture2D from[3], sampler with[2]) { return texture(sampler2D(from[2], with[1]), uv); }
void main() { color = second(images, samplers) + second(images, others); }
//= main fragment
//= 0:0[2 of 3] + 0:1[1 of 2] 2D float IMPLICIT
//= 0:0[2 of 3] + 0:2[1 of 2] 2D float IMPLICIT
