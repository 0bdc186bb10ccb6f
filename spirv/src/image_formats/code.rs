//! The functions that decode and encode texels: one for each layout, type of components and direction that a module needs.
//!
//! All channels are worked on at once, with vectors of constants; what a format lacks has a mask of 0.

use spirv::{GlslStd450Op as GLOp, Op};

use super::codec::{Codec, Kind};
use crate::edit::{Editor, assemble};
use crate::error::{Error, extend, push};

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
    /// The words of all functions.
    pub(super) words: Vec<u32>,
    /// What each is for: layout, type of components, whether it encodes; and its id.
    made: Vec<(u32, u32, bool, u32)>,
}

impl Functions {
    pub(super) fn new(editor: &mut Editor<'_, '_>, uint: u32) -> Result<Functions, Error> {
        let vector = editor.ty(Op::TypeVector, &[uint, 4])?;
        Ok(Functions { uint, vector, words: Vec::new(), made: Vec::new() })
    }

    /// The function between words and a texel that is a vector of four `of`: from the second type to the first. `encodes`: to words.
    #[inline(never)]
    pub(super) fn make(
        &mut self,
        editor: &mut Editor<'_, '_>,
        (codec, of, encodes): (&Codec, u32, bool),
        [to, from]: [u32; 2],
    ) -> Result<u32, Error> {
        let is_it = |made: &&(u32, u32, bool, u32)| (made.0, made.1, made.2) == (codec.format, of, encodes);
        if let Some((.., id)) = self.made.iter().find(is_it) {
            return Ok(*id);
        }
        let ty = editor.ty(Op::TypeFunction, &[to, from])?;
        let [function, parameter, label] = [editor.id()?, editor.id()?, editor.id()?];
        assemble(&mut self.words, Op::Function, &[to, function, 0, ty])?;
        assemble(&mut self.words, Op::FunctionParameter, &[from, parameter])?;
        assemble(&mut self.words, Op::Label, &[label])?;
        let (uint, vector) = (self.uint, self.vector);
        let texel = if encodes { from } else { to };
        let mut code = Code { editor, words: &mut self.words, uint, vector, of, texel, codec, wrong: None };
        let result = if encodes { code.encode(parameter) } else { code.decode(parameter) };
        if let Some(error) = code.wrong {
            return Err(error);
        }
        assemble(&mut self.words, Op::ReturnValue, &[result])?;
        assemble(&mut self.words, Op::FunctionEnd, &[])?;
        push(&mut self.made, (codec.format, of, encodes, function))?;
        Ok(function)
    }
}

/// The body of a function.
struct Code<'a, 'e, 'm, 'w> {
    editor: &'e mut Editor<'m, 'w>,
    words: &'a mut Vec<u32>,
    uint: u32,
    /// Four words.
    vector: u32,
    /// The type of the texel's components.
    of: u32,
    /// Four of them.
    texel: u32,
    codec: &'a Codec,
    /// What went wrong first; ids mean nothing from then on.
    wrong: Option<Error>,
}

/// A number of that many bits, all of them set.
const fn ones(width: u32) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

impl Code<'_, '_, '_, '_> {
    /// Takes note of what goes wrong, so that what follows need not ask.
    fn noted(&mut self, made: Result<u32, Error>) -> u32 {
        made.unwrap_or_else(|error| {
            self.wrong = self.wrong.or(Some(error));
            0
        })
    }

    fn op(&mut self, opcode: Op, ty: u32, operands: &[u32]) -> u32 {
        self.instruction(opcode as u32, ty, &[], operands)
    }

    #[inline(never)]
    fn instruction(&mut self, opcode: u32, ty: u32, before: &[u32], operands: &[u32]) -> u32 {
        let id = self.editor.id();
        let id = self.noted(id);
        let length = (3 + before.len() + operands.len()) as u32;
        for words in [&[length << 16 | opcode, ty, id], before, operands] {
            if let Err(error) = extend(self.words, words) {
                self.wrong = self.wrong.or(Some(error));
            }
        }
        id
    }

    /// An instruction on vectors of words.
    fn word(&mut self, opcode: Op, operands: &[u32]) -> u32 {
        self.op(opcode, self.vector, operands)
    }

    fn glsl(&mut self, opcode: GLOp, ty: u32, operands: &[u32]) -> u32 {
        let set = self.editor.import("GLSL.std.450");
        let set = self.noted(set);
        self.instruction(Op::ExtInst as u32, ty, &[set, opcode as u32], operands)
    }

    fn scalar(&mut self, ty: u32, value: u32) -> u32 {
        let made = self.editor.constant(ty, &[value]);
        self.noted(made)
    }

    fn ty(&mut self, opcode: Op, operands: &[u32]) -> u32 {
        let made = self.editor.ty(opcode, operands);
        self.noted(made)
    }

    /// A constant vector of components of `scalar`.
    #[inline(never)]
    fn constant(&mut self, scalar: u32, ty: u32, values: [u32; 4]) -> u32 {
        let of = values.map(|value| self.scalar(scalar, value));
        let made = self.editor.composite(ty, &of);
        self.noted(made)
    }

