//! The function that is called in place of image instructions.

use spirv::{Capability, Decoration, GlslStd450Op, Op, StorageClass};

use super::code::Code;
use super::site::operand::{BIAS, CONST_OFFSET, CONST_OFFSETS, COORDINATE, COUNT, DX, DY, EXTRA, LOD, MIN_LOD, OFFSET};
use super::site::{MASK, Root, Sample};
use super::{Helpers, Limits, NAME, flags};
use crate::edit::Editor;
use crate::error::{Error, push};
use crate::module::Module;
use crate::op;

/// Makes the function for a way of sampling; its id.
pub(super) fn make<'m, 'w>(
    editor: &mut Editor<'m, 'w>,
    module: &'m Module<'w>,
    sample: &Sample,
    limits: Limits,
    made: &mut Helpers,
) -> Result<u32, Error> {
    editor.capability(Capability::ImageQuery)?;
    let mut code = Code::new(editor)?;
    let mut types = Vec::new();
    push(&mut types, sample.ty)?;
    push(&mut types, code.vector(code.uint, 4)?)?;
    for (_, ty) in &sample.passed {
        push(&mut types, *ty)?;
    }
    let (function, parameters) = code.parameters(&types)?;
    code.editor.name(function, NAME)?;
    let mut parameters = parameters.iter().copied();
    let task = parameters.next().unwrap_or(0);
    let mut roots = sample.roots;
    rooted(&mut roots, &mut parameters);
    let mut operands = sample.operands;
    for (operand, _) in operands.iter_mut().zip(sample.types).filter(|(_, ty)| *ty != 0) {
        *operand = parameters.next().unwrap_or(0);
    }
    let flags = code.op(Op::CompositeExtract, code.uint, &[task, 0])?;
    let mut helper =
        Helper { code, module, sample, roots, operands, limits, task, flags, loaded: [(0, 0); 2], gathered: 0, made };
    helper.load()?;
    let result = helper.body()?;
    helper.code.end(result)?;
    Ok(function)
}

/// Has descriptors come from the function's parameters, where they are passed.
pub(super) fn rooted(roots: &mut [Option<Root>; 2], parameters: &mut impl Iterator<Item = u32>) {
    for root in roots.iter_mut().flatten() {
        if root.passed {
            root.id = parameters.next().unwrap_or(0);
        }
        if root.indexed {
            root.index = parameters.next().unwrap_or(0);
        }
    }
}

pub(super) struct Helper<'e, 'm, 'w, 's> {
    pub(super) code: Code<'e, 'm, 'w>,
    pub(super) module: &'m Module<'w>,
    pub(super) sample: &'s Sample,
    pub(super) roots: [Option<Root>; 2],
    pub(super) operands: [u32; COUNT],
    pub(super) limits: Limits,
    pub(super) task: u32,
    pub(super) flags: u32,
    /// The pair, or image and sampler, each with its type.
    pub(super) loaded: [(u32, u32); 2],
    /// What gathered texels are compared with; 0 where the sampler compares, if anything does.
    pub(super) gathered: u32,
    pub(super) made: &'s mut Helpers,
}

/// Where the texture is sampled, once all that comes before is done.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Coordinates without layer and divisor, unsaturated.
    pub(super) at: u32,
    /// What texels are compared with.
    pub(super) reference: u32,
    /// Gradients; 0 where the level of detail is given, and where they are still to be [taken](Helper::graded).
    pub(super) dx: u32,
    pub(super) dy: u32,
}

impl Helper<'_, '_, '_, '_> {
    /// Loads the descriptors.
    pub(super) fn load(&mut self) -> Result<(), Error> {
        let roots = self.roots;
        for (position, root) in roots.iter().enumerate() {
            let Some(root) = root else { continue };
            let loaded = self.descriptor(root)?;
            if let Some(slot) = self.loaded.get_mut(position) {
                *slot = loaded;
            }
        }
        Ok(())
    }

