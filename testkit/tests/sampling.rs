//! Shaders that the pass `sampling` has rewritten, on a driver, without the layer: with tasks that ask for nothing they draw what
//! the original draws, bit by bit; with others what OpenGL says.

use ash::vk;
use samplin_compiler::Language;
use samplin_spirv::sampling::{Keys, Limits, Passes, Slot, Task, flags, sampling};
use samplin_spirv::{Module, Operand};
use samplin_suite::opengl;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined, write_images};
use samplin_testkit::held::write_uniform;
use samplin_testkit::lookup::{ResultKind, Shape};
use samplin_testkit::shader::{Bind, Probe};
use samplin_testkit::{
    Buffer, Capability, Context, Image, ImageDesc, Mapping, Painter, Pair, SamplePoint, Sampler, SamplerDesc, Value,
    View, ViewDesc, skip,
};

/// Where tasks are, in the set that the pair is in.
const TASKS: u32 = 5;

const LIMITS: Limits = Limits { lod_bias: 16.0 };

/// A task that asks for nothing.
const PLAIN: Task = Task { flags: 0, bias: 0.0, min_lod: 0.0, max_lod: 1000.0 };

/// A task for the pair alone.
const KEYS: Keys<'_> = Keys::Block { set: 0, binding: TASKS, count: 1 };

/// Pixels on each side of what a fragment shader paints.
const SIDE: u32 = 32;

// --- shaders --------------------------------------------------------------------------------------------------------

const COMPUTE: &str = "#version 450
layout(local_size_x = 64) in;
struct Point { vec4 coord; float lod; float reference; float unused0; float unused1; };
layout(std430, set = 1, binding = 0) readonly buffer Points { Point points[]; };
layout(std430, set = 1, binding = 1) writeonly buffer Results { uvec4 results[]; };
layout(push_constant) uniform Size { uint count; };
DECLARE
void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) {
        return;
    }
    vec4 p = points[index].coord;
    float l = points[index].lod;
    float d = points[index].reference;
    results[index] = floatBitsToUint(vec4(LOOKUP));
}
";

const FRAGMENT: &str = "#version 450
layout(location = 0) out vec4 colour;
layout(push_constant) uniform Mapping { vec4 origin; vec4 dx; vec4 dy; vec4 divisor; float d; float l; };
DECLARE
void main() {
    // Interpolation would not be exact.
    vec2 at = gl_FragCoord.xy / 32.0;
    vec4 p = origin + dx * at.x + dy * at.y;
    colour = vec4(LOOKUP);
}
";

/// A shader that looks up once.
fn source(fragment: bool, declare: &str, lookup: &str) -> String {
    let template = if fragment { FRAGMENT } else { COMPUTE };
    template.replace("DECLARE", declare).replace("LOOKUP", lookup)
}

fn compile(fragment: bool, source: &str) -> Vec<u32> {
    samplin_compiler::compile(Language::Glsl("vulkan1.0"), if fragment { "frag" } else { "comp" }, source)
}

/// The original, and what the pass makes of it.
fn rewrite(words: &[u32], fragment: bool, keys: Keys<'_>, passes: Passes, limits: Limits) -> Vec<u32> {
    let module = Module::read(words).expect("a module");
    let model = if fragment { 4 } else { 5 };
    let links = module.links("main", model, None).expect("links");
    let operands: Vec<(Operand, Operand)> = links
        .iter()
        .filter(|link| link.uses.samples())
        .map(|link| (link.image.expect("an image"), link.sampler.expect("a sampler")))
        .collect();
    let slots: Vec<Slot> = operands
        .iter()
        .map(|(image, sampler)| Slot { image: *image, sampler: *sampler, first: 0, passes, row: 0 })
        .collect();
    let sampled = sampling(&module, "main", model, None, keys, &slots, limits).expect("a module");
    assert!(sampled.changed > 0 && sampled.left.is_empty(), "{:?}", sampled.left);
    sampled.words
}

/// What a shader is asked about, and how.
#[derive(Clone, Debug)]
struct Case {
    shape: Shape,
    shadow: bool,
    separate: bool,
    /// Whether it is a fragment shader, with derivatives.
    fragment: bool,
    /// GLSL, of `pair`, a coordinate `p`, a reference `d` and a level of detail, a bias or anything `l`.
    lookup: String,
    /// In texels.
    offset: [i32; 3],
    gather: Gather,
    /// Whether `l` is a bias.
    biased: bool,
    /// Whether levels of detail are whole numbers.
    whole: bool,
    /// Whether neighbours have the same: llvmpipe 22 magnifies none where it minifies one.
    alike: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Gather {
    No,
    Four,
    /// One texel each, with these offsets.
    Offsets([[i32; 3]; 4]),
}

impl Case {
    fn axes(&self) -> usize {
        match self.shape {
            Shape::D1 | Shape::D1Array => 1,
            Shape::D3 => 3,
            _ => 2,
        }
    }

    fn source(&self) -> String {
        let suffix = match self.shape {
            Shape::D1 => "1D",
            Shape::D1Array => "1DArray",
            Shape::D2 => "2D",
            Shape::D2Array => "2DArray",
            _ => "3D",
        };
        let shadow = if self.shadow { "Shadow" } else { "" };
        let declare = if self.separate {
            format!(
                "layout(set = 0, binding = 0) uniform texture{suffix} image;\n\
                 layout(set = 0, binding = 1) uniform sampler{shadow} state;\n\
                 #define pair sampler{suffix}{shadow}(image, state)"
            )
        } else {
            format!("layout(set = 0, binding = 0) uniform sampler{suffix}{shadow} pair;")
        };
        source(self.fragment, &declare, &self.lookup)
    }

    /// Whether levels of detail are made of logarithms, which are the device's.
    fn computes(&self) -> bool {
        self.fragment || self.lookup.contains("Grad")
    }

    /// The pipeline for words of a module.
    fn program<'c>(&self, context: &'c Context, layout: &SetLayout<'c>, words: &[u32]) -> Program<'c> {
        if self.fragment {
            let painter = Painter::of_words(context, layout, ResultKind::Float, words, [SIDE, SIDE]);
            return Program::Fragment(painter.expect("32-bit floats can be drawn to"));
        }
        Program::Compute(Probe::of_words(context, layout, ResultKind::Float, words))
    }

    /// What a lookup is, where `d` is what texels are compared with.
    fn lookup(&self, at: [f64; 4], d: f32, lambda: f64) -> Lookup {
        let arrayed = matches!(self.shape, Shape::D1Array | Shape::D2Array);
        Lookup {
            at: [at[0], at[1], at[2]],
            layer: if arrayed { at[self.axes()].clamp(0.0, 2.0) as u32 } else { 0 },
            offset: self.offset,
            lambda,
            reference: self.shadow.then_some(f64::from(d)),
        }
    }

    /// All lookups that are compared, those of a fragment shader row by row for each mapping.
    fn lookups(&self, size: [i64; 3]) -> Vec<Lookup> {
        if !self.fragment {
            return points(self)
                .iter()
                .map(|point| {
                    let lambda = if self.gather == Gather::No { f64::from(point.lod) } else { 0.0 };
                    self.lookup(point.coord.map(f64::from), point.reference, lambda)
                })
                .collect();
        }
        let mut all = Vec::new();
        for mapping in mappings(self) {
            let length = |step: [f32; 4]| {
                let texels = (0..self.axes()).map(|n| f64::from(step[n]) / f64::from(SIDE) * size[n] as f64);
                texels.map(|texels| texels * texels).sum::<f64>().sqrt()
            };
            let bias = if self.biased { f64::from(mapping.bias) } else { 0.0 };
            let lambda = length(mapping.dx).max(length(mapping.dy)).log2() + bias;
            for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
                let place = |n: u32| (f64::from(n) + 0.5) / f64::from(SIDE);
                let at = std::array::from_fn(|n| {
                    let (origin, dx, dy) = (mapping.origin[n], mapping.dx[n], mapping.dy[n]);
                    f64::from(origin) + f64::from(dx) * place(x) + f64::from(dy) * place(y)
                });
                all.push(self.lookup(at, mapping.reference, lambda));
            }
        }
        all
    }
}

enum Program<'c> {
    Compute(Probe<'c>),
    Fragment(Painter<'c>),
}

impl Program<'_> {
    /// What all lookups of a case find.
    fn run(&self, case: &Case, set: vk::DescriptorSet) -> Vec<Value> {
        match self {
            Program::Compute(probe) => probe.run(&Bind::Set(set), &points(case)),
            Program::Fragment(painter) => {
                mappings(case).iter().flat_map(|mapping| painter.paint(set, mapping)).collect()
            }
        }
    }
}

/// Texel edges, what is between them, and far outside.
fn points(case: &Case) -> Vec<SamplePoint> {
    let mut lattice: Vec<f32> = (-40..=72).map(|n| n as f32 / 32.0).collect();
    lattice.extend([-1e6, -100.3, -7.3, 7.3, 100.7, 1e6]);
    // Between two levels the nearer one's size counts, which is exact for the levels themselves only.
    let whole = case.offset != [0; 3] || case.whole;
    let levels: &[f32] = if whole { &[-1.0, 0.0, 1.0, 2.0, 5.0] } else { &[-0.5, 0.0, 0.25, 1.0, 1.7, 2.0, 5.0] };
    // Whole groups: what is left of one counts for llvmpipe as if it were magnified.
    (0..(2 * lattice.len()).next_multiple_of(64))
        .map(|n| {
            let mut coord = [n, n * 7 + 3, n * 13 + 5].map(|n| lattice[n % lattice.len()]).to_vec();
            coord.push(0.0);
            if matches!(case.shape, Shape::D1Array | Shape::D2Array) {
                coord[case.axes()] = (n % 3) as f32;
            }
            let coord = [coord[0], coord[1], coord[2], coord[3]];
            let lod = if case.alike { n / 64 } else { n };
            SamplePoint { coord, lod: levels[lod % levels.len()], reference: (n % 9) as f32 / 8.0 - 0.01 }
        })
        .collect()
}

