// How many places of the panel are of each shade, by OpenGL's atomic counters; compiled for OpenGL.
#version 460

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Shades { uint shades[]; };
layout(binding = 0, offset = 0) uniform atomic_uint counts[16];

void main() {
    uint place = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * 8 + gl_GlobalInvocationID.x;
    atomicCounterIncrement(counts[shades[place] / 16]);
}
