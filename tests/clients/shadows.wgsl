// Boxes on a floor under two lights with a shadow map each, for tests/clients/dawn.mjs and tests/clients/wgpu. Geometry, lights and
// camera are in here, so that both programs draw the same.

override LIGHT: u32 = 0u;

@group(0) @binding(0) var tiles: texture_2d<f32>;
@group(0) @binding(1) var smoothly: sampler;
@group(0) @binding(2) var maps: texture_depth_2d_array;
@group(0) @binding(3) var nearer: sampler_comparison;

struct Out {
    @builtin(position) position: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
}

struct Box {
    centre: vec3f,
    half: vec3f,
}

const BOXES = array<Box, 5>(
    Box(vec3f(0.0, -0.1, 0.0), vec3f(5.0, 0.1, 5.0)),
    Box(vec3f(-1.5, 0.7, 0.5), vec3f(0.5, 0.7, 0.5)),
    Box(vec3f(1.2, 0.4, -1.0), vec3f(0.8, 0.4, 0.4)),
    Box(vec3f(0.4, 1.5, 1.3), vec3f(0.3, 0.3, 0.3)),
    Box(vec3f(2.2, 1.0, 1.6), vec3f(0.2, 1.0, 0.2)),
);
const LIGHTS = array<vec3f, 2>(vec3f(4.0, 6.0, 3.0), vec3f(-5.0, 4.0, 2.0));
const COLOURS = array<vec3f, 2>(vec3f(0.7, 0.6, 0.5), vec3f(0.2, 0.3, 0.5));
const EYE = vec3f(3.0, 4.5, 7.0);
const CORNERS = array<u32, 6>(0u, 1u, 2u, 2u, 1u, 3u);

// A point relative to `eye`: to the right, up and ahead, for one that looks at the middle.
fn seen(eye: vec3f, world: vec3f) -> vec3f {
    let ahead = normalize(-eye);
    let right = normalize(cross(ahead, vec3f(0.0, 1.0, 0.0)));
    let up = cross(right, ahead);
    let far = world - eye;
    return vec3f(dot(right, far), dot(up, far), dot(ahead, far));
}

// Where a point is in the shadow map of a light.
fn lit(light: u32, world: vec3f) -> vec3f {
    var lights = LIGHTS;
    return seen(lights[light], world) / vec3f(7.0, 7.0, 16.0);
}

fn vertex(number: u32, instance: u32) -> Out {
    var corners = CORNERS;
    var boxes = BOXES;
    let corner = corners[number % 6u];
    let side = number / 6u;
    let sign = select(-1.0, 1.0, side < 3u);
    let along = vec2f(f32(corner & 1u), f32(corner >> 1u)) * 2.0 - 1.0;
    var at = vec3f(sign, along);
    var normal = vec3f(sign, 0.0, 0.0);
    if side % 3u == 1u {
        at = at.zxy;
        normal = normal.zxy;
    } else if side % 3u == 2u {
        at = at.yzx;
        normal = normal.yzx;
    }
    let world = boxes[instance].centre + at * boxes[instance].half;
    return Out(vec4f(0.0), world, normal);
}

@vertex
fn obstruct(@builtin(vertex_index) number: u32, @builtin(instance_index) instance: u32) -> @builtin(position) vec4f {
    return vec4f(lit(LIGHT, vertex(number, instance).world), 1.0);
}

@vertex
fn place(@builtin(vertex_index) number: u32, @builtin(instance_index) instance: u32) -> Out {
    var out = vertex(number, instance);
    let at = seen(EYE, out.world);
    out.position = vec4f(at.xy * 1.8, at.z - 1.0, at.z * 1.05);
    return out;
}

@fragment
fn shade(point: Out) -> @location(0) vec4f {
    let normal = normalize(point.normal);
    var lights = LIGHTS;
    var colours = COLOURS;
    var sum = vec3f(0.1);
    for (var light = 0u; light < 2u; light++) {
        let at = lit(light, point.world);
        let uv = at.xy * vec2f(0.5, -0.5) + 0.5;
        let visible = textureSampleCompareLevel(maps, nearer, uv, light, at.z - 0.01);
        sum += colours[light] * visible * max(dot(normal, normalize(lights[light])), 0.0);
    }
    let tile = textureSampleLevel(tiles, smoothly, point.world.xz * 0.37, 0.0).rgb;
    return vec4f(tile * sum, 1.0);
}
