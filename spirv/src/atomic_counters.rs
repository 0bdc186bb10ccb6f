//! The pass `atomic_counters`: shaders for OpenGL that count in `AtomicCounter` variables count in storage buffers.
//!
//! Vulkan has no such storage class. All counters of one GL binding become one storage buffer of unsigned integers, and the byte
//! offset of a counter its index there. Logical addressing forbids to pass a pointer into a buffer to a function, so where a function
//! takes a counter it takes its index instead; a function that is called with counters of several bindings is there once for each.
//! Pointers keep their ids and become the indices.
//!
//! What else every module for OpenGL carries and Vulkan forbids goes with it: see `interface`.

mod body;
mod clones;
mod interface;
mod limits;

use spirv::{Capability, Decoration, Op, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, push};
use crate::fold::fold;
use crate::ids;
use crate::map::{Map, put};
use crate::module::{Instruction, Module, sort};
use crate::op;
use crate::outcome::{Counters, PassChange, Rewrite, Why};

/// Where the buffers of counters go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// GL's binding *n* goes to set 0, binding *f* + *n*, where *f* is one more than the highest binding of the module in set 0, or 0
    /// if it has none.
    #[default]
    Auto,
    /// GL's binding *n* goes to this set, binding `first` + *n*; needed when several stages share counters.
    At {
        /// Descriptor set.
        set: u32,
        /// The binding for GL's binding 0.
        first: u32,
    },
}

/// What the pass may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Where the buffers go.
    pub target: Target,
    /// Whether shaders may read `BaseInstance` (the feature `shaderDrawParameters`).
    pub draw_parameters: bool,
    /// How many storage buffers a stage may have (`maxPerStageDescriptorStorageBuffers`); 0 if that is not known.
    pub storage_buffers: u32,
}

/// The extension that counter operations other than GL's own are declared with.
const EXTENSION: &str = "SPV_KHR_shader_atomic_counter_ops";

/// Deepest nesting of arrays that is followed.
const DEPTH: u32 = 16;

/// A counter, or an array of them; in the order of where it lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Counter {
    /// GL's binding.
    binding: u32,
    /// Position in the buffer.
    index: u32,
    ty: u32,
    id: u32,
    /// How many there are.
    count: u32,
}

/// The storage buffer for one binding of GL's.
#[derive(Clone, Copy)]
struct Buffer {
    counter_binding: u32,
    variable: u32,
}

/// Rewrites a module for Vulkan.
///
/// # Errors
///
/// What of it cannot be rewritten; nothing is changed then.
pub fn atomic_counters(module: &Module<'_>, options: &Options) -> Result<Rewrite, Why> {
    let mut editor = Editor::new(module);
    let mut changes = Vec::new();
    let interface = interface::rewrite(&mut editor, module, options, &mut changes)?;
    for capability in [Capability::AtomicStorage, Capability::AtomicStorageOps] {
        if editor.drop_capability(capability)? {
            push(&mut changes, PassChange::CapabilityDropped(capability as u32))?;
        }
    }
    if editor.drop_extension(EXTENSION)? {
        push(&mut changes, PassChange::ExtensionDropped(EXTENSION))?;
    }
    let globals = Globals::find(module)?;
    if changes.is_empty() && globals.is_empty() {
        return Ok(Rewrite::default());
    }
    if module.declares(Capability::Kernel) {
        return Err(Why::Kernel);
    }
    let mut buffers = Vec::new();
    let layout = globals.layout(module, options)?;
    limits::check(module, layout.len(), options.storage_buffers)?;
    for counters in layout {
        let variable = globals.declare(&mut editor, module, &counters)?;
        push(&mut buffers, Buffer { counter_binding: counters.counter_binding, variable })?;
        push(&mut changes, PassChange::Counters(counters))?;
    }
    let semantics = body::rewrite(&mut editor, module, &globals, &buffers, interface)?;
    if semantics != 0 {
        push(&mut changes, PassChange::Semantics(semantics))?;
    }
    for instruction in &globals.removed {
        editor.remove(instruction)?;
    }
    Ok(Rewrite { words: Some(editor.finish()?), changes, left: Vec::new() })
}

