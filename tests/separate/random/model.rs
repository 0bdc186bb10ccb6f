//! What a draw has to find, worked out without the layer and without a device: by the specification's chapters on pipeline layouts,
//! dynamic state, push constants, command buffers and image operations.

use super::catalog::{
    CODES, Code, DEFINITIONS, Element, Entry, FRAME, LINKS_AT, POINTS, Place, SLOT, Slot, Texel, UNIFORMS_AT,
};
use std::collections::{BTreeMap, BTreeSet};

// --- what images and samplers are -------------------------------------------------------------------------------------

/// Texels of an image along each axis.
pub(super) const SIZE: i32 = 4;
/// Images of each kind.
pub(super) const IMAGES: usize = 4;

/// The texel of an image of integers.
pub(super) fn uint_texel(image: usize, x: i32, y: i32) -> u32 {
    1000 * (image as u32 + 1) + 16 * y as u32 + x as u32
}

/// The texel of an image of floats, a multiple of 1/255.
pub(super) fn float_texel(image: usize, x: i32, y: i32) -> [f32; 4] {
    [51 * (image as i32 + 1), 85 * x, 85 * y, 85 * ((x + 3 * y) % 4)].map(|step| step as f32 / 255.0)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Repeat,
    Mirror,
    Edge,
    Border,
}

/// What a sampler asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) is_linear: bool,
    pub(super) mode: Mode,
    /// An opaque white border instead of a transparent black one.
    pub(super) is_white: bool,
    /// The border is one of integers.
    pub(super) is_int: bool,
}

impl State {
    /// Whether it may not be used with an image of this kind: no device filters integers, and a border has to be of the kind of the image.
    pub(super) fn conflicts(self, texel: Texel) -> bool {
        let is_uint = texel == Texel::Uint;
        (self.is_linear && is_uint) || (self.mode == Mode::Border && self.is_int != is_uint)
    }

    fn wrap(self, at: i32) -> Option<i32> {
        match self.mode {
            Mode::Repeat => Some(at.rem_euclid(SIZE)),
            Mode::Mirror => {
                let at = at.rem_euclid(2 * SIZE);
                Some(at.min(2 * SIZE - 1 - at))
            }
            Mode::Edge => Some(at.clamp(0, SIZE - 1)),
            Mode::Border => Some(at).filter(|at| (0..SIZE).contains(at)),
        }
    }

    /// What an image of integers gives. Where LINEAR is illegal the nearest texel is read; a border has the kind of the image.
    fn read_uint(self, image: usize, point: [f32; 2]) -> u32 {
        let [x, y] = point.map(|at| self.wrap((at * SIZE as f32).floor() as i32));
        match (x, y) {
            (Some(x), Some(y)) => uint_texel(image, x, y),
            _ => u32::from(self.is_white),
        }
    }

    fn read_float(self, image: usize, point: [f32; 2]) -> [f32; 4] {
        let texel = |x: i32, y: i32| match (self.wrap(x), self.wrap(y)) {
            (Some(x), Some(y)) => float_texel(image, x, y),
            _ => [if self.is_white { 1.0 } else { 0.0 }; 4],
        };
        let [x, y] = point.map(|at| at * SIZE as f32);
        if !self.is_linear {
            return texel(x.floor() as i32, y.floor() as i32);
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor() as i32, y.floor() as i32);
        let (right, bottom) = (x - x.floor(), y - y.floor());
        let mut sum = [0.0; 4];
        for (dx, dy, weight) in [
            (0, 0, (1.0 - right) * (1.0 - bottom)),
            (1, 0, right * (1.0 - bottom)),
            (0, 1, (1.0 - right) * bottom),
            (1, 1, right * bottom),
        ] {
            let found = texel(left + dx, top + dy);
            sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += weight * found);
        }
        sum
    }
}

// --- descriptors ------------------------------------------------------------------------------------------------------

