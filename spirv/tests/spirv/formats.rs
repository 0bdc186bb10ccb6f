//! Storage images whose format the device cannot store: what shaders decode and encode, executed, and what is left alone.

use std::collections::HashMap;

use samplin_spirv::Module;
use samplin_spirv::image_formats::{CODECS, Channels, Codec, Options, UNNAMED, image_formats};
use samplin_spirv::passes::{PassChange, Rewrite, Why};
use spirv::{GlslStd450Op as GLOp, Op};

use crate::corpus::{assembled, glsl, having, shaders, validate};

const ALL: Options = Options { images: u64::MAX, buffers: u64::MAX };

fn rewritten(words: &[u32], options: &Options) -> Result<Rewrite, Why> {
    image_formats(&Module::read(words).expect("a module"), options)
}

/// Rewrites, checks what must hold of every rewritten module, and hands it on.
fn lowered(words: &[u32], options: &Options, environment: &str) -> (Vec<u32>, Rewrite) {
    if options.images >> UNNAMED == 0 || options.images == u64::MAX {
        validate(words, environment).unwrap_or_else(|error| panic!("before: {error}"));
    }
    let mut rewrite = rewritten(words, options).expect("can be rewritten");
    assert_eq!(rewritten(words, options), Ok(rewrite.clone()), "not the same twice");
    let new = rewrite.words.take().expect("something to rewrite");
    validate(&new, environment).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rewritten(&new, options), Ok(Rewrite::default()), "a second run finds something");
    (new, rewrite)
}

fn compute(declarations: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\nlayout(local_size_x = 1) in;\n{declarations}\nvoid main() {{ {body} }}\n"
    );
    glsl("comp", "vulkan1.1", &text)
}

/// The names that GLSL has for a format: of the format, and of what its images begin with.
fn name(codec: &Codec) -> (&'static str, &'static str) {
    let name = match codec.format {
        2 => "rgba16f",
        3 => "r32f",
        4 => "rgba8",
        5 => "rgba8_snorm",
        6 => "rg32f",
        7 => "rg16f",
        8 => "r11f_g11f_b10f",
        9 => "r16f",
        10 => "rgba16",
        11 => "rgb10_a2",
        12 => "rg16",
        13 => "rg8",
        14 => "r16",
        15 => "r8",
        16 => "rgba16_snorm",
        17 => "rg16_snorm",
        18 => "rg8_snorm",
        19 => "r16_snorm",
        20 => "r8_snorm",
        22 => "rgba16i",
        23 => "rgba8i",
        24 => "r32i",
        25 => "rg32i",
        26 => "rg16i",
        27 => "rg8i",
        28 => "r16i",
        29 => "r8i",
        31 => "rgba16ui",
        32 => "rgba8ui",
        34 => "rgb10_a2ui",
        36 => "rg16ui",
        37 => "rg8ui",
        // Of a texel that has no name of its own: one with the same numbers, whose number is exchanged.
        _ => match codec.kind {
            Channels::Unorm => "rgba8",
            Channels::Snorm => "rgba8_snorm",
            Channels::Uint => "rgba8ui",
            Channels::Sint => "rgba8i",
            Channels::Float => panic!("format {}", codec.format),
        },
    };
    let prefix = match codec.kind {
        Channels::Uint => "u",
        Channels::Sint => "i",
        _ => "",
    };
    (name, prefix)
}

/// A module with another number in place of the format of those images that have not 32 bits a component.
fn unnamed(mut words: Vec<u32>, format: u32) -> Vec<u32> {
    let mut at = 5;
    while words[at] & 0xffff != Op::TypeImage as u32 || [1, 21, 30].contains(&words[at + 8]) {
        at += (words[at] >> 16) as usize;
    }
    words[at + 8] = format;
    words
}

/// The Vulkan formats that SPIR-V has no name for.
const UNNAMED_FORMATS: [&str; 13] = [
    "B8G8R8A8_UNORM",
    "B8G8R8A8_SNORM",
    "B8G8R8A8_UINT",
    "B8G8R8A8_SINT",
    "A2R10G10B10_UNORM_PACK32",
    "A2R10G10B10_UINT_PACK32",
    "R5G6B5_UNORM_PACK16",
    "B5G6R5_UNORM_PACK16",
    "R5G5B5A1_UNORM_PACK16",
    "B5G5R5A1_UNORM_PACK16",
    "A1R5G5B5_UNORM_PACK16",
    "R4G4B4A4_UNORM_PACK16",
    "B4G4R4A4_UNORM_PACK16",
];