/// The counters of a module and the types that have to do with them.
#[derive(Default)]
struct Globals<'w> {
    counters: Vec<Counter>,
    /// By id: position in `counters`.
    by_id: Map<usize>,
    /// Pointers to counters: the type pointed to.
    pointers: Map<u32>,
    /// Types of functions that take such pointers: what they are defined by.
    functions: Map<Instruction<'w>>,
    /// The type of a counter; 0 if there is none.
    uint: u32,
    /// Types and variables that are not needed any more.
    removed: Vec<Instruction<'w>>,
}

impl<'w> Globals<'w> {
    fn find(module: &Module<'w>) -> Result<Globals<'w>, Why> {
        let mut globals = Globals::default();
        let class = StorageClass::AtomicCounter as u32;
        for instruction in module.instructions(module.sections.annotations, module.sections.globals) {
            let is_pointer = |id: &u32| globals.pointers.contains_key(id);
            match instruction.opcode() {
                op::TYPE_POINTER if instruction.word(2) == class => {
                    let (uint, _) = count(module, instruction.word(3), 0)?;
                    globals.uint = uint;
                    put(&mut globals.pointers, instruction.word(1), instruction.word(3))?;
                    push(&mut globals.removed, instruction)?;
                    continue;
                }
                op::VARIABLE if is_pointer(&instruction.word(1)) && instruction.words.len() == 4 => {
                    let counter = globals.counter(module, &instruction)?;
                    put(&mut globals.by_id, counter.id, globals.counters.len())?;
                    push(&mut globals.counters, counter)?;
                    push(&mut globals.removed, instruction)?;
                    continue;
                }
                op::TYPE_FUNCTION if instruction.words.iter().skip(3).any(is_pointer) => {
                    if is_pointer(&instruction.word(2)) {
                        return Err(Why::Opcode(op::TYPE_FUNCTION));
                    }
                    put(&mut globals.functions, instruction.word(1), instruction)?;
                    push(&mut globals.removed, instruction)?;
                    continue;
                }
                _ => {}
            }
            let strange = |id: u32| is_pointer(&id) || globals.by_id.contains_key(&id);
            let typed = op::result(instruction.opcode()) == op::Result::Typed && strange(instruction.word(1));
            if typed || !globals.pointers.is_empty() && ids::operands(&instruction).any(strange) {
                return Err(Why::Opcode(instruction.opcode()));
            }
        }
        Ok(globals)
    }

    fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    fn counter(&self, module: &Module<'_>, variable: &Instruction<'_>) -> Result<Counter, Why> {
        let id = variable.word(2);
        let ty = self.pointers.get(&variable.word(1)).copied().unwrap_or(0);
        let binding = module.decoration(id, Decoration::Binding).ok_or(Why::NoBinding(id))?;
        let offset = module.decoration(id, Decoration::Offset).ok_or(Why::Offset(id))?;
        let (_, count) = count(module, ty, 0)?;
        // The whole buffer has a size in bytes.
        let end = count.checked_mul(4).and_then(|bytes| bytes.checked_add(offset));
        match end {
            Some(_) if offset % 4 == 0 => Ok(Counter { id, binding, index: offset / 4, count, ty }),
            _ => Err(Why::Offset(id)),
        }
    }

    /// Where the counters of each binding go, sorted by binding.
    fn layout(&self, module: &Module<'_>, options: &Options) -> Result<Vec<Counters>, Why> {
        let mut sorted: Vec<&Counter> = Vec::new();
        for counter in &self.counters {
            push(&mut sorted, counter)?;
        }
        sort(&mut sorted);
        let mut own = self.descriptors(module)?;
        sort(&mut own);
        let (set, first) = match options.target {
            Target::At { set, first } => (set, Some(first)),
            Target::Auto => {
                let highest = own.iter().filter(|(set, _)| *set == 0).map(|(_, binding)| *binding).max();
                (0, highest.map_or(Some(0), |binding| binding.checked_add(1)))
            }
        };
        let mut all = Vec::new();
        for group in sorted.chunk_by(|a, b| a.binding == b.binding) {
            let Some(counter_binding) = group.first().map(|counter| counter.binding) else { continue };
            let binding = first.and_then(|first| first.checked_add(counter_binding));
            let Some(binding) = binding.filter(|binding| own.binary_search(&(set, *binding)).is_err()) else {
                return Err(Why::BindingTaken { set, binding: binding.unwrap_or(u32::MAX) });
            };
            let (mut offsets, mut size) = (Vec::new(), 0);
            // The type that reaches furthest, and how far any other one does.
            let (mut far, mut other) = ((0, 0), 0);
            for counter in group {
                let end = counter.index + counter.count;
                let foreign = if counter.ty == far.1 { other } else { far.0 };
                if counter.index < foreign {
                    return Err(Why::Overlap(counter_binding));
                }
                if counter.ty == far.1 {
                    far.0 = far.0.max(end);
                } else if end >= far.0 {
                    (far, other) = ((end, counter.ty), far.0);
                } else {
                    other = other.max(end);
                }
                if offsets.last() != Some(&(counter.index * 4)) {
                    push(&mut offsets, counter.index * 4)?;
                }
                size = size.max(end * 4);
            }
            push(&mut all, Counters { counter_binding, set, binding, offsets, size })?;
        }
        Ok(all)
    }

    /// Sets and bindings of the module's own descriptors.
    fn descriptors(&self, module: &Module<'_>) -> Result<Vec<(u32, u32)>, Error> {
        let mut all = Vec::new();
        for variable in module.instructions(module.sections.annotations, module.sections.globals) {
            let id = variable.word(2);
            let descriptor = matches!(variable.opcode(), op::VARIABLE | op::UNTYPED_VARIABLE_KHR);
            let binding = module.decoration(id, Decoration::Binding).filter(|_| descriptor);
            if let Some(binding) = binding.filter(|_| !self.by_id.contains_key(&id)) {
                push(&mut all, (module.decoration(id, Decoration::DescriptorSet).unwrap_or(0), binding))?;
            }
        }
        Ok(all)
    }

    /// Declares the storage buffer of a binding.
    fn declare(&self, editor: &mut Editor<'_, '_>, module: &Module<'_>, at: &Counters) -> Result<u32, Error> {
        let (class, block) = module.buffer_class();
        let array = editor.aggregate(Op::TypeRuntimeArray, &[self.uint])?;
        editor.buffer(array, 4, block, class, at.set, at.binding)
    }
}

/// The id of the integer type of a counter or an array of counters, and how many there are in it.
fn count(module: &Module<'_>, ty: u32, depth: u32) -> Result<(u32, u32), Why> {
    let wrong = Why::CounterType(ty);
    let instruction = module.definition(ty).filter(|_| depth <= DEPTH).ok_or(wrong)?;
    match instruction.opcode() {
        op::TYPE_INT if instruction.word(2) == 32 && instruction.word(3) == 0 => Ok((ty, 1)),
        op::TYPE_ARRAY => {
            let (uint, each) = count(module, instruction.word(2), depth + 1)?;
            // Without a specialization: a length that may still change has no place in a layout.
            let length = fold(module, None, instruction.word(3)).and_then(|length| length.as_u32());
            let total = length.and_then(|length| length.checked_mul(each)).filter(|total| *total != 0);
            total.map(|total| (uint, total)).ok_or(wrong)
        }
        _ => Err(wrong),
    }
}
