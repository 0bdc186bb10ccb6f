//# vulkan1.1
#version 450
// Two variables on one binding.
layout(set = 0, binding = 0) uniform texture2D flat_;
layout(set = 0, binding = 0) uniform texture2DArray layered;
layout(set = 0, binding = 1) uniform sampler s;
layout(location = 0) in vec3 at;
layout(location = 0) out vec4 color;
void main() { color = at.z < 0.0 ? texture(sampler2D(flat_, s), at.xy) : texture(sampler2DArray(layered, s), at); }
//= main fragment
//= 0:0 + 0:1 2D float IMPLICIT
//= 0:0 + 0:1 2D array float IMPLICIT
