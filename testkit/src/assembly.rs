//! Modules of one function that tests put together, instruction by instruction.

use ash::vk::ShaderStageFlags as Stage;
use samplin_spirv::assemble;

pub use spirv::{Capability, Decoration, ExecutionMode, Op, StorageClass};

/// A module with one entry point, `main`.
pub struct Assembly {
    capabilities: Vec<u32>,
    modes: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    code: Vec<u32>,
    interface: Vec<u32>,
    model: u32,
    bound: u32,
}

/// The entry point's id.
const MAIN: u32 = 1;

fn push(to: &mut Vec<u32>, op: Op, operands: &[u32]) {
    assemble(to, op, operands).expect("a short instruction");
}

impl Assembly {
    /// An empty module of a stage: vertex, fragment, compute or ray generation.
    /// Panics with another stage.
    pub fn new(stage: Stage) -> Self {
        let (model, mode): (u32, &[u32]) = match stage {
            Stage::VERTEX => (0, &[]),
            Stage::FRAGMENT => (4, &[ExecutionMode::OriginUpperLeft as u32]),
            Stage::COMPUTE => (5, &[ExecutionMode::LocalSize as u32, 1, 1, 1]),
            Stage::RAYGEN_KHR => (5313, &[]),
            other => panic!("no module of {other:?}"),
        };
        let (capabilities, mut modes) = (Vec::new(), Vec::new());
        if !mode.is_empty() {
            push(&mut modes, Op::ExecutionMode, &[&[MAIN], mode].concat());
        }
        let rest = || Vec::new();
        let (annotations, globals, code, interface) = (rest(), rest(), rest(), rest());
        let mut all = Self { capabilities, modes, annotations, globals, code, interface, model, bound: MAIN + 1 };
        all.capability(Capability::Shader);
        all
    }

    /// A new id.
    pub fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    /// Declares a capability.
    pub fn capability(&mut self, capability: Capability) {
        push(&mut self.capabilities, Op::Capability, &[capability as u32]);
    }

    /// Decorates an id.
    pub fn decorate(&mut self, id: u32, decoration: Decoration, operands: &[u32]) {
        push(&mut self.annotations, Op::Decorate, &[&[id, decoration as u32], operands].concat());
    }

    /// A type.
    pub fn ty(&mut self, op: Op, operands: &[u32]) -> u32 {
        let id = self.id();
        push(&mut self.globals, op, &[&[id], operands].concat());
        id
    }

    /// A pointer type.
    pub fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        self.ty(Op::TypePointer, &[class as u32, to])
    }

    /// A constant of a type, of words or of other constants.
    pub fn constant(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        push(&mut self.globals, op, &[&[ty, id], operands].concat());
        id
    }

    /// A variable of a pointer type; inputs and outputs are in the interface.
    pub fn variable(&mut self, pointer: u32, class: StorageClass) -> u32 {
        let id = self.constant(Op::Variable, pointer, &[class as u32]);
        if [StorageClass::Input, StorageClass::Output].contains(&class) {
            self.interface.push(id);
        }
        id
    }

    /// A variable that a descriptor is for.
    pub fn bound_to(&mut self, pointer: u32, class: StorageClass, [set, binding]: [u32; 2]) -> u32 {
        let id = self.variable(pointer, class);
        self.decorate(id, Decoration::DescriptorSet, &[set]);
        self.decorate(id, Decoration::Binding, &[binding]);
        id
    }

    /// An instruction of the function that has a result.
    pub fn value(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        push(&mut self.code, op, &[&[ty, id], operands].concat());
        id
    }

    /// One that has none.
    pub fn act(&mut self, op: Op, operands: &[u32]) {
        push(&mut self.code, op, operands);
    }

    /// The words of the module; `number` is the tool's, and tells modules apart.
    pub fn finish(mut self, number: u32) -> Vec<u32> {
        let void = self.ty(Op::TypeVoid, &[]);
        let function = self.ty(Op::TypeFunction, &[void]);
        let label = self.id();
        let mut words = vec![0x0723_0203, 0x0001_0300, number, self.bound, 0];
        words.extend(self.capabilities);
        push(&mut words, Op::MemoryModel, &[0, 1]);
        let name = u32::from_le_bytes(*b"main");
        push(&mut words, Op::EntryPoint, &[&[self.model, MAIN, name, 0][..], &self.interface].concat());
        words.extend([self.modes, self.annotations, self.globals].concat());
        push(&mut words, Op::Function, &[void, MAIN, 0, function]);
        push(&mut words, Op::Label, &[label]);
        words.extend(self.code);
        push(&mut words, Op::Return, &[]);
        push(&mut words, Op::FunctionEnd, &[]);
        words
    }
}
