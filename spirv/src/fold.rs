//! What constants are, with the specialization that a pipeline gives.

use spirv::Decoration;

use crate::module::{Instruction, Module};
use crate::op;

/// Values of specialization constants, as `VkSpecializationInfo` gives them.
///
/// Each entry is a `SpecId` and the bytes of its value in the host's order: as many as the constant's type has, four for a boolean.
/// An entry of another size is passed over, and the constant keeps its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Specialization<'a>(pub &'a [(u32, &'a [u8])]);

impl Specialization<'_> {
    /// The value for a `SpecId` whose type has `width` bits.
    fn value(&self, id: u32, width: u32) -> Option<u64> {
        let (_, bytes) = self.0.iter().find(|(entry, _)| *entry == id)?;
        if bytes.len() * 8 != width as usize {
            return None;
        }
        Some(match **bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            _ => return None,
        })
    }
}

/// An integer or a boolean: its low bits, zeros above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoldedValue {
    pub(crate) bits: u64,
    /// 1 for a boolean.
    width: u32,
    signed: bool,
}

impl FoldedValue {
    fn new(bits: u64, width: u32, signed: bool) -> Option<FoldedValue> {
        matches!(width, 1..=64).then(|| FoldedValue { bits: bits & (u64::MAX >> (64 - width)), width, signed })
    }

    /// The value with its sign.
    fn signed(&self) -> i64 {
        let unused = 64 - self.width;
        ((self.bits << unused) as i64) >> unused
    }

    /// The value as its type says, none where it does not fit.
    pub(crate) fn as_u32(&self) -> Option<u32> {
        if self.signed { u32::try_from(self.signed()).ok() } else { u32::try_from(self.bits).ok() }
    }
}

/// Operations that one constant may stand for: a constant that is a chain of more does not fold.
const OPERATIONS: u32 = 256;

/// The integer or boolean that `id` is under a specialization; none without one if the value depends on it.
pub(crate) fn fold(module: &Module<'_>, specialization: Option<&Specialization<'_>>, id: u32) -> Option<FoldedValue> {
    Folder { module, specialization, left: OPERATIONS }.value(id, 0)
}

struct Folder<'a, 'w> {
    module: &'a Module<'w>,
    specialization: Option<&'a Specialization<'a>>,
    left: u32,
}

impl Folder<'_, '_> {
    /// `depth` bounds the stack, `left` the time: an expression may use its operands more than once.
    fn value(&mut self, id: u32, depth: u32) -> Option<FoldedValue> {
        self.left = self.left.checked_sub(1)?;
        if depth > 32 {
            return None;
        }
        let instruction = self.module.definition(id)?;
        let (width, signed) = self.integer(instruction.word(1))?;
        let spec_id = || self.module.decoration(id, Decoration::SpecId);
        let given = |module: &Self, width| module.specialization?.value(spec_id()?, width);
        let bits = match instruction.opcode() {
            op::CONSTANT_TRUE => 1,
            op::CONSTANT_FALSE | op::CONSTANT_NULL => 0,
            op::CONSTANT => literal(&instruction),
            op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE => {
                self.specialization?;
                let default = u64::from(instruction.opcode() == op::SPEC_CONSTANT_TRUE);
                given(self, 32).map_or(default, |value| u64::from(value != 0))
            }
            op::SPEC_CONSTANT => {
                self.specialization?;
                given(self, width).unwrap_or_else(|| literal(&instruction))
            }
            op::SPEC_CONSTANT_OP => self.operation(&instruction, width, depth)?,
            op::COPY_OBJECT => return self.value(instruction.word(3), depth + 1),
            _ => return None,
        };
        FoldedValue::new(bits, width, signed)
    }

    /// Width and sign of an integer or boolean type.
    fn integer(&self, id: u32) -> Option<(u32, bool)> {
        let instruction = self.module.definition(id)?;
        match instruction.opcode() {
            op::TYPE_BOOL => Some((1, false)),
            op::TYPE_INT if matches!(instruction.word(2), 8 | 16 | 32 | 64) => {
                Some((instruction.word(2), instruction.word(3) != 0))
            }
            _ => None,
        }
    }

