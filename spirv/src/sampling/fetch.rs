//! Texels that are fetched, where no other sampler can be had: what a sampler would do to coordinates and beyond edges is done here
//! ("Wrapping Operation", "Border Replacement"), with what the task says of it.

use spirv::{GlslStd450Op, ImageOperands, Op};

use super::filter::Spot;
use super::helper::Helper;
use super::{Pass, flags};
use crate::error::Error;
use crate::module::sort;
use crate::op;

/// What no texel's number reaches, in either direction: up to here floats hold every whole number.
const FAR: f32 = (1 << 24) as f32;

enum Step {
    Op(Op),
    Glsl(GlslStd450Op),
}

/// What is known before [`STEPS`]: the lowest and the highest number of a texel, 0 and 1; whether an axis wraps, folds and has a border;
/// the place in texels, and the size.
const KNOWN: usize = 9;

/// From a place to the texel inside and whether it was outside, as instructions on vectors of floats or of booleans and the positions of
/// their operands, of which the first are [`KNOWN`]. Floats hold whole numbers exactly so far: remainders of integers are slow, or wrong
/// below 0 (llvmpipe 22).
#[rustfmt::skip]
static STEPS: [(Step, bool, &[u8]); 25] = {
    use GlslStd450Op as G;
    use Step::{Glsl, Op as Do};
    [
        (Glsl(G::Floor), true, &[7]),
        (Glsl(G::NClamp), true, &[9, 0, 1]),
        // 11: what is mirrored repeats after two sizes, of which the one below 0 is folded.
        (Do(Op::Select), true, &[5, 8, 2]),
        (Do(Op::FAdd), true, &[8, 11]),
        (Do(Op::FAdd), true, &[10, 11]),
        (Do(Op::FDiv), true, &[13, 12]),
        (Glsl(G::Floor), true, &[14]),
        (Do(Op::FMul), true, &[15, 12]),
        (Do(Op::FSub), true, &[13, 16]),
        // 18: the division may have been off by a little, beside a whole number by one time.
        (Do(Op::FOrdLessThan), false, &[17, 2]),
        (Do(Op::FAdd), true, &[17, 12]),
        (Do(Op::Select), true, &[18, 19, 17]),
        (Do(Op::FOrdGreaterThanEqual), false, &[20, 12]),
        (Do(Op::FSub), true, &[20, 12]),
        (Do(Op::Select), true, &[21, 22, 20]),
        (Do(Op::FSub), true, &[23, 11]),
        (Do(Op::Select), true, &[4, 24, 10]),
        // 26: -1 - n
        (Do(Op::FAdd), true, &[25, 3]),
        (Do(Op::FNegate), true, &[26]),
        (Glsl(G::NMax), true, &[25, 27]),
        (Do(Op::Select), true, &[5, 28, 25]),
        (Do(Op::FSub), true, &[8, 3]),
        (Glsl(G::NClamp), true, &[29, 2, 30]),
        (Do(Op::FOrdNotEqual), false, &[29, 31]),
        (Do(Op::LogicalAnd), false, &[32, 6]),
    ]
};

