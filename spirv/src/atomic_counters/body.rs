//! Functions: pointers to counters become indices.
//!
//! A function that takes counters is made once for each list of buffers that it is called with: the first of them in its own place,
//! the others, with new ids for all that they define, behind the last function.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use spirv::{MemorySemantics, Op};

use super::interface::Instance;
use super::{Buffer, Globals, count};
use crate::edit::{Editor, assemble};
use crate::error::{Error, copied, extend, filled, push};
use crate::fold::fold;
use crate::ids;
use crate::map::{Fold, Map, Marks, put};
use crate::module::{Function, Instruction, Module};
use crate::op::{self, Result as Defines};
use crate::outcome::Why;

/// Most functions that are added.
const CLONES: usize = 256;

/// A pointer to a counter, or to an array of them.
#[derive(Clone, Copy)]
struct Pointer {
    /// Position in the list of buffers.
    buffer: usize,
    index: Index,
    /// The type pointed to.
    ty: u32,
}

#[derive(Clone, Copy)]
enum Index {
    Const(u32),
    Id(u32),
}

/// A function with the buffers of the counters that it takes.
pub(super) struct Version {
    /// Its number in the list of functions.
    number: usize,
    /// The id of the function.
    pub(super) id: u32,
    buffers: Vec<usize>,
    /// Whether it is a further one.
    clone: bool,
}

/// Rewrites the functions; says in how many instructions memory semantics changed.
pub(super) fn rewrite<'m, 'w>(
    editor: &mut Editor<'m, 'w>,
    module: &'m Module<'w>,
    globals: &Globals<'w>,
    buffers: &[Buffer],
    instance: Option<Instance>,
) -> Result<u32, Why> {
    let mut pass = CountersEdit {
        editor,
        module,
        globals,
        buffers,
        instance,
        versions: VecDeque::new(),
        seen: Default::default(),
        met: filled(module.functions().len(), false)?,
        clones: 0,
        renamed: Vec::new(),
        constants: Map::default(),
        element: 0,
        masks: Map::default(),
        semantics: 0,
        marks: marks(module, globals, instance)?,
    };
    for (number, function) in module.functions().iter().enumerate() {
        if !pass.takes_counters(function) {
            pass.version(number, &[])?;
        }
    }
    pass.work()?;
    // What nobody calls still has to be valid.
    for (number, function) in module.functions().iter().enumerate() {
        if pass.takes_counters(function) && !pass.is_met(number) {
            let count = module.parameters(function).filter(|it| pass.is_counter(it)).count();
            pass.version(number, &filled(count, 0)?)?;
            pass.work()?;
        }
    }
    pass.decorate_clones()?;
    Ok(pass.semantics)
}

/// What an instruction that stays must not name: counters, the types of pointers to them, and the index of the instance. Pointers are
/// added as functions make them.
fn marks(module: &Module<'_>, globals: &Globals<'_>, instance: Option<Instance>) -> Result<Marks, Error> {
    let mut marks = Marks::new(module.words().len().min(module.bound() as usize))?;
    let instance = instance.iter().map(|it| &it.variable);
    for id in globals.by_id.keys().chain(globals.pointers.keys()).chain(instance) {
        marks.add(*id);
    }
    Ok(marks)
}

pub(super) struct CountersEdit<'e, 'm, 'w> {
    pub(super) editor: &'e mut Editor<'m, 'w>,
    pub(super) module: &'m Module<'w>,
    globals: &'e Globals<'w>,
    buffers: &'e [Buffer],
    instance: Option<Instance>,
    /// What is left to do.
    versions: VecDeque<Version>,
    /// Ids of functions by their number and buffers.
    seen: HashMap<(usize, Vec<usize>), u32, BuildHasherDefault<Fold>>,
    /// By number: whether the function has an id in `seen`.
    met: Vec<bool>,
    clones: usize,
    /// Ids of clones' instructions: whose they were, and what they are.
    pub(super) renamed: Vec<(u32, u32)>,
    /// Constants by value.
    constants: Map<u32>,
    /// The type of a pointer to a counter in a buffer.
    element: u32,
    /// Memory semantics by the id that stood for them.
    masks: Map<u32>,
    semantics: u32,
    /// Whatever `check` looks for.
    marks: Marks,
}

/// A function that is being written.
pub(super) struct Body<'w> {
    pub(super) words: Vec<u32>,
    /// The words of the module, and the range of them that comes next: what stays is copied when it ends, not by the instruction.
    from: &'w [u32],
    pending: Range<usize>,
    pointers: Map<Pointer>,
    /// New ids of what the function defines; empty where it stays in its place.
    pub(super) renamed: Map<u32>,
    clone: bool,
    changed: bool,
}

