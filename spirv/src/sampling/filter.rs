//! LINEAR made of NEAREST: texels are taken one by one at their centres, so that address modes and borders stay the device's, and
//! weighed in the shader.

use spirv::{GlslStd450Op, ImageOperands, Op};

use super::code::Code;
use super::cube::Face;
use super::helper::{Helper, Place, rooted};
use super::site::operand::{CONST_OFFSET, COORDINATE, COUNT, EXTRA, OFFSET};
use super::{NAME, flags};
use crate::error::{Error, extend, push};
use crate::map::put;

/// What a level is asked for.
pub(super) struct Spot {
    /// Of a cube.
    face: Option<Face>,
    /// Where, in texels.
    at: u32,
    /// The size of the level as floats, and what makes coordinates of texels.
    pub(super) size: u32,
    scale: u32,
    /// The level, as a float and as an integer.
    level: u32,
    pub(super) number: u32,
}

impl Helper<'_, '_, '_, '_> {
    /// What the sampler that was asked for would find, on one level or two.
    pub(super) fn filtered(&mut self, place: &Place) -> Result<u32, Error> {
        let bool = self.code.bool;
        let place = &self.graded(place)?;
        let base = self.base()?;
        let size = self.texels(base)?;
        let detail = match self.sample.cube {
            true => {
                let faced = self.faced(place)?;
                self.detail(&faced, size)?
            }
            false => self.detail(place, size)?,
        };
        let level = self.within(detail)?;
        let (level, share) = self.levels(level)?;
        let (zero, one) = (self.code.splat(0.0, 1)?, self.code.splat(1.0, 1)?);
        let magnified = self.code.op(Op::FOrdLessThanEqual, bool, &[detail, zero])?;
        let mag = self.code.has(self.flags, flags::MAG_LINEAR)?;
        let min = self.code.has(self.flags, flags::MIN_LINEAR)?;
        let linear = self.code.op(Op::Select, bool, &[magnified, mag, min])?;
        let function = self.function()?;
        let first = self.on(function, place, level, linear)?;
        if self.sample.whole {
            return Ok(first);
        }
        let between = self.code.op(Op::FOrdGreaterThan, bool, &[share, zero])?;
        let mut fork = self.code.fork(between)?;
        let next = self.code.float(Op::FAdd, &[level, one])?;
        let second = self.on(function, place, next, linear)?;
        let mixed = self.mixed(first, second, share)?;
        self.code.otherwise(&mut fork, [mixed, 0])?;
        Ok(self.code.join(&fork, self.sample.ty, [first, 0])?[0])
    }

    /// The first level for a level of detail that the image has, and the share of the next one.
    fn levels(&mut self, detail: u32) -> Result<(u32, u32), Error> {
        let float = self.code.float;
        let zero = self.code.splat(0.0, 1)?;
        let whole = self.code.glsl(GlslStd450Op::Floor, float, &[detail])?;
        let rest = self.code.float(Op::FSub, &[detail, whole])?;
        let nearest = self.nearest_level(detail)?;
        let linear = self.code.has(self.flags, flags::MIP_LINEAR)?;
        let level = self.code.float(Op::Select, &[linear, whole, nearest])?;
        let share = self.code.float(Op::Select, &[linear, rest, zero])?;
        Ok((level, share))
    }

    /// An answer for the level of detail, as it would be for the sampler that was asked for.
    pub(super) fn answer(&mut self, answer: u32) -> Result<u32, Error> {
        let ty = self.sample.ty;
        let emulated = self.code.has(self.flags, flags::EMULATE)?;
        let mut fork = self.code.fork(emulated)?;
        let detail = self.code.float(Op::CompositeExtract, &[answer, 1])?;
        let detail = self.biased(detail)?;
        let level = self.limited(detail)?;
        let level = self.within(level)?;
        let (first, share) = self.levels(level)?;
        let level = self.code.float(Op::FAdd, &[first, share])?;
        let other = self.code.op(Op::CompositeConstruct, ty, &[level, detail])?;
        self.code.otherwise(&mut fork, [other, 0])?;
        Ok(self.code.join(&fork, ty, [answer, 0])?[0])
    }

    /// Calls the function for one level.
    fn on(&mut self, function: u32, place: &Place, level: u32, linear: u32) -> Result<u32, Error> {
        let mut arguments = Vec::new();
        extend(&mut arguments, &[function, self.flags])?;
        for root in self.roots.iter().flatten() {
            if root.passed {
                push(&mut arguments, root.id)?;
            }
            if root.indexed {
                push(&mut arguments, root.index)?;
            }
        }
        let mut offset = self.operands[CONST_OFFSET].max(self.operands[OFFSET]);
        if offset == 0 {
            let zero = self.code.editor.constant(self.code.int, &[0])?;
            offset = self.code.repeat(self.code.int, zero, self.sample.sides)?;
        }
        let at = self.with_layer(place.at)?;
        extend(&mut arguments, &[at, offset, level, linear])?;
        if self.sample.passes.compare {
            push(&mut arguments, place.reference)?;
        }
        self.code.op(Op::FunctionCall, self.sample.ty, &arguments)
    }