/// By the name of a format, the first bit of each channel and its width: bytes follow each other as they are named, packed channels are
/// named from the highest bit on ("Representation and Texel Block Size").
fn named_places(name: &str) -> [(u32, u32); 4] {
    let (mut channels, mut places) = (Vec::new(), [(0, 0); 4]);
    let mut rest = name.split('_').next().expect("channels");
    while let Some(letter) = rest.chars().next() {
        let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| end + 1);
        channels.push(("RGBA".find(letter).expect("a channel"), rest[1..digits].parse().expect("a width")));
        rest = &rest[digits..];
    }
    if name.contains("_PACK") {
        channels.reverse();
    }
    let mut bit = 0;
    for (channel, width) in channels {
        places[channel] = (bit, width);
        bit += width;
    }
    places
}

#[test]
fn unnamed_formats_are_laid_out_as_their_names_say() {
    for (number, name) in (UNNAMED..).zip(UNNAMED_FORMATS) {
        let codec = Codec::of(number).expect("a format");
        let widths = codec.widths.map(u32::from);
        let places = codec.places().map(|(word, shift)| (word * 32 + shift, 0));
        let of = [0, 1, 2, 3].map(|at| (places[at].0, widths[at]));
        assert_eq!(of, named_places(name), "{name}");
        let kind = [
            ("UNORM", Channels::Unorm),
            ("SNORM", Channels::Snorm),
            ("UINT", Channels::Uint),
            ("SINT", Channels::Sint),
        ];
        let (_, kind) = kind.into_iter().find(|(word, _)| name.contains(&format!("_{word}"))).expect("a kind");
        assert_eq!(codec.kind, kind, "{name}");
    }
    assert_eq!(CODECS.iter().filter(|codec| codec.format >= UNNAMED).count(), UNNAMED_FORMATS.len());
}

/// A module that copies a texel from an image of one format to one of 32 bits a component, or back.
fn copying(codec: &Codec, encodes: bool) -> Vec<u32> {
    let (name, prefix) = name(codec);
    let (from, to) = if encodes { ("a", "b") } else { ("b", "a") };
    let wide = match prefix {
        "u" => "rgba32ui",
        "i" => "rgba32i",
        _ => "rgba32f",
    };
    let words = compute(
        &format!(
            "layout(binding = 0, {wide}) uniform {prefix}image2D a;\nlayout(binding = 1, {name}) uniform {prefix}image2D b;"
        ),
        &format!("imageStore({to}, ivec2(0), imageLoad({from}, ivec2(0)));"),
    );
    let words = if codec.format < UNNAMED { words } else { unnamed(words, codec.format) };
    let (new, rewrite) = lowered(&words, &Options { images: 1 << codec.format, buffers: 0 }, "vulkan1.1");
    assert_eq!(rewrite.changes, [PassChange::FormatLowered { set: 0, binding: 1, format: codec.format }]);
    new
}

/// What one texel becomes: the components that the last image is given, as words.
struct Machine<'m, 'w> {
    module: &'m Module<'w>,
    constants: HashMap<u32, Vec<u32>>,
    texel: [u32; 4],
    written: Option<Vec<u32>>,
}

fn half(bits: u32) -> f32 {
    let (sign, exponent, mantissa) = (bits >> 15 & 1, bits >> 10 & 31, bits & 1023);
    let size = match exponent {
        0 => f64::from(mantissa) * 2f64.powi(-24),
        31 if mantissa == 0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => f64::from(1024 + mantissa) * 2f64.powi(exponent as i32 - 25),
    };
    (if sign == 1 { -size } else { size }) as f32
}

/// A function of floats as one of their bits.
fn float(with: impl Fn(f32, f32, f32) -> f32) -> impl Fn(&[u32]) -> u32 {
    move |of| {
        let at = |n: usize| of.get(n).copied().map_or(0.0, f32::from_bits);
        with(at(0), at(1), at(2)).to_bits()
    }
}

impl<'m, 'w> Machine<'m, 'w> {
    fn new(module: &'m Module<'w>) -> Self {
        Machine { module, constants: HashMap::new(), texel: [0; 4], written: None }
    }

