// Images and samplers in bindings of their own, which the shader joins in the ways that programs do; compute or fragment.
//
// The build script defines FRAGMENT or not, one program (ONE, SHARED, …), STATES (the set of the samplers; images are in set 0)
// and, for the kinds A and B of the images, TEXTURE_, COMBINED_, JOIN_(image, state) and BITS_(v). Every lookup has an explicit LOD, so that both
// stages give the same values; invocation i stores what it found for point i, lookup after lookup.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_nonuniform_qualifier : require

#ifndef FRAGMENT
layout(local_size_x = 64) in;
#endif

struct Point {
    vec4 coord;
    float lod;
    float reference;
    float unused0;
    float unused1;
};

layout(std430, set = 2, binding = 0) readonly buffer Points { Point points[]; };
layout(std430, set = 2, binding = 1) writeonly buffer Results { uvec4 results[]; };
layout(push_constant) uniform Push {
    uint count;
    uint element;
};

#define IMAGE(number) layout(set = 0, binding = number) uniform
#define STATE(number) layout(set = STATES, binding = number) uniform
#define LOOK_A(image, state) BITS_A(textureLod(JOIN_A(image, state), point.coord.xy, point.lod))
#define LOOK_B(image, state) BITS_B(textureLod(JOIN_B(image, state), point.coord.xy, point.lod))

#if defined(ONE)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A image;
STATE(1) sampler state;

#elif defined(SHARED)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A first;
IMAGE(2) TEXTURE_B second;
STATE(1) sampler state;

#elif defined(CALLS)
#define LOOKUPS 3
IMAGE(0) TEXTURE_A first;
IMAGE(2) TEXTURE_A second;
STATE(1) sampler one;
STATE(3) sampler other;

uvec4 inner(TEXTURE_A image, sampler state, Point point) {
    return LOOK_A(image, state);
}

uvec4 outer(Point point, sampler state, TEXTURE_A image) {
    return inner(image, state, point);
}

#elif defined(CONSTANT)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A images[3];
STATE(1) sampler states[2];

#elif defined(SPECIAL)
#define LOOKUPS 1
layout(constant_id = 0) const uint IMAGE_ELEMENT = 0;
layout(constant_id = 1) const uint STATE_ELEMENT = 0;
IMAGE(0) TEXTURE_A images[3];
STATE(1) sampler states[2];

#elif defined(DYNAMIC)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A images[3];
STATE(1) sampler state;

#elif defined(SAMPLERS)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A first;
IMAGE(2) TEXTURE_B second;
STATE(1) sampler states[2];

#elif defined(PAIRS)
#define LOOKUPS 1
layout(set = 0, binding = 0) uniform COMBINED_A pairs[3];

#elif defined(FETCH)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A fetched;
IMAGE(2) TEXTURE_B sampled;
STATE(1) sampler state;

#elif defined(SALTED)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A image;
STATE(1) sampler state;
layout(set = 0, binding = 2) uniform Salt { uint salt; };

#elif defined(ABOVE)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A image;
STATE(1) sampler state;
layout(set = 3, binding = 0) uniform Salt { uint salt; };

#elif defined(PLAIN)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A fetched;
layout(set = 3, binding = 0) uniform Salt { uint salt; };

#elif defined(BESIDE)
#define LOOKUPS 3
IMAGE(0) TEXTURE_A image;
STATE(1) sampler state;
layout(set = 0, binding = 2) uniform COMBINED_A pair;
STATE(3) sampler other;

#elif defined(COMPARED)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A image;
STATE(1) samplerShadow state;

#elif defined(BOTH)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A image;
STATE(1) samplerShadow compared;
STATE(1) sampler state;

#elif defined(SHADOWS)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A first;
IMAGE(2) TEXTURE_A second;
STATE(1) samplerShadow state;

#elif defined(DYNAMIC_SHADOWS)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A images[3];
STATE(1) samplerShadow state;

#elif defined(GATHER)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A first;
IMAGE(2) TEXTURE_B second;
STATE(1) sampler state;