    /// The function that filters on one level; made when it is first needed.
    fn function(&mut self) -> Result<u32, Error> {
        let sample = self.sample;
        let (axes, float, int) = (sample.axes, self.code.float, self.code.int);
        let offset = match sample.operands[CONST_OFFSET].max(sample.operands[OFFSET]) {
            0 => self.code.vector(int, sample.sides)?,
            offset => self.module.type_of(offset),
        };
        let mut key = Vec::new();
        extend(&mut key, &sample.rooting)?;
        extend(&mut key, &[u32::MAX, sample.ty, offset])?;
        if let Some(made) = self.made.get(&key) {
            return Ok(*made);
        }
        let coordinates = axes + u32::from(sample.arrayed);
        let mut types = Vec::new();
        extend(&mut types, &[sample.ty, self.code.uint])?;
        for (_, ty) in sample.passed.iter().take(sample.rooted) {
            push(&mut types, *ty)?;
        }
        extend(&mut types, &[self.code.vec(coordinates)?, offset, float, self.code.bool])?;
        if sample.passes.compare {
            push(&mut types, float)?;
        }
        let mut code = Code::new(&mut *self.code.editor)?;
        let (function, parameters) = code.parameters(&types)?;
        code.editor.name(function, NAME)?;
        let mut parameters = parameters.iter().copied();
        let flags = parameters.next().unwrap_or(0);
        let mut roots = sample.roots;
        rooted(&mut roots, &mut parameters);
        let mut rest = [0; 5];
        for (slot, parameter) in rest.iter_mut().zip(parameters) {
            *slot = parameter;
        }
        let mut operands = [0; COUNT];
        let [given, offset, level, linear, reference] = rest;
        (operands[COORDINATE], operands[EXTRA]) = (given, reference);
        let mut inner = Helper {
            code,
            module: self.module,
            sample,
            roots,
            operands,
            limits: self.limits,
            task: 0,
            flags,
            loaded: [(0, 0); 2],
            gathered: 0,
            made: &mut *self.made,
        };
        inner.load()?;
        let result = inner.level_of([given, offset, level, linear])?;
        inner.code.end(result)?;
        put(self.made, key, function)?;
        Ok(function)
    }

    /// What one level shows: at a coordinate with its layer, with an offset in texels, on a level that is a float, with texels mixed
    /// or not.
    fn level_of(&mut self, [given, offset, level, linear]: [u32; 4]) -> Result<u32, Error> {
        let (axes, float, int) = (self.sample.axes, self.code.float, self.code.int);
        let mut at = self.code.first(given, axes + u32::from(self.sample.arrayed), float, axes)?;
        let axes = self.sample.sides;
        let vector = self.code.vec(axes)?;
        let mut face = None;
        if self.sample.cube {
            let met = self.face(at)?;
            at = self.across(&met)?;
            face = Some(met);
        }
        let number = self.code.op(Op::ConvertFToS, int, &[level])?;
        let base = self.base()?;
        let size = self.shrunk(base, number)?;
        let size = self.texels(size)?;
        // Coordinates are in texels from here on.
        let one = self.code.splat(1.0, axes)?;
        let unnormalized = self.code.has(self.flags, flags::UNNORMALIZED)?;
        let scale = self.choose(unnormalized, one, size)?;
        let at = self.code.op(Op::FMul, vector, &[at, scale])?;
        let offset = self.code.op(Op::ConvertSToF, vector, &[offset])?;
        let mut at = self.code.op(Op::FAdd, vector, &[at, offset])?;
        if self.sample.passes.saturate {
            let (zero, half) = (self.code.splat(0.0, axes)?, self.code.splat(0.5, axes)?);
            let mirrored = self.axes(flags::MIRROR_S)?;
            let low = self.code.op(Op::Select, vector, &[mirrored, half, zero])?;
            at = self.clamped(at, [low, size])?;
        }
        let spot = Spot { face, at, size, scale, level, number };
        if self.sample.whole {
            return self.nearest(&spot);
        }
        let mut fork = self.code.fork(linear)?;
        let mixed = self.linear(&spot)?;
        self.code.otherwise(&mut fork, [mixed, 0])?;
        let nearest = self.nearest(&spot)?;
        Ok(self.code.join(&fork, self.sample.ty, [nearest, 0])?[0])
    }

