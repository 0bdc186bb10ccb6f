//# vulkan1.1
#version 450
// The image is a parameter, the sampler is not.
layout(set = 0, binding = 7) uniform sampler material;
layout(set = 1, binding = 4) uniform texture2D shadow_atlas;
layout(set = 1, binding = 5) uniform texture2D decals;
layout(location = 0) in vec3 at;
layout(location = 0) out vec4 color;
float depth(texture2D map) {
    float sum = 0.0;
    for (int i = 0; i < 4; i++) {
        if (at.z > float(i)) {
            sum += textureLod(sampler2D(map, material), at.xy + float(i), 0.0).r;
        }
    }
    return sum;
}
void main() { color = vec4(depth(shadow_atlas), depth(decals), 0.0, 1.0); }
//= main fragment
//= 1:4 + 0:7 2D float LOD0
//= 1:5 + 0:7 2D float LOD0
