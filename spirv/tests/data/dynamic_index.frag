//# vulkan1.1
#version 450
layout(set = 0, binding = 0) uniform texture2D images[8];
layout(set = 0, binding = 1) uniform sampler samplers[4];
layout(set = 0, binding = 2) uniform Block { int i; int j; };
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    color = texture(sampler2D(images[i], samplers[2]), uv);
    color += texture(sampler2D(images[5], samplers[j]), uv);
    color += texture(sampler2D(images[i], samplers[j]), uv);
}
//= main fragment
//= 0:0[any of 8] + 0:1[2 of 4] 2D float IMPLICIT
//= 0:0[5 of 8] + 0:1[any of 4] 2D float IMPLICIT
//= 0:0[any of 8] + 0:1[any of 4] 2D float IMPLICIT