/// Magnified, on the second level, and in between.
fn mappings(case: &Case) -> Vec<Mapping> {
    let mut all = Vec::new();
    let whole = case.offset != [0; 3] || case.whole;
    for (pixel, third) in [(1.0 / 16.0, -0.3), (1.0 / 16.0, 0.97), (1.0 / 4.0, 0.4), (1.0 / 5.0, 1.7), (1.0 / 4.0, 1.0)]
    {
        if whole && pixel == 1.0 / 5.0 {
            continue;
        }
        let side = SIDE as f32;
        // The corner is such that pixels see both ends of the texture exactly.
        let low = 0.5 - pixel * (side / 2.0 + 0.5);
        let mut mapping = Mapping::rectangle([low, low], [low + pixel * side, low + pixel * side]);
        mapping.origin[2] = third;
        if matches!(case.shape, Shape::D1Array | Shape::D2Array) {
            let layer = case.axes();
            (mapping.origin[layer], mapping.dx[layer], mapping.dy[layer]) = (1.0, 0.0, 0.0);
        }
        mapping.reference = 0.37;
        mapping.bias = if whole { 1.0 } else { 0.7 };
        all.push(mapping);
    }
    all
}

// --- OpenGL ---------------------------------------------------------------------------------------------------------

/// A texture of which the reference knows every texel.
struct Texture {
    axes: usize,
    extent: [u32; 3],
    levels: u32,
    texel: fn(level: u32, layer: u32, at: [u32; 3]) -> [f64; 4],
}

impl Texture {
    fn size(&self, level: u32) -> [i64; 3] {
        std::array::from_fn(|axis| if axis < self.axes { i64::from((self.extent[axis] >> level).max(1)) } else { 1 })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrap {
    Clamp,
    MirrorClamp,
    Repeat,
    Mirrored,
    Edge,
    /// Of Vulkan: mirrored once.
    MirrorEdge,
    Border,
}

/// The state of an OpenGL texture object.
#[derive(Clone, Copy, Debug)]
struct TextureState {
    mag_linear: bool,
    min_linear: bool,
    mip_linear: bool,
    wrap: [Wrap; 3],
    border: [f64; 4],
}

const BORDER: [f64; 4] = [1.0; 4];

/// Filters that are LINEAR, but for that between levels, and GL_CLAMP.
const LINEAR: TextureState =
    TextureState { mag_linear: true, min_linear: true, mip_linear: false, wrap: [Wrap::Clamp; 3], border: BORDER };

struct Lookup {
    /// s, t and r.
    at: [f64; 3],
    layer: u32,
    offset: [i32; 3],
    lambda: f64,
    /// What a depth has to be above.
    reference: Option<f64>,
}

/// What OpenGL 2.1 says in 3.8.7 to 3.8.9, and EXT_texture_mirror_clamp; with a note of how near it is to another texel where
/// that is a step.
fn gl(texture: &Texture, state: &TextureState, lookup: &Lookup) -> ([f64; 4], f64) {
    let last = f64::from(texture.levels - 1);
    // "If λ is less than or equal to the constant c, the texture is said to be magnified"; c may be 0 always.
    if lookup.lambda <= 0.0 {
        return level(texture, state, lookup, 0, state.mag_linear);
    }
    if !state.mip_linear {
        let d = (lookup.lambda + 0.5).ceil() - 1.0;
        let (value, near) = level(texture, state, lookup, d.clamp(0.0, last) as u32, state.min_linear);
        let half = (lookup.lambda - lookup.lambda.floor() - 0.5).abs();
        return (value, near.min(if lookup.lambda > last { 1.0 } else { half }));
    }
    let d = lookup.lambda.clamp(0.0, last);
    let (first, a) = level(texture, state, lookup, d.floor() as u32, state.min_linear);
    let (second, b) = level(texture, state, lookup, (d.floor() + 1.0).min(last) as u32, state.min_linear);
    let mixed = std::array::from_fn(|n| first[n] * (1.0 - d.fract()) + second[n] * d.fract());
    (mixed, a.min(b))
}

fn level(texture: &Texture, state: &TextureState, lookup: &Lookup, level: u32, linear: bool) -> ([f64; 4], f64) {
    let size = texture.size(level);
    let mut near = 1.0f64;
    let taps: Vec<Vec<(i64, f64)>> = (0..3)
        .map(|axis| {
            if axis >= texture.axes {
                return vec![(0, 1.0)];
            }
            let u = coordinate(state.wrap[axis], lookup.at[axis], lookup.offset[axis], size[axis]);
            if linear {
                let low = (u - 0.5).floor();
                return vec![(low as i64, 1.0 - (u - 0.5 - low)), (low as i64 + 1, u - 0.5 - low)];
            }
            if u == size[axis] as f64 && matches!(state.wrap[axis], Wrap::Clamp | Wrap::MirrorClamp) {
                // "The texel location becomes 2^n − 1 when s = 1."
                return vec![(size[axis] - 1, 1.0)];
            }
            // A clamp leaves no doubt at the low end.
            near = near.min(if u == 0.0 { 1.0 } else { (u - u.round()).abs() });
            vec![(u.floor() as i64, 1.0)]
        })
        .collect();
    let mut sum = [0.0; 4];
    for (i, a) in &taps[0] {
        for (j, b) in &taps[1] {
            for (k, c) in &taps[2] {
                let texel = fetch(texture, state, level, lookup.layer, [*i, *j, *k]);
                let texel = match lookup.reference {
                    Some(reference) => [f64::from(u8::from(reference < texel[0])); 4],
                    None => texel,
                };
                for (sum, texel) in sum.iter_mut().zip(texel) {
                    *sum += a * b * c * texel;
                }
            }
        }
    }
    (sum, near)
}

/// u, v or w.
fn coordinate(wrap: Wrap, s: f64, offset: i32, size: i64) -> f64 {
    let size = size as f64;
    let u = s * size + f64::from(offset);
    match wrap {
        // "CLAMP clamps texture coordinates at all mipmap levels such that the texture filter never samples beyond the border":
        // to [0, 1].
        Wrap::Clamp => u.clamp(0.0, size),
        // "min(1, max(1/(2N), abs(s)))".
        Wrap::MirrorClamp => u.abs().max(0.5).min(size),
        _ => u,
    }
}

fn fetch(texture: &Texture, state: &TextureState, level: u32, layer: u32, at: [i64; 3]) -> [f64; 4] {
    let size = texture.size(level);
    let mut inside = [0; 3];
    for axis in 0..texture.axes {
        let (at, size) = (at[axis], size[axis]);
        let at = match state.wrap[axis] {
            Wrap::Repeat => at.rem_euclid(size),
            Wrap::Mirrored if at.rem_euclid(2 * size) >= size => 2 * size - 1 - at.rem_euclid(2 * size),
            Wrap::Mirrored => at.rem_euclid(2 * size),
            Wrap::Edge => at.clamp(0, size - 1),
            Wrap::MirrorEdge => at.max(-1 - at).clamp(0, size - 1),
            _ => at,
        };
        if !(0..size).contains(&at) {
            return state.border;
        }
        inside[axis] = at as u32;
    }
    (texture.texel)(level, layer, inside)
}

/// The four texels that a gather finds, of which the first component counts.
fn gather(
    texture: &Texture,
    state: &TextureState,
    lookup: &Lookup,
    offsets: [[i32; 3]; 4],
    corner: bool,
) -> ([f64; 4], f64) {
    let size = texture.size(0);
    let mut near = 1.0f64;
    let mut found = [0.0; 4];
    // (i0, j1), (i1, j1), (i1, j0), (i0, j0).
    for (n, (di, dj)) in [(0, 1), (1, 1), (1, 0), (0, 0)].into_iter().enumerate() {
        let (di, dj) = if corner { (0, 0) } else { (di, dj) };
        let mut low = [0; 3];
        for axis in 0..2 {
            let offset = lookup.offset[axis] + offsets[n][axis];
            let u = coordinate(state.wrap[axis], lookup.at[axis], offset, size[axis]) - 0.5;
            near = near.min((u - u.round()).abs());
            low[axis] = u.floor() as i64;
        }
        let texel = fetch(texture, state, 0, lookup.layer, [low[0] + di, low[1] + dj, 0])[0];
        found[n] = match lookup.reference {
            Some(reference) => f64::from(u8::from(reference < texel)),
            None => texel,
        };
    }
    (found, near)
}

// --- what is drawn with -----------------------------------------------------------------------------------------------

/// A layout for an image, a sampler and tasks.
fn layout(context: &Context, separate: bool) -> SetLayout<'_> {
    let mut bindings = vec![Binding::new(TASKS, vk::DescriptorType::UNIFORM_BUFFER, 1)];
    if separate {
        bindings.extend([Binding::image(0), Binding::sampler(1)]);
    } else {
        bindings.push(Binding::combined(0, 1));
    }
    SetLayout::new(context, &bindings)
}

/// A shader and what the pass makes of it.
struct Stand<'c> {
    context: &'c Context,
    case: Case,
    layout: SetLayout<'c>,
    original: Program<'c>,
    rewritten: Program<'c>,
}

