//! The function that is called in place of image instructions.

use spirv::{Capability, Decoration, GlslStd450Op, Op, StorageClass};

use super::code::Code;
use super::site::operand::{BIAS, COORDINATE, COUNT, DX, DY, EXTRA};
use super::site::{MASK, Root, Sample};
use super::{Limits, NAME, flags};
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
    let record = parameters.next().unwrap_or(0);
    let mut roots = sample.roots;
    for root in roots.iter_mut().flatten() {
        if root.passed {
            root.id = parameters.next().unwrap_or(0);
        }
        if root.indexed {
            root.index = parameters.next().unwrap_or(0);
        }
    }
    let mut operands = sample.operands;
    for (operand, _) in operands.iter_mut().zip(sample.types).filter(|(_, ty)| *ty != 0) {
        *operand = parameters.next().unwrap_or(0);
    }
    let flags = code.op(Op::CompositeExtract, code.uint, &[record, 0])?;
    let mut helper = Helper { code, module, sample, roots, operands, limits, flags, loaded: [(0, 0); 2] };
    helper.load()?;
    let result = helper.body()?;
    helper.code.end(result)?;
    Ok(function)
}

struct Helper<'e, 'm, 'w, 's> {
    code: Code<'e, 'm, 'w>,
    module: &'m Module<'w>,
    sample: &'s Sample,
    roots: [Option<Root>; 2],
    operands: [u32; COUNT],
    limits: Limits,
    flags: u32,
    /// The pair, or image and sampler, each with its type.
    loaded: [(u32, u32); 2],
}

/// Where the texture is sampled, once all that comes before is done.
struct Place {
    /// Coordinates without layer and divisor, unsaturated.
    at: u32,
    /// What texels are compared with.
    reference: u32,
    /// Gradients; 0 where the level of detail is given.
    dx: u32,
    dy: u32,
}