/// Binding and element.
pub(super) type Key = (u32, u32);

/// A descriptor; views and samplers by their numbers, which are never used again, and buffers by their offset in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptor {
    Image(usize),
    Sampler(usize),
    Pair(usize, usize),
    /// A combined image and sampler with an immutable sampler.
    FixedPair(usize),
    Buffer(u32),
}

impl Descriptor {
    pub(super) fn view(self) -> Option<usize> {
        match self {
            Self::Image(view) | Self::Pair(view, _) | Self::FixedPair(view) => Some(view),
            Self::Sampler(_) | Self::Buffer(_) => None,
        }
    }

    pub(super) fn sampler(self) -> Option<usize> {
        match self {
            Self::Sampler(sampler) | Self::Pair(_, sampler) => Some(sampler),
            _ => None,
        }
    }
}

pub(super) type Content = BTreeMap<Key, Descriptor>;

#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) definition: usize,
    pub(super) content: Content,
    pub(super) pool: usize,
    /// Which of the layouts that are defined alike.
    pub(super) layout: usize,
    pub(super) is_alive: bool,
    /// Its layout is gone, so that it is not written any more.
    pub(super) is_frozen: bool,
}

/// What exists.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// Image of each view, and whether it is alive.
    pub(super) views: Vec<(usize, bool)>,
    pub(super) samplers: Vec<(State, bool)>,
    pub(super) sets: Vec<Set>,
}

/// The sampler of immutable descriptors.
pub(super) const FIXED: State = State { is_linear: true, mode: Mode::Repeat, is_white: false, is_int: false };

impl Objects {
    pub(super) fn is_alive(&self, descriptor: Descriptor) -> bool {
        descriptor.view().is_none_or(|view| self.views[view].1)
            && descriptor.sampler().is_none_or(|sampler| self.samplers[sampler].1)
    }
}

/// The descriptors that have to be valid in the set of this number: all of an array, whichever element is read, but for partially bound ones.
pub(super) fn needed(code: &Code, set: usize) -> BTreeSet<Key> {
    let places = code.links.iter().flat_map(|(image, sampler)| std::iter::once(image).chain(sampler));
    let mut bindings: BTreeSet<u32> = places.filter(|place| place.set == set).map(|place| place.binding).collect();
    bindings.extend(code.uniforms.iter().filter(|(at, _)| *at == set).map(|(_, binding)| *binding));
    if code.results() == set {
        bindings.insert(0);
    }
    let all = writable(code.sets[set]).filter(|(_, entry)| !entry.is_partial);
    all.map(|(key, _)| key).filter(|key| bindings.contains(&key.0)).collect()
}

// --- what is bound ----------------------------------------------------------------------------------------------------

/// A pipeline layout: definitions of its sets, and words of push constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) sets: &'static [usize],
    pub(super) words: usize,
}

impl Shape {
    pub(super) fn of(code: usize) -> Self {
        Self { sets: CODES[code].sets, words: CODES[code].words }
    }

    /// "Compatible for set N" (Pipeline Layout Compatibility).
    pub(super) fn is_compatible(&self, other: &Self, number: usize) -> bool {
        let sets = |shape: &Self| shape.sets.get(..=number);
        self.words == other.words && sets(self).is_some() && sets(self) == sets(other)
    }
}

#[derive(Clone, Debug)]
enum What {
    Set(usize, Vec<u32>),
    Pushed(Content),
}

#[derive(Clone, Debug)]
struct Bound {
    what: What,
    shape: Shape,
}

/// x, y, width and height in pixels.
pub(super) type Area = [u32; 4];

/// The states that are static or dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dynamic {
    Viewport,
    Scissor,
    Cull,
}

pub(super) const DYNAMIC: [Dynamic; 3] = [Dynamic::Viewport, Dynamic::Scissor, Dynamic::Cull];

/// How a render pass is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Object,
    Dynamic,
}

