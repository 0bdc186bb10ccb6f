//# vulkan1.1
#version 450
// One image with and without comparison, through two samplers.
layout(set = 0, binding = 0) uniform texture2D map;
layout(set = 0, binding = 1) uniform samplerShadow compare;
layout(set = 0, binding = 2) uniform sampler plain;
layout(set = 0, binding = 3) uniform samplerCubeShadow cube;
layout(location = 0) in vec4 at;
layout(location = 0) out vec4 color;
void main() {
    float lit = texture(sampler2DShadow(map, compare), at.xyz);
    lit += textureProj(sampler2DShadow(map, compare), at);
    lit += textureGather(sampler2DShadow(map, compare), at.xy, at.z).x;
    color = texture(sampler2D(map, plain), at.xy) * lit * texture(cube, at);
}
//= main fragment
//= 0:0 + 0:1 2D float IMPLICIT DREF PROJ GATHER
//= 0:0 + 0:2 2D float IMPLICIT
//= 0:3 + 0:3 cube float IMPLICIT DREF COMBINED
