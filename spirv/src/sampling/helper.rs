//! The function that is called in place of image instructions.

use std::cell::RefCell;

use spirv::{Capability, Decoration, GlslStd450Op as GLOp, Op, StorageClass};

use super::site::operand::{BIAS, CONST_OFFSET, CONST_OFFSETS, COORDINATE, COUNT, DX, DY, EXTRA, LOD, MIN_LOD, OFFSET};
use super::site::{MASK, Root, Sample};
use super::{Helpers, Limits, NAME, flags};
use crate::build::{Code, Scalar, Type, Value};
use crate::edit::{Editor, literal};
use crate::error::{Error, push};
use crate::module::{Module, sort};
use crate::op;

/// Makes the function for a way of sampling; its id.
pub(super) fn make(
    editor: &mut Editor<'_, '_>,
    module: &Module<'_>,
    sample: &Sample,
    limits: Limits,
    made: &RefCell<Helpers>,
) -> Result<u32, Error> {
    editor.capability(Capability::ImageQuery)?;
    let shared = RefCell::new(editor);
    let code = Code::new(&shared);
    let ty = code.ty(Scalar::Uint, 4);
    let mut types = Vec::new();
    for id in [sample.ty, ty.id].into_iter().chain(sample.passed.iter().map(|(_, ty)| *ty)) {
        push(&mut types, id)?;
    }
    let (function, parameters) = begun(&code, &types);
    let mut parameters = parameters.into_iter();
    let task = code.value(parameters.next().unwrap_or(0), ty);
    let roots = rooted(sample, &mut parameters);
    let mut operands = [None; COUNT];
    for ((operand, id), passed) in operands.iter_mut().zip(sample.operands).zip(sample.types) {
        if id != 0 {
            let own = if passed == 0 { id } else { parameters.next().unwrap_or(0) };
            *operand = Some(code.value(own, Type::of(module, module.type_of(id))));
        }
    }
    let helper = Helper {
        code: &code,
        module,
        sample,
        operands,
        limits,
        roots,
        task,
        flags: task.at(0),
        loaded: [(0, 0); 2],
        gathered: None,
        made,
    };
    let helper = helper.load();
    let helper = if sample.passes.divide { Helper { operands: helper.divided(), ..helper } } else { helper };
    code.end(helper.body())?;
    Ok(function)
}

/// Begins a function that a later run of the pass knows again.
pub(super) fn begun(code: &Code<'_>, types: &[u32]) -> (u32, Vec<u32>) {
    let (function, parameters) = code.function(types);
    code.edit(|editor| editor.name(function, NAME).map(|()| function));
    (function, parameters)
}

/// The ids, sorted, of the functions that an earlier run has added.
pub(super) fn own(module: &Module<'_>) -> Result<Vec<u32>, Error> {
    let name = literal(NAME)?;
    let mut own = Vec::new();
    for instruction in module.instructions(module.sections.sources, module.sections.annotations) {
        if instruction.opcode() == op::NAME && instruction.words.get(2..) == Some(&name) {
            push(&mut own, instruction.word(1))?;
        }
    }
    sort(&mut own);
    Ok(own)
}

/// Where descriptors come from: from the function's parameters, if they are passed.
pub(super) fn rooted(sample: &Sample, parameters: &mut impl Iterator<Item = u32>) -> [Option<Root>; 2] {
    let mut roots = sample.roots;
    for root in roots.iter_mut().flatten() {
        if root.passed {
            root.id = parameters.next().unwrap_or(0);
        }
        if root.indexed {
            root.index = parameters.next().unwrap_or(0);
        }
    }
    roots
}

#[derive(Clone, Copy)]
pub(super) struct Helper<'b> {
    pub(super) code: &'b Code<'b>,
    pub(super) module: &'b Module<'b>,
    pub(super) sample: &'b Sample,
    pub(super) operands: [Option<Value<'b>>; COUNT],
    pub(super) limits: Limits,
    pub(super) roots: [Option<Root>; 2],
    pub(super) task: Value<'b>,
    pub(super) flags: Value<'b>,
    /// The pair, or image and sampler, each with its type.
    pub(super) loaded: [(u32, u32); 2],
    /// What gathered texels are compared with, where the sampler compares nothing.
    pub(super) gathered: Option<Value<'b>>,
    pub(super) made: &'b RefCell<Helpers>,
}

