//! The functions that decode and encode texels: one for each layout, type of components and direction that a module needs.
//!
//! All channels are worked on at once, with vectors of constants; what a format lacks has a mask of 0.

use std::cell::RefCell;

use spirv::{GlslStd450Op as GLOp, Op};

use super::codec::{Channels, Codec};
use crate::build::{Code, Scalar, Type, Value};
use crate::edit::Editor;
use crate::error::{Error, push};
use crate::module::Module;

/// 1.0 as a word.
const ONE: u32 = 0x3f80_0000;
/// The exponent of binary32's infinity.
const INFINITY: u32 = 0x7f80_0000;
/// The difference of the biases of binary32 and of 5 bits of exponent, where the exponent of binary32 is.
const REBIAS: u32 = 112 << 23;

/// Functions made so far.
pub(super) struct Functions {
    /// `OpTypeInt 32 0`, which the editor need not know.
    uint: u32,
    /// A vector of four of them.
    pub(super) vector: u32,
    /// What each is for: layout, type of components, whether it encodes; and its id.
    made: Vec<(u32, u32, bool, u32)>,
}

impl Functions {
    pub(super) fn new(editor: &mut Editor<'_, '_>, uint: u32) -> Result<Functions, Error> {
        let vector = editor.ty(Op::TypeVector, &[uint, 4])?;
        Ok(Functions { uint, vector, made: Vec::new() })
    }

    /// The function between words and a texel that is a vector of four `of`: from the second type to the first. `encodes`: to words.
    #[inline(never)]
    pub(super) fn make(
        &mut self,
        editor: &mut Editor<'_, '_>,
        module: &Module<'_>,
        codec: &Codec,
        of: u32,
        encodes: bool,
        [to, from]: [u32; 2],
    ) -> Result<u32, Error> {
        let is_it = |made: &&(u32, u32, bool, u32)| (made.0, made.1, made.2) == (codec.format, of, encodes);
        if let Some((.., id)) = self.made.iter().find(is_it) {
            return Ok(*id);
        }
        let shared = RefCell::new(editor);
        let code = Code::with(&shared, Scalar::Uint, self.uint);
        let (function, parameters) = code.function(&[to, from]);
        let parameter = parameters.first().copied().unwrap_or(0);
        let (texel, vector) = (Type::of(module, of), code.ty(Scalar::Uint, 4));
        let result = if encodes {
            codec.encode(&code, code.value(parameter, texel.four(from)))
        } else {
            codec.decode(&code, code.value(parameter, vector), texel.four(to))
        };
        code.end(result)?;
        push(&mut self.made, (codec.format, of, encodes, function))?;
        Ok(function)
    }
}

/// A number of that many bits, all of them set.
const fn ones(width: u32) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

impl Codec {
    /// Constants by the widths of the channels.
    fn widths(&self, value: impl Fn(u32) -> u32) -> [u32; 4] {
        self.widths.map(|width| value(u32::from(width)))
    }

    fn shifts(&self) -> [u32; 4] {
        self.places().map(|(_, shift)| shift)
    }

    /// Bits of the mantissa by channel: what is not of 16 bits has no sign.
    fn mantissas(&self) -> [u32; 4] {
        self.widths(|width| if width == 10 || width == 11 { width - 5 } else { 10 })
    }

    fn is_signed(&self) -> bool {
        matches!(self.kind, Channels::Snorm | Channels::Sint)
    }

    fn is_small_float(&self) -> bool {
        self.kind == Channels::Float && self.widths[0] < 32
    }

    /// What normalized numbers are fractions of.
    fn largest(&self) -> [f32; 4] {
        let sign = u32::from(self.is_signed());
        self.widths(|width| ones(width.saturating_sub(sign))).map(|ones| ones as f32)
    }

