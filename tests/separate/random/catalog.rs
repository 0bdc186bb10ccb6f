//! What programs are made of: set layouts, what shaders read through them, and the shaders themselves.

use std::fmt::Write as _;

/// Kind of an image's texels: R8G8B8A8_UNORM, which every device filters, or R32_UINT, which none does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texel {
    Float,
    Uint,
}

/// What a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Image(Texel),
    Sampler,
    Pair(Texel),
    /// A sampler that is immutable.
    Fixed,
    /// A combined image and sampler whose sampler is immutable.
    FixedPair,
    Uniform,
    UniformMoved,
    Results,
    ResultsMoved,
}

impl Slot {
    /// Whether it takes a dynamic offset.
    pub(super) fn is_moved(self) -> bool {
        matches!(self, Self::UniformMoved | Self::ResultsMoved)
    }

    pub(super) fn is_results(self) -> bool {
        matches!(self, Self::Results | Self::ResultsMoved)
    }
}

/// A binding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) binding: u32,
    pub(super) slot: Slot,
    pub(super) count: u32,
    /// `VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT`.
    pub(super) is_late: bool,
    /// `VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT`.
    pub(super) is_partial: bool,
}

const fn entry(binding: u32, slot: Slot, count: u32) -> Entry {
    Entry { binding, slot, count, is_late: false, is_partial: false }
}

const fn partial(binding: u32, slot: Slot, count: u32) -> Entry {
    Entry { is_partial: true, ..entry(binding, slot, count) }
}

const fn late(binding: u32, slot: Slot, count: u32) -> Entry {
    Entry { is_late: true, ..partial(binding, slot, count) }
}

/// A set layout.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) entries: &'static [Entry],
    pub(super) is_pushed: bool,
}

impl Definition {
    pub(super) fn entry(&self, binding: u32) -> &'static Entry {
        self.entries.iter().find(|entry| entry.binding == binding).expect("a binding of the definition")
    }

    pub(super) fn is_partial(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_partial)
    }

    pub(super) fn is_late(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_late)
    }

    /// Samplers may be written after the bind.
    pub(super) fn has_late_samplers(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_late && entry.slot == Slot::Sampler)
    }
}

use Slot::{Fixed, FixedPair, Image, Pair, Results, ResultsMoved, Uniform, UniformMoved};
use Texel::{Float, Uint};

pub(super) const RESULTS: usize = 0;
pub(super) const MOVED: usize = 1;
pub(super) const SHARED: usize = 2;
pub(super) const ARRAYS: usize = 3;
pub(super) const MIXED: usize = 4;
pub(super) const PUSHED: usize = 5;
pub(super) const LATE: usize = 6;
pub(super) const IMMUTABLE: usize = 7;
pub(super) const BUFFERS: usize = 8;
pub(super) const PAIRS: usize = 9;
pub(super) const PARTIAL: usize = 10;
/// More than are looked for one by one: shaders look up what suits what they index.
pub(super) const HEAP: usize = 11;
pub(super) const LATE_HEAP: usize = 12;
pub(super) const SAMPLERS: usize = 13;
pub(super) const FEW: usize = 14;
/// Arrays of one.
pub(super) const ONES: usize = 15;

const fn plain(name: &'static str, entries: &'static [Entry]) -> Definition {
    Definition { name, entries, is_pushed: false }
}