    /// Image and sampler, joined in the block that is being written, as they have to be where they are used.
    pub(super) fn pair(&mut self) -> Result<u32, Error> {
        let [(first, _), (sampler, _)] = self.loaded;
        if sampler == 0 {
            return Ok(first);
        }
        let image = self.image()?;
        let pair = self.code.op(Op::SampledImage, self.sample.pair, &[image, sampler])?;
        self.mark(pair)?;
        Ok(pair)
    }

    /// The image alone.
    pub(super) fn image(&mut self) -> Result<u32, Error> {
        let (first, ty) = self.loaded[0];
        let pair = self.module.definition(ty).filter(|ty| ty.opcode() == op::TYPE_SAMPLED_IMAGE);
        let Some(pair) = pair else { return Ok(first) };
        let image = self.code.op(Op::Image, pair.word(2), &[first])?;
        self.mark(image)?;
        Ok(image)
    }

    /// Says of an id that it may differ between invocations, if it may.
    fn mark(&mut self, id: u32) -> Result<(), Error> {
        if self.sample.nonuniform { self.code.editor.decorate(id, Decoration::NonUniform, &[]) } else { Ok(()) }
    }

    /// The value and the type of a descriptor.
    fn descriptor(&mut self, root: &Root) -> Result<(u32, u32), Error> {
        let pointer = self.module.definition(root.ty).filter(|ty| ty.opcode() == op::TYPE_POINTER);
        let Some(pointer) = pointer else { return Ok((root.id, root.ty)) };
        let (mut from, mut ty) = (root.id, pointer.word(3));
        if root.index != 0 {
            ty = self.module.definition(ty).map_or(0, |array| array.word(2));
            let class = StorageClass::UniformConstant as u32;
            let pointer = self.code.editor.ty(Op::TypePointer, &[class, ty])?;
            from = self.code.op(Op::AccessChain, pointer, &[from, root.index])?;
            self.mark(from)?;
        }
        let value = self.code.op(Op::Load, ty, &[from])?;
        self.mark(value)?;
        Ok((value, ty))
    }

    /// The application's own instruction, or what the task asks for.
    fn body(&mut self) -> Result<u32, Error> {
        let original = self.sample.form.stated(self.sample.form.opcode);
        if self.sample.passes.divide {
            self.divide()?;
        }
        if self.sample.form.asks && self.sample.passes.filter {
            let answer = self.emit(original, self.operands)?;
            return self.answer(answer);
        }
        if self.sample.passes.asks_more() == 0 {
            return self.emit(original, self.operands);
        }
        if self.sample.fetches {
            let place = self.place()?;
            return self.filtered(&place);
        }
        if self.sample.passes.must_compare {
            let place = self.place()?;
            return self.comparison(&place);
        }
        let asked = self.code.has(self.flags, self.sample.passes.asks_more())?;
        // Invocations that ask for different things go different ways, and levels of detail need all of them on one.
        if self.sample.form.implicit && self.sample.nonuniform {
            let own = self.emit(original, self.operands)?;
            let place = self.place()?;
            let place = self.graded(&place)?;
            let mut fork = self.code.fork(asked)?;
            let changed = self.changed(&place)?;
            self.code.otherwise(&mut fork, [changed, 0])?;
            return Ok(self.code.join(&fork, self.sample.ty, [own, 0])?[0]);
        }
        let mut fork = self.code.fork(asked)?;
        let place = self.place()?;
        let changed = self.changed(&place)?;
        self.code.otherwise(&mut fork, [changed, 0])?;
        let own = self.emit(original, self.operands)?;
        Ok(self.code.join(&fork, self.sample.ty, [own, 0])?[0])
    }

    /// An image instruction with operands.
    pub(super) fn emit(&mut self, opcode: u32, operands: [u32; COUNT]) -> Result<u32, Error> {
        if self.gathered != 0 {
            return self.gathered(operands);
        }
        let id = self.instruction(opcode, operands)?;
        if self.sample.relaxed {
            self.code.editor.decorate(id, Decoration::RelaxedPrecision, &[])?;
        }
        Ok(id)
    }