    /// The channels as numbers of their own, from words of which nothing but the texel's bits counts.
    fn extract<'b>(&self, words: Value<'b>) -> Value<'b> {
        let all = words.shuffled(&self.places().map(|(word, _)| word));
        let (mask, shifts) = (self.widths(ones), self.shifts());
        if !self.is_signed() {
            return if shifts == [0; 4] { all & mask } else { all >> shifts & mask };
        }
        let down = self.widths(|width| if width == 0 { 0 } else { 32 - width });
        let mut up = down;
        for (up, shift) in up.iter_mut().zip(shifts) {
            *up -= shift;
        }
        let all = all.bitcast(Scalar::Int) << up >> down;
        if mask.contains(&0) { all & mask.map(|mask| if mask == 0 { 0 } else { u32::MAX }) } else { all }
    }

    fn decode<'b>(&self, code: &'b Code<'b>, words: Value<'b>, texel: Type) -> Value<'b> {
        let all = self.extract(words);
        if self.is_small_float() {
            return self.decode_floats(code, all);
        }
        let out = match self.kind {
            Channels::Unorm | Channels::Snorm => {
                let by = self.largest().map(|largest| if largest == 0.0 { 0.0 } else { 1.0 / largest });
                let all = all.convert(Scalar::Float) * by;
                // The most negative number is as -1 ("Conversion From Normalized Fixed-Point to Floating-Point").
                if self.is_signed() { all.max(-1.0) } else { all }
            }
            _ => all.bitcast(texel.of),
        };
        if self.widths[3] != 0 {
            return out;
        }
        let one = if texel.of == Scalar::Float { ONE } else { 1 };
        code.op(Op::CompositeInsert, texel, &[out.at(0).of(one).id, out.id, 3])
    }

    /// Floats of 16, 11 and 10 bits: brought to where a half has its mantissa, and taken for one.
    fn decode_floats<'b>(&self, code: &'b Code<'b>, mut all: Value<'b>) -> Value<'b> {
        let up = self.mantissas().map(|mantissa| 10 - mantissa);
        if up != [0; 4] {
            all = all << up;
        }
        let pair = code.ty(Scalar::Float, 2);
        let mut channels = [0.0, 0.0, 0.0, 1.0].map(|missing| code.float(missing));
        for (at, (channel, width)) in (0..).zip(channels.iter_mut().zip(self.widths)) {
            if width != 0 {
                *channel = all.at(at).glsl(GLOp::UnpackHalf2x16, pair, &[]).at(0);
            }
        }
        code.vector(&channels)
    }

    fn encode<'b>(&self, code: &'b Code<'b>, given: Value<'b>) -> Value<'b> {
        let all = match self.kind {
            Channels::Unorm | Channels::Snorm => {
                let (least, of) = if self.is_signed() { (-1.0, Scalar::Int) } else { (0.0, Scalar::Uint) };
                (given.clamp(least, 1.0) * self.largest()).math(GLOp::RoundEven).convert(of)
            }
            Channels::Float if self.is_small_float() => self.encode_floats(given),
            _ => given,
        };
        let mut all = all.bitcast(Scalar::Uint) & self.widths(ones);
        let shifts = self.shifts();
        if shifts != [0; 4] {
            all = all << shifts;
        }
        let mut words = [None; 4];
        for (at, ((word, _), width)) in (0..).zip(self.places().into_iter().zip(self.widths)) {
            if let Some(word) = words.get_mut(word as usize).filter(|_| width != 0) {
                let one = all.at(at);
                *word = Some(word.map_or(one, |others: Value<'b>| others | one));
            }
        }
        code.vector(&words.map(|word| word.unwrap_or_else(|| code.constant(code.ty(Scalar::Uint, 1), &[0]))))
    }

    /// Floats of 16, 11 and 10 bits: rounded toward zero, the finite to the finite; what is smallest keeps its bits, and without a sign
    /// the negative is 0.
    fn encode_floats<'b>(&self, given: Value<'b>) -> Value<'b> {
        let mantissas = self.mantissas();
        let bits = given.bitcast(Scalar::Uint);
        let size = bits & 0x7fff_ffff;
        // Below the smallest exponent: by how much the mantissa is shifted out.
        let whole = size & 0x7f_ffff | 0x80_0000;
        let far = size.of(mantissas.map(|mantissa| 136 - mantissa)) - (size >> 23);
        let tiny = whole >> far.min(31);
        // From it on: another bias.
        let normal = (size - REBIAS) >> mantissas.map(|mantissa| 23 - mantissa);
        let value = size.is(Op::ULessThan, REBIAS + (1 << 23)).select(tiny, normal);
        let value = value.min(mantissas.map(|mantissa| (31 << mantissa) - 1));
        let nan = size.of(mantissas.map(|mantissa| (63 << mantissa) >> 1));
        let special = size.is(Op::UGreaterThan, INFINITY).select(nan, mantissas.map(|mantissa| 31 << mantissa));
        let value = size.is(Op::UGreaterThanEqual, INFINITY).select(special, value);
        if self.widths[0] == 16 {
            return value | bits >> 16 & 0x8000;
        }
        (bits ^ 1 << 31).is(Op::ULessThanEqual, INFINITY).select(size.of(0), value)
    }
}