pub(super) static DEFINITIONS: [Definition; 16] = [
    plain("RESULTS", &[entry(0, Results, 1)]),
    plain("MOVED", &[entry(0, ResultsMoved, 1)]),
    plain("SHARED", &[entry(0, Image(Uint), 1), entry(1, Slot::Sampler, 1), entry(2, Image(Float), 1)]),
    plain("ARRAYS", &[entry(0, Image(Uint), 3), entry(1, Slot::Sampler, 2), entry(4, Image(Float), 1)]),
    plain(
        "MIXED",
        &[
            entry(0, Pair(Uint), 1),
            entry(1, UniformMoved, 1),
            entry(2, Image(Uint), 1),
            entry(3, Slot::Sampler, 1),
            entry(5, UniformMoved, 1),
        ],
    ),
    Definition {
        name: "PUSHED",
        entries: &[
            entry(0, Image(Uint), 1),
            entry(1, Slot::Sampler, 1),
            entry(2, Uniform, 1),
            entry(3, Image(Float), 1),
        ],
        is_pushed: true,
    },
    plain(
        "LATE",
        &[Entry { is_late: true, ..entry(0, Image(Float), 1) }, entry(1, Slot::Sampler, 1), entry(2, Image(Uint), 1)],
    ),
    plain(
        "IMMUTABLE",
        &[entry(0, Image(Uint), 1), entry(1, Fixed, 1), entry(2, Image(Float), 1), entry(3, FixedPair, 1)],
    ),
    plain("BUFFERS", &[entry(0, UniformMoved, 1), entry(1, Uniform, 1)]),
    plain(
        "PAIRS",
        &[entry(0, Pair(Float), 1), entry(1, Pair(Uint), 2), entry(2, Slot::Sampler, 1), entry(3, Image(Float), 1)],
    ),
    plain(
        "PARTIAL",
        &[partial(0, Image(Uint), 3), entry(1, Slot::Sampler, 1), entry(2, UniformMoved, 1), entry(3, Image(Float), 1)],
    ),
    plain("HEAP", &[partial(0, Image(Uint), 70), partial(1, Slot::Sampler, 29), entry(2, Image(Float), 1)]),
    plain("LATE_HEAP", &[late(0, Image(Uint), 70), late(1, Slot::Sampler, 67), late(2, Image(Float), 66)]),
    plain("SAMPLERS", &[late(0, Slot::Sampler, 68)]),
    plain("FEW", &[entry(0, Image(Uint), 11), entry(1, Slot::Sampler, 7), entry(2, Image(Float), 10)]),
    plain("ONES", &[entry(0, Image(Uint), 1), entry(1, Slot::Sampler, 1), entry(2, Image(Float), 1)]),
];

/// Which element of an array is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    At(u32),
    /// The one that the second word of the push constants says.
    Dynamic,
}

/// A descriptor, or any of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) set: usize,
    pub(super) binding: u32,
    pub(super) element: Element,
}

const fn at(set: usize, binding: u32) -> Place {
    element(set, binding, 0)
}

const fn element(set: usize, binding: u32, element: u32) -> Place {
    Place { set, binding, element: Element::At(element) }
}

const fn dynamic(set: usize, binding: u32) -> Place {
    Place { set, binding, element: Element::Dynamic }
}

/// What one lookup joins. A combined image and sampler has no second place.
type Link = (Place, Option<Place>);

const fn join(image: Place, sampler: Place) -> Link {
    (image, Some(sampler))
}

/// A shader and its pipeline layout.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) sets: &'static [usize],
    pub(super) links: &'static [Link],
    pub(super) uniforms: &'static [(usize, u32)],
    /// Words of push constants; layouts with another number of them are not compatible.
    pub(super) words: usize,
}

const fn code(sets: &'static [usize], links: &'static [Link], uniforms: &'static [(usize, u32)]) -> Code {
    Code { sets, links, uniforms, words: FEW_WORDS }
}

const FEW_WORDS: usize = 6;
const MANY_WORDS: usize = 10;

