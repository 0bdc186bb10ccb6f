//# vulkan1.1
#version 450
// Operations of every kind on specialization constants.
layout(constant_id = 0) const uint a = 13u;
layout(constant_id = 1) const int b = -7;
layout(constant_id = 2) const bool c = true;
layout(set = 0, binding = 0) uniform texture2D images[64];
layout(set = 0, binding = 1) uniform sampler s;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
const uint quotient = a / 3u;                     // 4
const uint rest = a % 5u;                         // 3
const uint bits = ((a << 2u) | 1u) & 0x3fu;       // 53
const uint turned = (a ^ 6u) >> 1u;               // 5
const int chosen = (c && b < 0) ? -b : 0;         // 7
const int signed_ = (b / 2) + 40;                 // 37
const uint converted = uint(b + 8);               // 1
const int compared = (a >= 13u) != (b == 2) ? 9 : 10; // 9
void main() {
    vec4 sum = texture(sampler2D(images[quotient], s), uv) + texture(sampler2D(images[rest], s), uv);
    sum += texture(sampler2D(images[bits], s), uv) + texture(sampler2D(images[turned], s), uv);
    sum += texture(sampler2D(images[chosen], s), uv) + texture(sampler2D(images[signed_], s), uv);
    sum += texture(sampler2D(images[converted], s), uv) + texture(sampler2D(images[compared], s), uv);
    color = sum;
}
//= main fragment spec
//= 0:0[4 of 64] + 0:1 2D float IMPLICIT
//= 0:0[3 of 64] + 0:1 2D float IMPLICIT
//= 0:0[53 of 64] + 0:1 2D float IMPLICIT
//= 0:0[5 of 64] + 0:1 2D float IMPLICIT
//= 0:0[7 of 64] + 0:1 2D float IMPLICIT
//= 0:0[37 of 64] + 0:1 2D float IMPLICIT
//= 0:0[1 of 64] + 0:1 2D float IMPLICIT
//= 0:0[9 of 64] + 0:1 2D float IMPLICIT
//= main fragment spec 0=20 1=3 2=0
//= 0:0[6 of 64] + 0:1 2D float IMPLICIT
//= 0:0[0 of 64] + 0:1 2D float IMPLICIT
//= 0:0[17 of 64] + 0:1 2D float IMPLICIT
//= 0:0[9 of 64] + 0:1 2D float IMPLICIT
//= 0:0[41 of 64] + 0:1 2D float IMPLICIT
//= 0:0[11 of 64] + 0:1 2D float IMPLICIT