/// A pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pipeline {
    pub(super) code: usize,
    /// None for compute.
    pub(super) pass: Option<Pass>,
    /// Values of the states that are static; the area of the state that culls is all of the frame or nothing.
    pub(super) statics: [Option<Area>; 3],
    /// A shader object.
    pub(super) is_object: bool,
    /// Linked of libraries.
    pub(super) is_linked: bool,
}

pub(super) const COMPUTE: usize = 0;
pub(super) const GRAPHICS: usize = 1;

impl Pipeline {
    pub(super) fn point(&self) -> usize {
        if self.pass.is_some() { GRAPHICS } else { COMPUTE }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Value {
    value: Option<Area>,
    /// It comes from a pipeline, so that one in which it is dynamic needs it set again.
    is_static: bool,
    is_set_since_bind: bool,
}

/// What has to be called before a draw is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Set(usize),
    Word(usize),
    State(Dynamic),
    Pipeline,
}

/// Where a descriptor is found when the draw is executed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    In(usize, Key),
    Held(Descriptor),
    Fixed,
}

/// A draw that was recorded.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) code: usize,
    /// The first word of its results in their buffer.
    pub(super) at: usize,
    slot: u32,
    is_compute: bool,
    links: Vec<(Source, Option<Source>)>,
    words: Vec<u32>,
    uniforms: Vec<u32>,
    mask: u32,
    /// Links that are repaired whatever is written after the bind, one bit each.
    pub(super) sure: u32,
}

/// The state of a command buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Recording {
    points: [Vec<Option<Bound>>; 2],
    pub(super) pipelines: [Option<usize>; 2],
    /// Push constants, and how many words the layout has that they were pushed with.
    words: Vec<Option<(u32, usize)>>,
    states: [Value; 3],
    /// Bind points that something was pushed for.
    pub(super) has_pushed: [bool; 2],
}

impl Recording {
    pub(super) fn bind_pipeline(&mut self, number: usize, pipeline: &Pipeline) {
        self.pipelines[pipeline.point()] = Some(number);
        if pipeline.point() == GRAPHICS {
            for (state, value) in self.states.iter_mut().zip(pipeline.statics) {
                state.is_set_since_bind = false;
                if value.is_some() {
                    *state = Value { value, is_static: true, is_set_since_bind: false };
                }
            }
        }
    }

    pub(super) fn set_state(&mut self, state: Dynamic, value: Area) {
        self.states[state as usize] = Value { value: Some(value), is_static: false, is_set_since_bind: true };
    }

    pub(super) fn push_words(&mut self, shape: &Shape, first: usize, words: &[u32]) {
        self.words.resize(self.words.len().max(first + words.len()), None);
        for (at, word) in (first..).zip(words) {
            self.words[at] = Some((*word, shape.words));
        }
    }

    /// What a bind of these numbers leaves of the others: lower ones that were bound with compatible layouts, and higher ones, if what was
    /// bound at the last number was bound with one that is compatible for it.
    fn disturb(&mut self, point: usize, shape: &Shape, first: usize, last: usize) {
        let sets = &mut self.points[point];
        sets.resize_with(sets.len().max(last + 1), || None);
        let is_like = sets[last].as_ref().is_none_or(|bound| bound.shape.is_compatible(shape, last));
        for (number, bound) in sets.iter_mut().enumerate() {
            let stays = |bound: &Bound| match number {
                _ if number < first => bound.shape.is_compatible(shape, number),
                _ if number > last => is_like && bound.shape.is_compatible(shape, last),
                _ => true,
            };
            *bound = bound.take().filter(stays);
        }
    }

    pub(super) fn bind_sets(&mut self, point: usize, shape: &Shape, first: usize, sets: &[(Option<usize>, Vec<u32>)]) {
        self.disturb(point, shape, first, first + sets.len() - 1);
        for (number, (set, offsets)) in (first..).zip(sets) {
            let what = set.map(|set| What::Set(set, offsets.clone()));
            self.points[point][number] = what.map(|what| Bound { what, shape: *shape });
        }
    }