#elif defined(ALIASED)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A first;
IMAGE(2) TEXTURE_B second;
STATE(1) sampler state;
STATE(1) sampler same;

#elif defined(NONUNIFORM)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A images[3];
STATE(1) sampler state;

#elif defined(QUERIED)
#define LOOKUPS 2
IMAGE(0) TEXTURE_A asked;
IMAGE(2) TEXTURE_B sampled;
STATE(1) sampler state;

#elif defined(WORLD)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A images[4096];
STATE(1) sampler states[64];

#elif defined(GLOBAL)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A image;
STATE(1) sampler states[4000];

#elif defined(TABLES) || defined(LOOPS)
#define LOOKUPS 3
IMAGE(0) TEXTURE_A images[100];
STATE(1) sampler states[32];

uvec4 joined(TEXTURE_A image, sampler state, Point point) {
    return LOOK_A(image, state);
}

#elif defined(MIXED)
#define LOOKUPS 1
IMAGE(0) TEXTURE_B others[100];
IMAGE(0) TEXTURE_A images[100];
STATE(1) sampler states[32];

#elif defined(QUADS)
#define LOOKUPS 1
IMAGE(0) TEXTURE_A images[];
STATE(1) sampler states[32];

#elif defined(ENGINE)
#define LOOKUPS 4
IMAGE(0) TEXTURE_A atlas;
IMAGE(2) TEXTURE_A decals;
STATE(1) sampler clamped;
STATE(3) sampler repeated;
layout(set = 3, binding = 0) uniform TEXTURE_A albedo;

uvec4 look(TEXTURE_A image, Point point) {
    return LOOK_A(image, clamped);
}

uvec4 look_again(TEXTURE_A image, Point point) {
    return look(image, point);
}

uvec4 look_repeated(TEXTURE_A image, Point point) {
    return LOOK_A(image, repeated);
}
#endif