    /// The same, in full precision.
    pub(super) fn instruction(&mut self, opcode: u32, operands: [u32; COUNT]) -> Result<u32, Error> {
        let mut words = Vec::new();
        push(&mut words, self.pair()?)?;
        for id in operands.iter().take(EXTRA + 1).filter(|id| **id != 0) {
            push(&mut words, *id)?;
        }
        let given = |position: &usize| operands.get(*position).copied().filter(|id| *id != 0);
        let mut mask = self.sample.plain;
        for (bit, positions) in MASK {
            if positions.iter().any(|position| given(position).is_some()) {
                mask |= bit.bits();
            }
        }
        if mask != 0 {
            push(&mut words, mask)?;
        }
        for (_, positions) in MASK {
            for id in positions.iter().filter_map(given) {
                push(&mut words, id)?;
            }
        }
        self.code.raw(opcode, self.sample.ty, &words)
    }

    /// Where the instruction looks, after projection.
    fn place(&mut self) -> Result<Place, Error> {
        let (axes, form) = (self.sample.axes, self.sample.form);
        let float = self.code.float;
        let vector = self.code.vector(float, axes)?;
        let (given, count) = self.coordinate();
        let mut at = self.code.first(given, count, float, axes)?;
        let mut reference = self.operands[EXTRA];
        if form.projected {
            let divisor = self.code.op(Op::CompositeExtract, float, &[given, axes])?;
            let divisors = self.code.repeat(float, divisor, axes)?;
            at = self.code.op(Op::FDiv, vector, &[at, divisors])?;
            if form.compared {
                reference = self.code.op(Op::FDiv, float, &[reference, divisor])?;
            }
        }
        Ok(Place { at, reference, dx: self.operands[DX], dy: self.operands[DY] })
    }

    /// The place with its gradients, which are taken where they are needed: of one that is sampled on one level only they are not.
    pub(super) fn graded(&mut self, place: &Place) -> Result<Place, Error> {
        if !self.sample.form.implicit || place.dx != 0 {
            return Ok(*place);
        }
        let (axes, float) = (self.sample.axes, self.code.float);
        let vector = self.code.vector(float, axes)?;
        let mut dx = self.code.op(Op::DPdx, vector, &[place.at])?;
        let mut dy = self.code.op(Op::DPdy, vector, &[place.at])?;
        if self.operands[BIAS] != 0 {
            // The level of detail is the logarithm of how long gradients are. What the sampler adds by itself counts for
            // the limit, which both biases have together.
            let limit = self.limits.lod_bias;
            let (least, most) = (self.code.splat(-limit, 1)?, self.code.splat(limit, 1)?);
            let own = self.field(1)?;
            let both = self.code.float(Op::FAdd, &[self.operands[BIAS], own])?;
            let both = self.code.glsl(GlslStd450Op::NClamp, float, &[both, least, most])?;
            let bias = self.code.float(Op::FSub, &[both, own])?;
            let scale = self.code.glsl(GlslStd450Op::Exp2, float, &[bias])?;
            let scale = self.code.repeat(float, scale, axes)?;
            dx = self.code.op(Op::FMul, vector, &[dx, scale])?;
            dy = self.code.op(Op::FMul, vector, &[dy, scale])?;
        }
        Ok(Place { dx, dy, ..*place })
    }

    /// The coordinate as it was given, and how many components it has.
    pub(super) fn coordinate(&self) -> (u32, u32) {
        let ty = self.module.definition(self.sample.types[COORDINATE]);
        let count = ty.filter(|ty| ty.opcode() == op::TYPE_VECTOR).map_or(1, |ty| ty.word(3));
        (self.operands[COORDINATE], count)
    }

    /// What the task asks for.
    fn changed(&mut self, place: &Place) -> Result<u32, Error> {
        if self.sample.passes.compare {
            return self.compared(place);
        }
        match (self.sample.passes.saturate, self.sample.passes.filter) {
            (_, false) => return self.sampled(place),
            // There is no other reason to be here.
            (false, true) => return self.filtered(place),
            (true, true) => {}
        }
        let emulated = self.code.has(self.flags, flags::EMULATE)?;
        let mut fork = self.code.fork(emulated)?;
        let filtered = self.filtered(place)?;
        self.code.otherwise(&mut fork, [filtered, 0])?;
        let sampled = self.sampled(place)?;
        Ok(self.code.join(&fork, self.sample.ty, [sampled, 0])?[0])
    }