impl Helper<'_, '_, '_, '_> {
    /// The texel around a place that is given in texels.
    pub(super) fn fetched(&mut self, spot: &Spot, at: u32) -> Result<u32, Error> {
        let (int, bool) = (self.code.int, self.code.bool);
        let (axes, at, size) = self.with_layers(at, spot.size)?;
        let (vector, ints, bools) = (self.code.vec(axes)?, self.code.vector(int, axes)?, self.code.vector(bool, axes)?);
        let mut values = [0; KNOWN + STEPS.len()];
        let mut known = values.iter_mut();
        for (value, place) in [-FAR, FAR, 0.0, 1.0].into_iter().zip(&mut known) {
            *place = self.code.splat(value, axes)?;
        }
        for (bits, place) in [flags::WRAP_S, flags::FOLD_S, flags::BORDER_S].into_iter().zip(&mut known) {
            *place = self.some_axes(bits, axes)?;
        }
        for (id, place) in [at, size].into_iter().zip(&mut known) {
            *place = id;
        }
        for (number, (what, is_vector, operands)) in STEPS.iter().enumerate() {
            let mut ids = [0; 3];
            for (id, position) in ids.iter_mut().zip(*operands) {
                *id = values.get(*position as usize).copied().unwrap_or(0);
            }
            let ids = ids.get(..operands.len()).unwrap_or(&ids);
            let ty = if *is_vector { vector } else { bools };
            let id = match *what {
                Step::Op(opcode) => self.code.op(opcode, ty, ids)?,
                Step::Glsl(instruction) => self.code.glsl(instruction, ty, ids)?,
            };
            if let Some(place) = values.get_mut(KNOWN + number) {
                *place = id;
            }
        }
        let [.., inside, _, mut outside] = values;
        if axes > 1 {
            outside = self.code.op(Op::Any, bool, &[outside])?;
        }
        let inside = self.code.op(Op::ConvertFToS, ints, &[inside])?;
        let image = self.image()?;
        let operands = [image, inside, ImageOperands::LOD.bits(), spot.number];
        let ty = self.sample.ty;
        let fetched = self.code.op(Op::ImageFetch, ty, &operands)?;
        let border = self.border()?;
        let outside = self.code.repeat(bool, outside, 4)?;
        self.code.op(Op::Select, ty, &[outside, border, fetched])
    }

    /// How many numbers a texel has, the place and the size: layers are an axis that ends at both sides.
    fn with_layers(&mut self, at: u32, size: u32) -> Result<(u32, u32, u32), Error> {
        let (axes, int, float) = (self.sample.axes, self.code.int, self.code.float);
        if !self.sample.arrayed {
            return Ok((axes, at, size));
        }
        let (ints, vector) = (self.code.vector(int, axes + 1)?, self.code.vec(axes + 1)?);
        let base = self.code.editor.constant(int, &[0])?;
        let image = self.image()?;
        let all = self.code.op(Op::ImageQuerySizeLod, ints, &[image, base])?;
        let layers = self.code.op(Op::CompositeExtract, int, &[all, axes])?;
        let layers = self.code.float(Op::ConvertSToF, &[layers])?;
        let layer = self.layer()?;
        let layer = self.code.glsl(GlslStd450Op::RoundEven, float, &[layer])?;
        let at = self.code.op(Op::CompositeConstruct, vector, &[at, layer])?;
        let size = self.code.op(Op::CompositeConstruct, vector, &[size, layers])?;
        Ok((axes + 1, at, size))
    }

    /// The texel beyond an edge.
    fn border(&mut self) -> Result<u32, Error> {
        let ty = self.sample.ty;
        let texel = self.module.definition(ty).map_or(0, |ty| ty.word(2));
        let bool = self.code.bool;
        let one = if self.sample.whole { 1 } else { 1.0_f32.to_bits() };
        let (zero, one) = (self.code.editor.constant(texel, &[0])?, self.code.editor.constant(texel, &[one])?);
        let (zeroes, ones) = (self.code.repeat(texel, zero, 4)?, self.code.repeat(texel, one, 4)?);
        let mut parts = [0; 4];
        for (component, part) in parts.iter_mut().enumerate() {
            *part = self.code.has(self.flags, flags::BORDER << component)?;
        }
        let bools = self.code.vector(bool, 4)?;
        let parts = self.code.op(Op::CompositeConstruct, bools, &parts)?;
        self.code.op(Op::Select, ty, &[parts, ones, zeroes])
    }
}

impl Pass<'_, '_, '_> {
    /// Takes out where an image and a sampler were joined that nothing reads together any more.
    pub(super) fn part(&mut self) -> Result<(), Error> {
        let module = self.tracer.module;
        sort(&mut self.joined);
        for alike in self.joined.chunk_by(|one, two| one == two) {
            let Some((number, pair)) = alike.first().copied() else { continue };
            let joins = module.definition(pair).filter(|it| it.opcode() == op::SAMPLED_IMAGE);
            let (Some(join), Some(function)) = (joins, module.functions().get(number)) else { continue };
            let mut uses = 0;
            for instruction in module.instructions(function.at, function.end) {
                self.tracer.step(1)?;
                uses += instruction.words.iter().skip(1).filter(|word| **word == pair).count();
            }
            // Its own result is one of them.
            if uses == alike.len() + 1 {
                self.editor.remove(&join)?;
            }
        }
        Ok(())
    }
}
