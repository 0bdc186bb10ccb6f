//! Cubes that are filtered: a direction is a place on a face, texels are next to each other there, and each is sampled by the
//! direction of its centre. Beyond the edge of a face that direction meets the face beyond it.

use spirv::{GlslStd450Op, Op};

use super::helper::{Helper, Place};
use crate::error::{Error, push};

/// The face that a direction meets.
pub(super) struct Face {
    /// Directions along its two coordinates, and to its middle.
    along: [u32; 2],
    middle: u32,
    /// How far away it is, in the length of the direction.
    far: u32,
    /// Where the direction meets it, from -1 to 1.
    at: u32,
}

impl Helper<'_, '_, '_, '_> {
    /// The face for a direction ("Cube Map Face Selection and Transformations").
    pub(super) fn face(&mut self, direction: u32) -> Result<Face, Error> {
        let (float, bool) = (self.code.float, self.code.bool);
        let (zero, one) = (self.code.splat(0.0, 1)?, self.code.splat(1.0, 1)?);
        let vector = self.code.vec(3)?;
        let lengths = self.code.glsl(GlslStd450Op::FAbs, vector, &[direction])?;
        let [mut given, mut length] = [[0; 3]; 2];
        for (all, from) in [(&mut given, direction), (&mut length, lengths)] {
            for (axis, place) in (0..).zip(all) {
                *place = self.code.component(float, from, 3, axis)?;
            }
        }
        let [x, y, z] = length;
        let [z_x, z_y, y_x] = [[z, x], [z, y], [y, x]];
        let z_x = self.code.op(Op::FOrdGreaterThanEqual, bool, &z_x)?;
        let z_y = self.code.op(Op::FOrdGreaterThanEqual, bool, &z_y)?;
        let is_z = self.code.op(Op::LogicalAnd, bool, &[z_x, z_y])?;
        let is_y = self.code.op(Op::FOrdGreaterThanEqual, bool, &y_x)?;
        let major = self.code.float(Op::Select, &[is_y, given[1], given[0]])?;
        let major = self.code.float(Op::Select, &[is_z, given[2], major])?;
        let below = self.code.op(Op::FOrdLessThan, bool, &[major, zero])?;
        let minus = self.code.splat(-1.0, 1)?;
        let sign = self.code.float(Op::Select, &[below, minus, one])?;
        let other = self.code.float(Op::FNegate, &[sign])?;
        let s = self.one_of([is_z, is_y], [[sign, zero, zero], [one, zero, zero], [zero, zero, other]])?;
        let t = self.one_of([is_z, is_y], [[zero, minus, zero], [zero, zero, sign], [zero, minus, zero]])?;
        let middle = self.one_of([is_z, is_y], [[zero, zero, sign], [zero, sign, zero], [sign, zero, zero]])?;
        let far = self.code.float(Op::Dot, &[direction, middle])?;
        let at = self.on_face([s, t], direction, far)?;
        Ok(Face { along: [s, t], middle, far, at })
    }

    /// One of three vectors, of which the first condition that holds says which.
    fn one_of(&mut self, conditions: [u32; 2], vectors: [[u32; 3]; 3]) -> Result<u32, Error> {
        let vector = self.code.vec(3)?;
        let [first, second, rest] = vectors;
        let mut chosen = self.code.op(Op::CompositeConstruct, vector, &rest)?;
        for (condition, parts) in conditions.into_iter().zip([first, second]).rev() {
            let one = self.code.op(Op::CompositeConstruct, vector, &parts)?;
            let condition = self.code.repeat(self.code.bool, condition, 3)?;
            chosen = self.code.op(Op::Select, vector, &[condition, one, chosen])?;
        }
        Ok(chosen)
    }

    /// What a vector is along two directions, over a distance.
    fn on_face(&mut self, along: [u32; 2], vector: u32, far: u32) -> Result<u32, Error> {
        let ty = self.code.vec(2)?;
        let mut parts = Vec::new();
        for direction in along {
            let part = self.code.float(Op::Dot, &[vector, direction])?;
            push(&mut parts, self.code.float(Op::FDiv, &[part, far])?)?;
        }
        self.code.op(Op::CompositeConstruct, ty, &parts)
    }

    /// The place on the face, with gradients in faces ("Cube Map Derivative Transformation").
    pub(super) fn faced(&mut self, place: &Place) -> Result<Place, Error> {
        if place.dx == 0 {
            return Ok(*place);
        }
        let (float, vector) = (self.code.float, self.code.vec(2)?);
        let face = self.face(place.at)?;
        let mut gradients = [place.dx, place.dy];
        for gradient in &mut gradients {
            let away = self.code.op(Op::Dot, float, &[*gradient, face.middle])?;
            let away = self.code.float(Op::FDiv, &[away, face.far])?;
            let away = self.code.op(Op::VectorTimesScalar, vector, &[face.at, away])?;
            let moved = self.on_face(face.along, *gradient, face.far)?;
            let moved = self.code.op(Op::FSub, vector, &[moved, away])?;
            // A face is two long.
            let half = self.code.splat(0.5, 1)?;
            *gradient = self.code.op(Op::VectorTimesScalar, vector, &[moved, half])?;
        }
        let [dx, dy] = gradients;
        Ok(Place { dx, dy, ..*place })
    }

    /// Where a direction meets its face, from 0 to 1.
    pub(super) fn across(&mut self, face: &Face) -> Result<u32, Error> {
        let vector = self.code.vec(2)?;
        let half = self.code.splat(0.5, 2)?;
        let at = self.code.op(Op::FMul, vector, &[face.at, half])?;
        self.code.op(Op::FAdd, vector, &[at, half])
    }

    /// The direction of a place on the face, or beside it.
    pub(super) fn direction(&mut self, face: &Face, across: u32) -> Result<u32, Error> {
        let (float, vector) = (self.code.float, self.code.vec(3)?);
        let mut direction = face.middle;
        let (two, one) = (self.code.splat(2.0, 1)?, self.code.splat(1.0, 1)?);
        for (axis, along) in (0..).zip(face.along) {
            let at = self.code.component(float, across, 2, axis)?;
            let at = self.code.float(Op::FMul, &[at, two])?;
            let at = self.code.float(Op::FSub, &[at, one])?;
            let step = self.code.op(Op::VectorTimesScalar, vector, &[along, at])?;
            direction = self.code.op(Op::FAdd, vector, &[direction, step])?;
        }
        Ok(direction)
    }
}
