//! Image types with another format.
//!
//! A type is changed where it stands, so that all pointers, arrays and functions of it follow. There must be no two equal types that
//! are neither aggregates nor pointers: of two that have become equal the first stays and the other's uses are redirected to it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::edit::Editor;
use crate::error::{Error, copied};
use crate::ids;
use crate::map::{Fold, Map, put};
use crate::module::{Instruction, Module};
use crate::op::{self, Result as Defines};
use crate::outcome::Why;

/// Where an image type has its format, and its sampled type.
const FORMAT: usize = 8;
const SAMPLED: usize = 2;

/// Gives image types, by id, another format, and another sampled type if there is to be one.
#[inline(never)]
pub(crate) fn retype(
    editor: &mut Editor<'_, '_>,
    module: &Module<'_>,
    formats: &Map<u32>,
    sampled: Option<u32>,
) -> Result<(), Why> {
    if formats.is_empty() {
        return Ok(());
    }
    let mut redirected: Map<u32> = Map::default();
    // Types that must be unique, with their ids.
    let mut seen: HashMap<Vec<u32>, u32, BuildHasherDefault<Fold>> = HashMap::default();
    for instruction in module.instructions(module.sections.annotations, module.sections.globals) {
        let id = instruction.word(1);
        let format = formats.get(&id).filter(|_| instruction.opcode() == op::TYPE_IMAGE);
        let unique = matches!(instruction.opcode(), op::TYPE_IMAGE | op::TYPE_SAMPLED_IMAGE | op::TYPE_FUNCTION);
        if unique {
            let mut words = copied(instruction.words)?;
            for at in ids::positions(&instruction) {
                redirect(&redirected, words.get_mut(at));
            }
            if let (Some(format), Some(word)) = (format, words.get_mut(FORMAT)) {
                *word = *format;
                if let (Some(sampled), Some(word)) = (sampled, words.get_mut(SAMPLED)) {
                    *word = sampled;
                }
            }
            let mut key = copied(&words)?;
            if let Some(word) = key.get_mut(1) {
                *word = 0;
            }
            if let Some(first) = seen.get(&key) {
                put(&mut redirected, id, *first)?;
                editor.remove(&instruction)?;
                continue;
            }
            put(&mut seen, key, id)?;
            if words != instruction.words {
                editor.replace(instruction.at, words.len(), &words)?;
            }
        } else {
            follow(editor, &instruction, &redirected)?;
        }
    }
    if redirected.is_empty() {
        return Ok(());
    }
    for instruction in module.instructions(module.sections.globals, module.words().len()) {
        follow(editor, &instruction, &redirected)?;
    }
    Ok(())
}

fn redirect(redirected: &Map<u32>, word: Option<&mut u32>) {
    if let Some(word) = word
        && let Some(new) = redirected.get(word)
    {
        *word = *new;
    }
}

/// Redirects the types that an instruction names.
fn follow(editor: &mut Editor<'_, '_>, instruction: &Instruction<'_>, redirected: &Map<u32>) -> Result<(), Why> {
    if redirected.is_empty() {
        return Ok(());
    }
    let mut set = |at: usize, new: u32| -> Result<(), Error> { editor.set(instruction, at, new) };
    if op::result(instruction.opcode()) == Defines::Typed
        && let Some(new) = redirected.get(&instruction.word(1))
    {
        set(1, *new)?;
    }
    for at in ids::positions(instruction) {
        if let Some(new) = redirected.get(&instruction.word(at)) {
            if !ids::is_known(instruction.opcode()) {
                return Err(Why::Opcode(instruction.opcode()));
            }
            set(at, *new)?;
        }
    }
    Ok(())
}
