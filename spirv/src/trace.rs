//! Where an image or a sampler comes from, seen from one function.

use crate::error::{Error, push};
use crate::fold::{Specialization, fold};
use crate::module::{Function, Module};
use crate::op;
use crate::operand::{Index, Operand};

/// Most elements of an array that a dynamic index is taken to reach all of.
pub(crate) const ELEMENTS: u32 = 64;

/// What a chain of loads, copies and access chains begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// The id of a global variable.
    Variable(u32),
    /// The position of a parameter of the function.
    Parameter(u32),
    /// Something else.
    Unknown,
}

/// Which element of the base, if it is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    pub(crate) index: Index,
    /// The id of the index in the function that is looked at; 0 if it is another function's.
    pub(crate) id: u32,
}

impl Element {
    /// Whether invocations that run together may differ.
    pub(crate) fn is_nonuniform(&self) -> bool {
        self.index == Index::Dynamic { nonuniform: true }
    }
}

/// An image or a sampler in terms of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    pub(crate) base: Base,
    pub(crate) element: Option<Element>,
}

impl Term {
    pub(crate) const UNKNOWN: Term = Term { base: Base::Unknown, element: None };

    pub(crate) fn is_parameter(&self) -> bool {
        matches!(self.base, Base::Parameter(_))
    }

    /// A callee's term as its caller sees it, `argument` being one that the caller passes.
    pub(crate) fn of(&self, argument: Term) -> Term {
        // An id of the callee means nothing in the caller.
        let element = self.element.map(|element| Element { id: 0, ..element });
        match (argument.element, element) {
            (None, element) => Term { element, ..argument },
            (element, None) => Term { element, ..argument },
            (Some(_), Some(_)) => Term::UNKNOWN,
        }
    }

    /// A callee's term that does not depend on its parameters, as seen by anyone else.
    pub(crate) fn elsewhere(&self) -> Term {
        Term { element: self.element.map(|element| Element { id: 0, ..element }), ..*self }
    }
}

/// Follows values back, with a bound on how many steps a module is worth.
pub(crate) struct Tracer<'a, 'w> {
    pub(crate) module: &'a Module<'w>,
    pub(crate) specialization: Option<&'a Specialization<'a>>,
    steps: u64,
    open: Vec<(u32, Option<Element>, bool)>,
    seen: Vec<u32>,
}

impl<'a, 'w> Tracer<'a, 'w> {
    pub(crate) fn new(module: &'a Module<'w>, specialization: Option<&'a Specialization<'a>>) -> Tracer<'a, 'w> {
        let steps = 16 * module.words().len() as u64 + (1 << 16);
        Tracer { module, specialization, steps, open: Vec::new(), seen: Vec::new() }
    }

    /// Counts `count` steps.
    pub(crate) fn step(&mut self, count: usize) -> Result<(), Error> {
        self.steps = self.steps.checked_sub(count as u64).ok_or(Error::TooComplex)?;
        Ok(())
    }

    /// Appends what the pointer, image, sampler or combined value `id` comes from; at least one term. Says whether it may be one
    /// of several, or is something that cannot be known.
    pub(crate) fn terms(&mut self, function: &Function, id: u32, terms: &mut Vec<Term>) -> Result<bool, Error> {
        let module = self.module;
        let mut opaque = false;
        self.open.clear();
        self.seen.clear();
        push(&mut self.open, (id, None, false))?;
        while let Some((mut id, mut element, mut nonuniform)) = self.open.pop() {
            let base = loop {
                self.step(1)?;
                let Some(instruction) = module.definition(id) else { break Base::Unknown };
                nonuniform = nonuniform || module.is_nonuniform(id);
                match instruction.opcode() {
                    op::LOAD | op::COPY_OBJECT | op::COPY_LOGICAL | op::IMAGE => id = instruction.word(3),
                    // The image of a pair that is taken apart again; its sampler cannot be had.
                    op::SAMPLED_IMAGE => id = instruction.word(3),
                    chain @ (op::ACCESS_CHAIN
                    | op::IN_BOUNDS_ACCESS_CHAIN
                    | op::UNTYPED_ACCESS_CHAIN_KHR
                    | op::UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR) => {
                        let typed = matches!(chain, op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN);
                        let base = if typed { 3 } else { 4 };
                        match instruction.words.get(base + 1..) {
                            Some([]) => {}
                            Some([index]) if element.is_none() => {
                                nonuniform = nonuniform || module.is_nonuniform(*index);
                                element = Some(Element { index: self.index(*index), id: *index });
                            }
                            _ => break Base::Unknown,
                        }
                        id = instruction.word(base);
                    }
                    op::VARIABLE | op::UNTYPED_VARIABLE_KHR => break Base::Variable(id),
                    op::FUNCTION_PARAMETER => {
                        break module.position(function, instruction.at).map_or(Base::Unknown, Base::Parameter);
                    }
                    several @ (op::PHI | op::SELECT) => {
                        opaque = true;
                        if !self.seen.contains(&id) {
                            self.step(self.seen.len())?;
                            push(&mut self.seen, id)?;
                            // Values of a Phi alternate with the blocks they come from.
                            let (first, every) = if several == op::PHI { (3, 2) } else { (4, 1) };
                            for value in instruction.words.iter().skip(first).step_by(every) {
                                push(&mut self.open, (*value, element, nonuniform))?;
                            }
                        }
                        break Base::Unknown;
                    }
                    _ => break Base::Unknown,
                }
            };
            if base == Base::Unknown {
                opaque = true;
                continue;
            }
            if let Some(Element { index: Index::Dynamic { nonuniform: dynamic }, .. }) = &mut element {
                *dynamic = nonuniform;
            }
            let term = Term { base, element };
            self.step(terms.len())?;
            if !terms.contains(&term) {
                push(terms, term)?;
            }
        }
        if terms.is_empty() {
            push(terms, Term::UNKNOWN)?;
        }
        Ok(opaque)
    }