pub(super) static CODES: [Code; 34] = [
    code(&[SHARED, RESULTS], &[join(at(0, 0), at(0, 1)), join(at(0, 2), at(0, 1))], &[]),
    code(&[SHARED, RESULTS], &[join(at(0, 0), at(0, 1))], &[]),
    code(&[SHARED, RESULTS], &[join(at(0, 2), at(0, 1))], &[]),
    code(&[SHARED, RESULTS], &[], &[]),
    code(
        &[RESULTS, SHARED, MIXED],
        &[join(at(1, 0), at(1, 1)), join(at(1, 2), at(2, 3)), join(at(2, 2), at(2, 3)), (at(2, 0), None)],
        &[(2, 1), (2, 5)],
    ),
    code(
        &[SHARED, MIXED, RESULTS],
        &[join(at(0, 0), at(0, 1)), join(at(1, 2), at(0, 1)), join(at(0, 2), at(1, 3))],
        &[(1, 5)],
    ),
    code(&[SHARED, BUFFERS, RESULTS], &[join(at(0, 0), at(0, 1))], &[(1, 0), (1, 1)]),
    code(
        &[ARRAYS, MOVED],
        &[
            join(element(0, 0, 2), element(0, 1, 1)),
            join(element(0, 0, 0), element(0, 1, 0)),
            join(at(0, 4), element(0, 1, 0)),
        ],
        &[],
    ),
    code(&[ARRAYS, MOVED], &[join(dynamic(0, 0), dynamic(0, 1)), join(at(0, 4), element(0, 1, 0))], &[]),
    code(&[PUSHED, RESULTS], &[join(at(0, 0), at(0, 1)), join(at(0, 3), at(0, 1))], &[(0, 2)]),
    code(
        &[SHARED, PUSHED, RESULTS],
        &[join(at(0, 0), at(1, 1)), join(at(1, 3), at(1, 1)), join(at(0, 2), at(0, 1))],
        &[(1, 2)],
    ),
    code(&[LATE, RESULTS], &[join(at(0, 0), at(0, 1)), join(at(0, 2), at(0, 1))], &[]),
    code(&[RESULTS, LATE, BUFFERS], &[join(at(1, 2), at(1, 1)), join(at(1, 0), at(1, 1))], &[(2, 0)]),
    code(&[PARTIAL, RESULTS], &[join(dynamic(0, 0), at(0, 1)), join(at(0, 3), at(0, 1))], &[(0, 2)]),
    code(&[RESULTS, PARTIAL], &[join(dynamic(1, 0), at(1, 1))], &[]),
    code(&[IMMUTABLE, RESULTS], &[join(at(0, 0), at(0, 1)), join(at(0, 2), at(0, 1)), (at(0, 3), None)], &[]),
    code(
        &[PAIRS, MOVED, BUFFERS],
        &[(at(0, 0), None), (element(0, 1, 0), None), (element(0, 1, 1), None), join(at(0, 3), at(0, 2))],
        &[(2, 0)],
    ),
    // A set of the layer's own behind the shorter layouts that they begin with is in the place of their last one.
    code(
        &[SHARED, RESULTS, MIXED],
        &[join(at(0, 0), at(0, 1)), join(at(2, 2), at(2, 3)), join(at(0, 2), at(0, 1))],
        &[(2, 1)],
    ),
    code(&[SHARED, RESULTS, BUFFERS], &[join(at(0, 0), at(0, 1)), join(at(0, 2), at(0, 1))], &[(2, 0), (2, 1)]),
    code(&[SHARED, RESULTS, PUSHED], &[join(at(2, 0), at(2, 1)), join(at(0, 2), at(0, 1))], &[(2, 2)]),
    // On a device with four sets nothing is left for one of the layer's own.
    code(
        &[SHARED, MIXED, BUFFERS, RESULTS],
        &[join(at(0, 0), at(0, 1)), join(at(0, 2), at(0, 1)), join(at(1, 2), at(1, 3))],
        &[(1, 1), (1, 5), (2, 0), (2, 1)],
    ),
    Code { sets: &[RESULTS, SHARED], links: &[join(at(1, 0), at(1, 1))], uniforms: &[], words: MANY_WORDS },
    Code {
        sets: &[MIXED, SHARED, RESULTS],
        links: &[join(at(0, 2), at(0, 3)), join(at(1, 0), at(0, 3))],
        uniforms: &[(0, 5), (0, 1)],
        words: MANY_WORDS,
    },
    Code { sets: &[MIXED, SHARED, RESULTS], links: &[join(at(1, 2), at(0, 3))], uniforms: &[(0, 1)], words: FEW_WORDS },
    code(&[HEAP, RESULTS], &[join(dynamic(0, 0), dynamic(0, 1)), join(at(0, 2), dynamic(0, 1))], &[]),
    code(
        &[RESULTS, HEAP, BUFFERS],
        &[join(dynamic(1, 0), dynamic(1, 1)), join(dynamic(1, 0), element(1, 1, 5))],
        &[(2, 0), (2, 1)],
    ),
    code(&[LATE_HEAP, RESULTS], &[join(dynamic(0, 0), dynamic(0, 1)), join(dynamic(0, 2), dynamic(0, 1))], &[]),
    code(
        &[SHARED, LATE_HEAP, MOVED],
        &[join(at(0, 0), at(0, 1)), join(dynamic(1, 0), dynamic(1, 1)), join(at(0, 2), dynamic(1, 1))],
        &[],
    ),
    code(&[SHARED, SAMPLERS, RESULTS], &[join(at(0, 0), dynamic(1, 0)), join(at(0, 2), dynamic(1, 0))], &[]),
    code(&[PUSHED, HEAP, RESULTS], &[join(at(0, 0), dynamic(1, 1)), join(dynamic(1, 0), at(0, 1))], &[(0, 2)]),
    code(
        &[MIXED, LATE_HEAP, RESULTS],
        &[join(at(0, 2), at(0, 3)), join(dynamic(1, 2), dynamic(1, 1)), join(dynamic(1, 0), at(0, 3))],
        &[(0, 1), (0, 5)],
    ),
    code(&[FEW, RESULTS], &[join(dynamic(0, 0), dynamic(0, 1)), join(dynamic(0, 2), dynamic(0, 1))], &[]),
    code(&[ONES, RESULTS], &[join(dynamic(0, 0), dynamic(0, 1)), join(dynamic(0, 2), dynamic(0, 1))], &[]),
    code(
        &[HEAP, MIXED, SAMPLERS, RESULTS],
        &[join(dynamic(0, 0), dynamic(2, 0)), join(at(1, 2), dynamic(0, 1))],
        &[(1, 1), (1, 5)],
    ),
];