    /// Runs the entry point on a texel.
    fn run(&mut self, texel: [u32; 4]) -> [u32; 4] {
        (self.texel, self.written) = (texel, None);
        let main = self.module.entry_points().next().expect("an entry point").function();
        self.call(main, Vec::new());
        self.written.take().expect("a texel").try_into().expect("four components")
    }

    fn constant(&mut self, id: u32) -> Vec<u32> {
        if let Some(known) = self.constants.get(&id) {
            return known.clone();
        }
        let it = self.module.definition(id).unwrap_or_else(|| panic!("%{id}"));
        let value = match it.opcode() {
            op if op == Op::Constant as u32 => vec![it.word(3)],
            op if op == Op::ConstantComposite as u32 => {
                it.words[3..].iter().flat_map(|id| self.constant(*id)).collect()
            }
            // Images, pointers and the like are of no account.
            _ => Vec::new(),
        };
        self.constants.insert(id, value.clone());
        value
    }

    fn call(&mut self, function: u32, arguments: Vec<Vec<u32>>) -> Vec<u32> {
        let mut values: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut arguments = arguments.into_iter();
        let mut next = self.module.definition(function);
        while let Some(it) = next {
            next = self.module.instruction_after(it.at);
            let word = |n: usize| it.word(n);
            let ids: Vec<u32> = it.words.get(3..).unwrap_or_default().to_vec();
            let mut value = |id: u32| values.get(&id).cloned().unwrap_or_else(|| self.constant(id));
            let each = |of: &[Vec<u32>], with: &dyn Fn(&[u32]) -> u32| -> Vec<u32> {
                (0..of[0].len()).map(|at| with(&of.iter().map(|one| one[at]).collect::<Vec<_>>())).collect()
            };
            let opcode = Op::from_u32(it.opcode()).expect("an opcode");
            let result = match opcode {
                Op::Function | Op::Label | Op::Load | Op::Variable => continue,
                Op::FunctionParameter => arguments.next().expect("an argument"),
                Op::Return => return Vec::new(),
                Op::ReturnValue => return value(word(1)),
                Op::ImageRead => self.texel.to_vec(),
                Op::ImageWrite => {
                    self.written = Some(value(word(3)));
                    continue;
                }
                Op::FunctionCall => {
                    let passed = ids[1..].iter().map(|id| value(*id)).collect();
                    self.call(ids[0], passed)
                }
                Op::CompositeExtract => vec![value(ids[0])[ids[1] as usize]],
                Op::CompositeConstruct => ids.iter().flat_map(|id| value(*id)).collect(),
                Op::CompositeInsert => {
                    let mut of = value(ids[1]);
                    of[ids[2] as usize] = value(ids[0])[0];
                    of
                }
                Op::VectorShuffle => {
                    let both = [value(ids[0]), value(ids[1])].concat();
                    ids[2..].iter().map(|at| both[*at as usize]).collect()
                }
                Op::Bitcast => value(ids[0]),
                Op::ExtInst => {
                    let of: Vec<Vec<u32>> = ids[2..].iter().map(|id| value(*id)).collect();
                    match GLOp::from_u32(ids[1]).expect("an instruction") {
                        GLOp::NMax => each(&of, &float(|a, b, _| if a < b { b } else { a })),
                        GLOp::NClamp => each(&of, &float(|x, a, b| x.max(a).min(b))),
                        GLOp::RoundEven => each(&of, &float(|x, _, _| x.round_ties_even())),
                        GLOp::UMin => each(&of, &|of| of[0].min(of[1])),
                        GLOp::UnpackHalf2x16 => vec![half(of[0][0] & 0xffff).to_bits(), half(of[0][0] >> 16).to_bits()],
                        other => panic!("{other:?}"),
                    }
                }
                _ => {
                    let of: Vec<Vec<u32>> = ids.iter().map(|id| value(*id)).collect();
                    let with: &dyn Fn(&[u32]) -> u32 = match opcode {
                        Op::ShiftRightLogical => &|of| of[0].checked_shr(of[1]).expect("a shift within the word"),
                        Op::ShiftLeftLogical => &|of| of[0].checked_shl(of[1]).expect("a shift within the word"),
                        Op::ShiftRightArithmetic => &|of| (of[0] as i32).checked_shr(of[1]).expect("a shift") as u32,
                        Op::BitwiseAnd => &|of| of[0] & of[1],
                        Op::BitwiseOr => &|of| of[0] | of[1],
                        Op::BitwiseXor => &|of| of[0] ^ of[1],
                        Op::ISub => &|of| of[0].wrapping_sub(of[1]),
                        Op::ULessThan => &|of| u32::from(of[0] < of[1]),
                        Op::ULessThanEqual => &|of| u32::from(of[0] <= of[1]),
                        Op::UGreaterThan => &|of| u32::from(of[0] > of[1]),
                        Op::UGreaterThanEqual => &|of| u32::from(of[0] >= of[1]),
                        Op::Select => &|of| if of[0] == 1 { of[1] } else { of[2] },
                        Op::ConvertUToF => &|of| (of[0] as f32).to_bits(),
                        Op::ConvertSToF => &|of| (of[0] as i32 as f32).to_bits(),
                        Op::ConvertFToU => &|of| f32::from_bits(of[0]) as u32,
                        Op::ConvertFToS => &|of| f32::from_bits(of[0]) as i32 as u32,
                        Op::FMul => &|of| (f32::from_bits(of[0]) * f32::from_bits(of[1])).to_bits(),
                        other => panic!("{other:?}"),
                    };
                    each(&of, with)
                }
            };
            values.insert(word(2), result);
        }
        panic!("a function without a return")
    }
}

