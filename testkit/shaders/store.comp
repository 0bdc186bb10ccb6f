// Reads or writes each texel of a storage image. The build script defines IMAGE, VALUE, FORMAT, INTO(words) and FROM(value), and READS to
// read. The format in the module is one of the extended list, and gives way to the one that is tested.
#version 450

layout(local_size_x = 64) in;

#ifdef READS
layout(set = 0, binding = 0, FORMAT) uniform readonly IMAGE image;
#else
layout(set = 0, binding = 0, FORMAT) uniform writeonly IMAGE image;
#endif
layout(set = 0, binding = 1) buffer Words { uvec4 words[]; };

void main() {
    uint n = gl_GlobalInvocationID.x;
    ivec2 size = imageSize(image);
    ivec2 at = ivec2(n % size.x, n / size.x);
#ifdef READS
    words[n] = FROM(imageLoad(image, at));
#else
    imageStore(image, at, INTO(words[n]));
#endif
}
