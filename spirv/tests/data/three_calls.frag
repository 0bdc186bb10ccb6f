//# vulkan1.1
#version 450
// A function that joins what it is called with.
layout(set = 0, binding = 0) uniform texture2D a;
layout(set = 0, binding = 1) uniform texture2D b;
layout(set = 0, binding = 2) uniform texture2D c;
layout(set = 1, binding = 0) uniform sampler s;
layout(set = 1, binding = 1) uniform sampler t;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
vec4 read(texture2D image, sampler with, vec2 at) { return texture(sampler2D(image, with), at, -1.0); }
void main() { color = read(a, s, uv) + read(b, t, uv) + read(c, s, uv.yx); }
//= main fragment
//= 0:0 + 1:0 2D float IMPLICIT BIAS
//= 0:1 + 1:1 2D float IMPLICIT BIAS
//= 0:2 + 1:0 2D float IMPLICIT BIAS