    pub(super) fn push(&mut self, point: usize, shape: &Shape, number: usize, writes: &Content) {
        self.has_pushed[point] = true;
        let before = self.points[point].get(number).cloned().flatten();
        self.disturb(point, shape, number, number);
        let mut pushed = match before {
            Some(Bound { what: What::Pushed(pushed), shape: own }) if own.is_compatible(shape, number) => pushed,
            _ => Content::new(),
        };
        pushed.extend(writes);
        self.points[point][number] = Some(Bound { what: What::Pushed(pushed), shape: *shape });
    }

    /// What a draw with the pipeline that is bound lacks.
    pub(super) fn lacks(&self, objects: &Objects, pipeline: &Pipeline) -> Vec<Lack> {
        let (code, shape, mut lacks) = (&CODES[pipeline.code], Shape::of(pipeline.code), Vec::new());
        for number in 0..code.sets.len() {
            let needed = needed(code, number);
            let bound = self.points[pipeline.point()].get(number).and_then(Option::as_ref);
            let content = bound.filter(|bound| bound.shape.is_compatible(&shape, number)).map(|bound| &bound.what);
            let content = content.and_then(|what| match what {
                What::Set(set, _) => objects.sets[*set].is_alive.then_some(&objects.sets[*set].content),
                What::Pushed(pushed) => Some(pushed),
            });
            let is_there =
                |key: &Key| content.and_then(|content| content.get(key)).is_some_and(|found| objects.is_alive(*found));
            if !needed.iter().all(is_there) || (content.is_none() && reads(code, number)) {
                lacks.push(Lack::Set(number));
            }
        }
        if self.reads_hole(objects, pipeline) {
            lacks.push(Lack::Word(1));
        }
        for word in 0..code.words {
            let found = self.words.get(word).copied().flatten();
            if found.is_none_or(|(_, words)| words != code.words) {
                lacks.push(Lack::Word(word));
            }
        }
        if pipeline.point() == GRAPHICS {
            for (which, (state, fixed)) in DYNAMIC.iter().zip(self.states.iter().zip(pipeline.statics)) {
                if fixed.is_some() && state.is_set_since_bind {
                    lacks.push(Lack::Pipeline);
                } else if fixed.is_none() && (state.is_static || state.value.is_none()) {
                    lacks.push(Lack::State(*which));
                }
            }
        }
        lacks
    }

    /// Whether an element of a partially bound array is read that holds nothing, as far as that is known.
    fn reads_hole(&self, objects: &Objects, pipeline: &Pipeline) -> bool {
        let (code, sets) = (&CODES[pipeline.code], &self.points[pipeline.point()]);
        let Some(Some((index, _))) = self.words.get(1) else { return false };
        code.links.iter().flat_map(|(image, sampler)| std::iter::once(image).chain(sampler)).any(|place| {
            let entry = code.definition(place.set).entry(place.binding);
            let element = match place.element {
                Element::At(element) => element,
                Element::Dynamic => index % entry.count,
            };
            let key = (entry.binding, element);
            match sets.get(place.set).and_then(Option::as_ref).map(|bound| &bound.what) {
                Some(What::Set(set, _)) if entry.is_partial => {
                    let found = objects.sets[*set].content.get(&key);
                    found.is_none_or(|found| !objects.is_alive(*found))
                }
                _ => false,
            }
        })
    }