impl Helper<'_, '_, '_, '_> {
    /// Loads the descriptors.
    fn load(&mut self) -> Result<(), Error> {
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
    fn pair(&mut self) -> Result<u32, Error> {
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
    fn image(&mut self) -> Result<u32, Error> {
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

    /// The application's own instruction, or what the record asks for.
    fn body(&mut self) -> Result<u32, Error> {
        let original = self.sample.form.stated(self.sample.form.opcode);
        let asked = self.code.has(self.flags, self.sample.passes.asks())?;
        // Invocations that ask for different things go different ways, and levels of detail need all of them on one.
        if self.sample.form.implicit && self.sample.nonuniform {
            let own = self.emit(original, self.operands)?;
            let place = self.place()?;
            let mut fork = self.code.fork(asked)?;
            let changed = self.changed(&place)?;
            self.code.otherwise(&mut fork, changed)?;
            return self.code.join(&fork, self.sample.ty, own);
        }
        let mut fork = self.code.fork(asked)?;
        let place = self.place()?;
        let changed = self.changed(&place)?;
        self.code.otherwise(&mut fork, changed)?;
        let own = self.emit(original, self.operands)?;
        self.code.join(&fork, self.sample.ty, own)
    }

    /// An image instruction with operands.
    fn emit(&mut self, opcode: u32, operands: [u32; COUNT]) -> Result<u32, Error> {
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
        let id = self.code.raw(opcode, self.sample.ty, &words)?;
        if self.sample.relaxed {
            self.code.editor.decorate(id, Decoration::RelaxedPrecision, &[])?;
        }
        Ok(id)
    }

    /// Projection, and gradients where the level of detail depends on them.
    fn place(&mut self) -> Result<Place, Error> {
        let (axes, form) = (self.sample.axes, self.sample.form);
        let float = self.code.float;
        let vector = self.code.vector(float, axes)?;
        let (given, count) = self.coordinate();
        let mut at = self.code.first(given, count, float, axes)?;
        let mut reference = self.operands[EXTRA];
        if form.projected {
            let divisor = self.code.op(Op::CompositeExtract, float, &[given, axes])?;
            let divisors = self.code.repeat(divisor, axes)?;
            at = self.code.op(Op::FDiv, vector, &[at, divisors])?;
            if form.compared {
                reference = self.code.op(Op::FDiv, float, &[reference, divisor])?;
            }
        }
        let (mut dx, mut dy) = (self.operands[DX], self.operands[DY]);
        if form.implicit {
            dx = self.code.op(Op::DPdx, vector, &[at])?;
            dy = self.code.op(Op::DPdy, vector, &[at])?;
            if self.operands[BIAS] != 0 {
                // The level of detail is the logarithm of how long gradients are.
                let limit = self.limits.lod_bias;
                let bounds = [self.code.splat(-limit, 1)?, self.code.splat(limit, 1)?];
                let bias = [self.operands[BIAS], bounds[0], bounds[1]];
                let bias = self.code.glsl(GlslStd450Op::NClamp, float, &bias)?;
                let scale = self.code.glsl(GlslStd450Op::Exp2, float, &[bias])?;
                let scale = self.code.repeat(scale, axes)?;
                dx = self.code.op(Op::FMul, vector, &[dx, scale])?;
                dy = self.code.op(Op::FMul, vector, &[dy, scale])?;
            }
        }
        Ok(Place { at, reference, dx, dy })
    }

    /// The coordinate as it was given, and how many components it has.
    fn coordinate(&self) -> (u32, u32) {
        let ty = self.module.definition(self.sample.types[COORDINATE]);
        let count = ty.filter(|ty| ty.opcode() == op::TYPE_VECTOR).map_or(1, |ty| ty.word(3));
        (self.operands[COORDINATE], count)
    }

    /// What the record asks for.
    fn changed(&mut self, place: &Place) -> Result<u32, Error> {
        let form = self.sample.form;
        let mut operands = self.operands;
        operands[BIAS] = 0;
        operands[EXTRA] = place.reference;
        if form.implicit {
            (operands[DX], operands[DY]) = (place.dx, place.dy);
        }
        let at = self.saturate(place.at)?;
        operands[COORDINATE] = self.with_layer(at)?;
        self.emit(form.plain(), operands)
    }

    /// Coordinates with the layer that the instruction was given.
    fn with_layer(&mut self, at: u32) -> Result<u32, Error> {
        if !self.sample.arrayed {
            return Ok(at);
        }
        let (given, _) = self.coordinate();
        let axes = self.sample.axes;
        let layer = self.code.op(Op::CompositeExtract, self.code.float, &[given, axes])?;
        let ty = self.code.vector(self.code.float, axes + 1)?;
        self.code.op(Op::CompositeConstruct, ty, &[at, layer])
    }

    /// Coordinates clamped on the axes that the record names.
    fn saturate(&mut self, at: u32) -> Result<u32, Error> {
        if !self.sample.passes.saturate {
            return Ok(at);
        }
        let (axes, float) = (self.sample.axes, self.code.float);
        let vector = self.code.vector(float, axes)?;
        let (low, high) = (self.code.splat(0.0, axes)?, self.code.splat(1.0, axes)?);
        let clamped = self.code.glsl(GlslStd450Op::NClamp, vector, &[at, low, high])?;
        let chosen = self.axes(flags::CLAMP_S)?;
        self.code.op(Op::Select, vector, &[chosen, clamped, at])
    }

    /// For each axis whether the flags have the bit, that of the first axis being `bit`.
    fn axes(&mut self, bit: u32) -> Result<u32, Error> {
        let (axes, bool) = (self.sample.axes, self.code.bool);
        let mut all = Vec::new();
        for axis in 0..axes {
            push(&mut all, self.code.has(self.flags, bit << axis)?)?;
        }
        match *all.as_slice() {
            [one] => Ok(one),
            _ => {
                let ty = self.code.vector(bool, axes)?;
                self.code.op(Op::CompositeConstruct, ty, &all)
            }
        }
    }
}
