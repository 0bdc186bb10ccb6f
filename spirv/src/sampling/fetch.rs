//! Texels that are fetched, where no other sampler can be had: what a sampler would do to coordinates and beyond edges is done here
//! ("Wrapping Operation", "Border Replacement"), with what the task says of it.

use spirv::{GlslStd450Op as GLOp, ImageOperands, Op};

use super::filter::Spot;
use super::helper::Helper;
use super::{SamplingEdit, flags};
use crate::build::{Scalar, Value};
use crate::error::Error;
use crate::module::sort;
use crate::op;

/// What no texel's number reaches, in either direction: up to here floats hold every whole number.
const FAR: f32 = (1 << 24) as f32;

impl<'b> Helper<'b> {
    /// The texel around a place that is given in texels. Floats hold whole numbers exactly: remainders of integers are slow, or wrong
    /// below 0 (llvmpipe 22).
    pub(super) fn fetched(&self, spot: &Spot<'b>, at: Value<'b>) -> Value<'b> {
        let (at, size) = self.with_layers(at, spot.size);
        let axes = at.ty.count;
        let [wraps, folds, ends] =
            [flags::WRAP_S, flags::FOLD_S, flags::BORDER_S].map(|bits| self.some_axes(bits, axes));
        let texel = at.math(GLOp::Floor).clamp(-FAR, FAR);
        // What is mirrored repeats after two sizes, of which the one below 0 is folded.
        let below = folds.select(size, 0.0);
        let (period, from) = (size + below, texel + below);
        let rest = from - (from / period).math(GLOp::Floor) * period;
        // The division may have been off by a little, beside a whole number by one time.
        let rest = rest.is(Op::FOrdLessThan, 0.0).select(rest + period, rest);
        let rest = rest.is(Op::FOrdGreaterThanEqual, period).select(rest - period, rest);
        let texel = wraps.select(rest - below, texel);
        let texel = folds.select(texel.max(-(texel + 1.0)), texel);
        let inside = texel.clamp(0.0, size - 1.0);
        let mut outside = texel.is(Op::FOrdNotEqual, inside) & ends;
        if axes > 1 {
            outside = outside.to(Op::Any, self.code.ty(Scalar::Bool, 1), &[]);
        }
        let inside = inside.convert(Scalar::Int);
        let operands = [self.image(), inside.id, ImageOperands::LOD.bits(), spot.number.id];
        let fetched = self.code.op(Op::ImageFetch, self.ty(), &operands);
        outside.select(self.border(), fetched)
    }

    /// The place and the size with layers, which are an axis that ends at both sides.
    fn with_layers(&self, at: Value<'b>, size: Value<'b>) -> (Value<'b>, Value<'b>) {
        if !self.sample.arrayed {
            return (at, size);
        }
        let layers = self.sizes().at(self.sample.axes).convert(Scalar::Float);
        let layer = self.layer().math(GLOp::RoundEven);
        (self.code.vector(&[at, layer]), self.code.vector(&[size, layers]))
    }

    /// The texel beyond an edge.
    fn border(&self) -> Value<'b> {
        let ty = self.ty();
        let one = if self.sample.whole { 1 } else { 1.0_f32.to_bits() };
        let parts = [0, 1, 2, 3].map(|component| self.has(flags::BORDER << component));
        self.code.vector(&parts).select(self.code.constant(ty, &[one]), self.code.constant(ty, &[0]))
    }
}

impl SamplingEdit<'_, '_, '_> {
    /// Takes out where an image and a sampler were joined that nothing reads together any more.
    pub(super) fn part(&mut self) -> Result<(), Error> {
        let module = self.tracer.module;
        sort(&mut self.joined);
        for alike in self.joined.chunk_by(|one, two| one == two) {
            let Some((number, pair)) = alike.first().copied() else { continue };
            let joins = module.defined(pair, op::SAMPLED_IMAGE);
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