    /// Samples through the device's filter.
    pub(super) fn sampled(&mut self, place: &Place) -> Result<u32, Error> {
        let form = self.sample.form;
        let mut operands = self.operands;
        operands[BIAS] = 0;
        operands[EXTRA] = place.reference;
        let offsets = operands[CONST_OFFSETS];
        for position in [CONST_OFFSET, OFFSET, CONST_OFFSETS] {
            if let Some(offset) = operands.get_mut(position) {
                *offset = 0;
            }
        }
        if offsets == 0 {
            let offset = self.operands[CONST_OFFSET].max(self.operands[OFFSET]);
            let at = self.saturated(place, offset)?;
            operands[COORDINATE] = self.with_layer(at)?;
            return self.detailed(place, operands);
        }
        // Each texel has an offset that comes before the clamp: of four gathers the texel with the lowest coordinates, which is
        // the last component.
        let texel = self.module.definition(self.sample.ty).map_or(0, |ty| ty.word(2));
        let ty = self.module.definition(self.module.type_of(offsets)).map_or(0, |array| array.word(2));
        let mut texels = Vec::new();
        for position in 0..4 {
            let offset = self.code.op(Op::CompositeExtract, ty, &[offsets, position])?;
            let at = self.saturated(place, offset)?;
            operands[COORDINATE] = self.with_layer(at)?;
            let four = self.emit(form.plain(), operands)?;
            push(&mut texels, self.code.op(Op::CompositeExtract, texel, &[four, 3])?)?;
        }
        self.code.op(Op::CompositeConstruct, self.sample.ty, &texels)
    }

    /// Samples with a level of detail that is stated, by gradients where the instruction leaves it to the device and it matters.
    fn detailed(&mut self, place: &Place, mut operands: [u32; COUNT]) -> Result<u32, Error> {
        let form = self.sample.form;
        if !form.implicit {
            return self.emit(form.plain(), operands);
        }
        // The lowest level that an instruction wants may be another one.
        let flat = if operands[MIN_LOD] == 0 { flags::BASE_LEVEL } else { 0 };
        let flat = self.code.has(self.flags, flat)?;
        let mut fork = self.code.fork(flat)?;
        let zero = self.code.splat(0.0, 1)?;
        let mut base = operands;
        (base[LOD], base[MIN_LOD]) = (zero, 0);
        let base = self.emit(form.plain(), base)?;
        self.code.otherwise(&mut fork, [base, 0])?;
        let graded = self.graded(place)?;
        (operands[DX], operands[DY]) = (graded.dx, graded.dy);
        let other = self.emit(form.plain(), operands)?;
        Ok(self.code.join(&fork, self.sample.ty, [other, 0])?[0])
    }

    /// Coordinates with the layer that the instruction was given.
    pub(super) fn with_layer(&mut self, at: u32) -> Result<u32, Error> {
        if !self.sample.arrayed {
            return Ok(at);
        }
        let layer = self.layer()?;
        let ty = self.code.vec(self.sample.axes + 1)?;
        self.code.op(Op::CompositeConstruct, ty, &[at, layer])
    }

    /// The layer that the instruction was given.
    pub(super) fn layer(&mut self) -> Result<u32, Error> {
        let (given, _) = self.coordinate();
        self.code.float(Op::CompositeExtract, &[given, self.sample.axes])
    }

