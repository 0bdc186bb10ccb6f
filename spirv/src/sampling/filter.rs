//! LINEAR made of NEAREST: texels are taken one by one at their centres, so that address modes and borders stay the device's, and
//! weighed in the shader.

use spirv::{GlslStd450Op as GLOp, ImageOperands, Op};

use super::cube::{Face, faced};
use super::flags;
use super::helper::{Helper, SampleAt, begun, nearest_level, rooted, shrunk};
use super::site::operand::{COORDINATE, COUNT, EXTRA};
use crate::build::{Code, Scalar, Value};
use crate::error::{Error, copied, extend, push};
use crate::map::put;

/// What a level is asked for.
pub(super) struct Spot<'b> {
    /// Of a cube.
    face: Option<Face<'b>>,
    /// Where, in texels.
    at: Value<'b>,
    /// The size of the level as floats, and what makes coordinates of texels.
    pub(super) size: Value<'b>,
    scale: Value<'b>,
    /// The level, as a float and as an integer.
    level: Value<'b>,
    pub(super) number: Value<'b>,
}

impl<'b> Helper<'b> {
    /// What the sampler that was asked for would find, on one level or two.
    pub(super) fn filtered(&self, place: &SampleAt<'b>) -> Value<'b> {
        let place = &self.graded(place);
        let size = self.base().convert(Scalar::Float);
        let detail =
            if self.sample.cube { self.detail(&faced(self.code, place), size) } else { self.detail(place, size) };
        let (level, share) = self.levels(self.within(detail));
        let (mag, min) = (self.has(flags::MAG_LINEAR), self.has(flags::MIN_LINEAR));
        let linear = detail.is(Op::FOrdLessThanEqual, 0.0).select(mag, min);
        let function = self.code.noted(self.function());
        let on = |level: Value<'b>| self.on(function, place, level, linear);
        let first = on(level);
        if self.sample.whole {
            return first;
        }
        let two = share.is(Op::FOrdGreaterThan, 0.0);
        self.code.either(two, || mixed(first, on(level + 1.0), share), || first)
    }

    /// The first level for a level of detail that the image has, and the share of the next one.
    fn levels(&self, detail: Value<'b>) -> (Value<'b>, Value<'b>) {
        let whole = detail.math(GLOp::Floor);
        let linear = self.has(flags::MIP_LINEAR);
        (linear.select(whole, nearest_level(detail)), linear.select(detail - whole, 0.0))
    }

    /// An answer for the level of detail, as it would be for the sampler that was asked for.
    pub(super) fn answer(&self, answer: Value<'b>) -> Value<'b> {
        let emulated = || {
            let detail = self.biased(answer.at(1));
            let (first, share) = self.levels(self.within(self.limited(detail)));
            self.code.composed(self.ty(), &[first + share, detail])
        };
        self.code.either(self.has(flags::EMULATE), emulated, || answer)
    }

    /// Calls the function for one level.
    fn on(&self, function: u32, place: &SampleAt<'b>, level: Value<'b>, linear: Value<'b>) -> Value<'b> {
        let mut arguments = Vec::new();
        let mut add = |id: u32| self.code.noted(push(&mut arguments, id));
        add(function);
        add(self.flags.id);
        for root in self.roots.iter().flatten() {
            for (id, is_passed) in [(root.id, root.passed), (root.index, root.indexed)] {
                if is_passed {
                    add(id);
                }
            }
        }
        add(self.with_layer(place.at).id);
        add(self.offset().unwrap_or_else(|| self.code.constant(self.code.ty(Scalar::Int, self.sample.sides), &[0])).id);
        add(level.id);
        add(linear.id);
        place.reference.filter(|_| self.sample.passes.compare).into_iter().for_each(|reference| add(reference.id));
        self.code.op(Op::FunctionCall, self.ty(), &arguments)
    }

    /// The function that filters on one level; made when it is first needed.
    fn function(&self) -> Result<u32, Error> {
        let (sample, code) = (self.sample, Code::new(self.code.editor));
        let coordinate = code.ty(Scalar::Float, sample.axes + u32::from(sample.arrayed));
        let offset = self.offset().map_or(code.ty(Scalar::Int, sample.sides), |offset| offset.ty);
        let [float, uint, bool] = [Scalar::Float, Scalar::Uint, Scalar::Bool].map(|of| code.ty(of, 1));
        let mut key = copied(&sample.rooting)?;
        extend(&mut key, &[u32::MAX, sample.ty, offset.id])?;
        if let Some(made) = self.made.borrow().get(&key) {
            return Ok(*made);
        }
        let mut types = copied(&[sample.ty, uint.id])?;
        for (_, ty) in sample.passed.iter().take(sample.rooted) {
            push(&mut types, *ty)?;
        }
        extend(&mut types, &[coordinate.id, offset.id, float.id, bool.id])?;
        if sample.passes.compare {
            push(&mut types, float.id)?;
        }
        let (function, parameters) = begun(&code, &types);
        let mut parameters = parameters.into_iter();
        let flags = code.value(parameters.next().unwrap_or(0), uint);
        let roots = rooted(sample, &mut parameters);
        let mut next = |ty| parameters.next().map(|id| code.value(id, ty));
        let mut operands = [None; COUNT];
        operands[COORDINATE] = next(coordinate);
        let (offset, level, linear) = (next(offset), next(float), next(bool));
        operands[EXTRA] = next(float);
        let inner = Helper {
            code: &code,
            module: self.module,
            sample,
            operands,
            limits: self.limits,
            roots,
            task: flags,
            flags,
            loaded: [(0, 0); 2],
            gathered: None,
            made: self.made,
        };
        let (Some(offset), Some(level), Some(linear)) = (offset, level, linear) else { return Err(Error::Edits) };
        code.end(inner.load().level_of(offset, level, linear))?;
        put(&mut self.made.borrow_mut(), key, function)?;
        Ok(function)
    }

    /// What one level shows: with an offset in texels, on a level that is a float, with texels mixed or not.
    fn level_of(&self, offset: Value<'b>, level: Value<'b>, linear: Value<'b>) -> Value<'b> {
        let mut at = self.coordinate().first(self.sample.axes);
        let face = self.sample.cube.then(|| Face::of(self.code, at));
        at = face.as_ref().map_or(at, Face::across);
        let number = level.convert(Scalar::Int);
        let size = shrunk(self.base(), number).convert(Scalar::Float);
        let scale = self.has(flags::UNNORMALIZED).select(size.of(1.0), size);
        // Coordinates are in texels from here on.
        let mut at = at * scale + offset.convert(Scalar::Float);
        if self.sample.passes.saturate {
            let low = self.axes(flags::MIRROR_S).select(size.of(0.5), 0.0);
            at = self.clamped(at, low, size);
        }
        let spot = Spot { face, at, size, scale, level, number };
        if self.sample.whole {
            return self.nearest(&spot);
        }
        self.code.either(linear, || self.linear(&spot), || self.nearest(&spot))
    }

    /// The texels around a spot, mixed.
    fn linear(&self, spot: &Spot<'b>) -> Value<'b> {
        let middle = (spot.at - 0.5).math(GLOp::Floor) + 0.5;
        let shares = spot.at - middle;
        let axes = self.sample.sides;
        // Texels, by their distance on each axis, and how many are left to be mixed.
        let mut texels = [spot.at; 8];
        let mut count = 1 << axes;
        for (number, texel) in texels.iter_mut().enumerate().take(count) {
            *texel = self.tap(spot, middle + [0, 1, 2, 3].map(|axis| (number >> axis & 1) as f32));
        }
        for axis in 0..axes {
            count /= 2;
            let share = shares.at(axis);
            for to in 0..count {
                texels[to] = mixed(texels[2 * to], texels[2 * to + 1], share);
            }
        }
        texels[0]
    }

    /// The texel that a spot is in.
    fn nearest(&self, spot: &Spot<'b>) -> Value<'b> {
        let mut texel = spot.at.math(GLOp::Floor);
        if self.sample.passes.saturate {
            // The end belongs to the last texel.
            let clamps = self.axes(flags::CLAMP_S | flags::MIRROR_S);
            texel = clamps.select(texel.min(spot.size - 1.0), texel);
        }
        self.tap(spot, texel + 0.5)
    }

    /// The texel around a place that is given in texels.
    fn tap(&self, spot: &Spot<'b>, at: Value<'b>) -> Value<'b> {
        match (self.sample.passes.fetch, self.sample.fetches) {
            (false, _) => self.sampled_at(spot, at),
            (true, true) => self.fetched(spot, at),
            (true, false) => {
                self.code.either(self.has(flags::FETCH), || self.fetched(spot, at), || self.sampled_at(spot, at))
            }
        }
    }

    fn sampled_at(&self, spot: &Spot<'b>, at: Value<'b>) -> Value<'b> {
        let at = at / spot.scale;
        let at = self.with_layer(spot.face.as_ref().map_or(at, |face| face.direction(at)));
        let operands = [self.pair(), at.id, ImageOperands::LOD.bits(), spot.level.id];
        match self.operands[EXTRA] {
            Some(reference) => {
                let ty = self.code.ty(Scalar::Float, 4);
                self.passes(self.code.op(Op::ImageSampleExplicitLod, ty, &operands).at(0), reference)
            }
            None => self.code.op(Op::ImageSampleExplicitLod, self.ty(), &operands),
        }
    }
}

/// One colour, or result of a comparison, with a share of another.
fn mixed<'b>(a: Value<'b>, b: Value<'b>, share: Value<'b>) -> Value<'b> {
    a.scaled(share.of(1.0) - share) + b.scaled(share)
}
