//! The task of a descriptor: where it is read, as a vector of four words.

use spirv::{Decoration, Op, StorageClass};

use super::{SamplingEdit, Slot, Stop, Task, Unchanged};
use crate::error::{Error, push};
use crate::links::Pair;
use crate::op;
use crate::operand::{Index, Operand};
use crate::trace::Element;

/// Where tasks are read.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'a> {
    /// From a uniform block of the layout std140, `{ uvec4 tasks[count]; }`, floats by their bits.
    Block {
        /// Its descriptor set.
        set: u32,
        /// Its binding.
        binding: u32,
        /// Tasks in it.
        count: u32,
    },
    /// They are constants of the new module.
    Fixed(&'a [Task]),
}

impl Keys<'_> {
    /// Tasks of a slot, 0 if it is known that they ask for nothing.
    pub(super) fn count(&self, slot: &Slot) -> Result<u32, Unchanged> {
        let count = slot.tasks()?;
        let end = slot.first.checked_add(count).ok_or(Unchanged::Tasks)?;
        match self {
            Keys::Block { count: all, .. } if end <= *all => Ok(count),
            Keys::Block { .. } => Err(Unchanged::Tasks),
            Keys::Fixed(tasks) => {
                let own = tasks.get(slot.first as usize..end as usize).ok_or(Unchanged::Tasks)?;
                let idle = own.iter().all(|task| task.flags & slot.passes.asks() == 0);
                Ok(if idle { 0 } else { count })
            }
        }
    }
}

/// What the module has for tasks, made when it is first needed; 0 if it is not yet.
#[derive(Default)]
pub(super) struct Tasks {
    /// The block, or the variable with all fixed tasks.
    variable: u32,
    /// The type of a pointer to one of them.
    pointer: u32,
}

impl SamplingEdit<'_, '_, '_> {
    /// The id of the task for a slot's pair at the end of `before`, to which is added what has to be computed for it.
    pub(super) fn task(&mut self, slot: &Slot, pair: &Pair, before: &mut Vec<u32>) -> Result<u32, Stop> {
        let indices = self.indices(slot, pair)?;
        if let (Keys::Fixed(tasks), [None, None]) = (self.keys, indices) {
            let task = tasks.get(slot.first as usize).ok_or(Stop::Unchanged(Unchanged::Tasks))?;
            return Ok(self.fixed(task)?);
        }
        if self.tasks.variable == 0 {
            self.declare()?;
        }
        let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
        let vector = self.editor.ty(Op::TypeVector, &[int, 4])?;
        let first = self.editor.constant(int, &[slot.first])?;
        let mut index = first;
        for (element, row) in indices.iter().zip([slot.row, 1]) {
            let Some(mut element) = *element else { continue };
            if row > 1 && matches!(indices, [Some(_), Some(_)]) {
                let row = self.editor.constant(int, &[row])?;
                element = self.editor.op(before, Op::IMul, int, &[element, row])?;
            }
            index = match index == first && slot.first == 0 {
                true => element,
                false => self.editor.op(before, Op::IAdd, int, &[index, element])?,
            };
        }
        let (variable, member) = (self.tasks.variable, self.editor.constant(int, &[0])?);
        let operands = [variable, member, index];
        let operands = if matches!(self.keys, Keys::Block { .. }) { &operands[..] } else { &[variable, index] };
        let chain = self.editor.op(before, Op::AccessChain, self.tasks.pointer, operands)?;
        Ok(self.editor.op(before, Op::Load, vector, &[chain])?)
    }

    /// The ids of the indices, of the image and of the sampler, that the task depends on.
    fn indices(&self, slot: &Slot, pair: &Pair) -> Result<[Option<u32>; 2], Stop> {
        let module = self.tracer.module;
        let index = |operand: &Operand, element: Option<Element>| {
            if !matches!(operand.index, Index::Dynamic { .. } | Index::Push(_)) || operand.count <= 1 {
                return Ok(None);
            }
            let id = element.map(|element| element.id).filter(|id| *id != 0).ok_or(Stop::Unchanged(Unchanged::Call))?;
            let ty = module.defined(module.type_of(id), op::TYPE_INT).filter(|ty| ty.word(2) == 32);
            ty.map(|_| Some(id)).ok_or(Stop::Unchanged(Unchanged::Index))
        };
        let image = index(&slot.image, pair.image.element)?;
        let sampler = if slot.image == slot.sampler { None } else { index(&slot.sampler, pair.sampler.element)? };
        Ok(if slot.row == 0 && sampler.is_some() { [None, sampler] } else { [image, sampler] })
    }

    /// The type of a task.
    pub(super) fn record_type(&mut self) -> Result<u32, Error> {
        let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
        self.editor.ty(Op::TypeVector, &[int, 4])
    }

    /// A task that asks for nothing.
    pub(super) fn nothing(&mut self) -> Result<u32, Error> {
        self.fixed(&Task::default())
    }

    /// A task that is known as a constant.
    fn fixed(&mut self, task: &Task) -> Result<u32, Error> {
        let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
        let mut words = task.words();
        for word in &mut words {
            *word = self.editor.constant(int, &[*word])?;
        }
        let vector = self.record_type()?;
        self.editor.composite(vector, &words)
    }

    /// Declares the block, or the variable that fixed tasks are looked up in.
    fn declare(&mut self) -> Result<(), Error> {
        let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
        let vector = self.editor.ty(Op::TypeVector, &[int, 4])?;
        let (count, class) = match self.keys {
            Keys::Block { count, .. } => (count, StorageClass::Uniform),
            Keys::Fixed(tasks) => (tasks.len() as u32, StorageClass::Private),
        };
        let length = self.editor.constant(int, &[count])?;
        let array = self.editor.aggregate(Op::TypeArray, &[vector, length])?;
        self.tasks.pointer = self.editor.ty(Op::TypePointer, &[class as u32, vector])?;
        self.tasks.variable = match self.keys {
            Keys::Block { set, binding, .. } => {
                self.editor.buffer(array, 16, Decoration::Block, class, set, binding)?
            }
            Keys::Fixed(tasks) => {
                let mut all = Vec::new();
                for task in tasks {
                    push(&mut all, self.fixed(task)?)?;
                }
                let value = self.editor.composite(array, &all)?;
                let pointer = self.editor.ty(Op::TypePointer, &[class as u32, array])?;
                self.editor.initialized(pointer, class, value)?
            }
        };
        Ok(())
    }
}
