//# vulkan1.1
#version 450
// A specialization constant chooses the sampler, another sizes the array, an operation on both chooses the image.
layout(constant_id = 3) const int which = 1;
layout(constant_id = 4) const int length = 4;
layout(set = 0, binding = 0) uniform texture2D images[length];
layout(set = 0, binding = 1) uniform sampler samplers[2];
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
const int last = (length - 1) * which;
void main() { color = texture(sampler2D(images[last], samplers[which]), uv); }
//= main fragment
//= 0:0[any of 4] + 0:1[spec 3 of 2] 2D float IMPLICIT
//= main fragment spec
//= 0:0[3 of 4] + 0:1[1 of 2] 2D float IMPLICIT
//= main fragment spec 3=0 4=8
//= 0:0[0 of 8] + 0:1[0 of 2] 2D float IMPLICIT
//= main fragment spec 4=100
//= 0:0[99 of 100] + 0:1[1 of 2] 2D float IMPLICIT