impl<'c> Stand<'c> {
    fn new(context: &'c Context, case: Case, passes: Passes) -> Self {
        let source = case.source();
        Self::of(context, case, &source, passes, LIMITS)
    }

    fn of(context: &'c Context, case: Case, source: &str, passes: Passes, limits: Limits) -> Self {
        let words = compile(case.fragment, source);
        let layout = layout(context, case.separate);
        let original = case.program(context, &layout, &words);
        let new = rewrite(&words, case.fragment, KEYS, passes, limits);
        let rewritten = case.program(context, &layout, &new);
        Self { context, case, layout, original, rewritten }
    }

    fn bench(&self, view: &View<'_>, sampler: &SamplerDesc) -> Bench<'_> {
        let (pool, set) = Pool::set(self.context, &self.layout);
        let sampler = sampler.create(self.context);
        let pair = Pair::new(view, &sampler);
        if self.case.separate {
            write_images(self.context, set, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &[pair.info()]);
            write_images(self.context, set, (1, 0), vk::DescriptorType::SAMPLER, &[pair.info()]);
        } else {
            write_combined(self.context, set, (0, 0), &[pair]);
        }
        let tasks = Buffer::new(self.context, 64, vk::BufferUsageFlags::UNIFORM_BUFFER);
        write_uniform(self.context, set, TASKS, &tasks);
        Bench { stand: self, case: self.case.clone(), set, tasks, _pool: pool, _sampler: sampler }
    }
}

/// A set for it.
struct Bench<'s> {
    stand: &'s Stand<'s>,
    case: Case,
    set: vk::DescriptorSet,
    tasks: Buffer<'s>,
    _pool: Pool<'s>,
    _sampler: Sampler<'s>,
}

impl Bench<'_> {
    fn task(&self, task: Task) {
        let bytes: Vec<u8> = task.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        self.tasks.write(0, &bytes);
    }

    /// What the shader finds.
    fn before(&self) -> Vec<Value> {
        self.stand.original.run(&self.case, self.set)
    }

    /// What it finds when it is rewritten, with a task.
    fn after(&self, task: Task) -> Vec<Value> {
        self.task(task);
        self.stand.rewritten.run(&self.case, self.set)
    }

    /// The same bits where no task is given.
    fn assert_idle(&self, task: Task) -> Vec<Value> {
        let (before, idle) = (self.before(), self.after(Task { flags: 0, ..task }));
        let same = before.iter().zip(&idle).all(|(before, idle)| before.bits() == idle.bits());
        assert!(same, "{:?} {task:?}: not the same bits", self.case);
        before
    }
}

fn noise(level: u32, layer: u32, [x, y, z]: [u32; 3]) -> [f64; 4] {
    let seed = x + 37 * y + 1009 * z + 20011 * level + 50021 * layer;
    let byte = |seed: u32| f64::from(seed.wrapping_mul(2_654_435_761) >> 16 & 0xff) / 255.0;
    [byte(seed), byte(seed + 7), byte(seed + 13), 0.25]
}

/// What the reference knows of a texture.
fn reference(shape: Shape) -> Texture {
    let (extent, axes) = match shape {
        Shape::D1 | Shape::D1Array => ([8, 1, 1], 1),
        Shape::D3 => ([8, 4, 4], 3),
        _ => ([8, 4, 1], 2),
    };
    Texture { axes, extent, levels: 3, texel: noise }
}

/// A texture in memory and what the reference knows of it.
fn texture<'c>(context: &'c Context, shape: Shape, format: vk::Format) -> (Image<'c>, Texture) {
    let reference = reference(shape);
    let [width, height, depth] = reference.extent;
    let mut desc = match shape {
        Shape::D1 | Shape::D1Array => ImageDesc::d1(format, width),
        Shape::D3 => ImageDesc::d3(format, width, height, depth),
        _ => ImageDesc::d2(format, width, height),
    };
    if matches!(shape, Shape::D1Array | Shape::D2Array) {
        desc = desc.layers(3);
    }
    let desc = desc.levels(3);
    let image = Image::filled(context, &desc, |_, level, layer, at| {
        Value::Float(noise(level, layer, at).map(|component| component as f32))
    });
    (image.expect("a format for sampling"), reference)
}

/// All ways of sampling that are compared.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let shapes = [Shape::D1, Shape::D1Array, Shape::D2, Shape::D2Array, Shape::D3];
    for (shape, shadow) in shapes.into_iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        if shape == Shape::D3 && shadow {
            continue;
        }
        let base = Case {
            shape,
            shadow,
            separate: false,
            fragment: false,
            lookup: String::new(),
            offset: [0; 3],
            gather: Gather::No,
            biased: false,
            whole: false,
            alike: false,
        };
        let arrayed = matches!(shape, Shape::D1Array | Shape::D2Array);
        let axes = base.axes();
        let plain = ["", "p.x", "p.xy", "p.xyz"][axes + usize::from(arrayed)];
        let at = match (shadow, shape) {
            (false, _) => plain.to_owned(),
            (true, Shape::D1) => "vec3(p.x, 0.0, d)".to_owned(),
            (true, Shape::D2Array) => "vec4(p.xyz, d)".to_owned(),
            (true, _) => "vec3(p.xy, d)".to_owned(),
        };
        let projected = match (shadow, shape) {
            (true, Shape::D1) => "vec4(p.x, 0.0, d, 1.0) * 4.0",
            (true, _) => "vec4(p.xy, d, 1.0) * 4.0",
            (false, Shape::D1) => "vec2(p.x, 1.0) * 4.0",
            (false, Shape::D2) => "vec3(p.xy, 1.0) * 4.0",
            (false, _) => "vec4(p.xyz, 1.0) * 4.0",
        };
        let wide = |value: &str| match axes {
            1 => value.to_owned(),
            2 => format!("vec2({value}, 0.0)"),
            _ => format!("vec3({value}, 0.0, 0.0)"),
        };
        let gradients = format!("{}, {}", wide("exp2(l) / 8.0"), wide("0.0"));
        let texels = ["", "3", "ivec2(3, -2)", "ivec3(3, -2, 1)"][axes];
        let offset: [i32; 3] = std::array::from_fn(|n| if n < axes { [3, -2, 1][n] } else { 0 });
        let mut add = |fragment: bool, lookup: String, offset: [i32; 3], biased: bool| {
            all.push(Case { fragment, lookup, offset, biased, ..base.clone() });
        };
        // GLSL has no levels of detail for shadows of 2D arrays.
        if !(shadow && shape == Shape::D2Array) {
            add(false, format!("textureLod(pair, {at}, l)"), [0; 3], false);
            add(false, format!("textureLodOffset(pair, {at}, l, {texels})"), offset, false);
        }
        add(false, format!("textureGrad(pair, {at}, {gradients})"), [0; 3], false);
        add(false, format!("textureGradOffset(pair, {at}, {gradients}, {texels})"), offset, false);
        add(true, format!("texture(pair, {at})"), [0; 3], false);
        add(true, format!("textureOffset(pair, {at}, {texels})"), offset, false);
        if !(shadow && arrayed) {
            add(true, format!("texture(pair, {at}, l)"), [0; 3], true);
            add(true, format!("textureOffset(pair, {at}, {texels}, l)"), offset, true);
        }
        if !arrayed {
            add(false, format!("textureProjLod(pair, {projected}, l)"), [0; 3], false);
            add(false, format!("textureProjGradOffset(pair, {projected}, {gradients}, {texels})"), offset, false);
            add(true, format!("textureProj(pair, {projected})"), [0; 3], false);
            add(true, format!("textureProjOffset(pair, {projected}, {texels}, l)"), offset, true);
        }
        if axes == 2 {
            let compared = if shadow { ", d" } else { "" };
            let four = [[3, -2, 0], [-1, 1, 0], [0, 2, 0], [5, 0, 0]];
            let list = "ivec2[4](ivec2(3, -2), ivec2(-1, 1), ivec2(0, 2), ivec2(5, 0))";
            for (lookup, offset, gather) in [
                (format!("textureGather(pair, {plain}{compared})"), [0; 3], Gather::Four),
                (format!("textureGatherOffset(pair, {plain}{compared}, {texels})"), offset, Gather::Four),
                (format!("textureGatherOffsets(pair, {plain}{compared}, {list})"), [0; 3], Gather::Offsets(four)),
            ] {
                all.push(Case { lookup, offset, gather, ..base.clone() });
            }
        }
    }
    // The same through an image and a sampler.
    let separate = all.iter().filter(|case| case.shape == Shape::D2);
    let separate: Vec<Case> = separate.map(|case| Case { separate: true, ..case.clone() }).collect();
    all.extend(separate);
    all
}