/// SplitMix64: the same in every run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Patterns of a texel: all of them if they are few.
fn patterns(codec: &Codec) -> Vec<u64> {
    let mut state = 5;
    match codec.bits() {
        8 => (0..1 << 8).collect(),
        16 => (0..1 << 16).step_by(7).collect(),
        bits => (0..4096).map(|_| random(&mut state) >> (64 - bits)).collect(),
    }
}

/// The bits of a channel of a pattern.
fn channel(codec: &Codec, pattern: u64, at: usize) -> u32 {
    let shift: u32 = match codec.format.checked_sub(UNNAMED) {
        None => codec.widths[..at].iter().map(|width| u32::from(*width)).sum(),
        Some(number) => named_places(UNNAMED_FORMATS[number as usize])[at].0,
    };
    (pattern >> shift) as u32 & ((1u64 << codec.widths[at]) - 1) as u32
}

/// What the specification says that a channel is worth; `largest` is what normalized numbers are fractions of.
fn worth(codec: &Codec, bits: u32, width: u32) -> f64 {
    let signed = f64::from((bits << (32 - width)) as i32 >> (32 - width));
    match codec.kind {
        Channels::Unorm => f64::from(bits) / f64::from((1u32 << width) - 1),
        Channels::Snorm => (signed / f64::from((1u32 << (width - 1)) - 1)).max(-1.0),
        Channels::Uint => f64::from(bits),
        Channels::Sint => signed,
        Channels::Float if width == 32 => f64::from(f32::from_bits(bits)),
        Channels::Float if width == 16 => f64::from(half(bits)),
        Channels::Float => f64::from(half(bits << (15 - width))),
    }
}

fn as_number(codec: &Codec, component: u32) -> f64 {
    match codec.kind {
        Channels::Uint => f64::from(component),
        Channels::Sint => f64::from(component as i32),
        _ => f64::from(f32::from_bits(component)),
    }
}

#[test]
fn what_is_decoded_is_what_the_specification_says() {
    for codec in &CODECS {
        let words = copying(codec, false);
        let module = Module::read(&words).expect("a module");
        let mut machine = Machine::new(&module);
        for pattern in patterns(codec) {
            // What lies above the bits of a texel is anything.
            let low = if codec.bits() < 32 { pattern as u32 | u32::MAX << codec.bits() } else { pattern as u32 };
            let got = machine.run([low, (pattern >> 32) as u32, 7, 9]);
            for (at, width) in codec.widths.iter().enumerate() {
                let got = as_number(codec, got[at]);
                let wanted = match width {
                    0 => f64::from(u8::from(at == 3)),
                    width => worth(codec, channel(codec, pattern, at), u32::from(*width)),
                };
                let is_fraction = matches!(codec.kind, Channels::Unorm | Channels::Snorm);
                // The reciprocal is rounded, and so is the product; the ends are exact.
                let near = is_fraction && wanted.abs() < 1.0 && (got - wanted).abs() <= wanted.abs() * 2f64.powi(-23);
                let same = got == wanted || got.is_nan() && wanted.is_nan();
                assert!(near || same, "{}: {pattern:#x}[{at}] is {got}, not {wanted}", name(codec).0);
            }
        }
    }
}