    /// Coordinates, moved by an offset in texels if that is not 0, and clamped on the axes that the task names.
    fn saturated(&mut self, place: &Place, offset: u32) -> Result<u32, Error> {
        let axes = self.sample.axes;
        let vector = self.code.vec(axes)?;
        if offset != 0 {
            return self.bounded(place, offset);
        }
        let special = flags::MIRROR | flags::MAG_NEAREST | flags::MIN_NEAREST | flags::UNNORMALIZED;
        let special = self.code.has(self.flags, special)?;
        let mut fork = self.code.fork(special)?;
        let bounded = self.bounded(place, 0)?;
        self.code.otherwise(&mut fork, [bounded, 0])?;
        // What nearly all are: nothing is mirrored, and the bounds are constants.
        let (low, high) = (self.code.splat(0.0, axes)?, self.code.splat(1.0, axes)?);
        let clamped = self.chosen(flags::CLAMP_S, place.at, place.at, [low, high])?;
        Ok(self.code.join(&fork, vector, [clamped, 0])?[0])
    }

    /// The same, by all that depends on levels and flags.
    fn bounded(&mut self, place: &Place, offset: u32) -> Result<u32, Error> {
        let axes = self.sample.axes;
        let (low, high) = (self.code.splat(0.0, axes)?, self.code.splat(1.0, axes)?);
        let level = self.level(place)?;
        let at = if offset == 0 { place.at } else { self.moved(place.at, offset, level.1)? };
        let bounds = self.bounds([low, high], level)?;
        self.clamped(at, bounds)
    }

    /// The level of detail that the sampler will find, and the size of the level that is nearest to it.
    fn level(&mut self, place: &Place) -> Result<(u32, u32), Error> {
        let int = self.code.int;
        let place = &self.graded(place)?;
        let texels = self.base()?;
        let base = self.texels(texels)?;
        if self.sample.form.gathers {
            return Ok((0, base));
        }
        let detail = self.detail(place, base)?;
        let level = self.within(detail)?;
        let level = self.nearest_level(level)?;
        let level = self.code.op(Op::ConvertFToS, int, &[level])?;
        let texels = self.shrunk(texels, level)?;
        Ok((detail, self.texels(texels)?))
    }

    /// The level of detail: given, or of gradients on a base level of that size.
    pub(super) fn detail(&mut self, place: &Place, size: u32) -> Result<u32, Error> {
        let float = self.code.float;
        let vector = self.code.vec(self.sample.sides)?;
        let mut detail = self.operands[LOD];
        if place.dx != 0 {
            let mut lengths = [place.dx, place.dy];
            for length in &mut lengths {
                let texels = self.code.op(Op::FMul, vector, &[*length, size])?;
                *length = self.code.glsl(GlslStd450Op::Length, float, &[texels])?;
            }
            let mut longer = self.code.glsl(GlslStd450Op::NMax, float, &lengths)?;
            if !self.sample.fetches {
                longer = self.sampled_once(longer, lengths)?;
            }
            detail = self.code.glsl(GlslStd450Op::Log2, float, &[longer])?;
        }
        let detail = self.biased(detail)?;
        self.limited(detail)
    }

    /// How much of the longer of two lengths one of several samples has: it is divided by how often it is longer than the shorter one,
    /// up to the sampler's anisotropy ("Scale Factor Operation, LOD Operation and Image Level(s) Selection").
    fn sampled_once(&mut self, longer: u32, lengths: [u32; 2]) -> Result<u32, Error> {
        let (float, uint) = (self.code.float, self.code.uint);
        let (shift, bits) = (self.code.unsigned(flags::ANISOTROPY.trailing_zeros())?, self.code.unsigned(3)?);
        let most = self.code.op(Op::BitFieldUExtract, uint, &[self.flags, shift, bits])?;
        let most = self.code.float(Op::ConvertUToF, &[most])?;
        let most = self.code.glsl(GlslStd450Op::Exp2, float, &[most])?;
        let part = self.code.float(Op::FDiv, &[longer, most])?;
        let shorter = self.code.glsl(GlslStd450Op::NMin, float, &lengths)?;
        self.code.glsl(GlslStd450Op::NMax, float, &[part, shorter])
    }

