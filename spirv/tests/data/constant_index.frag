//# vulkan1.1
#version 450
layout(set = 0, binding = 0) uniform texture2D images[4];
layout(set = 0, binding = 1) uniform sampler samplers[2];
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    color = texture(sampler2D(images[1], samplers[0]), uv) + texture(sampler2D(images[3], samplers[1]), uv);
}
//= main fragment
//= 0:0[1 of 4] + 0:1[0 of 2] 2D float IMPLICIT
//= 0:0[3 of 4] + 0:1[1 of 2] 2D float IMPLICIT
