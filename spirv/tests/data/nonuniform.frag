//# vulkan1.2
#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform texture2D images[16];
layout(set = 0, binding = 1) uniform sampler samplers[3];
layout(set = 0, binding = 2) uniform texture2D many[];
layout(set = 1, binding = 0) uniform texture2D large[65];
layout(location = 0) flat in int i;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    color = texture(nonuniformEXT(sampler2D(images[nonuniformEXT(i)], samplers[0])), uv);
    color += texture(nonuniformEXT(sampler2D(many[nonuniformEXT(i)], samplers[1])), uv);
    color += texture(sampler2D(many[7], samplers[2]), uv);
    color += texture(sampler2D(large[i], samplers[2]), uv);
}
//= main fragment
//= 0:0[nonuniform any of 16] + 0:1[0 of 3] 2D float IMPLICIT
//= 0:2[unbounded of 0] + 0:1[1 of 3] 2D float IMPLICIT
//= 0:2[7 of 0] + 0:1[2 of 3] 2D float IMPLICIT
//= 1:0[unbounded of 65] + 0:1[2 of 3] 2D float IMPLICIT