    /// The whole level for a level of detail. Of two that are equally near it is the finer one, as the specification prefers.
    pub(super) fn nearest_level(&mut self, detail: u32) -> Result<u32, Error> {
        let float = self.code.float;
        let (half, one) = (self.code.splat(0.5, 1)?, self.code.splat(1.0, 1)?);
        let above = self.code.float(Op::FAdd, &[detail, half])?;
        let above = self.code.glsl(GlslStd450Op::Ceil, float, &[above])?;
        self.code.float(Op::FSub, &[above, one])
    }

    /// A level of detail with what the sampler adds.
    pub(super) fn biased(&mut self, detail: u32) -> Result<u32, Error> {
        let bias = self.field(1)?;
        self.code.float(Op::FAdd, &[detail, bias])
    }

    /// A level of detail in the sampler's range.
    pub(super) fn limited(&mut self, detail: u32) -> Result<u32, Error> {
        let float = self.code.float;
        let (mut least, most) = (self.field(2)?, self.field(3)?);
        if self.operands[MIN_LOD] != 0 {
            least = self.code.glsl(GlslStd450Op::NMax, float, &[least, self.operands[MIN_LOD]])?;
        }
        let detail = self.code.glsl(GlslStd450Op::NMax, float, &[detail, least])?;
        self.code.glsl(GlslStd450Op::NMin, float, &[detail, most])
    }

    /// A float of the task.
    fn field(&mut self, position: u32) -> Result<u32, Error> {
        let bits = self.code.op(Op::CompositeExtract, self.code.uint, &[self.task, position])?;
        self.code.float(Op::Bitcast, &[bits])
    }

    /// The level of detail that the image has which is next to one.
    pub(super) fn within(&mut self, detail: u32) -> Result<u32, Error> {
        let (float, int) = (self.code.float, self.code.int);
        let image = self.image()?;
        let levels = self.code.op(Op::ImageQueryLevels, int, &[image])?;
        let levels = self.code.float(Op::ConvertSToF, &[levels])?;
        let (zero, one) = (self.code.splat(0.0, 1)?, self.code.splat(1.0, 1)?);
        let last = self.code.float(Op::FSub, &[levels, one])?;
        self.code.glsl(GlslStd450Op::NClamp, float, &[detail, zero, last])
    }

    /// The size of the base level on all axes.
    pub(super) fn base(&mut self) -> Result<u32, Error> {
        let (axes, int) = (self.sample.sides, self.code.int);
        let level = self.code.editor.constant(int, &[0])?;
        let image = self.image()?;
        let count = axes + u32::from(self.sample.arrayed);
        let ty = self.code.vector(int, count)?;
        let size = self.code.op(Op::ImageQuerySizeLod, ty, &[image, level])?;
        self.code.first(size, count, int, axes)
    }

    /// The size of a level, from that of the base level. It is not asked for: a driver (llvmpipe 22) answers all invocations for
    /// the level of one of them.
    pub(super) fn shrunk(&mut self, base: u32, level: u32) -> Result<u32, Error> {
        let (axes, int) = (self.sample.sides, self.code.int);
        let ty = self.code.vector(int, axes)?;
        let one = self.code.editor.constant(int, &[1])?;
        let (level, one) = (self.code.repeat(int, level, axes)?, self.code.repeat(int, one, axes)?);
        let size = self.code.op(Op::ShiftRightArithmetic, ty, &[base, level])?;
        self.code.glsl(GlslStd450Op::SMax, ty, &[size, one])
    }

    /// A size as floats.
    pub(super) fn texels(&mut self, size: u32) -> Result<u32, Error> {
        let vector = self.code.vec(self.sample.sides)?;
        self.code.op(Op::ConvertSToF, vector, &[size])
    }

    /// Coordinates with an offset in texels of a level of that size.
    fn moved(&mut self, at: u32, offset: u32, size: u32) -> Result<u32, Error> {
        let vector = self.code.vec(self.sample.axes)?;
        let offset = self.code.op(Op::ConvertSToF, vector, &[offset])?;
        let offset = self.code.op(Op::FDiv, vector, &[offset, size])?;
        self.code.op(Op::FAdd, vector, &[at, offset])
    }