#[test]
fn what_was_decoded_is_encoded_to_the_same_bits() {
    for codec in &CODECS {
        let (from, to) = (copying(codec, false), copying(codec, true));
        let (from, to) = (Module::read(&from).expect("a module"), Module::read(&to).expect("a module"));
        let (mut decode, mut encode) = (Machine::new(&from), Machine::new(&to));
        for pattern in patterns(codec) {
            let texel = decode.run([pattern as u32, (pattern >> 32) as u32, 0, 0]);
            let [low, high, third, fourth] = encode.run(texel);
            assert_eq!((third, fourth), (0, 0));
            let got = u64::from(low) | u64::from(high) << 32;
            for (at, width) in codec.widths.iter().enumerate().filter(|(_, width)| **width > 0) {
                let (width, wanted) = (u32::from(*width), channel(codec, pattern, at));
                let got = channel(codec, got, at);
                // -1 has two patterns, of which the larger is stored; which NaN it is is nobody's business.
                let other = codec.kind == Channels::Snorm && wanted == 1 << (width - 1) && got == wanted + 1;
                let nan = worth(codec, wanted, width).is_nan() && codec.kind == Channels::Float;
                let nan = nan && worth(codec, got, width).is_nan();
                assert!(got == wanted || other || nan, "{}: {pattern:#x}[{at}] is {got:#x}", name(codec).0);
            }
        }
    }
}

/// What no pattern stands for: normalized numbers go to one of the nearest, floats toward zero, integers lose what does not fit.
#[test]
fn what_lies_between_is_rounded() {
    let mut state = 11;
    for codec in &CODECS {
        let words = copying(codec, true);
        let module = Module::read(&words).expect("a module");
        let mut machine = Machine::new(&module);
        let special =
            [0.0, -0.0, 1.0, -1.0, 0.5, 1e-8, -1e-8, 6e-5, 65504.0, 65519.0, 65520.0, 65536.0, -7e9, 3e38, 1e-45];
        let special = special.into_iter().chain([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]).map(f32::to_bits);
        let scaled = |bits: u64| (bits as i32 as f32 / i32::MAX as f32 * 1.25).to_bits();
        let others: Vec<u32> =
            (0..1500).map(|_| random(&mut state)).flat_map(|bits| [bits as u32, scaled(bits)]).collect();
        for given in special.chain(others) {
            let [low, high, ..] = machine.run([given; 4]);
            let (got, value) = (u64::from(low) | u64::from(high) << 32, f64::from(f32::from_bits(given)));
            for (at, width) in codec.widths.iter().enumerate().filter(|(_, width)| **width > 0) {
                let (width, bits) = (u32::from(*width), channel(codec, got, at));
                let stored = worth(codec, bits, width);
                let what = format!("{}: {value:e} becomes {stored:e}", name(codec).0);
                match codec.kind {
                    Channels::Uint | Channels::Sint => assert_eq!(bits, given & (u32::MAX >> (32 - width))),
                    Channels::Float if width == 32 => assert_eq!(bits, given),
                    Channels::Unorm | Channels::Snorm if value.is_nan() => {}
                    Channels::Unorm | Channels::Snorm => {
                        let signed = codec.kind == Channels::Snorm;
                        let wanted = value.clamp(if signed { -1.0 } else { 0.0 }, 1.0);
                        let step = 1.0 / f64::from((1u32 << (width - u32::from(signed))) - 1);
                        assert!((stored - wanted).abs() <= step * 0.51, "{what}");
                    }
                    Channels::Float if value.is_nan() => assert!(stored.is_nan(), "{what}"),
                    Channels::Float => {
                        let wanted = if width == 16 { value } else { value.max(0.0) };
                        assert!(stored.abs() <= wanted.abs() && stored * wanted >= 0.0, "{what}");
                        assert_eq!(stored.is_infinite(), wanted.is_infinite(), "{what}");
                        // The next pattern is beyond it.
                        let next = worth(codec, bits + 1, width);
                        assert!(wanted.is_infinite() || next.is_infinite() || next.abs() > wanted.abs(), "{what}");
                    }
                }
            }
        }
    }
}

