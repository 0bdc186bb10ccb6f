//! What a device has place for: each binding of counters takes a storage buffer of a stage.

use spirv::{Decoration, StorageClass};

use super::DEPTH;
use crate::fold::fold;
use crate::ids;
use crate::map::{Map, put};
use crate::module::{Instruction, Module};
use crate::op;
use crate::outcome::Why;

/// Refuses a stage that would have more storage buffers than it may, `counters` of them for counters
/// (VUID-VkPipelineLayoutCreateInfo-descriptorType-03018). That rule leaves out buffers in set layouts that may be updated after they are
/// bound; a module does not say which of its own are in such, so all count.
///
/// Of a module with several entry points nobody knows here which of them has what.
pub(super) fn check(module: &Module<'_>, counters: usize, most: u32) -> Result<(), Why> {
    if most == 0 || counters == 0 || module.entry_points().count() != 1 {
        return Ok(());
    }
    let mut total = counters as u64;
    let mut own: Map<u64> = Map::default();
    for variable in module.instructions(module.sections.annotations, module.sections.globals) {
        if variable.opcode() == op::VARIABLE
            && let Some(count) = descriptors(module, &variable)
        {
            put(&mut own, variable.word(2), count)?;
        }
    }
    // What is declared and used nowhere has no place in a layout.
    if !own.is_empty() {
        for instruction in module.instructions(module.sections.globals, module.words().len()) {
            for id in ids::operands(&instruction) {
                total = total.saturating_add(own.remove(&id).unwrap_or(0));
            }
        }
    }
    if total > u64::from(most) { Err(Why::StorageBuffers(most)) } else { Ok(()) }
}

/// How many storage buffers a variable is; none if it is something else.
fn descriptors(module: &Module<'_>, variable: &Instruction<'_>) -> Option<u64> {
    let mut ty = module.definition(variable.word(1))?.word(3);
    let mut count = 1_u64;
    for _ in 0..DEPTH {
        let of = module.definition(ty)?;
        match of.opcode() {
            op::TYPE_ARRAY => {
                // A length that nobody knows is at least one.
                let length = fold(module, None, of.word(3)).and_then(|length| length.as_u32());
                count = count.saturating_mul(u64::from(length.unwrap_or(1)));
            }
            op::TYPE_RUNTIME_ARRAY => {}
            _ => break,
        }
        ty = of.word(2);
    }
    let is_buffer = match variable.word(3) {
        class if class == StorageClass::StorageBuffer as u32 => true,
        // Of the two kinds of that class the other one is decorated `Block`.
        class if class == StorageClass::Uniform as u32 => module.decoration(ty, Decoration::Block).is_none(),
        _ => false,
    };
    is_buffer.then_some(count)
}
