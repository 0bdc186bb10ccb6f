//# vulkan1.3
#version 450
// One sampler for several images, in different sets.
layout(set = 0, binding = 0) uniform sampler shared_;
layout(set = 1, binding = 0) uniform texture2D albedo;
layout(set = 1, binding = 1) uniform utexture2D ids;
layout(set = 2, binding = 0) uniform itexture3D volume;
layout(set = 2, binding = 1) uniform textureCubeArray sky;
layout(location = 0) in vec4 at;
layout(location = 0) out vec4 color;
void main() {
    color = texture(sampler2D(albedo, shared_), at.xy);
    color += vec4(texture(usampler2D(ids, shared_), at.xy));
    color += vec4(texture(isampler3D(volume, shared_), at.xyz));
    color += texture(samplerCubeArray(sky, shared_), at);
}
//= main fragment
//= 1:0 + 0:0 2D float IMPLICIT
//= 1:1 + 0:0 2D uint IMPLICIT
//= 2:0 + 0:0 3D sint IMPLICIT
//= 2:1 + 0:0 cube array float IMPLICIT
