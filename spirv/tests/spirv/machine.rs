//! A machine that runs one invocation of a compute shader without branches, to see which bytes it counts in.

use std::collections::HashMap;

use samplin_spirv::{Instruction, Module};
use spirv::{Decoration, Op, StorageClass};

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Space {
    /// A counter of this GL binding.
    Counter(u32),
    /// The storage buffer of this set and binding.
    Buffer(u32, u32),
    /// A variable of a function's, the n-th that was made.
    Local(u32),
    /// A vector that the invocation is given.
    Input,
}

#[derive(Clone, Debug)]
enum Value {
    Scalar(u32),
    Pointer { space: Space, byte: u32, ty: u32 },
    Nothing,
}

/// What happened: each atomic instruction with what it worked on, and the memory in the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) atomics: Vec<(u32, Space, u32)>,
    pub(crate) memory: HashMap<(Space, u32), u32>,
}

struct Machine<'m, 'w> {
    module: &'m Module<'w>,
    input: u32,
    locals: u32,
    trace: Trace,
}

/// Runs the entry point with `input` in every component of every input.
pub(crate) fn run(words: &[u32], input: u32) -> Trace {
    let module = Module::read(words).expect("a module");
    let mut machine = Machine { module: &module, input, locals: 0, trace: Trace::default() };
    let main = module.entry_points().next().expect("an entry point").function();
    machine.call(main, Vec::new());
    machine.trace.memory.retain(|(space, _), _| !matches!(space, Space::Local(_)));
    machine.trace
}

impl Machine<'_, '_> {
    fn bytes(&self, ty: u32) -> u32 {
        let of = self.module.definition(ty).expect("a type");
        match of.opcode() {
            op if op == Op::TypeArray as u32 => self.bytes(of.word(2)) * self.scalar(of.word(3)),
            op if op == Op::TypeInt as u32 => 4,
            op => panic!("bytes of a type with opcode {op}"),
        }
    }

    fn scalar(&self, id: u32) -> u32 {
        let constant = self.module.definition(id).expect("a constant");
        assert_eq!(constant.opcode(), Op::Constant as u32, "%{id}");
        constant.word(3)
    }

    /// A constant or a global variable.
    fn global(&self, id: u32) -> Value {
        let instruction = self.module.definition(id).expect("a definition");
        if instruction.opcode() != Op::Variable as u32 {
            return Value::Scalar(self.scalar(id));
        }
        let of = |decoration| self.module.decoration(id, decoration).expect("a decoration");
        let ty = self.module.definition(instruction.word(1)).expect("a pointer").word(3);
        let (space, byte) = match instruction.word(3) {
            class if class == StorageClass::AtomicCounter as u32 => {
                (Space::Counter(of(Decoration::Binding)), of(Decoration::Offset))
            }
            class if class == StorageClass::Input as u32 => (Space::Input, 0),
            _ => (Space::Buffer(of(Decoration::DescriptorSet), of(Decoration::Binding)), 0),
        };
        Value::Pointer { space, byte, ty }
    }

    fn read(&self, space: Space, byte: u32) -> u32 {
        if space == Space::Input { self.input } else { *self.trace.memory.get(&(space, byte)).unwrap_or(&0) }
    }