const R11: u32 = 8;
const RGBA8: u32 = 4;

/// Reads, writes and arrays of images of all kinds; buffers have formats of their own.
#[test]
fn everything_that_is_done_with_images_follows() {
    let words = compute(
        "layout(binding = 0, r11f_g11f_b10f) uniform image2D a;\nlayout(binding = 1, rgba8) uniform image2DArray b[3];\n\
         layout(binding = 2, rgba8) uniform imageBuffer c;\nlayout(binding = 3, r11f_g11f_b10f) uniform image3D d;\n\
         layout(binding = 4, r32ui) uniform uimage2D e;\nlayout(binding = 5, r32ui) uniform uimage2D g;\n\
         layout(binding = 6, rgba8) uniform image2D h;\nlayout(binding = 7) uniform image2D i;\n\
         layout(binding = 8, r11f_g11f_b10f) uniform image2DMS k;",
        "imageStore(a, ivec2(0), imageLoad(b[2], ivec3(0)) + vec4(imageSize(d), imageSamples(k))); imageStore(c, 0, imageLoad(k, ivec2(1), 2));\n\
         imageStore(d, ivec3(1), imageLoad(h, ivec2(3))); imageStore(h, ivec2(3), imageLoad(i, ivec2(4)));\n\
         imageAtomicAdd(e, ivec2(0), imageLoad(g, ivec2(1)).x);",
    );
    let formats = Options { images: 1 << R11 | 1 << RGBA8, buffers: 0 };
    let (new, rewrite) = lowered(&words, &formats, "vulkan1.1");
    let of = |binding, format| PassChange::FormatLowered { set: 0, binding, format };
    assert_eq!(rewrite.changes, [of(0, R11), of(1, RGBA8), of(3, R11), of(8, R11), of(6, RGBA8)]);
    let types: Vec<(u32, u32)> = having(&new, Op::TypeImage).iter().map(|it| (it[3], it[8])).collect();
    // One type for all that are two-dimensional, and it is that of the image that had it before.
    assert_eq!(types.iter().filter(|ty| **ty == (1, 33)).count(), 3, "{types:?}");
    assert!(types.contains(&(5, RGBA8)) && types.contains(&(1, 0)) && !types.iter().any(|(_, format)| *format == R11));
    // One function for each layout and direction.
    assert_eq!(having(&new, Op::Function).len(), having(&words, Op::Function).len() + 4);
    let (new, _) = lowered(&words, &Options { images: 0, buffers: 1 << RGBA8 }, "vulkan1.1");
    assert_eq!(having(&new, Op::Function).len(), having(&words, Op::Function).len() + 1);
}

/// Functions, copies and choices.
#[test]
fn images_are_followed_wherever_they_go() {
    let words = assembled(
        "OpCapability Shader\nOpCapability StorageImageExtendedFormats\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\nOpDecorate %a DescriptorSet 0\nOpDecorate %a Binding 0\n\
         OpDecorate %r RelaxedPrecision\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%int = OpTypeInt 32 1\n\
         %v2 = OpTypeVector %int 2\n%f4 = OpTypeVector %float 4\n%zero = OpConstant %int 0\n%two = OpConstant %int 2\n\
         %at = OpConstantComposite %v2 %zero %zero\n%bool = OpTypeBool\n%true = OpConstantTrue %bool\n\
         %t = OpTypeImage %float 2D 2 0 0 2 Rg16\n%array = OpTypeArray %t %two\n%p = OpTypePointer UniformConstant %array\n\
         %p1 = OpTypePointer UniformConstant %t\n%put = OpTypeFunction %void %t %f4\n%get = OpTypeFunction %f4 %p1\n\
         %a = OpVariable %p UniformConstant\n%main = OpFunction %void None %ft\n%l = OpLabel\n%q = OpAccessChain %p1 %a %zero\n\
         %x = OpLoad %t %q\n%y = OpCopyObject %t %x\n%n = OpUndef %t\n\
         %c = OpFunctionCall %f4 %g %q\n%d = OpFunctionCall %void %f %y %c\nOpReturn\nOpFunctionEnd\n\
         %f = OpFunction %void None %put\n%i = OpFunctionParameter %t\n%v = OpFunctionParameter %f4\n%lf = OpLabel\n\
         OpImageWrite %i %at %v\nOpReturn\nOpFunctionEnd\n\
         %g = OpFunction %f4 None %get\n%pi = OpFunctionParameter %p1\n%lg = OpLabel\n%j = OpLoad %t %pi\n\
         %r = OpImageRead %f4 %j %at\nOpReturnValue %r\nOpFunctionEnd\n",
    );
    let (new, _) = lowered(&words, &ALL, "vulkan1.1");
    let read = having(&words, Op::ImageRead)[0][2];
    // What is decorated stays the last result.
    assert!(having(&new, Op::FunctionCall).iter().any(|it| it[2] == read));
    assert_eq!(having(&new, Op::Decorate), having(&words, Op::Decorate));
}