    /// What an index is, before anything is known of the array.
    fn index(&self, id: u32) -> Index {
        let module = self.module;
        if let Some(value) = fold(module, self.specialization, id) {
            return value.as_u32().map_or(Index::Dynamic { nonuniform: false }, Index::Const);
        }
        let Some(instruction) = module.definition(id) else { return Index::Dynamic { nonuniform: false } };
        match instruction.opcode() {
            op::SPEC_CONSTANT => module
                .decoration(id, spirv::Decoration::SpecId)
                .map_or(Index::Dynamic { nonuniform: false }, Index::Spec),
            op::LOAD => self.push_offset(instruction.word(3)).map_or(Index::Dynamic { nonuniform: false }, Index::Push),
            op::COPY_OBJECT | op::BITCAST => match module.definition(instruction.word(3)) {
                Some(load) if load.opcode() == op::LOAD => {
                    self.push_offset(load.word(3)).map_or(Index::Dynamic { nonuniform: false }, Index::Push)
                }
                _ => Index::Dynamic { nonuniform: false },
            },
            _ => Index::Dynamic { nonuniform: false },
        }
    }

    /// The byte offset in the push constants that a pointer leads to, if it is one that is known.
    fn push_offset(&self, pointer: u32) -> Option<u32> {
        let module = self.module;
        let chain = module.definition(pointer)?;
        if !matches!(chain.opcode(), op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN) {
            return None;
        }
        let variable = module.defined(chain.word(3), op::VARIABLE)?;
        if variable.word(3) != spirv::StorageClass::PushConstant as u32 {
            return None;
        }
        let mut ty = module.definition(variable.word(1))?.word(3);
        let mut offset = 0u32;
        for index in chain.words.get(4..)?.iter().take(8) {
            let value = fold(module, self.specialization, *index)?.as_u32()?;
            let of = module.definition(ty)?;
            let step = match of.opcode() {
                op::TYPE_STRUCT => {
                    ty = of.words.get((value as usize).checked_add(2)?).copied()?;
                    module.member_offset(of.word(1), value)?
                }
                op::TYPE_ARRAY => {
                    ty = of.word(2);
                    value.checked_mul(module.decoration(of.word(1), spirv::Decoration::ArrayStride)?)?
                }
                op::TYPE_VECTOR => {
                    ty = of.word(2);
                    value.checked_mul(module.definition(ty)?.word(2) / 8)?
                }
                _ => return None,
            };
            offset = offset.checked_add(step)?;
        }
        Some(offset)
    }

    /// The binding behind a term that begins with a variable.
    pub(crate) fn operand(&self, term: Term) -> Option<Operand> {
        let Base::Variable(variable) = term.base else { return None };
        let set = self.module.decoration(variable, spirv::Decoration::DescriptorSet)?;
        let binding = self.module.decoration(variable, spirv::Decoration::Binding)?;
        let count = self.count(variable);
        let index = match term.element {
            None => Index::Whole,
            Some(Element { index: Index::Dynamic { .. }, .. }) if count == 0 || count > ELEMENTS => Index::Unbounded,
            Some(element) => element.index,
        };
        Some(Operand { set, binding, count, index })
    }

    /// Descriptors of a variable: 1 if it is no array, 0 if the array has no end that is known.
    fn count(&self, variable: u32) -> u32 {
        let module = self.module;
        let Some(instruction) = module.definition(variable) else { return 1 };
        let pointee = match instruction.opcode() {
            op::UNTYPED_VARIABLE_KHR => instruction.word(4),
            _ => module.definition(instruction.word(1)).map_or(0, |pointer| pointer.word(3)),
        };
        match module.definition(pointee) {
            Some(array) if array.opcode() == op::TYPE_ARRAY => {
                // Defaults count where no specialization is given.
                let specialization = self.specialization.copied().unwrap_or_default();
                fold(module, Some(&specialization), array.word(3)).and_then(|length| length.as_u32()).unwrap_or(0)
            }
            Some(array) if array.opcode() == op::TYPE_RUNTIME_ARRAY => 0,
            _ => 1,
        }
    }
}
