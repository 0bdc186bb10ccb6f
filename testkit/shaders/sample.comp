// Samples one texture at a list of points with explicit LOD and stores the raw bits of each result.
//
// The build script defines SAMPLER, TEXTURE, SAMPLER_STATE, VALUE, BITS(v), LOOKUP(texture, coordinate, reference, lod)
// and one ACCESS_ macro.
#version 450

// Derivatives, in normalised coordinates, that ask for level `l` of a 2D texture.
#define STEP(l) ((l) <= 0.0 ? 0.0 : exp2(l))
#define GRADIENT_X(s, l) vec2(STEP(l) / float(textureSize(s, 0).x), 0.0)
#define GRADIENT_Y(s, l) vec2(0.0, STEP(l) / float(textureSize(s, 0).y))

layout(local_size_x = 64) in;

#if defined(ACCESS_SINGLE)
layout(set = 0, binding = 0) uniform SAMPLER pair;
#define PAIR pair
#elif defined(ACCESS_ARRAY)
layout(constant_id = 0) const uint COUNT = 1;
layout(constant_id = 1) const uint ELEMENT = 0;
layout(set = 0, binding = 0) uniform SAMPLER pair[COUNT];
#define PAIR pair[ELEMENT]
#elif defined(ACCESS_SEPARATE)
layout(set = 0, binding = 0) uniform TEXTURE image;
layout(set = 0, binding = 1) uniform SAMPLER_STATE state;
#define PAIR SAMPLER(image, state)
#endif

struct Point {
    vec4 coord;
    float lod;
    float reference;
    float unused0;
    float unused1;
};

layout(std430, set = 1, binding = 0) readonly buffer Points { Point points[]; };
layout(std430, set = 1, binding = 1) writeonly buffer Results { uvec4 results[]; };
layout(push_constant) uniform Size { uint count; };

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) {
        return;
    }
    Point point = points[index];
    VALUE value = LOOKUP(PAIR, point.coord, point.reference, point.lod);
    results[index] = BITS(value);
}
