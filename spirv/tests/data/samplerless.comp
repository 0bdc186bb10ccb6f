//# vulkan1.1
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform texture2D image;
layout(set = 0, binding = 1) uniform textureBuffer texels;
layout(set = 0, binding = 2, rgba8) uniform image2D stored;
void main() {
    imageStore(stored, ivec2(0), texelFetch(image, ivec2(1), 0) + texelFetch(texels, 1) + imageLoad(stored, ivec2(1)));
}
//= main compute