    fn number(&mut self, values: [u32; 4]) -> u32 {
        self.constant(self.uint, self.vector, values)
    }

    fn float(&mut self, values: [f32; 4]) -> u32 {
        self.constant(self.of, self.texel, values.map(f32::to_bits))
    }

    /// Constants by the widths of the channels.
    fn widths(&self, value: impl Fn(u32) -> u32) -> [u32; 4] {
        self.codec.widths.map(|width| value(u32::from(width)))
    }

    fn shifts(&self) -> [u32; 4] {
        self.codec.places().map(|(_, shift)| shift)
    }

    /// Bits of the mantissa by channel: what is not of 16 bits has no sign.
    fn mantissas(&self) -> [u32; 4] {
        self.widths(|width| if width == 10 || width == 11 { width - 5 } else { 10 })
    }

    fn is_signed(&self) -> bool {
        matches!(self.codec.kind, Kind::Snorm | Kind::Sint)
    }

    fn is_small_float(&self) -> bool {
        self.codec.kind == Kind::Float && self.codec.widths[0] < 32
    }

    /// What a component of 1 is.
    fn one(&self) -> u32 {
        if matches!(self.codec.kind, Kind::Uint | Kind::Sint) { 1 } else { ONE }
    }

    /// What normalized numbers are fractions of.
    fn largest(&self) -> [f32; 4] {
        let sign = u32::from(self.is_signed());
        self.widths(|width| ones(width.saturating_sub(sign))).map(|ones| ones as f32)
    }

    /// The channels as numbers of their own, from words of which nothing but the texel's bits counts.
    fn extract(&mut self, words: u32) -> u32 {
        let [a, b, c, d] = self.codec.places().map(|(word, _)| word);
        let mut all = self.word(Op::VectorShuffle, &[words, words, a, b, c, d]);
        let (mask, shifts) = (self.widths(ones), self.shifts());
        if !self.is_signed() {
            if shifts != [0; 4] {
                let by = self.number(shifts);
                all = self.word(Op::ShiftRightLogical, &[all, by]);
            }
            let mask = self.number(mask);
            return self.word(Op::BitwiseAnd, &[all, mask]);
        }
        let mut up = self.widths(|width| if width == 0 { 0 } else { 32 - width });
        for (up, shift) in up.iter_mut().zip(shifts) {
            *up -= shift;
        }
        let down = self.widths(|width| if width == 0 { 0 } else { 32 - width });
        let (up, down) = (self.number(up), self.number(down));
        all = self.word(Op::ShiftLeftLogical, &[all, up]);
        all = self.word(Op::ShiftRightArithmetic, &[all, down]);
        if mask.contains(&0) {
            let there = self.number(mask.map(|mask| if mask == 0 { 0 } else { u32::MAX }));
            all = self.word(Op::BitwiseAnd, &[all, there]);
        }
        all
    }

    fn decode(&mut self, words: u32) -> u32 {
        let all = self.extract(words);
        if self.is_small_float() {
            return self.decode_floats(all);
        }
        let texel = self.texel;
        let mut out = match self.codec.kind {
            Kind::Unorm | Kind::Snorm => {
                let convert = if self.is_signed() { Op::ConvertSToF } else { Op::ConvertUToF };
                let all = self.op(convert, texel, &[all]);
                let by = self.largest().map(|largest| if largest == 0.0 { 0.0 } else { 1.0 / largest });
                let by = self.float(by);
                let all = self.op(Op::FMul, texel, &[all, by]);
                if self.is_signed() {
                    // The most negative number is as -1 ("Conversion From Normalized Fixed-Point to Floating-Point").
                    let least = self.float([-1.0; 4]);
                    self.glsl(GLOp::FMax, texel, &[all, least])
                } else {
                    all
                }
            }
            _ if texel == self.vector => all,
            _ => self.op(Op::Bitcast, texel, &[all]),
        };
        if self.codec.widths[3] == 0 {
            let one = self.scalar(self.of, self.one());
            out = self.op(Op::CompositeInsert, texel, &[one, out, 3]);
        }
        out
    }

    /// Floats of 16, 11 and 10 bits: brought to where a half has its mantissa, and taken for one.
    fn decode_floats(&mut self, mut all: u32) -> u32 {
        let up = self.mantissas().map(|mantissa| 10 - mantissa);
        if up != [0; 4] {
            let up = self.number(up);
            all = self.word(Op::ShiftLeftLogical, &[all, up]);
        }
        let (of, uint) = (self.of, self.uint);
        let pair = self.ty(Op::TypeVector, &[of, 2]);
        let mut channels = [0; 4];
        for (at, (channel, width)) in (0..).zip(channels.iter_mut().zip(self.codec.widths)) {
            *channel = if width == 0 {
                self.scalar(of, if at == 3 { ONE } else { 0 })
            } else {
                let one = self.op(Op::CompositeExtract, uint, &[all, at]);
                let two = self.glsl(GLOp::UnpackHalf2x16, pair, &[one]);
                self.op(Op::CompositeExtract, of, &[two, 0])
            };
        }
        self.op(Op::CompositeConstruct, self.texel, &channels)
    }