    /// The bits that an `OpSpecConstantOp` whose result has `width` bits comes to.
    fn operation(&mut self, instruction: &Instruction<'_>, width: u32, depth: u32) -> Option<u64> {
        let opcode = instruction.word(3);
        if opcode == op::COMPOSITE_EXTRACT {
            let composite = self.module.definition(instruction.word(4))?;
            let composed = matches!(composite.opcode(), op::SPEC_CONSTANT_COMPOSITE | op::CONSTANT_COMPOSITE);
            let one = instruction.words.len() == 6;
            let member = composite.word((instruction.word(5) as usize).checked_add(3)?);
            return if composed && one { Some(self.value(member, depth + 1)?.bits) } else { None };
        }
        let a = self.value(instruction.word(4), depth + 1)?;
        match opcode {
            op::S_CONVERT => return Some(a.signed() as u64),
            op::U_CONVERT => return Some(a.bits),
            op::S_NEGATE => return Some(a.bits.wrapping_neg()),
            op::NOT => return Some(!a.bits),
            op::LOGICAL_NOT => return Some(a.bits ^ 1),
            op::SELECT => {
                let chosen = instruction.word(if a.bits != 0 { 5 } else { 6 });
                return Some(self.value(chosen, depth + 1)?.bits);
            }
            _ => {}
        }
        let b = self.value(instruction.word(5), depth + 1)?;
        let (x, y) = (a.signed(), b.signed());
        let shift = u32::try_from(b.bits).ok().filter(|shift| *shift < width);
        Some(match opcode {
            op::I_ADD => a.bits.wrapping_add(b.bits),
            op::I_SUB => a.bits.wrapping_sub(b.bits),
            op::I_MUL => a.bits.wrapping_mul(b.bits),
            op::U_DIV => a.bits.checked_div(b.bits)?,
            op::U_MOD => a.bits.checked_rem(b.bits)?,
            op::S_DIV => x.checked_div(y)? as u64,
            op::S_REM => x.checked_rem(y)? as u64,
            // The result has the sign of the divisor.
            op::S_MOD => match x.checked_rem(y)? {
                rest if rest != 0 && (rest < 0) != (y < 0) => rest.wrapping_add(y) as u64,
                rest => rest as u64,
            },
            op::SHIFT_RIGHT_LOGICAL => a.bits >> shift?,
            op::SHIFT_RIGHT_ARITHMETIC => (x >> shift?) as u64,
            op::SHIFT_LEFT_LOGICAL => a.bits << shift?,
            op::BITWISE_OR | op::LOGICAL_OR => a.bits | b.bits,
            op::BITWISE_AND | op::LOGICAL_AND => a.bits & b.bits,
            op::BITWISE_XOR => a.bits ^ b.bits,
            op::I_EQUAL | op::LOGICAL_EQUAL => u64::from(a.bits == b.bits),
            op::I_NOT_EQUAL | op::LOGICAL_NOT_EQUAL => u64::from(a.bits != b.bits),
            op::U_GREATER_THAN => u64::from(a.bits > b.bits),
            op::U_GREATER_THAN_EQUAL => u64::from(a.bits >= b.bits),
            op::U_LESS_THAN => u64::from(a.bits < b.bits),
            op::U_LESS_THAN_EQUAL => u64::from(a.bits <= b.bits),
            op::S_GREATER_THAN => u64::from(x > y),
            op::S_GREATER_THAN_EQUAL => u64::from(x >= y),
            op::S_LESS_THAN => u64::from(x < y),
            op::S_LESS_THAN_EQUAL => u64::from(x <= y),
            _ => return None,
        })
    }
}

/// The literal of an `OpConstant` or `OpSpecConstant`.
fn literal(instruction: &Instruction<'_>) -> u64 {
    u64::from(instruction.word(3)) | u64::from(instruction.word(4)) << 32
}

/// Whether `id` is a constant with nothing but zero bits, or, if a float, a negative zero.
pub(crate) fn is_zero(module: &Module<'_>, specialization: Option<&Specialization<'_>>, id: u32) -> bool {
    let Some(instruction) = module.definition(id) else { return false };
    let float = module.definition(instruction.word(1)).is_some_and(|ty| ty.opcode() == op::TYPE_FLOAT);
    match instruction.opcode() {
        op::CONSTANT_NULL => true,
        op::CONSTANT if float => matches!(literal(&instruction), 0 | 0x8000_0000),
        _ => fold(module, specialization, id).is_some_and(|value| value.bits == 0),
    }
}