/// OpenGL's state, the sampler that is bound for it, and its task.
fn states() -> Vec<(TextureState, SamplerDesc, Task)> {
    let clamp = flags::CLAMP_S | flags::CLAMP_T | flags::CLAMP_R;
    let mirror = flags::MIRROR_S | flags::MIRROR_T | flags::MIRROR_R;
    let linear = LINEAR;
    [
        (linear, clamp),
        (TextureState { mip_linear: true, ..linear }, clamp),
        (TextureState { mag_linear: false, ..linear }, clamp | flags::MAG_NEAREST),
        (TextureState { mag_linear: false, mip_linear: true, ..linear }, clamp | flags::MAG_NEAREST),
        (TextureState { min_linear: false, ..linear }, clamp | flags::MIN_NEAREST),
        (TextureState { min_linear: false, mip_linear: true, ..linear }, clamp | flags::MIN_NEAREST),
        (TextureState { min_linear: false, wrap: [Wrap::MirrorClamp; 3], ..linear }, mirror | flags::MIN_NEAREST),
        (TextureState { wrap: [Wrap::MirrorClamp; 3], ..linear }, mirror),
        (
            TextureState { wrap: [Wrap::Clamp, Wrap::Repeat, Wrap::MirrorClamp], ..linear },
            flags::CLAMP_S | flags::MIRROR_R,
        ),
        (linear, clamp | flags::BASE_LEVEL),
        (TextureState { wrap: [Wrap::MirrorClamp; 3], ..linear }, mirror | flags::BASE_LEVEL),
    ]
    .into_iter()
    .map(|(state, flags)| {
        let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let mut sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        (sampler.mag_filter, sampler.min_filter) = (filter(state.mag_linear), filter(state.min_linear));
        if state.mip_linear {
            sampler.mipmap_mode = vk::SamplerMipmapMode::LINEAR;
        }
        if state.wrap[1] == Wrap::Repeat {
            sampler.address[1] = vk::SamplerAddressMode::REPEAT;
        }
        if flags & flags::BASE_LEVEL != 0 {
            sampler.max_lod = 0.25;
        }
        let task = Task { flags, bias: 0.0, min_lod: sampler.min_lod, max_lod: sampler.max_lod };
        (state, sampler, task)
    })
    .collect()
}

/// What OpenGL finds at a lookup.
fn expected(texture: &Texture, state: &TextureState, case: &Case, lookup: &Lookup) -> ([f64; 4], f64) {
    match case.gather {
        Gather::No => gl(texture, state, lookup),
        Gather::Four => gather(texture, state, lookup, [[0; 3]; 4], false),
        Gather::Offsets(offsets) => gather(texture, state, lookup, offsets, true),
    }
}

/// The cases that are chosen, of those that the device can do.
fn chosen(context: &Context, which: impl Fn(&Case) -> bool) -> Vec<Case> {
    let mut cases = cases();
    cases.retain(which);
    if let Some(lacking) = context.missing(&[Capability::ImageGatherExtended])
        && cases.iter().any(|case| matches!(case.gather, Gather::Offsets(_)))
    {
        skip(lacking);
        cases.retain(|case| !matches!(case.gather, Gather::Offsets(_)));
    }
    cases
}

/// Draws each case that is chosen with the original, and the same bits with the rewritten shader that has no task; hands to `check` what
/// both find where it has one.
fn each(
    which: impl Fn(&Case) -> bool,
    (passes, states, format): (Passes, &[(TextureState, SamplerDesc, Task)], vk::Format),
    mut check: impl FnMut(&Case, &Texture, &(TextureState, SamplerDesc, Task), &[Value], &[Value]),
) {
    let Some(context) = Context::builder().validated() else { return };
    for case in chosen(&context, which) {
        let format = if case.shadow { vk::Format::D32_SFLOAT } else { format };
        let (image, texture) = texture(&context, case.shape, format);
        let view = image.view(&ViewDesc::default());
        let shadow = case.shadow;
        let stand = Stand::new(&context, case, passes);
        for state in states {
            let sampler = state.1.clone();
            let mut bench = stand.bench(&view, &if shadow { sampler.compare(vk::CompareOp::LESS) } else { sampler });
            // Sizes of levels matter to these, and to offsets.
            bench.case.whole = passes.filter || state.2.flags & (flags::MIRROR_S | flags::MIRROR_R) != 0;
            bench.case.alike = state.0.mag_linear != state.0.min_linear;
            let before = bench.assert_idle(state.2);
            check(&bench.case, &texture, state, &before, &bench.after(state.2));
        }
    }
    context.assert_silent();
}

/// Compares the cases that are chosen with OpenGL, and with the original where nothing is asked for.
fn compare(which: impl Fn(&Case) -> bool) {
    compare_in(&states(), which);
}

fn compare_in(states: &[(TextureState, SamplerDesc, Task)], which: impl Fn(&Case) -> bool) {
    let (mut compared, mut left, mut differ) = (0, 0, 0);
    let mut worst = Vec::new();
    let saturate = Passes { saturate: true, ..Passes::default() };
    let asked_for = (saturate, states, vk::Format::R8G8B8A8_UNORM);
    each(which, asked_for, |case, texture, (state, _, task), before, asked| {
        let mut most = 0.0f64;
        // Weights of 8 bits on up to three axes; levels of detail of derivatives are approximations.
        let tolerance = if state.mip_linear { 0.05 } else { 0.02 };
        for ((lookup, got), before) in case.lookups(texture.size(0)).iter().zip(asked).zip(before) {
            let lookup = &Lookup { lambda: lookup.lambda.min(f64::from(task.max_lod)), ..*lookup };
            let (want, near) = expected(texture, state, case, lookup);
            // Where rounding decides between two texels or levels.
            if near < 0.02 || lookup.lambda.abs() < 0.01 && lookup.lambda != 0.0 {
                left += 1;
                continue;
            }
            let components = if case.shadow && case.gather == Gather::No { 1 } else { 4 };
            let got = got.components();
            let distance = |of: [f64; 4]| (0..components).map(|n| (of[n] - want[n]).abs()).fold(0.0, f64::max);
            compared += 1;
            differ += usize::from(distance(before.components()) > 0.02);
            if distance(got) > tolerance {
                most = most.max(distance(got));
            }
        }
        if most > 0.0 {
            worst.push(format!("{most:.3} {case:?} {:#x} {:?}", task.flags, state.wrap));
        }
    });
    println!("{compared} lookups, {left} left out, {differ} different without the clamp");
    assert!(worst.is_empty(), "{} cases differ:\n{}", worst.len(), worst.join("\n"));
    assert!(compared == 0 || differ > compared / 20);
}

#[test]
fn clamps_are_those_of_opengl_in_1d() {
    compare(|case| case.axes() == 1);
}

#[test]
fn clamps_are_those_of_opengl_in_2d() {
    compare(|case| case.shape == Shape::D2 && !case.separate);
}

#[test]
fn clamps_are_those_of_opengl_in_2d_arrays() {
    compare(|case| case.shape == Shape::D2Array);
}

#[test]
fn clamps_are_those_of_opengl_in_3d() {
    compare(|case| case.shape == Shape::D3);
}

#[test]
fn clamps_are_those_of_opengl_with_separate_samplers() {
    // How the pair is formed does not depend on the state: one with a border everywhere, and one that differs by axis.
    let states = states();
    let some = [states[1].clone(), states[8].clone()];
    compare_in(&some, |case| case.separate);
}

/// OpenGL itself, llvmpipe's, says the same as the reference, of each lookup and each kind of state.
#[test]
fn opengl_says_what_the_reference_says() {
    let mut all = cases();
    all.retain(|case| !case.separate);
    // LINEAR; filters that differ, between levels too; mirrored; an axis each.
    let states: Vec<TextureState> = [0, 3, 4, 7, 8].iter().map(|n| states()[*n].0).collect();
    let (mut compared, mut left, mut worst) = (0, 0, Vec::new());
    for case in &all {
        let reference = reference(case.shape);
        let layers = if matches!(case.shape, Shape::D1Array | Shape::D2Array) { 3 } else { 1 };
        let levels: Vec<_> = (0..reference.levels)
            .map(|level| {
                let [width, height, depth] = reference.size(level).map(|size| size as u32);
                let mut texels = Vec::new();
                for (layer, z, y) in
                    (0..layers).flat_map(|l| (0..depth).flat_map(move |z| (0..height).map(move |y| (l, z, y))))
                {
                    for texel in (0..width).map(|x| (reference.texel)(level, layer, [x, y, z]).map(|part| part as f32))
                    {
                        texels.extend_from_slice(if case.shadow { &texel[..1] } else { &texel });
                    }
                }
                let size = match case.shape {
                    Shape::D1Array => [width, layers, 1],
                    Shape::D2Array => [width, height, layers],
                    _ => [width, height, depth],
                };
                (size, texels)
            })
            .collect();
        let target = match case.shape {
            Shape::D1 => opengl::D1,
            Shape::D1Array => opengl::D1_ARRAY,
            Shape::D2 => opengl::D2,
            Shape::D2Array => opengl::D2_ARRAY,
            _ => opengl::D3,
        };
        let case = &Case { whole: true, alike: true, ..case.clone() };
        let textures: Vec<_> = states
            .iter()
            .map(|state| opengl::Texture {
                target,
                levels: &levels,
                is_depth: case.shadow,
                linear: [state.mag_linear, state.min_linear, state.mip_linear],
                wrap: state.wrap.map(|wrap| match wrap {
                    Wrap::Clamp => 0x2900,
                    Wrap::MirrorClamp => 0x8742,
                    _ => 0x2901,
                }),
                max_lod: 1000.0,
                border: [1.0; 4],
            })
            .collect();
        let found = match look(case, &textures) {
            Ok(found) => found,
            Err(skip::Skip(why)) => return skip(why),
        };
        let lookups = case.lookups(reference.size(0));
        for (state, found) in states.iter().zip(found) {
            let tolerance = if state.mip_linear { 0.05 } else { 0.02 };
            let mut most = (0.0, String::new());
            assert_eq!(found.len(), lookups.len());
            for (lookup, got) in lookups.iter().zip(found) {
                let (want, near) = expected(&reference, state, case, lookup);
                // llvmpipe has the border beside the axis as well, against EXT_texture_mirror_clamp.
                let offsets = if let Gather::Offsets(all) = case.gather { all } else { [lookup.offset; 4] };
                let is_beside = (0..reference.axes).filter(|axis| state.wrap[*axis] == Wrap::MirrorClamp).any(|axis| {
                    let sizes = (0..reference.levels).map(|level| reference.size(level)[axis] as f64);
                    let mut places =
                        sizes.flat_map(|size| offsets.map(|by| lookup.at[axis] * size + f64::from(by[axis])));
                    places.any(|place| place.abs() < 0.52)
                });
                if is_beside || near < 0.02 || lookup.lambda.abs() < 0.01 && lookup.lambda != 0.0 {
                    left += 1;
                    continue;
                }
                let components = if case.shadow && case.gather == Gather::No { 1 } else { 4 };
                let distance = (0..components).map(|n| (f64::from(got[n]) - want[n]).abs()).fold(0.0, f64::max);
                compared += 1;
                if distance > tolerance && distance > most.0 {
                    most = (distance, format!("{got:?}, not {want:?}, at {:?} {}", lookup.at, lookup.lambda));
                }
            }
            if most.0 > 0.0 {
                worst.push(format!("{} {:?} {} {state:?}", most.1, case.shape, case.lookup));
            }
        }
    }
    println!("{compared} lookups, {left} left out");
    assert!(worst.is_empty(), "{} cases differ:\n{}", worst.len(), worst.join("\n"));
}