    /// What a draw that lacks nothing finds.
    pub(super) fn draw(&self, objects: &Objects, pipeline: &Pipeline, uniform: impl Fn(u32) -> u32) -> Drawn {
        let code = &CODES[pipeline.code];
        let words: Vec<u32> = self.words[..code.words].iter().map(|word| word.expect("it was pushed").0).collect();
        let bound = |set: usize| &self.points[pipeline.point()][set].as_ref().expect("it is bound").what;
        let source = |place: &Place| {
            let Entry { binding, slot, count, .. } = *code.definition(place.set).entry(place.binding);
            let element = match place.element {
                Element::At(element) => element,
                Element::Dynamic => words[1] % count,
            };
            match bound(place.set) {
                _ if slot == Slot::Fixed => Source::Fixed,
                What::Set(set, _) => Source::In(*set, (binding, element)),
                What::Pushed(pushed) => Source::Held(pushed[&(binding, element)]),
            }
        };
        let links = code.links.iter().map(|(image, sampler)| (source(image), sampler.as_ref().map(source)));
        // Dynamic offsets are in the order of the bindings.
        let offset = |set: usize, binding: u32| {
            let (content, offsets) = match bound(set) {
                What::Set(set, offsets) => (&objects.sets[*set].content, &offsets[..]),
                What::Pushed(pushed) => (pushed, &[][..]),
            };
            let Descriptor::Buffer(base) = content[&(binding, 0)] else { unreachable!("it is a buffer") };
            let moved = code.definition(set).entries.iter().filter(|entry| entry.slot.is_moved());
            let at = moved.map(|entry| entry.binding).position(|moved| moved == binding);
            base + at.map_or(0, |at| offsets[at] / 4)
        };
        let [x, y] = FRAME;
        let areas = self.states.iter().filter_map(|state| state.value);
        let is_covered = |px: u32, py: u32| {
            let is_in = |[x, y, width, height]: Area| (x..x + width).contains(&px) && (y..y + height).contains(&py);
            areas.clone().all(is_in)
        };
        let pixels = (0..x * y).filter(|pixel| is_covered(pixel % x, pixel / x));
        let is_compute = pipeline.point() == COMPUTE;
        Drawn {
            code: pipeline.code,
            at: offset(code.results(), 0) as usize + words[0] as usize * SLOT,
            slot: words[0],
            is_compute,
            links: links.collect(),
            uniforms: code.uniforms.iter().map(|(set, binding)| uniform(offset(*set, *binding))).collect(),
            mask: if is_compute { 1 } else { pixels.fold(0, |mask, pixel| mask | 1 << pixel) },
            words,
            sure: 0,
        }
    }
}

/// Whether a code reads anything of its set of this number.
pub(super) fn reads(code: &Code, set: usize) -> bool {
    let places = code.links.iter().flat_map(|(image, sampler)| std::iter::once(image).chain(sampler));
    code.results() == set || !needed(code, set).is_empty() || places.into_iter().any(|place| place.set == set)
}

impl Source {
    pub(super) fn place(self) -> Option<(usize, Key)> {
        if let Self::In(set, key) = self { Some((set, key)) } else { None }
    }

    pub(super) fn find(self, objects: &Objects) -> Option<Descriptor> {
        match self {
            Self::In(set, key) => objects.sets[set].content.get(&key).copied(),
            Self::Held(descriptor) => Some(descriptor),
            Self::Fixed => None,
        }
    }
}