impl Body<'_> {
    fn id(&self, id: u32) -> u32 {
        self.renamed.get(&id).copied().unwrap_or(id)
    }

    fn add(&mut self, opcode: Op, operands: &[u32]) -> Result<(), Error> {
        self.changed = true;
        self.flush()?;
        assemble(&mut self.words, opcode, operands)
    }

    /// Leaves an instruction as it is.
    fn keep(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let end = instruction.at + instruction.words.len();
        if self.pending.end != instruction.at {
            self.flush()?;
            self.pending = instruction.at..instruction.at;
        }
        self.pending.end = end;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        extend(&mut self.words, self.from.get(pending).unwrap_or_default())
    }
}

impl<'w> CountersEdit<'_, '_, 'w> {
    fn takes_counters(&self, function: &Function) -> bool {
        self.globals.functions.contains_key(&self.module.instruction(function.at).word(4))
    }

    fn is_counter(&self, typed: &Instruction<'_>) -> bool {
        self.globals.pointers.contains_key(&typed.word(1))
    }

    /// What a pointer to counters points to, by the type that the module gives it.
    fn pointee(&self, typed: &Instruction<'_>) -> Option<u32> {
        self.globals.pointers.get(&typed.word(1)).copied()
    }

    fn is_met(&self, number: usize) -> bool {
        self.met.get(number).copied().unwrap_or(false)
    }

    /// The id of a function for some buffers; it is put on the list of what is left to do when it is first asked for.
    fn version(&mut self, number: usize, buffers: &[usize]) -> Result<u32, Why> {
        let key = (number, copied(buffers)?);
        if let Some(id) = self.seen.get(&key) {
            return Ok(*id);
        }
        let function = self.module.functions().get(number).ok_or(Error::Edits)?;
        let own = self.module.instruction(function.at).word(2);
        let clone = !buffers.is_empty() && self.is_met(number);
        let id = if clone {
            self.clones += 1;
            if self.clones > CLONES {
                return Err(Why::Clones);
            }
            self.editor.id()?
        } else {
            own
        };
        self.versions.try_reserve(1).map_err(|_| Error::Memory)?;
        self.versions.push_back(Version { number, id, buffers: copied(buffers)?, clone });
        put(&mut self.seen, key, id)?;
        if let Some(met) = self.met.get_mut(number) {
            *met = true;
        }
        Ok(id)
    }

