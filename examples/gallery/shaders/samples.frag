// Rings around the place of each sample.
#version 450

layout(location = 0) sample in vec2 position;
layout(location = 0) out vec4 colour;

void main() {
    vec2 place = position + (gl_SamplePosition - 0.5) / 192.0;
    float ring = 0.5 + 0.5 * cos(length(place - 0.5) * 40.0);
    colour = vec4(place.x * ring, place.y, float(gl_SampleID + 1) * (1.0 - ring), 1.0);
}