/// Where the texture is sampled, once all that comes before is done.
#[derive(Clone, Copy)]
pub(super) struct SampleAt<'b> {
    /// Coordinates without layer and divisor, unsaturated.
    pub(super) at: Value<'b>,
    /// What texels are compared with.
    pub(super) reference: Option<Value<'b>>,
    /// None where the level of detail is given, and where they are still to be [taken](Helper::graded).
    pub(super) gradients: Option<[Value<'b>; 2]>,
}

impl<'b> Helper<'b> {
    /// Loads the descriptors.
    pub(super) fn load(self) -> Helper<'b> {
        Helper { loaded: self.roots.map(|root| root.map_or((0, 0), |root| self.descriptor(&root))), ..self }
    }

    /// Image and sampler, joined in the block that is being written, as they have to be where they are used.
    pub(super) fn pair(&self) -> u32 {
        let [(first, _), (sampler, _)] = self.loaded;
        if sampler == 0 { first } else { self.marked(Op::SampledImage, self.sample.pair, &[self.image(), sampler]) }
    }

    /// The image alone.
    pub(super) fn image(&self) -> u32 {
        let (first, ty) = self.loaded[0];
        let pair = self.module.defined(ty, op::TYPE_SAMPLED_IMAGE);
        pair.map_or(first, |pair| self.marked(Op::Image, pair.word(2), &[first]))
    }

    /// An instruction that finds what may differ between invocations.
    fn marked(&self, opcode: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.code.op(opcode, Type::other(ty), operands).id;
        if self.sample.nonuniform {
            self.code.decorate(id, Decoration::NonUniform);
        }
        id
    }

    /// The value and the type of a descriptor.
    fn descriptor(&self, root: &Root) -> (u32, u32) {
        let pointer = self.module.defined(root.ty, op::TYPE_POINTER);
        let Some(pointer) = pointer else { return (root.id, root.ty) };
        let (mut from, mut ty) = (root.id, pointer.word(3));
        if root.index != 0 {
            ty = self.module.definition(ty).map_or(0, |array| array.word(2));
            let class = StorageClass::UniformConstant as u32;
            let pointer = self.code.edit(|editor| editor.ty(Op::TypePointer, &[class, ty]));
            from = self.marked(Op::AccessChain, pointer, &[from, root.index]);
        }
        (self.marked(Op::Load, ty, &[from]), ty)
    }

    /// The type of what the instruction finds.
    pub(super) fn ty(&self) -> Type {
        Type::of(self.module, self.sample.ty)
    }

    /// The application's own instruction, or what the task asks for.
    fn body(&self) -> Value<'b> {
        let [image, _] = self.loaded;
        let is_pair = self.module.defined(image.1, op::TYPE_SAMPLED_IMAGE).is_some();
        if self.sample.passes.own_sampler && is_pair && self.roots[1].is_some() {
            let own = Helper { loaded: [image, (0, 0)], ..*self };
            return self.code.either(self.has(u32::MAX), || self.asked(), || own.own());
        }
        self.asked()
    }

    /// The application's own instruction.
    fn own(&self) -> Value<'b> {
        self.emit(self.sample.form.stated(self.sample.form.opcode), self.operands)
    }

    /// The same, if the other sampler is read whatever the task says.
    fn asked(&self) -> Value<'b> {
        let (form, passes) = (self.sample.form, self.sample.passes);
        let own = || self.own();
        if form.asks && passes.filter {
            return self.answer(own());
        }
        if passes.asks_more() == 0 {
            return own();
        }
        if self.sample.fetches {
            return self.filtered(&self.place());
        }
        if passes.must_compare {
            return self.comparison(&self.place());
        }
        let asked = self.has(passes.asks_more());
        // Invocations that ask for different things go different ways, and levels of detail need all of them on one.
        if form.implicit && self.sample.nonuniform {
            let (own, place) = (own(), self.graded(&self.place()));
            return self.code.either(asked, || self.changed(&place), || own);
        }
        self.code.either(asked, || self.changed(&self.place()), own)
    }

    /// An image instruction with operands.
    pub(super) fn emit(&self, opcode: u32, operands: [Option<Value<'b>>; COUNT]) -> Value<'b> {
        if let Some(reference) = self.gathered {
            return self.compared_texels(operands, reference);
        }
        let found = self.instruction(opcode, operands);
        if self.sample.relaxed {
            self.code.decorate(found.id, Decoration::RelaxedPrecision);
        }
        found
    }

    /// The same, in full precision.
    pub(super) fn instruction(&self, opcode: u32, operands: [Option<Value<'b>>; COUNT]) -> Value<'b> {
        let mut words = Vec::new();
        let mut add = |word: u32| self.code.noted(push(&mut words, word));
        add(self.pair());
        operands.iter().take(EXTRA + 1).flatten().for_each(|operand| add(operand.id));
        let given = |position: &usize| operands.get(*position).copied().flatten();
        let named = MASK.iter().filter(|(_, positions)| positions.iter().any(|position| given(position).is_some()));
        let mask = named.fold(self.sample.plain, |mask, (bit, _)| mask | bit.bits());
        if mask != 0 {
            add(mask);
        }
        MASK.iter().flat_map(|(_, positions)| *positions).filter_map(given).for_each(|operand| add(operand.id));
        self.code.raw(opcode, self.ty(), &words)
    }

    /// Where the instruction looks, after projection.
    fn place(&self) -> SampleAt<'b> {
        let form = self.sample.form;
        let given = self.coordinate();
        let (mut at, mut reference) = (given.first(self.sample.axes), self.operands[EXTRA]);
        if form.projected {
            let divisor = given.at(self.sample.axes);
            at = at / divisor;
            if form.compared {
                reference = reference.map(|reference| reference / divisor);
            }
        }
        SampleAt { at, reference, gradients: self.operands[DX].zip(self.operands[DY]).map(Into::into) }
    }

    /// The place with its gradients, which are taken where they are needed: of one that is sampled on one level only they are not.
    pub(super) fn graded(&self, place: &SampleAt<'b>) -> SampleAt<'b> {
        if !self.sample.form.implicit || place.gradients.is_some() {
            return *place;
        }
        let mut gradients = [Op::DPdx, Op::DPdy].map(|opcode| place.at.to(opcode, place.at.ty, &[]));
        if let Some(bias) = self.operands[BIAS] {
            // The level of detail is the logarithm of how long gradients are. What the sampler adds by itself counts for
            // the limit, which both biases have together.
            let (limit, own) = (self.limits.lod_bias, self.field(1));
            let scale = ((bias + own).clamp(-limit, limit) - own).math(GLOp::Exp2);
            gradients = gradients.map(|gradient| gradient.scaled(scale));
        }
        SampleAt { gradients: Some(gradients), ..*place }
    }

    /// The coordinate as it was given.
    pub(super) fn coordinate(&self) -> Value<'b> {
        self.operands[COORDINATE].unwrap_or_else(|| self.code.float(0.0))
    }

    /// What the task asks for.
    fn changed(&self, place: &SampleAt<'b>) -> Value<'b> {
        if self.sample.passes.compare {
            return self.compared(place);
        }
        match (self.sample.passes.saturate, self.sample.passes.filter) {
            (_, false) => self.sampled(place),
            // There is no other reason to be here.
            (false, true) => self.filtered(place),
            (true, true) => self.code.either(self.has(flags::EMULATE), || self.filtered(place), || self.sampled(place)),
        }
    }

    /// The offset in texels, constant or not.
    pub(super) fn offset(&self) -> Option<Value<'b>> {
        let given = self.operands[CONST_OFFSET].or(self.operands[OFFSET])?;
        Some(self.code.value(given.id, given.ty.signed()))
    }

    /// Samples through the device's filter.
    pub(super) fn sampled(&self, place: &SampleAt<'b>) -> Value<'b> {
        let mut operands = self.operands;
        operands[EXTRA] = place.reference;
        [operands[BIAS], operands[CONST_OFFSET], operands[OFFSET], operands[CONST_OFFSETS]] = [None; 4];
        let at = |offset| Some(self.with_layer(self.saturated(place, offset)));
        let Some(offsets) = self.operands[CONST_OFFSETS] else {
            operands[COORDINATE] = at(self.offset());
            return self.detailed(place, operands);
        };
        // Each texel has an offset that comes before the clamp: of four gathers the texel with the lowest coordinates, which is
        // the last component.
        let array = self.module.definition(offsets.ty.id).map_or(0, |array| array.word(2));
        let ty = Type::of(self.module, array).signed();
        let texels = [0, 1, 2, 3].map(|position| {
            operands[COORDINATE] = at(Some(offsets.member(ty, position)));
            self.emit(self.sample.form.plain(), operands).at(3)
        });
        self.code.composed(self.ty(), &texels)
    }

    /// Samples with a level of detail that is stated, by gradients where the instruction leaves it to the device and it matters.
    fn detailed(&self, place: &SampleAt<'b>, operands: [Option<Value<'b>>; COUNT]) -> Value<'b> {
        let form = self.sample.form;
        if !form.implicit {
            return self.emit(form.plain(), operands);
        }
        // The lowest level that an instruction wants may be another one.
        let flat = if operands[MIN_LOD].is_none() { flags::BASE_LEVEL } else { 0 };
        let base = || {
            let mut operands = operands;
            (operands[LOD], operands[MIN_LOD]) = (Some(self.code.float(0.0)), None);
            self.emit(form.plain(), operands)
        };
        let graded = || {
            let mut operands = operands;
            [operands[DX], operands[DY]] = self.graded(place).gradients.map_or([None; 2], |both| both.map(Some));
            self.emit(form.plain(), operands)
        };
        self.code.either(self.has(flat), base, graded)
    }

    /// Coordinates with the layer that the instruction was given.
    pub(super) fn with_layer(&self, at: Value<'b>) -> Value<'b> {
        if self.sample.arrayed { self.code.vector(&[at, self.layer()]) } else { at }
    }

    /// The layer that the instruction was given.
    pub(super) fn layer(&self) -> Value<'b> {
        self.coordinate().at(self.sample.axes)
    }

    /// Coordinates, moved by an offset in texels if there is one, and clamped on the axes that the task names.
    fn saturated(&self, place: &SampleAt<'b>, offset: Option<Value<'b>>) -> Value<'b> {
        if offset.is_some() {
            return self.bounded(place, offset);
        }
        let special = self.has(flags::MIRROR | flags::MAG_NEAREST | flags::MIN_NEAREST | flags::UNNORMALIZED);
        // What nearly all are: nothing is mirrored, and the bounds are constants.
        let usual = || self.axes(flags::CLAMP_S).select(place.at.clamp(0.0, 1.0), place.at);
        self.code.either(special, || self.bounded(place, None), usual)
    }

    /// The same, by all that depends on levels and flags.
    fn bounded(&self, place: &SampleAt<'b>, offset: Option<Value<'b>>) -> Value<'b> {
        let (detail, size) = self.level(place);
        let at = offset.map_or(place.at, |offset| place.at + offset.convert(Scalar::Float) / size);
        let half = size.of(0.5) / size;
        let low = self.axes(flags::MIRROR_S).select(half, 0.0);
        let mut high = size.of(1.0);
        if let Some(detail) = detail {
            // A little before the end NEAREST still finds the last texel, which the border's first one is next to: a quarter of a
            // texel, which is half of one or less on the levels beside.
            let (mag, min) = (self.has(flags::MAG_NEAREST), self.has(flags::MIN_NEAREST));
            let nearest = detail.is(Op::FOrdLessThanEqual, 0.0).select(mag, min);
            high = nearest.select(high - half * 0.5, high);
        }
        let form = self.sample.form;
        if !(form.implicit || form.projected || form.compared) {
            high = self.has(flags::UNNORMALIZED).select(size, high);
        }
        self.clamped(at, low, high)
    }

    /// Coordinates clamped on the axes that the task names.
    pub(super) fn clamped(&self, at: Value<'b>, low: Value<'b>, high: Value<'b>) -> Value<'b> {
        let folded = self.axes(flags::MIRROR_S).select(at.math(GLOp::FAbs), at);
        self.axes(flags::CLAMP_S | flags::MIRROR_S).select(folded.clamp(low, high), at)
    }

    /// The level of detail that the sampler will find, if it matters, and the size of the level that is nearest to it.
    fn level(&self, place: &SampleAt<'b>) -> (Option<Value<'b>>, Value<'b>) {
        let texels = self.base();
        let base = texels.convert(Scalar::Float);
        if self.sample.form.gathers {
            return (None, base);
        }
        let detail = self.detail(&self.graded(place), base);
        let level = nearest_level(self.within(detail)).convert(Scalar::Int);
        (Some(detail), shrunk(texels, level).convert(Scalar::Float))
    }

    /// The level of detail: given, or of gradients on a base level of that size.
    pub(super) fn detail(&self, place: &SampleAt<'b>, size: Value<'b>) -> Value<'b> {
        let float = self.code.ty(Scalar::Float, 1);
        let detail = match place.gradients {
            Some(gradients) => {
                let [dx, dy] = gradients.map(|gradient| (gradient * size).glsl(GLOp::Length, float, &[]));
                let mut longer = dx.max(dy);
                if !self.sample.fetches {
                    // How much of it one of several samples has: it is divided by how often it is longer than the shorter one, up to
                    // the anisotropy ("Scale Factor Operation, LOD Operation and Image Level(s) Selection").
                    let most = (self.flags >> flags::ANISOTROPY.trailing_zeros() & 7).convert(Scalar::Float);
                    longer = (longer / most.math(GLOp::Exp2)).max(dx.min(dy));
                }
                longer.math(GLOp::Log2)
            }
            None => self.level_of_detail(),
        };
        self.limited(self.biased(detail))
    }

    /// The level of detail that the instruction states.
    pub(super) fn level_of_detail(&self) -> Value<'b> {
        self.operands[LOD].unwrap_or_else(|| self.code.float(0.0))
    }

    /// A level of detail with what the sampler adds.
    pub(super) fn biased(&self, detail: Value<'b>) -> Value<'b> {
        detail + self.field(1)
    }

    /// A level of detail in the sampler's range.
    pub(super) fn limited(&self, detail: Value<'b>) -> Value<'b> {
        let least = self.field(2);
        let least = self.operands[MIN_LOD].map_or(least, |own| least.max(own));
        detail.max(least).min(self.field(3))
    }

    /// A float of the task.
    fn field(&self, position: u32) -> Value<'b> {
        self.task.at(position).bitcast(Scalar::Float)
    }

    /// The level of detail that the image has which is next to one.
    pub(super) fn within(&self, detail: Value<'b>) -> Value<'b> {
        let levels = self.code.op(Op::ImageQueryLevels, self.code.ty(Scalar::Int, 1), &[self.image()]);
        detail.clamp(0.0, levels.convert(Scalar::Float) - 1.0)
    }

    /// The size of the base level on all axes, and how many layers there are if there are any.
    pub(super) fn sizes(&self) -> Value<'b> {
        let ty = self.code.ty(Scalar::Int, self.sample.sides + u32::from(self.sample.arrayed));
        self.code.op(Op::ImageQuerySizeLod, ty, &[self.image(), self.code.int(0).id])
    }

    /// The size of the base level on all axes.
    pub(super) fn base(&self) -> Value<'b> {
        self.sizes().first(self.sample.sides)
    }

    /// Whether the flags have any of the bits.
    pub(super) fn has(&self, bits: u32) -> Value<'b> {
        (self.flags & bits).is(Op::INotEqual, 0)
    }

    /// For each axis whether the flags have any of the bits, which are those of the first axis.
    pub(super) fn axes(&self, bits: u32) -> Value<'b> {
        self.some_axes(bits, self.sample.axes)
    }

    /// The same for this many axes, of which layers are none.
    pub(super) fn some_axes(&self, bits: u32, axes: u32) -> Value<'b> {
        let all = [0, 1, 2, 3].map(|axis| if axis < self.sample.axes { bits << axis } else { 0 });
        let mut flags = [self.flags; 4];
        for (flag, bits) in flags.iter_mut().zip(all).take(axes as usize) {
            *flag = self.has(bits);
        }
        self.code.vector(flags.get(..axes as usize).unwrap_or(&flags))
    }
}

/// The whole level for a level of detail. Of two that are equally near it is the finer one, as the specification prefers.
pub(super) fn nearest_level(detail: Value<'_>) -> Value<'_> {
    (detail + 0.5).math(GLOp::Ceil) - 1.0
}

/// The size of a level, from that of the base level. It is not asked for: a driver (llvmpipe 22) answers all invocations for
/// the level of one of them.
pub(super) fn shrunk<'b>(base: Value<'b>, level: Value<'b>) -> Value<'b> {
    (base >> level).max(1)
}
