//# vulkan1.2
#version 450
// Calls through calls, with parameters in another order.
layout(set = 0, binding = 0) uniform texture2D a;
layout(set = 0, binding = 1) uniform texture2D b;
layout(set = 0, binding = 2) uniform sampler s;
layout(set = 0, binding = 3) uniform sampler t;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
vec4 leaf(sampler with, texture2D image) { return textureLod(sampler2D(image, with), uv, 2.5); }
vec4 once(texture2D image, sampler with) { return leaf(with, image) * 0.5; }
vec4 twice(texture2D one, texture2D two, sampler with) { return once(one, with) + once(two, with) + leaf(t, one); }
void main() { color = twice(a, b, s) + once(b, t); }
//= main fragment
//= 0:0 + 0:2 2D float LOD
//= 0:1 + 0:2 2D float LOD
//= 0:0 + 0:3 2D float LOD
//= 0:1 + 0:3 2D float LOD
