//# vulkan1.1
#version 450
#extension GL_ARB_sparse_texture2 : require
#extension GL_ARB_sparse_texture_clamp : require
layout(set = 0, binding = 0) uniform sampler2D pair;
layout(set = 0, binding = 1) uniform sampler2DArrayShadow layers;
layout(location = 0) in vec4 at;
layout(location = 0) out vec4 color;
void main() {
    vec4 texel = vec4(0.0);
    float lit = 0.0;
    int code = sparseTextureARB(pair, at.xy, texel);
    color = texel;
    code += sparseTextureClampARB(pair, at.xy, at.z, texel);
    color += texel;
    code += sparseTextureGatherARB(pair, at.xy, texel);
    color += texel;
    code += sparseTexelFetchARB(pair, ivec2(at.xy), 0, texel);
    color += texel;
    code += sparseTextureARB(layers, at, lit);
    color += texel * lit * float(code) + textureClampARB(pair, at.xy, 1.0);
}
//= main fragment
//= 0:0 + 0:0 2D float IMPLICIT MINLOD GATHER SPARSE COMBINED FETCH
//= 0:1 + 0:1 2D array float IMPLICIT DREF SPARSE COMBINED