    /// The texels around a spot, mixed.
    fn linear(&mut self, spot: &Spot) -> Result<u32, Error> {
        let (axes, float) = (self.sample.sides, self.code.float);
        let (vector, half) = (self.code.vec(axes)?, self.code.splat(0.5, axes)?);
        let corner = self.code.op(Op::FSub, vector, &[spot.at, half])?;
        let corner = self.code.glsl(GlslStd450Op::Floor, vector, &[corner])?;
        let middle = self.code.op(Op::FAdd, vector, &[corner, half])?;
        let shares = self.code.op(Op::FSub, vector, &[spot.at, middle])?;
        let mut texels = Vec::new();
        for number in 0..1u32 << axes {
            let mut steps = Vec::new();
            for axis in 0..axes {
                push(&mut steps, self.code.splat((number >> axis & 1) as f32, 1)?)?;
            }
            let step = match *steps.as_slice() {
                [step] => step,
                _ => self.code.op(Op::CompositeConstruct, vector, &steps)?,
            };
            let tap = self.code.op(Op::FAdd, vector, &[middle, step])?;
            push(&mut texels, self.tap(spot, tap)?)?;
        }
        for axis in 0..axes {
            let share = self.code.component(float, shares, axes, axis)?;
            let mut mixed = Vec::new();
            for two in texels.chunks(2) {
                let &[a, b] = two else { break };
                push(&mut mixed, self.mixed(a, b, share)?)?;
            }
            texels = mixed;
        }
        Ok(texels.first().copied().unwrap_or(0))
    }

    /// The texel that a spot is in.
    fn nearest(&mut self, spot: &Spot) -> Result<u32, Error> {
        let axes = self.sample.sides;
        let (vector, half) = (self.code.vec(axes)?, self.code.splat(0.5, axes)?);
        let mut texel = self.code.glsl(GlslStd450Op::Floor, vector, &[spot.at])?;
        if self.sample.passes.saturate {
            // The end belongs to the last texel.
            let one = self.code.splat(1.0, axes)?;
            let last = self.code.op(Op::FSub, vector, &[spot.size, one])?;
            let inner = self.code.glsl(GlslStd450Op::NMin, vector, &[texel, last])?;
            let clamped = self.axes(flags::CLAMP_S | flags::MIRROR_S)?;
            texel = self.code.op(Op::Select, vector, &[clamped, inner, texel])?;
        }
        let texel = self.code.op(Op::FAdd, vector, &[texel, half])?;
        self.tap(spot, texel)
    }

    /// The texel around a place that is given in texels.
    fn tap(&mut self, spot: &Spot, at: u32) -> Result<u32, Error> {
        match (self.sample.passes.fetch, self.sample.fetches) {
            (false, _) => return self.sampled_at(spot, at),
            (true, true) => return self.fetched(spot, at),
            (true, false) => {}
        }
        let fetches = self.code.has(self.flags, flags::FETCH)?;
        let mut fork = self.code.fork(fetches)?;
        let fetched = self.fetched(spot, at)?;
        self.code.otherwise(&mut fork, [fetched, 0])?;
        let sampled = self.sampled_at(spot, at)?;
        Ok(self.code.join(&fork, self.sample.ty, [sampled, 0])?[0])
    }

    fn sampled_at(&mut self, spot: &Spot, at: u32) -> Result<u32, Error> {
        let vector = self.code.vec(self.sample.sides)?;
        let mut at = self.code.op(Op::FDiv, vector, &[at, spot.scale])?;
        if let Some(face) = &spot.face {
            at = self.direction(face, at)?;
        }
        let at = self.with_layer(at)?;
        let pair = self.pair()?;
        let operands = [pair, at, ImageOperands::LOD.bits(), spot.level];
        let ty = if self.sample.passes.compare { self.code.vec(4)? } else { self.sample.ty };
        let texel = self.code.op(Op::ImageSampleExplicitLod, ty, &operands)?;
        if self.sample.passes.compare { self.passed(texel, self.operands[EXTRA]) } else { Ok(texel) }
    }

    /// One colour, or result of a comparison, with a share of another.
    fn mixed(&mut self, a: u32, b: u32, share: u32) -> Result<u32, Error> {
        let ty = self.sample.ty;
        let times = if self.sample.passes.compare { Op::FMul } else { Op::VectorTimesScalar };
        let one = self.code.splat(1.0, 1)?;
        let rest = self.code.float(Op::FSub, &[one, share])?;
        let a = self.code.op(times, ty, &[a, rest])?;
        let b = self.code.op(times, ty, &[b, share])?;
        self.code.op(Op::FAdd, ty, &[a, b])
    }
}
