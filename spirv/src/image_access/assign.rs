//! Image types with the formats of the views that are bound, where that is known.

use spirv::Capability;

use super::{Images, READ, UNKNOWN, WRITTEN, retype};
use crate::edit::Editor;
use crate::error::push;
use crate::map::{Map, put};
use crate::module::Module;
use crate::outcome::{Change, Why};

const READS: Capability = Capability::StorageImageReadWithoutFormat;
const WRITES: Capability = Capability::StorageImageWriteWithoutFormat;

/// Whether every module may declare a format of this number, not only those that declare `StorageImageExtendedFormats`.
fn is_basic(format: u32) -> bool {
    matches!(format, 0..=5 | 21..=24 | 30..=33)
}

/// Gives image types, by id, formats by their numbers: 0 for Unknown. All variables of a type get it. Declares what is then read or
/// written without a format, and drops what nothing needs any more. The new words, and what else was changed.
///
/// # Errors
///
/// Why the module is left as it was.
#[inline(never)]
pub fn assign(module: &Module<'_>, types: &[(u32, u32)]) -> Result<(Vec<u32>, Vec<Change>), Why> {
    if module.declares(Capability::Kernel) {
        return Err(Why::Kernel);
    }
    let images = Images::find(module)?;
    if images.untyped {
        return Err(Why::Untyped);
    }
    let (mut formats, mut changes) = (Map::default(), Vec::new());
    for (image, format) in types {
        if !is_basic(*format) && !module.declares(Capability::StorageImageExtendedFormats) {
            return Err(Why::Capability(Capability::StorageImageExtendedFormats as u32));
        }
        put(&mut formats, *image, *format)?;
    }
    // What is done without a format, before and after.
    let (mut before, mut after) = (0, 0);
    for variable in images.variables(module)? {
        let format = images.format(variable.image);
        before |= if format == UNKNOWN { variable.uses } else { 0 };
        after |= if formats.get(&variable.image).copied().unwrap_or(format) == UNKNOWN { variable.uses } else { 0 };
    }
    let mut editor = Editor::new(module);
    for (mask, capability) in [(READ, READS), (WRITTEN, WRITES)] {
        if after & mask != 0 && !module.declares(capability) {
            editor.capability(capability)?;
            push(&mut changes, Change::CapabilityAdded(capability as u32))?;
        } else if before & !after & mask != 0 && editor.drop_capability(capability)? {
            push(&mut changes, Change::CapabilityDropped(capability as u32))?;
        }
    }
    retype::retype(&mut editor, module, &formats, None)?;
    Ok((editor.finish()?, changes))
}