    fn work(&mut self) -> Result<(), Why> {
        let mut left = 4 * self.module.words().len() + (1 << 16);
        while let Some(version) = self.versions.pop_front() {
            let Some(function) = self.module.functions().get(version.number).copied() else { continue };
            left = left.checked_sub(function.end - function.at).ok_or(Why::Clones)?;
            self.function(&function, &version)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function, version: &Version) -> Result<(), Why> {
        let mut body = Body {
            words: Vec::new(),
            from: self.module.words(),
            pending: 0..0,
            pointers: Map::default(),
            renamed: Map::default(),
            clone: version.clone,
            changed: false,
        };
        let module = self.module;
        body.words.try_reserve(function.end - function.at).map_err(|_| Error::Memory)?;
        if version.clone {
            self.rename(function, version, &mut body)?;
        }
        let mut buffers = version.buffers.iter();
        for instruction in module.instructions(function.at, function.end) {
            if instruction.opcode() == op::FUNCTION_PARAMETER && self.is_counter(&instruction) {
                let id = instruction.word(2);
                let ty = self.globals.pointers.get(&instruction.word(1)).copied().unwrap_or(0);
                // A hostile function may have other parameters than its type.
                let buffer = buffers.next().copied().filter(|buffer| *buffer < self.buffers.len());
                let buffer = buffer.ok_or(Why::Opcode(op::FUNCTION_PARAMETER))?;
                let index = Index::Id(body.id(id));
                put(&mut body.pointers, id, Pointer { buffer, index, ty })?;
                self.marks.add(id);
                body.add(Op::FunctionParameter, &[self.globals.uint, body.id(id)])?;
            } else {
                self.instruction(&instruction, &mut body)?;
            }
        }
        if version.clone || body.changed {
            body.flush()?;
        }
        if version.clone {
            self.editor.function(&body.words)?;
            // An index that is a constant is defined nowhere.
            let constant = |id: &u32| body.pointers.get(id).is_some_and(|it| matches!(it.index, Index::Const(_)));
            for (old, new) in body.renamed.iter().filter(|(old, _)| !constant(old)) {
                push(&mut self.renamed, (*old, *new))?;
            }
        } else if body.changed {
            self.editor.replace(function.at, function.end - function.at, &body.words)?;
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction<'w>, body: &mut Body<'_>) -> Result<(), Why> {
        let opcode = instruction.opcode();
        match opcode {
            op::FUNCTION if self.globals.functions.contains_key(&instruction.word(4)) => {
                let ty = self.function_type(instruction.word(4))?;
                let operands = [instruction.word(1), body.id(instruction.word(2)), instruction.word(3), ty];
                return Ok(body.add(Op::Function, &operands)?);
            }
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::COPY_OBJECT => {
                if let Some(base) = self.pointer(instruction.word(3), body) {
                    return self.chain(instruction, base, body);
                }
            }
            op::FUNCTION_CALL => return self.call(instruction, body),
            op::ATOMIC_LOAD..=op::ATOMIC_XOR | op::CONTROL_BARRIER | op::MEMORY_BARRIER => {
                return self.atomic(instruction, body);
            }
            op::LOAD => {
                if let Some(instance) = self.instance.filter(|it| it.variable == instruction.word(3)) {
                    return self.instance(instruction, instance, body);
                }
            }
            _ => {}
        }
        self.verbatim(instruction, body)
    }

    /// An instruction that has nothing to do with counters, with the ids of the function that is written.
    fn verbatim(&mut self, instruction: &Instruction<'w>, body: &mut Body<'_>) -> Result<(), Why> {
        if instruction.words.iter().any(|word| self.marks.may_have(*word)) {
            self.check(instruction, body)?;
        }
        if !body.clone {
            return Ok(body.keep(instruction)?);
        }
        let from = body.words.len();
        extend(&mut body.words, instruction.words)?;
        self.renumber(instruction, body, from)
    }

    /// Refuses instructions that use counters and are none of those that may.
    fn check(&self, instruction: &Instruction<'_>, body: &Body<'_>) -> Result<(), Why> {
        let opcode = instruction.opcode();
        let makes = op::result(opcode) == Defines::Typed && self.is_counter(instruction);
        let mut operands = ids::operands(instruction);
        let instance = self.instance.map(|it| it.variable);
        let uses =
            |id: u32| self.globals.by_id.contains_key(&id) || body.pointers.contains_key(&id) || Some(id) == instance;
        let relevant = !self.globals.is_empty() || instance.is_some();
        if makes || relevant && operands.any(uses) {
            let chooses = matches!(opcode, op::SELECT | op::PHI);
            return Err(if chooses { Why::Selected } else { Why::Opcode(opcode) });
        }
        Ok(())
    }

    /// The pointer to counters that an id is.
    fn pointer(&self, id: u32, body: &Body<'_>) -> Option<Pointer> {
        if let Some(seen) = body.pointers.get(&id) {
            return Some(*seen);
        }
        let counter = self.globals.counters.get(*self.globals.by_id.get(&id)?)?;
        let buffer = self.buffers.binary_search_by_key(&counter.binding, |it| it.counter_binding).ok()?;
        Some(Pointer { buffer, index: Index::Const(counter.index), ty: counter.ty })
    }

    /// An access chain or a copy of a pointer: the index of what it leads to.
    fn chain(&mut self, chain: &Instruction<'w>, base: Pointer, body: &mut Body<'_>) -> Result<(), Why> {
        if !self.is_counter(chain) {
            return Err(Why::Opcode(chain.opcode()));
        }
        let uint = self.globals.uint;
        let (id, mut ty) = (chain.word(2), base.ty);
        // What is constant, and the terms that are not.
        let (mut fixed, mut terms) = match base.index {
            Index::Const(fixed) => (fixed, Vec::new()),
            Index::Id(id) => (0, Vec::from([(id, uint)])),
        };
        for index in chain.words.get(4..).unwrap_or_default() {
            ty = self.module.defined(ty, op::TYPE_ARRAY).ok_or(Why::CounterType(ty))?.word(2);
            let (_, each) = count(self.module, ty, 0)?;
            if let Some(value) = fold(self.module, None, *index) {
                let value = value.as_u32().and_then(|value| value.checked_mul(each)?.checked_add(fixed));
                fixed = value.ok_or(Why::CounterType(ty))?;
                continue;
            }
            let of = self.module.type_of(*index);
            self.module.defined(of, op::TYPE_INT).filter(|ty| ty.word(2) == 32).ok_or(Why::IndexWidth)?;
            let index = body.id(*index);
            if each == 1 {
                push(&mut terms, (index, of))?;
            } else {
                let each = self.constant(each)?;
                push(&mut terms, (self.op(body, Op::IMul, uint, &[index, each])?, uint))?;
            }
        }
        if self.pointee(chain) != Some(ty) {
            return Err(Why::CounterType(ty));
        }
        let index = if terms.is_empty() {
            if !body.clone {
                self.editor.forget(id)?;
            }
            body.changed = true;
            Index::Const(fixed)
        } else {
            let result = body.id(id);
            if fixed != 0 {
                push(&mut terms, (self.constant(fixed)?, uint))?;
            }
            self.sum(&terms, result, body)?;
            Index::Id(result)
        };
        put(&mut body.pointers, id, Pointer { index, ty, ..base })?;
        self.marks.add(id);
        Ok(())
    }

    /// Adds terms, each with its type, one or more.
    fn sum(&mut self, terms: &[(u32, u32)], result: u32, body: &mut Body<'_>) -> Result<(), Why> {
        let uint = self.globals.uint;
        let Some(((first, ty), rest)) = terms.split_first() else { return Ok(()) };
        let Some(((last, _), between)) = rest.split_last() else {
            let opcode = if *ty == uint { Op::CopyObject } else { Op::Bitcast };
            return Ok(body.add(opcode, &[uint, result, *first])?);
        };
        let mut sum = *first;
        for (term, _) in between {
            sum = self.op(body, Op::IAdd, uint, &[sum, *term])?;
        }
        Ok(body.add(Op::IAdd, &[uint, result, sum, *last])?)
    }

    /// A call: counters are passed as indices, to the version for their buffers.
    fn call(&mut self, call: &Instruction<'w>, body: &mut Body<'_>) -> Result<(), Why> {
        let number = self.module.function(call.word(3));
        let callee = number.and_then(|number| self.module.functions().get(number));
        let Some((number, callee)) = number.zip(callee).filter(|(_, callee)| self.takes_counters(callee)) else {
            return self.verbatim(call, body);
        };
        if self.is_counter(call) {
            return Err(Why::Opcode(op::FUNCTION_CALL));
        }
        let mut buffers = Vec::new();
        let mut operands = Vec::new();
        extend(&mut operands, &[call.word(1), body.id(call.word(2)), 0])?;
        let mut parameters = self.module.parameters(callee);
        for argument in call.words.get(4..).unwrap_or_default() {
            let parameter = parameters.next().ok_or(Why::Opcode(op::FUNCTION_CALL))?;
            match (self.pointer(*argument, body), self.is_counter(&parameter)) {
                (Some(pointer), true) => {
                    if self.pointee(&parameter) != Some(pointer.ty) {
                        return Err(Why::CounterType(pointer.ty));
                    }
                    push(&mut buffers, pointer.buffer)?;
                    let index = self.index(pointer)?;
                    push(&mut operands, index)?;
                }
                (None, false) => push(&mut operands, body.id(*argument))?,
                _ => return Err(Why::Opcode(op::FUNCTION_CALL)),
            }
        }
        // Too few arguments would leave a parameter without a buffer.
        if parameters.next().is_some() {
            return Err(Why::Opcode(op::FUNCTION_CALL));
        }
        let id = self.version(number, &buffers)?;
        if let Some(function) = operands.get_mut(2) {
            *function = id;
        }
        Ok(body.add(Op::FunctionCall, &operands)?)
    }

    /// An atomic instruction or a barrier.
    fn atomic(&mut self, instruction: &Instruction<'w>, body: &mut Body<'_>) -> Result<(), Why> {
        // Where the pointer is, 0 for a barrier, and where memory semantics are.
        let (at, semantics): (usize, &[usize]) = match instruction.opcode() {
            op::CONTROL_BARRIER => (0, &[3]),
            op::MEMORY_BARRIER => (0, &[2]),
            op::ATOMIC_STORE => (1, &[3]),
            op::ATOMIC_COMPARE_EXCHANGE | op::ATOMIC_COMPARE_EXCHANGE_WEAK => (3, &[5, 6]),
            _ => (3, &[5]),
        };
        let pointer = self.pointer(instruction.word(at), body).filter(|_| at != 0);
        let mut element = None;
        if let Some(pointer) = pointer {
            if pointer.ty != self.globals.uint {
                return Err(Why::CounterType(pointer.ty));
            }
            let variable = self.buffers.get(pointer.buffer).ok_or(Error::Edits)?.variable;
            let (index, zero, ty) = (self.index(pointer)?, self.constant(0)?, self.element()?);
            element = Some(self.op(body, Op::AccessChain, ty, &[variable, zero, index])?);
        }
        body.flush()?;
        let from = body.words.len();
        extend(&mut body.words, instruction.words)?;
        if body.clone {
            self.renumber(instruction, body, from)?;
        }
        let mut changed = false;
        for number in semantics {
            if let Some(new) = self.semantics(instruction.word(*number))? {
                if let Some(word) = body.words.get_mut(from + number) {
                    *word = new;
                }
                changed = true;
            }
        }
        if let (Some(element), Some(word)) = (element, body.words.get_mut(from + at)) {
            *word = element;
        }
        self.semantics += u32::from(changed);
        body.changed |= changed;
        // The value of an operation is never a counter.
        let mut others = ids::positions(instruction).filter(|other| at == 0 || *other != at);
        if others.any(|other| self.pointer(instruction.word(other), body).is_some())
            || self.is_counter(instruction) && at == 3
        {
            return Err(Why::Opcode(instruction.opcode()));
        }
        Ok(())
    }

    /// The id of the constant that memory semantics become, if they name counters.
    fn semantics(&mut self, id: u32) -> Result<Option<u32>, Why> {
        if let Some(seen) = self.masks.get(&id) {
            return Ok(Some(*seen).filter(|seen| *seen != 0));
        }
        let constant = self.module.definition(id).ok_or(Why::Semantics)?;
        match constant.opcode() {
            op::CONSTANT => {}
            op::CONSTANT_NULL => return Ok(None),
            _ => return Err(Why::Semantics),
        }
        let mask = MemorySemantics::from_bits_retain(constant.word(3));
        let orders = MemorySemantics::ACQUIRE
            | MemorySemantics::RELEASE
            | MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::SEQUENTIALLY_CONSISTENT;
        let new = if mask.contains(MemorySemantics::ATOMIC_COUNTER_MEMORY) {
            let mut new = mask - MemorySemantics::ATOMIC_COUNTER_MEMORY;
            // Without an order there is nothing for which a kind of memory could be named.
            if mask.intersects(orders) {
                new |= MemorySemantics::UNIFORM_MEMORY;
            }
            self.editor.constant(constant.word(1), &[new.bits()])?
        } else {
            0
        };
        put(&mut self.masks, id, new)?;
        Ok(Some(new).filter(|new| *new != 0))
    }

    /// `InstanceId`: the index of the instance less that of the first one.
    fn instance(&mut self, load: &Instruction<'w>, instance: Instance, body: &mut Body<'_>) -> Result<(), Why> {
        let index = self.op(body, Op::Load, instance.ty, &[instance.variable])?;
        let base = self.op(body, Op::Load, instance.ty, &[instance.base])?;
        Ok(body.add(Op::ISub, &[load.word(1), body.id(load.word(2)), index, base])?)
    }

    /// Adds an instruction with an id of its own.
    fn op(&mut self, body: &mut Body<'_>, opcode: Op, ty: u32, operands: &[u32]) -> Result<u32, Error> {
        body.changed = true;
        body.flush()?;
        self.editor.op(&mut body.words, opcode, ty, operands)
    }

    /// The id of a pointer's index.
    fn index(&mut self, pointer: Pointer) -> Result<u32, Error> {
        match pointer.index {
            Index::Const(value) => self.constant(value),
            Index::Id(id) => Ok(id),
        }
    }

    fn constant(&mut self, value: u32) -> Result<u32, Error> {
        if let Some(id) = self.constants.get(&value) {
            return Ok(*id);
        }
        let id = self.editor.constant(self.globals.uint, &[value])?;
        put(&mut self.constants, value, id)?;
        Ok(id)
    }

    fn element(&mut self) -> Result<u32, Error> {
        if self.element == 0 {
            let (class, _) = self.module.buffer_class();
            self.element = self.editor.ty(Op::TypePointer, &[class as u32, self.globals.uint])?;
        }
        Ok(self.element)
    }

    /// The type of a function that takes indices where it took counters.
    fn function_type(&mut self, old: u32) -> Result<u32, Error> {
        let words = self.globals.functions.get(&old).map_or(&[][..], |it| it.words);
        let mut operands = copied(words.get(2..).unwrap_or_default())?;
        for word in operands.iter_mut().filter(|word| self.globals.pointers.contains_key(word)) {
            *word = self.globals.uint;
        }
        self.editor.ty(Op::TypeFunction, &operands)
    }
}