    fn encode(&mut self, given: u32) -> u32 {
        let texel = self.texel;
        let mut all = match self.codec.kind {
            Kind::Unorm | Kind::Snorm => {
                let (least, convert) = if self.is_signed() { (-1.0, Op::ConvertFToS) } else { (0.0, Op::ConvertFToU) };
                let (least, most) = (self.float([least; 4]), self.float([1.0; 4]));
                let clamped = self.glsl(GLOp::NClamp, texel, &[given, least, most]);
                let by = self.float(self.largest());
                let scaled = self.op(Op::FMul, texel, &[clamped, by]);
                let rounded = self.glsl(GLOp::RoundEven, texel, &[scaled]);
                self.word(convert, &[rounded])
            }
            Kind::Float if self.is_small_float() => self.encode_floats(given),
            _ if texel == self.vector => given,
            _ => self.word(Op::Bitcast, &[given]),
        };
        let mask = self.number(self.widths(ones));
        all = self.word(Op::BitwiseAnd, &[all, mask]);
        let shifts = self.shifts();
        if shifts != [0; 4] {
            let by = self.number(shifts);
            all = self.word(Op::ShiftLeftLogical, &[all, by]);
        }
        let zero = self.scalar(self.uint, 0);
        let mut words = [zero; 4];
        let uint = self.uint;
        for (at, ((word, _), width)) in (0..).zip(self.codec.places().into_iter().zip(self.codec.widths)) {
            if width == 0 {
                continue;
            }
            let Some(place) = words.get_mut(word as usize) else { continue };
            let one = self.op(Op::CompositeExtract, uint, &[all, at]);
            *place = if *place == zero { one } else { self.op(Op::BitwiseOr, uint, &[*place, one]) };
        }
        self.word(Op::CompositeConstruct, &words)
    }

    /// Floats of 16, 11 and 10 bits: rounded toward zero, the finite to the finite; what is smallest keeps its bits, and without a sign
    /// the negative is 0.
    fn encode_floats(&mut self, given: u32) -> u32 {
        let mantissas = self.mantissas();
        let bits = self.word(Op::Bitcast, &[given]);
        let splat = |code: &mut Self, value| code.number([value; 4]);
        let (all, mantissa, hidden) = (splat(self, 0x7fff_ffff), splat(self, 0x7f_ffff), splat(self, 0x80_0000));
        let size = self.word(Op::BitwiseAnd, &[bits, all]);
        let low = self.word(Op::BitwiseAnd, &[size, mantissa]);
        let whole = self.word(Op::BitwiseOr, &[low, hidden]);
        // Below the smallest exponent: by how much the mantissa is shifted out.
        let (places, most) = (splat(self, 23), splat(self, 31));
        let exponent = self.word(Op::ShiftRightLogical, &[size, places]);
        let from = self.number(mantissas.map(|mantissa| 136 - mantissa));
        let far = self.word(Op::ISub, &[from, exponent]);
        let far = self.glsl(GLOp::UMin, self.vector, &[far, most]);
        let tiny = self.word(Op::ShiftRightLogical, &[whole, far]);
        // From it on: another bias.
        let (rebias, down) = (splat(self, REBIAS), self.number(mantissas.map(|mantissa| 23 - mantissa)));
        let normal = self.word(Op::ISub, &[size, rebias]);
        let normal = self.word(Op::ShiftRightLogical, &[normal, down]);
        let truth = self.ty(Op::TypeBool, &[]);
        let truths = self.ty(Op::TypeVector, &[truth, 4]);
        let (smallest, infinity) = (splat(self, REBIAS + (1 << 23)), splat(self, INFINITY));
        let is_tiny = self.op(Op::ULessThan, truths, &[size, smallest]);
        let value = self.word(Op::Select, &[is_tiny, tiny, normal]);
        let largest = self.number(mantissas.map(|mantissa| (31 << mantissa) - 1));
        let value = self.glsl(GLOp::UMin, self.vector, &[value, largest]);
        let is_special = self.op(Op::UGreaterThanEqual, truths, &[size, infinity]);
        let is_nan = self.op(Op::UGreaterThan, truths, &[size, infinity]);
        let endless = self.number(mantissas.map(|mantissa| 31 << mantissa));
        let nan = self.number(mantissas.map(|mantissa| (63 << mantissa) >> 1));
        let special = self.word(Op::Select, &[is_nan, nan, endless]);
        let value = self.word(Op::Select, &[is_special, special, value]);
        if self.codec.widths[0] == 16 {
            let (down, sign) = (splat(self, 16), splat(self, 0x8000));
            let high = self.word(Op::ShiftRightLogical, &[bits, down]);
            let sign = self.word(Op::BitwiseAnd, &[high, sign]);
            return self.word(Op::BitwiseOr, &[value, sign]);
        }
        let (sign, zero) = (splat(self, 1 << 31), splat(self, 0));
        let other = self.word(Op::BitwiseXor, &[bits, sign]);
        let is_negative = self.op(Op::ULessThanEqual, truths, &[other, infinity]);
        self.word(Op::Select, &[is_negative, zero, value])
    }
}