/// A format of which the shader only writes gets no function that reads.
#[test]
fn what_is_only_written_is_not_decoded() {
    let words = compute(
        "layout(binding = 0, rg16f) uniform writeonly image2D a;\nlayout(binding = 1, r8) uniform writeonly image1D b;",
        "imageStore(a, ivec2(0), vec4(1.0)); imageStore(b, 0, vec4(0.5));",
    );
    let (new, _) = lowered(&words, &ALL, "vulkan1.1");
    assert_eq!(having(&new, Op::Function).len(), 3);
    assert!(!having(&new, Op::ExtInst).iter().any(|it| it[4] == GLOp::UnpackHalf2x16 as u32));
    assert!(having(&new, Op::Capability).iter().any(|it| it[1] == 49), "R8ui needs StorageImageExtendedFormats");
}

#[test]
fn residency_codes_are_handed_on() {
    let words = compute(
        "#extension GL_ARB_sparse_texture2 : require\nlayout(binding = 0, rgba8) uniform image2D a;\nlayout(binding = 1, rgba32f) uniform image2D b;",
        "vec4 v; int code = sparseImageLoadARB(a, ivec2(0), v); imageStore(b, ivec2(0), v * float(sparseTexelsResidentARB(code)));",
    );
    let (new, rewrite) = lowered(&words, &ALL, "vulkan1.1");
    assert_eq!(rewrite.changes, [PassChange::FormatLowered { set: 0, binding: 0, format: RGBA8 }]);
    assert_eq!(having(&new, Op::ImageSparseRead).len(), 1);
    assert_eq!(having(&new, Op::ImageSparseTexelsResident), having(&words, Op::ImageSparseTexelsResident));
}

/// A module with one image type, its sampled type, a texel type, what stands before it and what is done with it.
fn module(sampled: &str, format: &str, body: &str) -> Vec<u32> {
    assembled(&format!(
        "OpCapability Shader\nOpCapability StorageImageExtendedFormats\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\nOpDecorate %a DescriptorSet 2\nOpDecorate %a Binding 3\n\
         %void = OpTypeVoid\n%ft = OpTypeFunction %void\n%float = OpTypeFloat 32\n%int = OpTypeInt 32 1\n%v2 = OpTypeVector %int 2\n\
         %f4 = OpTypeVector %float 4\n%f2 = OpTypeVector %float 2\n%i4 = OpTypeVector %int 4\n\
         %zero = OpConstant %int 0\n%at = OpConstantComposite %v2 %zero %zero\n%one = OpConstant %float 1\n\
         %two = OpConstantComposite %f2 %one %one\n%four = OpConstantComposite %f4 %one %one %one %one\n\
         %t = OpTypeImage %{sampled} 2D 2 0 0 2 {format}\n%p = OpTypePointer UniformConstant %t\n\
         %a = OpVariable %p UniformConstant\n%uint = OpTypeInt 32 0\n%u4 = OpTypeVector %uint 4\n%pt = OpTypePointer Image %int\n\
         %main = OpFunction %void None %ft\n%l = OpLabel\n%i = OpLoad %t %a\n{body}\nOpReturn\nOpFunctionEnd\n"
    ))
}

#[test]
fn texels_of_fewer_components_are_filled_up() {
    for (format, texel) in [("R16f", "%one"), ("Rg16f", "%two"), ("R11fG11fB10f", "%four")] {
        let words = module("float", format, &format!("OpImageWrite %i %at {texel}"));
        let (new, _) = lowered(&words, &ALL, "vulkan1.1");
        let made = usize::from(texel != "%four");
        let main = having(&new, Op::CompositeConstruct).len();
        // The function's own, and that of the texel.
        assert_eq!(main, 1 + made, "{format}");
    }
}

