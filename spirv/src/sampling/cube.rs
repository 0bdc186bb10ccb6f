//! Cubes that are filtered: a direction is a place on a face, texels are next to each other there, and each is sampled by the
//! direction of its centre. Beyond the edge of a face that direction meets the face beyond it.

use spirv::{GlslStd450Op as GLOp, Op};

use super::helper::SampleAt;
use crate::build::{Code, Value};

/// The face that a direction meets.
pub(super) struct Face<'b> {
    /// Directions along its two coordinates, and to its middle.
    along: [Value<'b>; 2],
    middle: Value<'b>,
    /// How far away it is, in the length of the direction.
    far: Value<'b>,
    /// Where the direction meets it, from -1 to 1.
    at: Value<'b>,
}

impl<'b> Face<'b> {
    /// The face for a direction ("Cube Map Face Selection and Transformations").
    pub(super) fn of(code: &'b Code<'b>, direction: Value<'b>) -> Face<'b> {
        let length = direction.math(GLOp::FAbs);
        let [x, y, z] = [0, 1, 2].map(|axis| length.at(axis));
        let is_z = z.is(Op::FOrdGreaterThanEqual, x) & z.is(Op::FOrdGreaterThanEqual, y);
        let is_y = y.is(Op::FOrdGreaterThanEqual, x);
        let major = is_z.select(direction.at(2), is_y.select(direction.at(1), direction.at(0)));
        let [minus, zero, one] = [-1.0, 0.0, 1.0].map(|value| code.float(value));
        let sign = major.is(Op::FOrdLessThan, 0.0).select(minus, one);
        let one_of = |[z, y, x]: [[Value<'b>; 3]; 3]| {
            is_z.select(code.vector(&z), is_y.select(code.vector(&y), code.vector(&x)))
        };
        let s = one_of([[sign, zero, zero], [one, zero, zero], [zero, zero, -sign]]);
        let t = one_of([[zero, minus, zero], [zero, zero, sign], [zero, minus, zero]]);
        let middle = one_of([[zero, zero, sign], [zero, sign, zero], [sign, zero, zero]]);
        let far = direction.dot(middle);
        let at = code.vector(&[s, t].map(|along| direction.dot(along) / far));
        Face { along: [s, t], middle, far, at }
    }

    /// A gradient of a direction as one of the place on the face ("Cube Map Derivative Transformation").
    fn gradient(&self, code: &'b Code<'b>, gradient: Value<'b>) -> Value<'b> {
        let away = self.at.scaled(gradient.dot(self.middle) / self.far);
        let moved = code.vector(&self.along.map(|along| gradient.dot(along) / self.far));
        // A face is two long.
        (moved - away) * 0.5
    }

    /// Where a direction meets its face, from 0 to 1.
    pub(super) fn across(&self) -> Value<'b> {
        self.at * 0.5 + 0.5
    }

    /// The direction of a place on the face, or beside it.
    pub(super) fn direction(&self, across: Value<'b>) -> Value<'b> {
        (0..)
            .zip(self.along)
            .fold(self.middle, |direction, (axis, along)| direction + along.scaled(across.at(axis) * 2.0 - 1.0))
    }
}

/// The place with gradients in faces.
pub(super) fn faced<'b>(code: &'b Code<'b>, place: &SampleAt<'b>) -> SampleAt<'b> {
    let Some(gradients) = place.gradients else { return *place };
    let face = Face::of(code, place.at);
    SampleAt { gradients: Some(gradients.map(|gradient| face.gradient(code, gradient))), ..*place }
}