    fn call(&mut self, function: u32, arguments: Vec<Value>) -> Value {
        let mut values: HashMap<u32, Value> = HashMap::new();
        let mut arguments = arguments.into_iter();
        let mut next = self.module.definition(function);
        while let Some(instruction) = next {
            next = self.module.instruction_after(instruction.at);
            let word = |n: usize| instruction.word(n);
            let scalar = |machine: &Self, id: u32| match values.get(&id).cloned().unwrap_or_else(|| machine.global(id))
            {
                Value::Scalar(value) => value,
                other => panic!("%{id} is {other:?}"),
            };
            let pointer = |machine: &Self, id: u32| match values.get(&id).cloned().unwrap_or_else(|| machine.global(id))
            {
                Value::Pointer { space, byte, ty } => (space, byte, ty),
                other => panic!("%{id} is {other:?}"),
            };
            let of = |op: Op| instruction.opcode() == op as u32;
            let value = if of(Op::Function) || of(Op::Label) || of(Op::MemoryBarrier) || of(Op::ControlBarrier) {
                continue;
            } else if of(Op::FunctionParameter) {
                arguments.next().expect("an argument")
            } else if of(Op::Variable) {
                self.locals += 1;
                let ty = self.module.definition(word(1)).expect("a pointer").word(3);
                Value::Pointer { space: Space::Local(self.locals), byte: 0, ty }
            } else if of(Op::Store) {
                let ((space, byte, _), value) = (pointer(self, word(1)), scalar(self, word(2)));
                self.trace.memory.insert((space, byte), value);
                continue;
            } else if of(Op::Load) {
                let (space, byte, _) = pointer(self, word(3));
                Value::Scalar(self.read(space, byte))
            } else if of(Op::AccessChain) || of(Op::InBoundsAccessChain) {
                let (space, mut byte, mut ty) = pointer(self, word(3));
                for index in &instruction.words[4..] {
                    let index = scalar(self, *index);
                    let of = self.module.definition(ty).expect("a type");
                    if of.opcode() == Op::TypeStruct as u32 {
                        // All structures here have one member.
                        assert_eq!(index, 0);
                        ty = of.word(2);
                    } else {
                        ty = of.word(2);
                        byte += index * self.bytes(ty);
                    }
                }
                Value::Pointer { space, byte, ty }
            } else if of(Op::CopyObject) || of(Op::Bitcast) {
                values.get(&word(3)).cloned().unwrap_or_else(|| self.global(word(3)))
            } else if of(Op::IAdd) {
                Value::Scalar(scalar(self, word(3)).wrapping_add(scalar(self, word(4))))
            } else if of(Op::ISub) {
                Value::Scalar(scalar(self, word(3)).wrapping_sub(scalar(self, word(4))))
            } else if of(Op::IMul) {
                Value::Scalar(scalar(self, word(3)).wrapping_mul(scalar(self, word(4))))
            } else if of(Op::FunctionCall) {
                let passed = instruction.words[4..].iter();
                let passed = passed.map(|id| values.get(id).cloned().unwrap_or_else(|| self.global(*id))).collect();
                self.call(word(3), passed)
            } else if of(Op::ReturnValue) {
                return values.get(&word(1)).cloned().unwrap_or_else(|| self.global(word(1)));
            } else if of(Op::Return) {
                return Value::Nothing;
            } else {
                let at = if of(Op::AtomicStore) { 1 } else { 3 };
                let (space, byte, _) = pointer(self, word(at));
                let old = self.read(space, byte);
                let operand = |n: usize| scalar(self, word(n));
                let new = modified(&instruction, old, operand);
                self.trace.atomics.push((instruction.opcode(), space, byte));
                if let Some(new) = new {
                    self.trace.memory.insert((space, byte), new);
                }
                Value::Scalar(old)
            };
            if !of(Op::AtomicStore) {
                values.insert(word(2), value);
            }
        }
        panic!("a function without a return")
    }
}

/// What an atomic instruction leaves in memory.
fn modified(instruction: &Instruction<'_>, old: u32, operand: impl Fn(usize) -> u32) -> Option<u32> {
    let table: [(Op, &dyn Fn() -> Option<u32>); 13] = [
        (Op::AtomicLoad, &|| None),
        (Op::AtomicStore, &|| Some(operand(4))),
        (Op::AtomicIIncrement, &|| Some(old.wrapping_add(1))),
        (Op::AtomicIDecrement, &|| Some(old.wrapping_sub(1))),
        (Op::AtomicIAdd, &|| Some(old.wrapping_add(operand(6)))),
        (Op::AtomicISub, &|| Some(old.wrapping_sub(operand(6)))),
        (Op::AtomicUMin, &|| Some(old.min(operand(6)))),
        (Op::AtomicUMax, &|| Some(old.max(operand(6)))),
        (Op::AtomicAnd, &|| Some(old & operand(6))),
        (Op::AtomicOr, &|| Some(old | operand(6))),
        (Op::AtomicXor, &|| Some(old ^ operand(6))),
        (Op::AtomicExchange, &|| Some(operand(6))),
        (Op::AtomicCompareExchange, &|| (old == operand(8)).then(|| operand(7))),
    ];
    let row = table.iter().find(|(op, _)| *op as u32 == instruction.opcode());
    row.unwrap_or_else(|| panic!("opcode {}", instruction.opcode())).1()
}
