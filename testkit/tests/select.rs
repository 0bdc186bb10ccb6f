//! Shaders that the pass `select` has rewritten, on a driver, without the layer: each pair reads the sampler of the pool that its words
//! in the tables lead to.

use ash::vk;
use samplin_compiler::Language;
use samplin_spirv::Module;
use samplin_spirv::select::{Length, Lookup, Part, PoolAt, select};
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};
use samplin_testkit::job;
use samplin_testkit::lookup::ResultKind;
use samplin_testkit::shader::{Bind, Probe};
use samplin_testkit::{Capability, Context, Image, ImageDesc, SamplePoint, SamplerDesc, Value, ViewDesc, skip};

const COMPUTE: u32 = 5;

/// Elements of the arrays of the shader, and of the pool.
const IMAGES: u32 = 65;
const SAMPLERS: u32 = 40;
const POOL: u32 = 6;

/// Texels of each image, in one row.
const WIDTH: u32 = 4;

/// Bindings behind those of the shader: columns, rows, matrix, pool.
const PLACE: PoolAt = PoolAt { set: 0, matrix: 4, pool: 5, count: POOL };

const SHADER: &str = "#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
struct Point { vec4 coord; float lod; float reference; float unused0; float unused1; };
layout(std430, set = 1, binding = 0) readonly buffer Points { Point points[]; };
layout(std430, set = 1, binding = 1) writeonly buffer Results { uvec4 results[]; };
layout(push_constant) uniform Size { uint count; };
layout(set = 0, binding = 0) uniform texture2D images[65];
layout(set = 0, binding = 1) uniform sampler samplers[40];
vec4 get(nonuniformEXT texture2D image, nonuniformEXT sampler state, vec2 at) {
    return textureLod(nonuniformEXT(sampler2D(image, state)), at, 0.0);
}
void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) {
        return;
    }
    vec4 p = points[index].coord;
    int i = int(p.z);
    uint j = uint(p.w);
    results[index] = floatBitsToUint(LOOKUP);
}
";

/// The samplers of the pool, which find something else beyond the right end each.
fn pool() -> [SamplerDesc; POOL as usize] {
    use vk::{BorderColor as Border, SamplerAddressMode as Mode};
    let border = |colour| SamplerDesc::nearest().address(Mode::CLAMP_TO_BORDER).border(colour);
    [
        SamplerDesc::nearest().address(Mode::CLAMP_TO_EDGE),
        SamplerDesc::nearest().address(Mode::REPEAT),
        SamplerDesc::nearest().address(Mode::MIRRORED_REPEAT),
        border(Border::FLOAT_TRANSPARENT_BLACK),
        border(Border::FLOAT_OPAQUE_BLACK),
        border(Border::FLOAT_OPAQUE_WHITE),
    ]
}

/// What a sampler of the pool finds in an image at 1.4 of its width: red says which image it is, green which texel.
fn found(image: u32, sampler: usize) -> [f32; 4] {
    let texel = |x: u32| [image as f32 / 255.0, x as f32 / 255.0, 0.0, 1.0];
    match sampler {
        0 => texel(WIDTH - 1),
        1 => texel(1),
        2 => texel(2),
        3 => [0.0; 4],
        4 => [0.0, 0.0, 0.0, 1.0],
        _ => [1.0; 4],
    }
}

/// Tables, and what they say.
struct Tables {
    columns: Vec<u32>,
    rows: Vec<u32>,
    matrix: Vec<u32>,
    column: (u32, Length),
    row: (u32, Length),
}

impl Tables {
    /// Words that hardly repeat; `rows` of them are `width` words apart.
    fn new(words: [usize; 3], column: (u32, Length), row: (u32, Length)) -> Tables {
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 16) % below
        };
        let [columns, rows, matrix] = words;
        Tables {
            columns: (0..columns).map(|_| random(8)).collect(),
            rows: (0..rows).map(|_| 8 * random(12)).collect(),
            // Some are behind the pool.
            matrix: (0..matrix).map(|_| random(POOL + 2)).collect(),
            column,
            row,
        }
    }

    fn sampler(&self, image: u32, sampler: u32) -> usize {
        let word = |words: &[u32], (first, length): (u32, Length), element: u32| {
            let count = match length {
                Length::One => 1,
                Length::Fixed(count) => count,
                Length::Rest => words.len() as u32 - first,
            };
            words[(first + element.min(count - 1)) as usize]
        };
        let at = word(&self.rows, self.row, sampler) + word(&self.columns, self.column, image);
        self.matrix[(at as usize).min(self.matrix.len() - 1)].min(POOL - 1) as usize
    }
}

/// The shader with this lookup, rewritten.
fn rewritten(environment: &str, lookup: &str, tables: &Tables) -> Vec<u32> {
    let words = samplin_compiler::compile(Language::Glsl(environment), "comp", &SHADER.replace("LOOKUP", lookup));
    let module = Module::read(&words).expect("a module");
    let links = module.links("main", COMPUTE, None).expect("links");
    let column = Lookup { binding: 2, first: tables.column.0, length: tables.column.1 };
    let row = Lookup { binding: 3, first: tables.row.0, length: tables.row.1 };
    let part = |(image, sampler)| Part { image, sampler, column, row };
    let parts: Vec<Part> = links.iter().filter_map(|link| link.image.zip(link.sampler)).map(part).collect();
    let new = select(&module, "main", COMPUTE, None, &PLACE, &parts).expect("links that can be looked up");
    samplin_compiler::validate(&new, environment).expect("a valid module");
    new
}