/// A rectangle of OpenGL, whose coordinates are texels: the reference with these divided by its size.
#[test]
fn rectangles_of_opengl_are_what_the_reference_says() {
    let case = Case {
        shape: Shape::D2,
        whole: true,
        alike: true,
        lookup: "texture(rectangle, p.xy * vec2(8.0, 4.0))".to_owned(),
        ..cases().remove(0)
    };
    let reference = reference(Shape::D2);
    let texels = (0..4).flat_map(|y| (0..8).flat_map(move |x| noise(0, 0, [x, y, 0]).map(|part| part as f32)));
    let levels = [([8, 4, 1], texels.collect())];
    for linear in [true, false] {
        let (linear, wrap) = ([linear, linear, false], [0x2900; 3]);
        let target = opengl::RECTANGLE;
        let texture =
            opengl::Texture { target, levels: &levels, is_depth: false, linear, wrap, max_lod: 0.0, border: [1.0; 4] };
        let found = match look(&case, &[texture]) {
            Ok(mut found) => found.remove(0),
            Err(skip::Skip(why)) => return skip(why),
        };
        let state = TextureState { mag_linear: linear[0], min_linear: linear[1], ..LINEAR };
        let mut compared = 0;
        for (lookup, got) in case.lookups(reference.size(0)).into_iter().zip(found) {
            let (want, near) = gl(&reference, &state, &Lookup { lambda: 0.0, ..lookup });
            if near < 0.02 {
                continue;
            }
            compared += 1;
            let is_off = (0..4).any(|n| (f64::from(got[n]) - want[n]).abs() > 0.02);
            assert!(!is_off, "{linear:?}: {got:?}, not {want:?}, at {:?}", lookup.at);
        }
        assert!(compared > 100, "{compared}");
    }
}

/// What OpenGL finds in each texture at the lookups of a case.
fn look(case: &Case, textures: &[opengl::Texture<'_>]) -> Result<Vec<Vec<[f32; 4]>>, skip::Skip> {
    let source = case.source().replace("#version 450", "#version 450 compatibility");
    let source = source.replace("set = 0, binding", "binding").replace("set = 1, binding", "binding");
    let source = if textures[0].target == opengl::RECTANGLE {
        source.replace("sampler2D pair", "sampler2DRect rectangle")
    } else {
        source
    };
    let at = source.find("layout(push_constant)").expect("a shader of the harness");
    let end = at + source[at..].find("};").expect("a block") + 2;
    let with = |constants: &str| format!("{}{constants}{}", &source[..at], &source[end..]);
    if !case.fragment {
        let points = points(case);
        let words = points.iter().flat_map(|point| {
            let [x, y, z, w] = point.coord;
            [x, y, z, w, point.lod, point.reference, 0.0, 0.0].map(f32::to_bits)
        });
        let source = with(&format!("const uint count = {}u;", points.len()));
        let groups = points.len() as u32 / 64;
        let shader = opengl::Shader::Compute(&source, groups, words.collect(), points.len() * 4);
        return opengl::look(textures, &shader);
    }
    let mut all = vec![Vec::new(); textures.len()];
    for mapping in mappings(case) {
        let four = |name: &str, [x, y, z, w]: [f32; 4]| {
            let bits = [x, y, z, w].map(|part| format!("uintBitsToFloat({}u)", part.to_bits())).join(", ");
            format!("vec4 {name} = vec4({bits});\n")
        };
        let source = with(&format!(
            "{}{}{}float d = {:?};\nfloat l = {:?};\n",
            four("origin", mapping.origin),
            four("dx", mapping.dx),
            four("dy", mapping.dy),
            mapping.reference,
            mapping.bias
        ));
        let found = opengl::look(textures, &opengl::Shader::Fragment(&source, SIDE))?;
        all.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
    }
    Ok(all)
}

/// Samplers that filter, and what is bound for them: NEAREST, with a task.
fn filtering() -> Vec<(TextureState, SamplerDesc, Task)> {
    let linear = TextureState { wrap: [Wrap::Repeat, Wrap::Mirrored, Wrap::Edge], ..LINEAR };
    let trilinear = TextureState { mip_linear: true, wrap: [Wrap::Edge, Wrap::Border, Wrap::Repeat], ..linear };
    [
        (linear, (0.0, 0.0, 1000.0)),
        (trilinear, (0.0, 0.0, 1000.0)),
        (TextureState { mag_linear: false, wrap: [Wrap::Border; 3], ..trilinear }, (0.5, 0.25, 1.5)),
        (TextureState { min_linear: false, ..linear }, (-1.0, 0.0, 1.0)),
        (TextureState { wrap: [Wrap::Clamp, Wrap::MirrorClamp, Wrap::Clamp], ..trilinear }, (0.0, 0.0, 1000.0)),
    ]
    .into_iter()
    .map(|(state, (bias, min_lod, max_lod))| {
        let mut sampler = SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        let mut flags = flags::EMULATE;
        for (on, flag) in [
            (state.mag_linear, flags::MAG_LINEAR),
            (state.min_linear, flags::MIN_LINEAR),
            (state.mip_linear, flags::MIP_LINEAR),
        ] {
            flags |= if on { flag } else { 0 };
        }
        for (axis, wrap) in state.wrap.into_iter().enumerate() {
            sampler.address[axis] = match wrap {
                Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
                Wrap::Mirrored => vk::SamplerAddressMode::MIRRORED_REPEAT,
                Wrap::Edge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
                Wrap::MirrorEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
                _ => vk::SamplerAddressMode::CLAMP_TO_BORDER,
            };
            flags |= match wrap {
                Wrap::Clamp => flags::CLAMP_S << axis,
                Wrap::MirrorClamp => flags::MIRROR_S << axis,
                _ => 0,
            };
        }
        (state, sampler, Task { flags, bias, min_lod, max_lod })
    })
    .collect()
}

/// The same and more, fetched past a sampler that does all of it wrong.
fn fetching() -> Vec<(TextureState, SamplerDesc, Task)> {
    let mut all = filtering();
    let (first, _, task) = all[0].clone();
    let nearest = TextureState {
        mag_linear: false,
        min_linear: false,
        wrap: [Wrap::MirrorEdge, Wrap::Border, Wrap::Mirrored],
        ..first
    };
    let mirrored = TextureState { wrap: [Wrap::Mirrored, Wrap::MirrorEdge, Wrap::Edge], ..first };
    let linear = flags::MAG_LINEAR | flags::MIN_LINEAR;
    for (state, flags) in [(nearest, 0), (mirrored, linear)] {
        all.push((state, SamplerDesc::nearest(), Task { flags: flags::EMULATE | flags, ..task }));
    }
    for (state, sampler, task) in &mut all {
        *sampler = SamplerDesc { lod_bias: 1.0, ..SamplerDesc::trilinear().address(vk::SamplerAddressMode::REPEAT) };
        task.flags |= flags::FETCH | (0xf * flags::BORDER);
        for (axis, wrap) in state.wrap.into_iter().enumerate() {
            task.flags |= axis_flags(wrap) << axis;
        }
    }
    all
}

/// What a fetch has to know of an address mode.
fn axis_flags(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => flags::WRAP_S,
        Wrap::Mirrored => flags::WRAP_S | flags::FOLD_S,
        Wrap::MirrorEdge => flags::FOLD_S,
        Wrap::Edge => 0,
        Wrap::Clamp | Wrap::MirrorClamp | Wrap::Border => flags::BORDER_S,
    }
}

const FILTER: Passes = Passes { saturate: true, filter: true, ..Passes::NONE };
const FETCH: Passes = Passes { fetch: true, ..FILTER };

/// What was found at the lookups of a case and what has to be, but where rounding decides between texels or levels.
fn certain<'f>(
    case: &Case,
    texture: &Texture,
    (state, task): (&TextureState, &Task),
    found: &'f [Value],
    left: &mut usize,
) -> Vec<(&'f Value, [f64; 4])> {
    let mut all = Vec::new();
    for (lookup, got) in case.lookups(texture.size(0)).into_iter().zip(found) {
        let lambda = lookup.lambda + f64::from(task.bias);
        let lambda = lambda.max(f64::from(task.min_lod)).min(f64::from(task.max_lod));
        let (want, near) = expected(texture, state, case, &Lookup { lambda, ..lookup });
        let step = case.computes() && state.mag_linear != state.min_linear && lambda.abs() < 0.01;
        if near < 0.02 || step {
            *left += 1;
        } else {
            all.push((got, want));
        }
    }
    all
}

