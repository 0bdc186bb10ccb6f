// Samples one texture per fragment with implicit LOD; the coordinate is projective in the position.
//
// Macros as in sample.comp; the fourth LOOKUP argument is the LOD bias of the instruction.
#version 450

layout(location = 0) in vec2 position;
layout(location = 0) out VALUE colour;

#ifdef ACCESS_SEPARATE
layout(set = 0, binding = 0) uniform TEXTURE image;
layout(set = 0, binding = 1) uniform SAMPLER_STATE state;
#define PAIR SAMPLER(image, state)
#else
layout(set = 0, binding = 0) uniform SAMPLER pair;
#define PAIR pair
#endif

layout(push_constant) uniform Mapping {
    vec4 origin;
    vec4 dx;
    vec4 dy;
    vec4 divisor;
    float reference;
    float bias;
};

void main() {
    float w = divisor.x + divisor.y * position.x + divisor.z * position.y;
    vec4 coord = (origin + dx * position.x + dy * position.y) / w;
    colour = LOOKUP(PAIR, coord, reference, bias);
}