#[test]
fn samplers_are_those_of_the_tables() {
    let Some(context) = Context::builder().validated() else { return };
    if let Some(lacking) = context.missing(&[Capability::ImageArrayIndexing, Capability::NonUniformIndexing]) {
        return skip(lacking);
    }
    let texels = |n: u32| move |x: u32, _: u32, _: u32| [n as u8, x as u8, 0, 255];
    let images: Vec<Image<'_>> = (0..IMAGES)
        .map(|n| {
            let image = Image::new(&context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, WIDTH, 1)).expect("an image");
            let bytes: Vec<u8> = (0..WIDTH).flat_map(|x| texels(n)(x, 0, 0)).collect();
            image.upload_bytes(vk::ImageAspectFlags::COLOR, 0, 0, &bytes);
            image
        })
        .collect();
    let views: Vec<_> = images.iter().map(|image| image.view(&ViewDesc::default())).collect();
    // The shader's own samplers find nothing that is expected.
    let own = SamplerDesc::linear().address(vk::SamplerAddressMode::REPEAT).create(&context);
    let pool: Vec<_> = pool().iter().map(|sampler| sampler.create(&context)).collect();
    let buffer = |binding| Binding::new(binding, vk::DescriptorType::STORAGE_BUFFER, 1);
    let (sampled, sampler) = (vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::SAMPLER);
    let bindings = [
        Binding::new(0, sampled, IMAGES),
        Binding::new(1, sampler, SAMPLERS),
        buffer(2),
        buffer(3),
        buffer(PLACE.matrix),
        Binding::new(PLACE.pool, sampler, POOL),
    ];
    let layout = SetLayout::new(&context, &bindings);
    for (tables, what) in [
        (Tables::new([65, 40, 104], (0, Length::Fixed(65)), (0, Length::Fixed(40))), "a word for each"),
        (Tables::new([100, 90, 104], (17, Length::Fixed(65)), (50, Length::Fixed(40))), "behind others"),
        (Tables::new([82, 90, 104], (17, Length::Rest), (50, Length::Rest)), "to the end"),
        (Tables::new([30, 20, 104], (0, Length::Fixed(20)), (3, Length::Rest)), "too few words"),
        (Tables::new([65, 40, 50], (0, Length::Rest), (0, Length::Fixed(40))), "a small matrix"),
        (Tables::new([65, 40, 104], (0, Length::Fixed(65)), (5, Length::One)), "one row"),
        (Tables::new([65, 40, 104], (64, Length::One), (0, Length::Fixed(40))), "one column"),
    ] {
        let descriptors = Pool::new(&context, &[&layout]);
        let set = descriptors.allocate(&layout);
        let resting = |view: vk::ImageView| vk::DescriptorImageInfo {
            image_view: view,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            ..Default::default()
        };
        let state = |sampler: vk::Sampler| vk::DescriptorImageInfo { sampler, ..Default::default() };
        let all: Vec<_> = views.iter().map(|view| resting(view.handle())).collect();
        write_images(&context, set, (0, 0), sampled, &all);
        write_images(&context, set, (1, 0), sampler, &vec![state(own.handle()); SAMPLERS as usize]);
        let all: Vec<_> = pool.iter().map(|sampler| state(sampler.handle())).collect();
        write_images(&context, set, (PLACE.pool, 0), sampler, &all);
        let mut buffers = Vec::new();
        for (binding, words) in [(2, &tables.columns), (3, &tables.rows), (PLACE.matrix, &tables.matrix)] {
            let buffer = job::buffer(&context, words);
            job::write_buffer(&context, set, binding, &buffer);
            buffers.push(buffer);
        }
        for lookup in [
            "textureLod(nonuniformEXT(sampler2D(images[nonuniformEXT(i)], samplers[nonuniformEXT(j)])), p.xy, 0.0)",
            // A function that is called with any pair and with one that is known.
            "i == 3 && j == 1u ? get(images[3], samplers[1], p.xy) \\
             : get(images[nonuniformEXT(i)], samplers[nonuniformEXT(j)], p.xy)",
        ] {
            for environment in ["vulkan1.0", "vulkan1.2"] {
                let words = rewritten(environment, lookup, &tables);
                let probe = Probe::of_words(&context, &layout, ResultKind::Float, &words);
                let pairs: Vec<(u32, u32)> = (0..IMAGES).flat_map(|i| (0..SAMPLERS).map(move |j| (i, j))).collect();
                let point = |(i, j): &(u32, u32)| SamplePoint {
                    coord: [1.4, 0.5, *i as f32, *j as f32],
                    ..SamplePoint::at(0.0, 0.0, 0.0)
                };
                let points: Vec<SamplePoint> = pairs.iter().map(point).collect();
                let got = probe.run(&Bind::Set(set), &points);
                let mut met = [0; POOL as usize];
                for ((image, sampler), got) in pairs.iter().zip(got) {
                    let wanted = tables.sampler(*image, *sampler);
                    met[wanted] += 1;
                    let want = Value::Float(found(*image, wanted));
                    assert!(
                        got.is_near(want, 0.001),
                        "{what}, {environment}: {image} {sampler}: {got:?}, not {want:?}"
                    );
                }
                assert!(met.iter().filter(|met| **met > 0).count() > 3, "{what}: {met:?}");
            }
        }
    }
    context.assert_silent();
}
