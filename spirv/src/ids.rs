//! Which words of an instruction are ids.
//!
//! The reader need not know it, but who redirects or renames ids does. What is not in the table has to be taken as if every word
//! were an id when looking for uses, and cannot be renamed.

use crate::module::Instruction;
use crate::op::{self, Result as Defines};

/// Which operands, counted behind type and id of the result, are ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Nobody knows.
    Unknown,
    /// All of them.
    All,
    /// The first few; the others are literals, or ids of constants as memory operands have them.
    First(u8),
    /// All but the one at this position.
    Except(u8),
}

/// One more than the largest opcode in the table.
const KNOWN: usize = 5382;

static LAYOUTS: [Layout; KNOWN] = table();

/// Opcodes, first and last, and the layout of their operands (SPIR-V 1.6 and what shaders for Vulkan commonly add).
#[rustfmt::skip]
const TABLE: &[(u16, u16, Layout)] = &[
    (0, 1, Layout::First(0)), (8, 8, Layout::First(1)), (12, 12, Layout::Except(1)), (317, 317, Layout::First(0)),
    // Types and constants.
    (19, 22, Layout::First(0)), (23, 25, Layout::First(1)), (26, 26, Layout::First(0)), (27, 30, Layout::All),
    (31, 31, Layout::First(0)), (32, 32, Layout::Except(0)), (33, 33, Layout::All), (39, 39, Layout::First(0)),
    (41, 43, Layout::First(0)), (44, 44, Layout::All), (45, 46, Layout::First(0)), (48, 50, Layout::First(0)),
    (51, 51, Layout::All), (52, 52, Layout::Except(0)),
    // Functions, variables and memory.
    (54, 54, Layout::Except(0)), (55, 56, Layout::First(0)), (57, 57, Layout::All), (59, 59, Layout::Except(0)),
    (60, 60, Layout::All), (61, 61, Layout::First(1)), (62, 63, Layout::First(2)), (64, 64, Layout::First(3)),
    (65, 67, Layout::All), (68, 68, Layout::First(1)), (69, 70, Layout::All),
    // Composites.
    (77, 78, Layout::All), (79, 79, Layout::First(2)), (80, 80, Layout::All), (81, 81, Layout::First(1)),
    (82, 82, Layout::First(2)), (83, 84, Layout::All),
    // Images; the literal is the mask of further operands.
    (86, 86, Layout::All), (87, 88, Layout::Except(2)), (89, 90, Layout::Except(3)), (91, 92, Layout::Except(2)),
    (93, 94, Layout::Except(3)), (95, 95, Layout::Except(2)), (96, 97, Layout::Except(3)), (98, 98, Layout::Except(2)),
    (99, 99, Layout::Except(3)), (100, 107, Layout::All), (305, 306, Layout::Except(2)), (307, 308, Layout::Except(3)),
    (309, 310, Layout::Except(2)), (311, 312, Layout::Except(3)), (313, 313, Layout::Except(2)),
    (314, 315, Layout::Except(3)), (316, 316, Layout::All), (320, 320, Layout::Except(2)),
    // Arithmetic, derivatives, primitives, barriers and atomics.
    (109, 124, Layout::All), (126, 152, Layout::All), (154, 191, Layout::All), (194, 205, Layout::All),
    (207, 215, Layout::All), (218, 221, Layout::All), (224, 225, Layout::All), (227, 242, Layout::All),
    // Control flow; the labels of OpSwitch stand among literals and are nobody's business but a renamer's.
    (245, 245, Layout::All), (246, 246, Layout::First(2)), (247, 247, Layout::First(1)), (248, 249, Layout::All),
    (250, 250, Layout::First(3)), (251, 251, Layout::First(2)), (252, 253, Layout::First(0)), (254, 254, Layout::All),
    (255, 255, Layout::First(0)), (256, 257, Layout::First(1)),
    // Groups.
    (333, 341, Layout::All), (342, 342, Layout::Except(1)), (343, 348, Layout::All), (349, 364, Layout::Except(1)),
    (365, 366, Layout::All), (400, 403, Layout::All), (4416, 4416, Layout::First(0)), (4421, 4422, Layout::All),
    (4428, 4430, Layout::All), (4432, 4432, Layout::All), (5364, 5365, Layout::First(0)), (5380, 5381, Layout::First(0)),
];

const fn table() -> [Layout; KNOWN] {
    let mut layouts = [Layout::Unknown; KNOWN];
    let mut row = 0;
    while row < TABLE.len() {
        let (first, last, layout) = TABLE[row];
        let mut opcode = first;
        while opcode <= last {
            layouts[opcode as usize] = layout;
            opcode += 1;
        }
        row += 1;
    }
    layouts
}

fn layout(opcode: u32) -> Layout {
    LAYOUTS.get(opcode as usize).copied().unwrap_or(Layout::Unknown)
}

/// Whether it is known which words of an instruction with this opcode are ids.
pub(crate) fn is_known(opcode: u32) -> bool {
    layout(opcode) != Layout::Unknown
}

/// Positions of the words that are operands and ids, or may be: neither type nor id of the result.
pub(crate) fn positions(instruction: &Instruction<'_>) -> impl Iterator<Item = usize> + use<> {
    let first = match op::result(instruction.opcode()) {
        Defines::None => 1,
        Defines::Id => 2,
        Defines::Typed => 3,
    };
    let length = instruction.words.len();
    let (end, literal) = match layout(instruction.opcode()) {
        Layout::Unknown | Layout::All => (length, None),
        Layout::First(count) => (length.min(first + usize::from(count)), None),
        Layout::Except(position) => (length, Some(first + usize::from(position))),
    };
    (first..end).filter(move |position| Some(*position) != literal)
}

/// The operands that are ids, or may be.
pub(crate) fn operands<'w>(instruction: &Instruction<'w>) -> impl Iterator<Item = u32> + use<'w> {
    let instruction = *instruction;
    positions(&instruction).map(move |position| instruction.word(position))
}