impl Drawn {
    /// Descriptors of this set that it reads when it is executed.
    pub(super) fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        self.links.iter().flat_map(|(image, sampler)| std::iter::once(*image).chain(*sampler))
    }

    /// Colours the pixels that it covers.
    pub(super) fn paint(&self, picture: &mut [[u32; 2]]) {
        for (pixel, colour) in picture.iter_mut().enumerate() {
            if !self.is_compute && self.mask >> pixel & 1 == 1 {
                *colour = [self.slot + 1, self.words[2]];
            }
        }
    }

    /// Its links that join what may not be joined, one bit each.
    pub(super) fn conflicts(&self, objects: &Objects) -> u32 {
        let code = &CODES[self.code];
        let conflicts = |((image, _), link): (&(Place, _), _)| {
            let slot = code.definition(image.set).entry(image.binding).slot;
            let (_, state) = self.pair(objects, link);
            matches!(slot, Slot::Image(texel) | Slot::Pair(texel) if state.conflicts(texel))
        };
        let links = code.links.iter().zip(&self.links).enumerate();
        links.fold(0, |all, (number, link)| all | u32::from(conflicts(link)) << number)
    }

    /// Links that conflict since something was written after the bind, and of which nothing was known then.
    fn unsure(&self, objects: &Objects) -> u32 {
        let code = &CODES[self.code];
        let is_late = |place: &Place| code.definition(place.set).entry(place.binding).is_late;
        let late = code.links.iter().enumerate().filter(|(_, (image, sampler))| {
            code.looks_up() && (is_late(image) || sampler.as_ref().is_some_and(is_late))
        });
        late.fold(0, |all, (number, _)| all | 1 << number) & self.conflicts(objects) & !self.sure
    }

    /// Image and sampler of a link.
    fn pair(&self, objects: &Objects, (image, sampler): &(Source, Option<Source>)) -> (usize, State) {
        let found = image.find(objects).expect("an image");
        let state = match (sampler, found) {
            (None, Descriptor::Pair(_, sampler)) => objects.samplers[sampler].0,
            (Some(source @ (Source::In(..) | Source::Held(_))), _) => {
                let found = source.find(objects).and_then(Descriptor::sampler).expect("a sampler");
                objects.samplers[found].0
            }
            _ => FIXED,
        };
        (objects.views[found.view().expect("a view")].0, state)
    }

    /// What is wrong with the words that the device has written.
    pub(super) fn differs(&self, objects: &Objects, found: &[u32]) -> Option<String> {
        let code = &CODES[self.code];
        if found[0] != self.mask {
            // Nothing is stored where nothing is covered.
            let what = if self.is_compute { "runs" } else { "pixels" };
            return Some(format!("{what}: {:#x} and not {:#x}", found[0], self.mask));
        }
        if self.mask == 0 {
            return None;
        }
        if found[1..code.words] != self.words[1..] {
            return Some(format!("push constants: {:x?} and not {:x?}", &found[1..code.words], &self.words[1..]));
        }
        let uniforms = &found[UNIFORMS_AT..][..self.uniforms.len()];
        if uniforms != self.uniforms {
            return Some(format!("uniform buffers: {uniforms:x?} and not {:x?}", self.uniforms));
        }
        let unsure = self.unsure(objects);
        for (number, (link, (place, _))) in self.links.iter().zip(code.links).enumerate() {
            if unsure >> number & 1 == 1 {
                continue;
            }
            let (image, state) = self.pair(objects, link);
            for (index, point) in POINTS.iter().enumerate() {
                let texel: [u32; 4] =
                    std::array::from_fn(|component| found[LINKS_AT + (number * POINTS.len() + index) * 4 + component]);
                let what = format!("link {number} at {point:?} of image {image} by {state:?}");
                let slot = code.definition(place.set).entry(place.binding).slot;
                if matches!(slot, Slot::Image(Texel::Uint) | Slot::Pair(Texel::Uint)) {
                    let expected = state.read_uint(image, *point);
                    if texel[0] != expected {
                        return Some(format!("{what}: {} and not {expected}", texel[0]));
                    }
                    continue;
                }
                let (texel, expected) = (texel.map(f32::from_bits), state.read_float(image - IMAGES, *point));
                if !texel.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.02) {
                    return Some(format!("{what}: {texel:?} and not {expected:?}"));
                }
            }
        }
        None
    }
}

/// All bindings and elements of a definition that can be written.
pub(super) fn writable(definition: usize) -> impl Iterator<Item = (Key, Entry)> {
    let entries = DEFINITIONS[definition].entries.iter().filter(|entry| entry.slot != Slot::Fixed);
    entries.flat_map(|entry| (0..entry.count).map(|element| ((entry.binding, element), *entry)))
}
