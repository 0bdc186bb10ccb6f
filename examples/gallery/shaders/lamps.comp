// Adds the light of three lamps to an image of small floats, one after the other.
#version 450

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, r11f_g11f_b10f) uniform image2D light;

const vec2 places[3] = vec2[](vec2(0.3, 0.35), vec2(0.72, 0.3), vec2(0.5, 0.72));
const vec3 colours[3] = vec3[](vec3(1.0, 0.35, 0.1), vec3(0.15, 0.9, 0.4), vec3(0.2, 0.4, 1.0));

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    for (int lamp = 0; lamp < 3; lamp++) {
        float away = length((vec2(at) + 0.5) / 192.0 - places[lamp]);
        float ring = 0.6 + 0.4 * cos(away * 90.0);
        vec3 shed = colours[lamp] * ring * 0.06 / (0.004 + away * away);
        imageStore(light, at, imageLoad(light, at) + vec4(shed, 0.0));
    }
}