    /// The lowest and the highest coordinates, of those that mostly are, at a level of detail on a level of some size.
    fn bounds(&mut self, [low, high]: [u32; 2], (detail, size): (u32, u32)) -> Result<[u32; 2], Error> {
        let (axes, bool) = (self.sample.axes, self.code.bool);
        let vector = self.code.vec(axes)?;
        let one_half = self.code.splat(0.5, axes)?;
        let half = self.code.op(Op::FDiv, vector, &[one_half, size])?;
        let mirrored = self.axes(flags::MIRROR_S)?;
        let low = self.code.op(Op::Select, vector, &[mirrored, half, low])?;
        let mut top = high;
        let form = self.sample.form;
        if detail != 0 {
            // A little before the end NEAREST still finds the last texel, which the border's first one is next to: a quarter of a
            // texel, which is half of one or less on the levels beside.
            let (mag, min) = (flags::MAG_NEAREST, flags::MIN_NEAREST);
            let (mag, min) = (self.code.has(self.flags, mag)?, self.code.has(self.flags, min)?);
            let zero = self.code.splat(0.0, 1)?;
            let magnified = self.code.op(Op::FOrdLessThanEqual, bool, &[detail, zero])?;
            let nearest = self.code.op(Op::Select, bool, &[magnified, mag, min])?;
            let quarter = self.code.op(Op::FMul, vector, &[half, one_half])?;
            let inner = self.code.op(Op::FSub, vector, &[high, quarter])?;
            top = self.choose(nearest, inner, top)?;
        }
        if !(form.implicit || form.projected || form.compared) {
            let texels = self.code.has(self.flags, flags::UNNORMALIZED)?;
            top = self.choose(texels, size, top)?;
        }
        Ok([low, top])
    }

    /// One of two vectors of sizes.
    pub(super) fn choose(&mut self, condition: u32, yes: u32, no: u32) -> Result<u32, Error> {
        let (axes, bool) = (self.sample.sides, self.code.bool);
        let vector = self.code.vec(axes)?;
        let condition = self.code.repeat(bool, condition, axes)?;
        self.code.op(Op::Select, vector, &[condition, yes, no])
    }

    /// Coordinates clamped on the axes that the task names.
    pub(super) fn clamped(&mut self, at: u32, bounds: [u32; 2]) -> Result<u32, Error> {
        let vector = self.code.vec(self.sample.axes)?;
        let positive = self.code.glsl(GlslStd450Op::FAbs, vector, &[at])?;
        let mirrored = self.axes(flags::MIRROR_S)?;
        let folded = self.code.op(Op::Select, vector, &[mirrored, positive, at])?;
        self.chosen(flags::CLAMP_S | flags::MIRROR_S, at, folded, bounds)
    }

    /// Coordinates, which are others within bounds on the axes that have any of the bits.
    fn chosen(&mut self, bits: u32, at: u32, other: u32, [low, high]: [u32; 2]) -> Result<u32, Error> {
        let vector = self.code.vec(self.sample.axes)?;
        let clamped = self.code.glsl(GlslStd450Op::NClamp, vector, &[other, low, high])?;
        let chosen = self.axes(bits)?;
        self.code.op(Op::Select, vector, &[chosen, clamped, at])
    }

    /// For each axis whether the flags have any of the bits, which are those of the first axis.
    pub(super) fn axes(&mut self, bits: u32) -> Result<u32, Error> {
        self.some_axes(bits, self.sample.axes)
    }

    /// The same for this many axes, of which layers are none.
    pub(super) fn some_axes(&mut self, bits: u32, axes: u32) -> Result<u32, Error> {
        let mut all = Vec::new();
        for axis in 0..axes {
            let bits = if axis < self.sample.axes { bits << axis } else { 0 };
            push(&mut all, self.code.has(self.flags, bits)?)?;
        }
        match *all.as_slice() {
            [one] => Ok(one),
            _ => {
                let ty = self.code.vector(self.code.bool, axes)?;
                self.code.op(Op::CompositeConstruct, ty, &all)
            }
        }
    }
}