impl Code {
    /// The number of the set with the results.
    pub(super) fn results(&self) -> usize {
        self.sets.iter().position(|set| [RESULTS, MOVED].contains(set)).expect("each code has results")
    }

    fn indexed(&self) -> impl Iterator<Item = &Place> {
        let places = self.links.iter().flat_map(|(image, sampler)| std::iter::once(image).chain(sampler));
        places.filter(|place| matches!(place.element, Element::Dynamic))
    }

    pub(super) fn has_dynamic_index(&self) -> bool {
        self.indexed().next().is_some()
    }

    fn indexes(&self, set: usize, binding: u32) -> bool {
        self.indexed().any(|place| (place.set, place.binding) == (set, binding))
    }

    /// Shaders look up what suits what it indexes.
    pub(super) fn looks_up(&self) -> bool {
        self.sets.iter().any(|set| [HEAP, LATE_HEAP, SAMPLERS, FEW].contains(set))
    }

    pub(super) fn definition(&self, set: usize) -> &'static Definition {
        &DEFINITIONS[self.sets[set]]
    }
}

/// Words of a draw's results: how often it ran, the push constants, the uniform buffers, and the lookups.
pub(super) const SLOT: usize = 128;
pub(super) const UNIFORMS_AT: usize = 11;
pub(super) const LINKS_AT: usize = 16;
/// Where each link looks: neighbouring texels, and the places beyond the edges, are told apart, and no point is on an edge between two.
pub(super) const POINTS: [[f32; 2]; 3] = [[0.30, 0.40], [-0.30, 0.60], [1.37, 1.20]];
/// Pixels of the frame, one bit each in the first word of a draw.
pub(super) const FRAME: [u32; 2] = [8, 4];

pub(super) const VERTEX: &str = "#version 450
void main() {
    gl_Position = vec4(vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0), 0.0, 1.0);
}
";