/// Compares the cases that are chosen with an exact filter.
fn filter(which: impl Fn(&Case) -> bool, format: vk::Format) {
    filter_in(FILTER, &filtering(), which, format);
}

fn filter_in(
    passes: Passes,
    states: &[(TextureState, SamplerDesc, Task)],
    which: impl Fn(&Case) -> bool,
    format: vk::Format,
) {
    let (mut compared, mut left) = (0, 0);
    let mut worst = Vec::new();
    each(
        |case| which(case) && !case.shadow && case.gather == Gather::No,
        (passes, states, format),
        |case, texture, (state, _, task), _, asked| {
            // The filter is exact to 2^-20.
            let tolerance = if case.computes() && state.mip_linear { 2e-3 } else { 1.0 / f64::from(1 << 20) };
            let mut most = 0.0f64;
            for (got, want) in certain(case, texture, (state, task), asked, &mut left) {
                compared += 1;
                let relative = got.components().into_iter().zip(want).map(|(got, want)| (got - want).abs() / want);
                // Of a depth there is one component.
                let relative = relative.take(if format == vk::Format::D32_SFLOAT { 1 } else { 4 });
                most = relative.fold(most, f64::max);
            }
            if most > tolerance {
                worst.push(format!("{most:e} {case:?} {:#x} {:?}", task.flags, state.wrap));
            }
        },
    );
    println!("{compared} lookups, {left} left out");
    assert!(worst.is_empty(), "{} cases differ:\n{}", worst.len(), worst.join("\n"));
}

#[test]
fn filters_are_exact_in_1d() {
    filter(|case| case.axes() == 1, vk::Format::R32G32B32A32_SFLOAT);
}

#[test]
fn filters_are_exact_in_2d() {
    filter(|case| case.axes() == 2, vk::Format::R32G32B32A32_SFLOAT);
}

#[test]
fn filters_are_exact_on_depths() {
    filter(|case| case.shape == Shape::D2 && !case.separate, vk::Format::D32_SFLOAT);
}

#[test]
fn filters_are_exact_in_3d() {
    filter(|case| case.axes() == 3, vk::Format::R32G32B32A32_SFLOAT);
}

#[test]
fn fetches_are_exact_in_1d() {
    filter_in(FETCH, &fetching(), |case| case.axes() == 1, vk::Format::R32G32B32A32_SFLOAT);
}

#[test]
fn fetches_are_exact_in_2d() {
    filter_in(FETCH, &fetching(), |case| case.axes() == 2, vk::Format::R32G32B32A32_SFLOAT);
}

#[test]
fn fetches_are_exact_in_3d() {
    filter_in(FETCH, &fetching(), |case| case.axes() == 3, vk::Format::R32G32B32A32_SFLOAT);
}

/// Elements of arrays, functions that are called with different pairs, and tasks that are constants.
#[test]
fn records_belong_to_their_descriptors() {
    let Some(context) = Context::builder().validated() else { return };
    const COUNT: u32 = 3;
    let array = "layout(set = 0, binding = 0) uniform sampler2D pairs[3];";
    let element = "textureLod(pairs[index / 64u % 3u], p.xy, 0.0)";
    let function = format!(
        "{array}\nvec4 get(sampler2D pair, vec2 at) {{ return textureLod(pair, at, 0.0); }}\n\
         vec4 all(uint n, vec2 at) {{ return n == 0u ? get(pairs[0], at) : n == 1u ? get(pairs[1], at) : get(pairs[2], at); }}"
    );
    let (image, texture) = texture(&context, Shape::D2, vk::Format::R8G8B8A8_UNORM);
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE).create(&context);
    let pair = Pair::new(&view, &sampler);
    let tasks = Binding::new(TASKS, vk::DescriptorType::UNIFORM_BUFFER, 1);
    let layout = SetLayout::new(&context, &[Binding::combined(0, COUNT), tasks]);
    let (_pool, set) = Pool::set(&context, &layout);
    write_combined(&context, set, (0, 0), &[pair; COUNT as usize]);
    let buffer = Buffer::new(&context, 16 * 8, vk::BufferUsageFlags::UNIFORM_BUFFER);
    write_uniform(&context, set, TASKS, &buffer);
    // Behind two of other slots: nothing, the first axis, both axes.
    let wanted = [0, flags::CLAMP_S, flags::CLAMP_S | flags::CLAMP_T];
    let mut all = vec![Task { flags: u32::MAX, bias: 9.0, min_lod: 9.0, max_lod: 9.0 }; 2];
    all.extend(wanted.map(|flags| Task { flags, ..PLAIN }));
    let bytes: Vec<u8> = all.iter().flat_map(Task::words).flat_map(u32::to_le_bytes).collect();
    buffer.write(0, &bytes);
    let case = Case { shape: Shape::D2, whole: true, alike: true, ..cases().remove(0) };
    let mut shaders = vec![(&*function, "all(index / 64u % 3u, p.xy)")];
    match context.missing(&[Capability::ImageArrayIndexing]) {
        Some(lacking) => skip(lacking),
        None => shaders.push((array, element)),
    }
    for (declare, lookup) in shaders {
        let words = compile(false, &source(false, declare, lookup));
        for keys in [Keys::Block { set: 0, binding: TASKS, count: 8 }, Keys::Fixed(&all)] {
            let module = Module::read(&words).expect("a module");
            let links = module.links("main", 5, None).expect("links");
            // A dynamic index has all tasks of its array, a constant one its own.
            let slots: Vec<Slot> = (2..)
                .zip(&links)
                .map(|(first, link)| {
                    let (image, sampler) = (link.image.expect("an image"), link.sampler.expect("a sampler"));
                    Slot { image, sampler, first, passes: Passes { saturate: true, ..Passes::default() }, row: 0 }
                })
                .collect();
            let sampled = sampling(&module, "main", 5, None, keys, &slots, LIMITS).expect("a module");
            assert!(sampled.changed > 0 && sampled.left.is_empty(), "{:?}", sampled.left);
            let got = case.program(&context, &layout, &sampled.words).run(&case, set);
            for (n, (lookup, got)) in case.lookups(texture.size(0)).iter().zip(&got).enumerate() {
                let wrap = |axis: u32| {
                    if wanted[n / 64 % 3] >> axis & 1 != 0 { Wrap::Clamp } else { Wrap::Border }
                };
                let state = TextureState { wrap: [wrap(0), wrap(1), Wrap::Border], ..LINEAR };
                let (want, _) = gl(&texture, &state, &Lookup { lambda: 0.0, ..*lookup });
                assert!(got.is_near(Value::Float(want.map(|c| c as f32)), 0.02), "{keys:?} {n}: {got:?}, not {want:?}");
            }
        }
    }
    context.assert_silent();
}

/// Rectangles of OpenGL, whose coordinates are texels.
#[test]
fn coordinates_may_be_texels() {
    texels(Shape::D1, "textureLod(pair, p.x * 8.0, 0.0)", Gather::No);
    texels(Shape::D2, "textureLod(pair, p.xy * vec2(8.0, 4.0), 0.0)", Gather::No);
    texels(Shape::D2, "textureGather(pair, p.xy * vec2(8.0, 4.0))", Gather::Four);
}

fn texels(shape: Shape, lookup: &str, gather: Gather) {
    let Some(context) = Context::builder().validated() else { return };
    let (image, texture) = texture(&context, shape, vk::Format::R8G8B8A8_UNORM);
    let view = image.view(&ViewDesc { levels: Some((0, 1)), ..ViewDesc::default() });
    let lookup = lookup.to_owned();
    let case = Case { shape, alike: true, whole: true, lookup, gather, ..cases().remove(0) };
    let stand = Stand::new(&context, case.clone(), FILTER);
    let clamp = flags::UNNORMALIZED | flags::CLAMP_S | flags::CLAMP_T;
    for (filter, flags) in
        [(vk::Filter::LINEAR, clamp), (vk::Filter::NEAREST, clamp | flags::EMULATE | flags::MAG_LINEAR)]
    {
        let sampler = SamplerDesc::unnormalized(filter).border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        let bench = stand.bench(&view, &sampler);
        let (before, got) = (bench.before(), bench.after(Task { flags, ..Task::default() }));
        let mut differ = 0;
        for ((lookup, got), before) in case.lookups(texture.size(0)).into_iter().zip(got).zip(before) {
            let (want, near) = expected(&texture, &LINEAR, &case, &Lookup { lambda: 0.0, ..lookup });
            if gather == Gather::Four && near < 0.02 {
                continue;
            }
            let want = Value::Float(want.map(|component| component as f32));
            assert!(got.is_near(want, 0.02), "{} {flags:#x} {:?}: {got:?}, not {want:?}", case.lookup, lookup.at);
            differ += usize::from(!before.is_near(want, 0.02));
        }
        assert!(differ > 50, "{differ} different as they are");
    }
    context.assert_silent();
}

