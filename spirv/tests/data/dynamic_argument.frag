//# vulkan1.1
#version 450
// An element chosen where the function is called, and one chosen inside.
layout(set = 0, binding = 0) uniform texture2D images[8];
layout(set = 0, binding = 1) uniform sampler s;
layout(set = 0, binding = 2) uniform sampler t;
layout(location = 0) flat in int i;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
vec4 read(texture2D image, sampler with) { return texture(sampler2D(image, with), uv); }
vec4 pick(sampler with, int at) { return texture(sampler2D(images[at], with), uv); }
void main() { color = read(images[i], s) + read(images[2], t) + pick(s, i + 1) + pick(t, 3); }
//= main fragment
//= 0:0[any of 8] + 0:1 2D float IMPLICIT
//= 0:0[2 of 8] + 0:2 2D float IMPLICIT
//= 0:0[any of 8] + 0:2 2D float IMPLICIT
