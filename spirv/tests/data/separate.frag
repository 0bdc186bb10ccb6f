//# vulkan1.1
#version 450
layout(set = 0, binding = 0) uniform texture2D albedo;
layout(set = 0, binding = 1) uniform sampler smooth_;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = texture(sampler2D(albedo, smooth_), uv); }
//= main fragment
//= 0:0 + 0:1 2D float IMPLICIT