/// The biases of sampler and instruction are limited together.
#[test]
fn biases_are_limited_together() {
    let Some(context) = Context::builder().validated() else { return };
    let (image, texture) = texture(&context, Shape::D2, vk::Format::R8G8B8A8_UNORM);
    let view = image.view(&ViewDesc::default());
    let lookup = "texture(pair, p.xy, l)".to_owned();
    let case = Case { shape: Shape::D2, fragment: true, whole: true, lookup, ..cases().remove(0) };
    let stand = Stand::of(&context, case.clone(), &case.source(), FILTER, Limits { lod_bias: 0.5 });
    let state = TextureState { mip_linear: true, ..LINEAR };
    let clamp = flags::CLAMP_S | flags::CLAMP_T;
    let linear = flags::EMULATE | flags::MAG_LINEAR | flags::MIN_LINEAR | flags::MIP_LINEAR;
    let trilinear = SamplerDesc { lod_bias: 0.25, ..SamplerDesc::trilinear() };
    for (sampler, flags) in [(trilinear, clamp), (SamplerDesc::nearest(), clamp | linear)] {
        let bench = stand.bench(&view, &sampler.border(vk::BorderColor::FLOAT_OPAQUE_WHITE));
        let got = bench.after(Task { flags, bias: 0.25, ..PLAIN });
        for (lookup, got) in case.lookups(texture.size(0)).into_iter().zip(got) {
            // The instruction asks for a whole level.
            let (want, _) = gl(&texture, &state, &Lookup { lambda: lookup.lambda + 0.5, ..lookup });
            let want = Value::Float(want.map(|component| component as f32));
            assert!(got.is_near(want, 0.05), "{flags:#x} {:?}: {got:?}, not {want:?}", lookup.at);
        }
    }
}

/// Offsets, and the middle of the first texel, are those of the level that an anisotropic sampler reads: what is drawn is what a shader
/// draws that says the level's size itself.
#[test]
fn sizes_are_those_of_the_level_that_anisotropy_reads() {
    let Some(context) = Context::builder().validated() else { return };
    if let Some(lacking) = context.missing(&[Capability::SamplerAnisotropy]) {
        return skip(lacking);
    }
    const SIZE: u32 = 256;
    let format = vk::Format::R8G8B8A8_UNORM;
    let image = Image::filled(&context, &ImageDesc::d2(format, SIZE, SIZE).levels(5), |_, level, _, [x, y, _]| {
        // Neighbours are alike, so that little of what a driver does in its own way shows.
        let wave = |n: u32, scale: f32| (0.5 + 0.5 * ((n << level) as f32 * scale).sin()).abs();
        Value::Float([wave(x, 0.11), wave(y, 0.13), wave(x + y, 0.07), 1.0])
    });
    let image = image.expect("a format for sampling");
    let view = image.view(&ViewDesc::default());
    let saturate = Passes { saturate: true, ..Passes::default() };
    let base = Case { shape: Shape::D2, fragment: true, ..cases().remove(0) };
    // 4.8 texels of the base level a pixel in one direction, 1.2 in the other.
    let (most, least) = (4.8 * SIDE as f32 / SIZE as f32, 1.2 * SIDE as f32 / SIZE as f32);
    let paint = |program: &Program<'_>, set| {
        let Program::Fragment(painter) = program else { unreachable!("it is a fragment shader") };
        let mut all = Vec::new();
        for [dx, dy] in [[most, least], [least, most]] {
            let low = [-0.25 * dx, -0.25 * dy];
            let mut mapping = Mapping::rectangle(low, [low[0] + dx, low[1] + dy]);
            (mapping.bias, mapping.reference) = (0.0, 0.0);
            all.extend(painter.paint(set, &mapping));
        }
        all
    };
    let moved = "clamp(p.xy + vec2(7.0, -6.0) / N, 0.0, 1.0)";
    for (lookup, wrap, at) in [
        ("textureOffset(pair, p.xy, ivec2(7, -6))", flags::CLAMP_S, moved),
        ("textureGradOffset(pair, p.xy, dFdx(p.xy), dFdy(p.xy), ivec2(7, -6))", flags::CLAMP_S, moved),
        ("texture(pair, p.xy)", flags::MIRROR_S, "clamp(abs(p.xy), vec2(0.5 / N), vec2(1.0))"),
    ] {
        // How anisotropic, and the level that is read: the whole number next to log2(4.8 / 1), log2(4.8 / 2) and log2(4.8 / 4).
        for (degree, level) in [(1.0, 2), (2.0, 1), (4.0, 0), (16.0, 0)] {
            let size = format!("{}.0", SIZE >> level);
            let by_hand = format!("textureGrad(pair, {}, dFdx(p.xy), dFdy(p.xy))", at.replace('N', &size));
            let stand =
                |lookup: &str| Stand::new(&context, Case { lookup: lookup.to_owned(), ..base.clone() }, saturate);
            let mut sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
            (sampler.anisotropy_enable, sampler.max_anisotropy) = (degree > 1.0, degree);
            let (by_hand, stand) = (stand(&by_hand), stand(lookup));
            let bench = stand.bench(&view, &sampler);
            bench.task(Task { flags: (wrap * 3) | flags::anisotropy(degree), ..PLAIN });
            let (want, got) = (paint(&by_hand.original, bench.set), paint(&stand.rewritten, bench.set));
            let far = want.iter().zip(&got).filter(|(want, got)| !got.is_near(**want, 0.01)).count();
            assert!(far <= want.len() / 100, "{lookup} at {degree}: {far} of {} are not as by hand", want.len());
        }
    }
    context.assert_silent();
}

// --- comparisons ------------------------------------------------------------------------------------------------------

const COMPARE: Passes = Passes { saturate: true, compare: true, ..Passes::NONE };
const MUST: Passes = Passes { compare: true, must_compare: true, ..Passes::NONE };

/// Compares the cases that are chosen with an exact filter of exact comparisons. The image has a colour format, which no sampler of
/// Vulkan's compares, and the sampler that is bound compares nothing. On a depth format, and without a task, the same code has the sampler
/// compare, bit by bit as the original.
fn comparison(which: impl Fn(&Case) -> bool) {
    let Some(context) = Context::builder().validated() else { return };
    let (mut compared, mut left, mut kinds) = (0, 0, [0; 3]);
    for case in chosen(&context, |case| case.shadow && which(case)) {
        let (depths, _) = texture(&context, case.shape, vk::Format::D32_SFLOAT);
        let (colours, texels) = texture(&context, case.shape, vk::Format::R32G32B32A32_SFLOAT);
        let [depths, colours] = [&depths, &colours].map(|image| image.view(&ViewDesc::default()));
        for passes in [COMPARE, MUST] {
            let stand = Stand::new(&context, case.clone(), passes);
            for (state, bound, task) in filtering() {
                let saturates = task.flags & (flags::CLAMP_S * 0x3f) != 0;
                if passes == MUST && saturates || passes == COMPARE && !saturates && state.mip_linear {
                    continue;
                }
                let on = |view, sampler: &SamplerDesc| {
                    let mut bench = stand.bench(view, sampler);
                    (bench.case.whole, bench.case.alike) = (true, state.mag_linear != state.min_linear);
                    bench
                };
                if passes == COMPARE {
                    on(&depths, &bound.clone().compare(vk::CompareOp::LESS)).assert_idle(Task::default());
                }
                // Validation layers find a comparison in code that may also have the sampler compare.
                let bench = on(if passes == MUST { &colours } else { &depths }, &bound);
                let got = bench.after(Task { flags: task.flags | flags::COMPARE | flags::LESS, ..task });
                let case = &bench.case;
                let tolerance = if case.computes() && state.mip_linear { 1e-2 } else { 1e-5 };
                for (got, want) in certain(case, &texels, (&state, &task), &got, &mut left) {
                    compared += 1;
                    let components = if case.gather == Gather::No { 1 } else { 4 };
                    for (got, want) in got.components().into_iter().zip(want).take(components) {
                        kinds[usize::from(want > 0.0) + usize::from(want > 0.999)] += 1;
                        assert!((got - want).abs() <= tolerance, "{case:?} {:#x}: {got}, not {want}", task.flags);
                    }
                }
            }
        }
    }
    println!("{compared} lookups, {left} left out, {kinds:?} of nothing, a part and all");
    assert!(kinds.iter().all(|kind| *kind > 100), "{kinds:?}");
    context.assert_silent();
}

#[test]
fn comparisons_are_exact_in_1d() {
    comparison(|case| case.axes() == 1);
}

#[test]
fn comparisons_are_exact_in_2d() {
    comparison(|case| case.shape == Shape::D2);
}

#[test]
fn comparisons_are_exact_in_2d_arrays() {
    comparison(|case| case.shape == Shape::D2Array);
}

/// Each operator where the reference is below, at and above the texel, where one of both is no number, and where the reference is beyond
/// what a fixed-point format holds.
#[test]
fn operators_are_those_of_vulkan() {
    let Some(context) = Context::builder().validated() else { return };
    let declare = "layout(set = 0, binding = 0) uniform sampler2DShadow pair;";
    let case = Case { shape: Shape::D2, ..cases().remove(0) };
    let stand = Stand::of(&context, case, &source(false, declare, "textureLod(pair, vec3(p.xy, d), l)"), MUST, LIMITS);
    let Program::Compute(program) = &stand.rewritten else { unreachable!("it is a compute shader") };
    let desc = ImageDesc::d2(vk::Format::R32_SFLOAT, 4, 1);
    let texels = [0.5, 1.0, 1.5, f32::NAN];
    let image = Image::filled(&context, &desc, |_, _, _, [x, ..]| Value::Float([texels[x as usize], 0.0, 0.0, 1.0]));
    let image = image.expect("a format for sampling");
    let view = image.view(&ViewDesc::default());
    let bench = stand.bench(&view, &SamplerDesc::nearest());
    let references = [0.25, 0.5, 1.0, 2.0, f32::NAN];
    let points: Vec<SamplePoint> =
        (0..20).map(|n| SamplePoint::at((n % 4) as f32 / 4.0 + 0.125, 0.5, 0.0).reference(references[n / 4])).collect();
    let (less, equal, greater, unordered) = (flags::LESS, flags::EQUAL, flags::GREATER, flags::UNORDERED);
    type Holds = fn(f32, f32) -> bool;
    let operators: [(u32, Holds); 8] = [
        (0, |_, _| false),
        (less, |a, b| a < b),
        (equal, |a, b| a == b),
        (less | equal, |a, b| a <= b),
        (greater, |a, b| a > b),
        (less | greater | unordered, |a, b| a != b),
        (greater | equal, |a, b| a >= b),
        (less | equal | greater | unordered, |_, _| true),
    ];
    for (flags, holds) in operators {
        for clamps in [false, true] {
            let clamp = if clamps { flags::CLAMP_REFERENCE } else { 0 };
            let flags = flags::EMULATE | flags::COMPARE | flags | clamp;
            bench.task(Task { flags, ..PLAIN });
            for (n, got) in program.run(&Bind::Set(bench.set), &points).iter().enumerate() {
                let (reference, texel) = (references[n / 4], texels[n % 4]);
                // What a clamp makes of no number is not said.
                if clamps && reference.is_nan() {
                    continue;
                }
                let reference = if clamps { reference.clamp(0.0, 1.0) } else { reference };
                let want = f64::from(u8::from(holds(reference, texel)));
                assert_eq!(got.components()[0], want, "{flags:#x}: {reference} and {texel}");
            }
        }
    }
}

