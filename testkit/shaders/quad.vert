// A triangle that covers the viewport; `position` runs from (0, 0) at the top left to (1, 1) at the bottom right.
#version 450

layout(location = 0) out vec2 position;

void main() {
    position = vec2(float((gl_VertexIndex << 1) & 2), float(gl_VertexIndex & 2));
    gl_Position = vec4(position * 2.0 - 1.0, 0.0, 1.0);
}