void main() {
#ifdef FRAGMENT
    uint index = uint(gl_FragCoord.x);
#else
    uint index = gl_GlobalInvocationID.x;
#endif
    if (index >= count) {
        return;
    }
    Point point = points[index];
    uint at = index * LOOKUPS;
#if defined(ONE)
    results[at] = LOOK_A(image, state);
#elif defined(SHARED)
    results[at] = LOOK_A(first, state);
    results[at + 1] = LOOK_B(second, state);
#elif defined(CALLS)
    results[at] = outer(point, one, first);
    results[at + 1] = outer(point, one, second);
    results[at + 2] = outer(point, other, second);
#elif defined(CONSTANT)
    results[at] = LOOK_A(images[2], states[1]);
    results[at + 1] = LOOK_A(images[0], states[0]);
#elif defined(SPECIAL)
    results[at] = LOOK_A(images[IMAGE_ELEMENT], states[STATE_ELEMENT]);
#elif defined(DYNAMIC)
    results[at] = LOOK_A(images[element], state);
#elif defined(PAIRS)
    results[at] = BITS_A(textureLod(pairs[element], point.coord.xy, point.lod));
#elif defined(FETCH)
    results[at] = BITS_A(texelFetch(fetched, ivec2(0), 0));
    results[at + 1] = LOOK_B(sampled, state);
#elif defined(SALTED) || defined(ABOVE)
    results[at] = LOOK_A(image, state) ^ salt;
#elif defined(PLAIN)
    results[at] = BITS_A(texelFetch(fetched, ivec2(0), 0)) ^ salt;
#elif defined(BESIDE)
    results[at] = LOOK_A(image, state);
    results[at + 1] = BITS_A(textureLod(pair, point.coord.xy, point.lod));
    results[at + 2] = LOOK_A(image, other);
#elif defined(COMPARED)
    results[at] = BITS_A(vec4(textureLod(sampler2DShadow(image, state), vec3(point.coord.xy, point.reference), point.lod)));
#elif defined(BOTH)
    results[at] = BITS_A(vec4(textureLod(sampler2DShadow(image, compared), vec3(point.coord.xy, point.reference), point.lod)));
    results[at + 1] = LOOK_A(image, state);
#elif defined(SHADOWS)
    vec3 place = vec3(point.coord.xy, point.reference);
    results[at] = BITS_A(vec4(textureLod(sampler2DShadow(first, state), place, point.lod)));
    results[at + 1] = BITS_A(vec4(textureLod(sampler2DShadow(second, state), place, point.lod)));
#elif defined(DYNAMIC_SHADOWS)
    vec3 place = vec3(point.coord.xy, point.reference);
    results[at] = BITS_A(vec4(textureLod(sampler2DShadow(images[element], state), place, point.lod)));
#elif defined(SAMPLERS)
    results[at] = LOOK_A(first, states[element]);
    results[at + 1] = LOOK_B(second, states[element]);
#elif defined(GATHER)
    results[at] = BITS_A(textureGather(JOIN_A(first, state), point.coord.xy));
    results[at + 1] = LOOK_B(second, state);
#elif defined(ALIASED)
    results[at] = LOOK_A(first, state);
    results[at + 1] = LOOK_B(second, same);
#elif defined(NONUNIFORM)
    results[at] = LOOK_A(images[nonuniformEXT(index % 3)], state);
#elif defined(QUERIED)
    results[at] = uvec4(textureSize(JOIN_A(asked, state), 0), 0, 0);
    results[at + 1] = LOOK_B(sampled, state);
#elif defined(WORLD)
    results[at] = LOOK_A(images[uint(point.unused0)], states[uint(point.unused1)]);
#elif defined(GLOBAL)
    results[at] = LOOK_A(image, states[element]);
#elif defined(TABLES)
    uint one = index % 4 * 30 + 7, other = index / 4 % 4 * 10 + 1;
    results[at] = LOOK_A(images[nonuniformEXT(one)], states[nonuniformEXT(other)]);
    results[at + 1] = LOOK_A(images[element * 30 + 7], states[element * 10 + 1]);
    results[at + 2] = joined(images[(element + 1) % 4 * 30 + 7], states[element * 10 + 1], point);
#elif defined(LOOPS)
    // Every fragment looks each pair up, and keeps its own.
    for (uint pair = 0; pair < 16; ++pair) {
        uvec4 found = LOOK_A(images[pair % 4 * 30 + 7], states[pair / 4 * 10 + 1]);
        if (pair == index % 16) {
            results[at] = found;
        }
    }
    results[at + 1] = LOOK_A(images[element * 30 + 7], states[element * 10 + 1]);
    results[at + 2] = joined(images[(element + 1) % 4 * 30 + 7], states[element * 10 + 1], point);
#ifdef FRAGMENT
    if (index % 2 == 1) {
        discard;
    }
    results[at + 2] = joined(images[(element + 1) % 4 * 30 + 7], states[element * 10 + 1], point);
#endif
#elif defined(MIXED)
    uint one = index % 4 * 30 + 7, other = index / 4 % 4 * 10 + 1;
    if (element > 9u) {
        results[at] = LOOK_B(others[nonuniformEXT(one)], states[nonuniformEXT(other)]);
    } else {
        results[at] = LOOK_A(images[nonuniformEXT(one)], states[nonuniformEXT(other)]);
    }
#elif defined(QUADS)
    uint one = index % 4 * 30 + 7, other = index / 4 % 4 * 10 + 1;
    vec2 place = vec2(float(index * index) * 0.0007, float(index) * 0.013);
#ifdef FRAGMENT
    results[at] = BITS_A(texture(JOIN_A(images[nonuniformEXT(one)], states[nonuniformEXT(other)]), place));
#else
    results[at] = BITS_A(textureLod(JOIN_A(images[nonuniformEXT(one)], states[nonuniformEXT(other)]), place, 0.0));
#endif
#elif defined(ENGINE)
    results[at] = look_again(atlas, point);
    results[at + 1] = look(decals, point);
    results[at + 2] = look_again(albedo, point);
    results[at + 3] = look_repeated(albedo, point);
#endif
}