/// A cube of 8 texels, with two smaller levels.
fn cube(context: &Context, format: vk::Format) -> Image<'_> {
    let image = Image::filled(context, &ImageDesc::cube(format, 8).levels(3), |_, level, layer, at| {
        Value::Float(noise(level, layer, at).map(|component| component as f32))
    });
    image.expect("a format for sampling")
}

/// Cubes, against the device's own comparison of depths, but for texels beside edges.
#[test]
fn cubes_are_compared_on_their_faces() {
    let Some(context) = Context::builder().validated() else { return };
    let image = cube(&context, vk::Format::D32_SFLOAT);
    let view = image.view(&ViewDesc::default());
    let declare = "layout(set = 0, binding = 0) uniform samplerCubeShadow pair;";
    // A cube's levels of detail are GLSL's for gradients alone.
    let level = "vec3(0.0), vec3(0.0)";
    for (lookup, gathers) in [
        (format!("textureGrad(pair, vec4(p.xyz, d), {level})"), false),
        ("textureGather(pair, p.xyz, d)".to_owned(), true),
    ] {
        let case = Case { shape: Shape::D3, ..cases().remove(0) };
        let stand = Stand::of(&context, case.clone(), &source(false, declare, &lookup), MUST, LIMITS);
        let want = stand.bench(&view, &SamplerDesc::linear().compare(vk::CompareOp::LESS)).before();
        let linear = flags::MAG_LINEAR | flags::MIN_LINEAR;
        let flags = flags::EMULATE | flags::COMPARE | flags::LESS | linear;
        let got = stand.bench(&view, &SamplerDesc::nearest()).after(Task { flags, ..PLAIN });
        let mut inside = 0;
        for ((got, want), point) in got.iter().zip(&want).zip(points(&case)) {
            if point.from_middle() > 0.75 {
                continue;
            }
            inside += 1;
            let (got, want) = (got.components(), want.components());
            let count = if gathers { 4 } else { 1 };
            // Weights of the device have 8 bits.
            let near = got.iter().zip(want).take(count).all(|(got, want)| (got - want).abs() < 0.02);
            assert!(near, "{lookup} at {point:?}: {got:?}, not {want:?}");
        }
        assert!(inside > 40, "{inside}");
    }
    context.assert_silent();
}

/// The level of detail of a cube of 8 texels, as the specification has it ("Cube Map Derivative Transformation"). Drivers approximate.
fn cube_detail(at: [f64; 3], steps: [[f64; 3]; 2]) -> f64 {
    let major = if at[2].abs() >= at[0].abs().max(at[1].abs()) { 2 } else { usize::from(at[1].abs() >= at[0].abs()) };
    let far = at[major];
    let lengths = steps.map(|step| {
        let others = (0..3).filter(|axis| *axis != major);
        others
            .map(|axis| 4.0 * (step[axis] * far - at[axis] * step[major]) / (far * far))
            .map(|d| d * d)
            .sum::<f64>()
            .sqrt()
    });
    lengths[0].max(lengths[1]).log2()
}

/// Cubes, by a given level of detail and by derivatives: as the driver filters them, but for texels beside edges.
#[test]
fn cubes_are_filtered_on_their_faces() {
    let Some(context) = Context::builder().validated() else { return };
    let declare = "layout(set = 0, binding = 0) uniform samplerCube pair;";
    let image = cube(&context, vk::Format::R8G8B8A8_UNORM);
    let view = image.view(&ViewDesc::default());
    let explicit = source(false, declare, "textureLod(pair, p.xyz, l)");
    let flags = flags::EMULATE | flags::MAG_LINEAR | flags::MIN_LINEAR | flags::MIP_LINEAR;
    for (fragment, lookup) in
        [(false, "textureLod(pair, p.xyz, l)"), (true, "texture(pair, p.xyz)"), (true, "texture(pair, p.zxy, l)")]
    {
        let case = Case { shape: Shape::D3, fragment, alike: true, ..cases().remove(0) };
        for saturate in [false, true] {
            let passes = Passes { saturate, ..FILTER };
            let stand = Stand::of(&context, case.clone(), &source(fragment, declare, lookup), passes, LIMITS);
            let smooth = stand.bench(&view, &SamplerDesc::trilinear());
            smooth.assert_idle(Task::default());
            // The driver's filter at the level of detail that it has to be.
            let swapped = |at: [f64; 3]| if lookup.contains("zxy") { [at[2], at[0], at[1]] } else { at };
            let details = |mapping: &Mapping| {
                let step = |step: [f32; 4]| [0, 1, 2].map(|n: usize| f64::from(step[n]) / f64::from(SIDE));
                let steps = [swapped(step(mapping.dx)), swapped(step(mapping.dy))];
                (steps, if lookup.ends_with("l)") { f64::from(mapping.bias) } else { 0.0 })
            };
            let all: Vec<SamplePoint> = if fragment {
                let maps = mappings(&case);
                let of = |n: usize| details(&maps[n / (SIDE * SIDE) as usize]);
                let all = case.lookups([8; 3]).into_iter().enumerate();
                all.map(|(n, found)| {
                    let (at, (steps, bias)) = (swapped(found.at), of(n));
                    let [x, y, z] = at.map(|coordinate| coordinate as f32);
                    SamplePoint {
                        coord: [x, y, z, 0.0],
                        ..SamplePoint::at(x, y, z).lod((cube_detail(at, steps) + bias) as f32)
                    }
                })
                .collect()
            } else {
                points(&case)
            };
            let exact = Case { fragment: false, ..case.clone() };
            let exact = exact.program(&context, &stand.layout, &compile(false, &explicit));
            let Program::Compute(exact) = exact else { unreachable!("it is a compute shader") };
            let want: Vec<Value> = all.chunks(512).flat_map(|all| exact.run(&Bind::Set(smooth.set), all)).collect();
            let bench = stand.bench(&view, &SamplerDesc::nearest());
            let (plain, got) = (bench.before(), bench.after(Task { flags, ..PLAIN }));
            let (mut inside, mut differ) = (0, 0);
            for (n, point) in all.iter().enumerate() {
                let texel = 2.0 / (8.0 / point.lod.ceil().clamp(0.0, 2.0).exp2());
                if point.from_middle() > 1.0 - texel {
                    continue;
                }
                inside += 1;
                differ += usize::from(!plain[n].is_near(want[n], 0.1));
                let tolerance = if fragment { 0.05 } else { 0.02 };
                assert!(got[n].is_near(want[n], tolerance), "{lookup} {point:?}: {:?}, not {:?}", got[n], want[n]);
            }
            assert!(inside > 40 && differ > inside / 4, "{lookup}: {inside} compared, {differ} different as they are");
        }
    }
    context.assert_silent();
}

/// What is asked of a sampler that is not bound.
#[test]
fn levels_of_detail_are_those_of_the_sampler_that_was_asked_for() {
    let Some(context) = Context::builder().validated() else { return };
    let declare = "layout(set = 0, binding = 0) uniform sampler2D pair;";
    let source = source(true, declare, "textureQueryLod(pair, p.xy), 0.0, 0.0");
    let (image, _) = texture(&context, Shape::D2, vk::Format::R8G8B8A8_UNORM);
    let view = image.view(&ViewDesc::default());
    let case = Case { shape: Shape::D2, fragment: true, ..cases().remove(0) };
    let stand = Stand::of(&context, case, &source, FILTER, LIMITS);
    for (mode, flag) in [(vk::SamplerMipmapMode::LINEAR, flags::MIP_LINEAR), (vk::SamplerMipmapMode::NEAREST, 0)] {
        let asked = SamplerDesc { mipmap_mode: mode, lod_bias: 0.4, ..SamplerDesc::linear() }.lod(0.25, 1.75);
        let want = stand.bench(&view, &asked).before();
        let bench = stand.bench(&view, &SamplerDesc::nearest());
        let task = Task { bias: asked.lod_bias, min_lod: asked.min_lod, max_lod: asked.max_lod, ..PLAIN };
        let got = bench.after(Task { flags: flags::EMULATE | flag, ..task });
        let near = got.iter().zip(&want).filter(|(got, want)| got.is_near(**want, 0.02)).count();
        assert_eq!(near, want.len(), "{mode:?}: {:?}, not {:?}", got[0], want[0]);
        let plain = bench.before();
        assert!(plain.iter().zip(&want).any(|(plain, want)| !plain.is_near(*want, 0.02)));
    }
}