/// `uint` stands behind the type that needs it, and moves.
#[test]
fn the_type_of_words_stands_before_the_images() {
    let words = module("float", "Rgba8", "%r = OpImageRead %f4 %i %at");
    let (new, _) = lowered(&words, &ALL, "vulkan1.1");
    let unsigned: Vec<_> = having(&new, Op::TypeInt).into_iter().filter(|it| it[3] == 0).collect();
    assert_eq!(unsigned, having(&words, Op::TypeInt).into_iter().filter(|it| it[3] == 0).collect::<Vec<_>>());
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let refused = |words: &[u32], why| assert_eq!(rewritten(words, &ALL), Err(why));
    let read = "%r = OpImageRead %f4 %i %at";
    refused(&module("float", "Rgba8i", read), Why::ImageType(23));
    refused(&module("int", "Rgba8", "%r = OpImageRead %i4 %i %at"), Why::ImageType(RGBA8));
    refused(&module("float", "Rgba8", "%r = OpImageRead %i4 %i %at"), Why::Texel);
    refused(&module("float", "Rgba8", "%r = OpImageRead %f2 %i %at"), Why::Texel);
    refused(&module("float", "Rgba8", "OpImageWrite %i %at %zero"), Why::Texel);
    refused(&module("float", "Rgba8", "%s = OpImageFetch %f4 %i %at"), Why::Opcode(Op::ImageFetch as u32));
    let pointer = "%x = OpImageTexelPointer %pt %a %at %zero\n%y = OpAtomicLoad %int %x %zero %zero";
    refused(&module("int", "R32i", pointer), Why::Atomics { set: 2, binding: 3 });
    // An instruction that nobody has heard of, and that may name the image or does not.
    let words = module("float", "Rgba8", read);
    let image = having(&words, Op::Load)[0][2];
    let end = words.len() - 2;
    for (operand, expected) in [(image, Err(Why::Opcode(60_000))), (1 << 20, Ok(()))] {
        let mut strange = words.clone();
        strange.splice(end..end, [2 << 16 | 60_000, operand]);
        assert_eq!(rewritten(&strange, &ALL).map(|_| ()), expected);
    }
    // Integers that are widened as their format has it, and in another way.
    let text = |extend: &str| module("int", "Rgba8i", &format!("%r = OpImageRead %i4 %i %at {extend}"));
    for (mask, expected) in [(0x1000, Ok(())), (0x2000, Err(Why::ImageOperands(0x2000)))] {
        let mut words = text("");
        let at = words.iter().position(|word| *word == 5 << 16 | Op::ImageRead as u32).expect("the instruction");
        words[at] += 1 << 16;
        words.insert(at + 5, mask);
        assert_eq!(rewritten(&words, &ALL).map(|_| ()), expected);
    }
    let mut kernel = words.clone();
    kernel.splice(5..5, [2 << 16 | 17, 6]);
    refused(&kernel, Why::Kernel);
}

#[test]
fn what_the_device_stores_stays_as_it_is() {
    let words = compute(
        "layout(binding = 0, rgba8) uniform image2D a;\nlayout(binding = 1) uniform image2D b;\nlayout(binding = 2, rgba32f) uniform image2D c;",
        "imageStore(a, ivec2(0), imageLoad(c, ivec2(0))); imageStore(b, ivec2(0), vec4(1.0));",
    );
    for options in [Options::default(), Options { images: !(1 << RGBA8), buffers: u64::MAX }] {
        assert_eq!(rewritten(&words, &options), Ok(Rewrite::default()));
    }
    for shader in shaders() {
        if having(&shader.words, Op::TypeImage).iter().all(|it| it[7] != 2) {
            assert_eq!(rewritten(&shader.words, &ALL), Ok(Rewrite::default()), "{}", shader.file);
        }
    }
    let text = "#version 450\nlayout(input_attachment_index = 0, binding = 0) uniform subpassInput s;\nlayout(location = 0) out vec4 o;\nvoid main() { o = subpassLoad(s); }\n";
    assert_eq!(rewritten(&glsl("frag", "vulkan1.1", text), &ALL), Ok(Rewrite::default()));
}
