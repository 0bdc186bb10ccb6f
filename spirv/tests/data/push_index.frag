//# vulkan1.1
#version 450
#extension GL_EXT_nonuniform_qualifier : require
// Samplers in one large array, chosen by push constants.
layout(set = 0, binding = 0) uniform sampler samplers[2048];
layout(set = 0, binding = 1) uniform texture2D image;
layout(set = 0, binding = 2) uniform sampler few[4];
layout(push_constant) uniform Push { vec4 color; ivec4 packed_; uint at[3]; } push;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    color = texture(sampler2D(image, samplers[push.at[2]]), uv) * push.color;
    color += texture(sampler2D(image, few[push.packed_.y]), uv);
}
//= main fragment
//= 0:1 + 0:0[push 40 of 2048] 2D float IMPLICIT
//= 0:1 + 0:2[push 20 of 4] 2D float IMPLICIT
