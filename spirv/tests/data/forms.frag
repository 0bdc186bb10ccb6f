//# vulkan1.1
#version 450
// Every form of sampling with a sampler of its own.
layout(set = 0, binding = 0) uniform texture2D image;
layout(set = 0, binding = 1) uniform sampler s[10];
layout(location = 0) in vec4 at;
layout(location = 0) out vec4 color;
const ivec2 four[4] = ivec2[4](ivec2(0, 1), ivec2(1, 0), ivec2(-1, 0), ivec2(0, -1));
void main() {
    color = textureGrad(sampler2D(image, s[0]), at.xy, at.zw, at.wz);
    color += textureProj(sampler2D(image, s[1]), at);
    color += textureOffset(sampler2D(image, s[2]), at.xy, ivec2(1, -1), 0.5);
    color += textureProjLodOffset(sampler2D(image, s[3]), at.xyz, 0.0, ivec2(2));
    color += textureGather(sampler2D(image, s[4]), at.xy, 2);
    color += textureGatherOffsets(sampler2D(image, s[5]), at.xy, four);
    color += textureGatherOffset(sampler2D(image, s[6]), at.xy, ivec2(at.zw));
    color.xy += textureQueryLod(sampler2D(image, s[7]), at.xy);
    color += textureLod(sampler2D(image, s[8]), at.xy, at.z);
    color += textureProjGradOffset(sampler2D(image, s[9]), at, at.xy, at.zw, ivec2(1));
}
//= main fragment
//= 0:0 + 0:1[0 of 10] 2D float GRAD
//= 0:0 + 0:1[1 of 10] 2D float IMPLICIT PROJ
//= 0:0 + 0:1[2 of 10] 2D float IMPLICIT BIAS OFFSET
//= 0:0 + 0:1[3 of 10] 2D float LOD0 PROJ OFFSET
//= 0:0 + 0:1[4 of 10] 2D float GATHER
//= 0:0 + 0:1[5 of 10] 2D float CONST_OFFSETS GATHER
//= 0:0 + 0:1[6 of 10] 2D float OFFSET GATHER
//= 0:0 + 0:1[7 of 10] 2D float QUERY_LOD
//= 0:0 + 0:1[8 of 10] 2D float LOD
//= 0:0 + 0:1[9 of 10] 2D float GRAD PROJ OFFSET