/// The name of a descriptor in the shader.
fn name(code: &Code, place: &Place) -> String {
    let entry = code.definition(place.set).entry(place.binding);
    let index = match place.element {
        Element::At(_) if entry.count == 1 => String::new(),
        Element::At(element) => format!("[{element}]"),
        Element::Dynamic => format!("[index % {}]", entry.count),
    };
    format!("d{}_{}{index}", place.set, place.binding)
}

/// The shader of a code.
pub(super) fn source(code: &Code, is_compute: bool) -> String {
    let mut text = String::from("#version 450\n");
    text += if is_compute { "layout(local_size_x = 1) in;\n" } else { "layout(location = 0) out uvec4 colour;\n" };
    let more = code.words - 2;
    let _ = writeln!(text, "layout(push_constant) uniform Push {{ uint slot; uint index; uint words[{more}]; }};");
    for (set, definition) in code.sets.iter().enumerate() {
        for Entry { binding, slot, count, .. } in DEFINITIONS[*definition].entries {
            let is_array = *count > 1 || code.indexes(set, *binding);
            let array = if is_array { format!("[{count}]") } else { String::new() };
            let ty = match slot {
                Image(Float) => "texture2D",
                Image(Uint) => "utexture2D",
                Slot::Sampler | Fixed => "sampler",
                Pair(Float) | FixedPair => "sampler2D",
                Pair(Uint) => "usampler2D",
                Uniform | UniformMoved => {
                    let _ = writeln!(
                        text,
                        "layout(set = {set}, binding = {binding}) uniform U{set}_{binding} {{ uint d{set}_{binding}; }};"
                    );
                    continue;
                }
                Results | ResultsMoved => {
                    let _ = writeln!(
                        text,
                        "layout(std430, set = {set}, binding = {binding}) buffer Results {{ uint results[]; }};"
                    );
                    continue;
                }
            };
            let _ = writeln!(text, "layout(set = {set}, binding = {binding}) uniform {ty} d{set}_{binding}{array};");
        }
    }
    // A loop, because drivers compile each lookup for each kind of sampler that it meets.
    let points = POINTS.map(|[x, y]| format!("vec2({x:?}, {y:?})")).join(", ");
    let _ = writeln!(text, "const vec2 points[] = {{ {points} }};");
    text += "void store(uint at, uvec4 found) { for (uint i = 0; i < 4; ++i) results[at + i] = found[i]; }\n";
    text += "void main() {\n";
    let _ = writeln!(text, "    uint at = slot * {SLOT};");
    text += if is_compute {
        "    atomicAdd(results[at], 1);\n"
    } else {
        "    atomicOr(results[at], 1u << (uint(gl_FragCoord.y) * 8 + uint(gl_FragCoord.x)));\n    colour = uvec4(slot + 1, words[0], 0, 1);\n"
    };
    let _ = writeln!(text, "    results[at + 1] = index;");
    let _ = writeln!(text, "    for (uint i = 0; i < {more}; ++i) results[at + 2 + i] = words[i];");
    for (number, (set, binding)) in code.uniforms.iter().enumerate() {
        let _ = writeln!(text, "    results[at + {}] = d{set}_{binding};", UNIFORMS_AT + number);
    }
    for (number, (image, sampler)) in code.links.iter().enumerate() {
        let slot = code.definition(image.set).entry(image.binding).slot;
        let is_uint = matches!(slot, Image(Uint) | Pair(Uint));
        let mut pair = name(code, image);
        if let Some(sampler) = sampler {
            let ty = if is_uint { "usampler2D" } else { "sampler2D" };
            pair = format!("{ty}({pair}, {})", name(code, sampler));
        }
        let look = format!("textureLod({pair}, points[i], 0.0)");
        let bits = if is_uint { look } else { format!("floatBitsToUint({look})") };
        let at = LINKS_AT + number * POINTS.len() * 4;
        let _ = writeln!(text, "    for (uint i = 0; i < {}; ++i) store(at + {at} + i * 4, {bits});", POINTS.len());
    }
    text += "}\n";
    text
}
