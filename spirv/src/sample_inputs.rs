//! The pass `sample_inputs`: fragment shaders that are to be shaded for each sample say so of their inputs.
//!
//! Where undecorated inputs are interpolated is the implementation's choice even if every sample is shaded, so those that are
//! interpolated at all get the decoration `Sample`. Whether a shader may be shaded more often than it asked for is the caller's to
//! decide, with [`Facts`].

use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, copied, filled, push};
use crate::ids;
use crate::links::order;
use crate::map::{Map, put};
use crate::module::{EntryPoint, Instruction, Module};
use crate::op;
use crate::outcome::{PassChange, Rewrite, Why};

/// What could be seen if a fragment shader ran once for each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    /// It writes memory that others see, or does what nobody here knows.
    pub side_effects: bool,
    /// It writes a sample mask.
    pub mask_output: bool,
    /// It reads one, which has the samples that an invocation covers.
    pub mask_input: bool,
    /// It has a section that fragments enter one after the other.
    pub interlock: bool,
    /// It reads the shading rate.
    pub shading_rate: bool,
    /// It asks for a sample itself: `SampleId`, `SamplePosition`, or an input that is decorated `Sample`.
    pub per_sample: bool,
}

/// What the fragment entry point `name` does that matters.
///
/// # Errors
///
/// [`Error::NoEntryPoint`], [`Error::Recursion`], [`Error::Memory`].
pub fn facts(module: &Module<'_>, name: &str) -> Result<Facts, Error> {
    let entry = entry_point(module, name)?;
    let index = module.function(entry.function()).ok_or(Error::NoEntryPoint)?;
    let mut facts = Facts::default();
    for id in entry.interface() {
        let output = module.definition(*id).is_some_and(|it| it.word(3) == StorageClass::Output as u32);
        let Some(builtin) = module.decoration(*id, Decoration::BuiltIn) else {
            facts.per_sample |= module.decoration(*id, Decoration::Sample).is_some();
            continue;
        };
        let is = |builtins: &[BuiltIn]| builtins.iter().any(|it| *it as u32 == builtin);
        let mask = is(&[BuiltIn::SampleMask]);
        facts.mask_output |= output && mask;
        facts.mask_input |= !output && mask;
        facts.per_sample |= is(&[BuiltIn::SampleId, BuiltIn::SamplePosition]);
        facts.shading_rate |= is(&[BuiltIn::ShadingRateKHR, BuiltIn::FragSizeEXT, BuiltIn::FragInvocationCountEXT]);
    }
    const INTERLOCK: [ExecutionMode; 6] = [
        ExecutionMode::PixelInterlockOrderedEXT,
        ExecutionMode::PixelInterlockUnorderedEXT,
        ExecutionMode::SampleInterlockOrderedEXT,
        ExecutionMode::SampleInterlockUnorderedEXT,
        ExecutionMode::ShadingRateInterlockOrderedEXT,
        ExecutionMode::ShadingRateInterlockUnorderedEXT,
    ];
    for instruction in module.instructions(module.sections.imports, module.sections.annotations) {
        let word = |n: usize| instruction.word(n);
        match instruction.opcode() {
            op::EXECUTION_MODE if word(1) == entry.function() => {
                facts.interlock |= INTERLOCK.iter().any(|mode| *mode as u32 == word(2));
            }
            op::MEMBER_DECORATE => facts.per_sample |= word(3) == Decoration::Sample as u32,
            _ => {}
        }
    }
    for index in order(module, index)? {
        let Some(function) = module.functions().get(index) else { continue };
        for instruction in module.instructions(function.at, function.end) {
            facts.interlock |= instruction.opcode() == op::BEGIN_INVOCATION_INTERLOCK_EXT;
            facts.side_effects |= has_side_effects(module, &instruction);
        }
    }
    Ok(facts)
}

fn entry_point<'w>(module: &Module<'w>, name: &str) -> Result<EntryPoint<'w>, Error> {
    let fragment = ExecutionModel::Fragment as u32;
    let mut entries = module.entry_points();
    entries.find(|it| it.model() == fragment && it.name().eq(name.bytes())).ok_or(Error::NoEntryPoint)
}

/// Whether an instruction writes memory that outlives the invocation, or may.
fn has_side_effects(module: &Module<'_>, instruction: &Instruction<'_>) -> bool {
    match instruction.opcode() {
        op::IMAGE_WRITE | op::ATOMIC_STORE..=op::ATOMIC_XOR => true,
        op::STORE | op::COPY_MEMORY | op::COPY_MEMORY_SIZED => {
            const OWN: [StorageClass; 3] = [StorageClass::Function, StorageClass::Private, StorageClass::Output];
            let pointer = module.definition(module.type_of(instruction.word(1)));
            !pointer.is_some_and(|pointer| OWN.iter().any(|class| *class as u32 == pointer.word(2)))
        }
        // Ray queries only read.
        4472..=4477 | 4479 | 6016..=6032 => false,
        opcode => !ids::is_known(opcode),
    }
}

/// Decorations of inputs that are not interpolated, or that have a place already.
const PLACED: [Decoration; 7] = [
    Decoration::Flat,
    Decoration::Centroid,
    Decoration::Sample,
    Decoration::PerVertexKHR,
    Decoration::PerPrimitiveEXT,
    Decoration::ExplicitInterpAMD,
    Decoration::PassthroughNV,
];

/// Decorates the inputs of the fragment entry point `name`.
///
/// # Errors
///
/// Why the module is left as it was; of single inputs the result says it.
pub fn sample_inputs(module: &Module<'_>, name: &str) -> Result<Rewrite, Why> {
    let entry = entry_point(module, name)?;
    let blocks = Blocks::find(module, &entry)?;
    let mut editor = Editor::new(module);
    let (mut added, mut left) = (0, Vec::new());
    // Types whose members have been decorated.
    let mut done: Map<()> = Map::default();
    for (position, id) in entry.interface().iter().enumerate() {
        let Some(variable) = module.defined(*id, op::VARIABLE) else { continue };
        let placed = |decoration: &Decoration| module.decoration(*id, *decoration).is_some();
        let builtin = module.decoration(*id, Decoration::BuiltIn).is_some();
        if variable.word(3) != StorageClass::Input as u32 || builtin || PLACED.iter().any(placed) {
            continue;
        }
        let Some(ty) = element(module, &variable) else { continue };
        let inner = blocks.inner(module, &ty)?;
        let own = blocks.members.contains_key(&ty.word(1));
        if ty.opcode() != op::TYPE_STRUCT && !is_interpolated(module, ty) {
            continue;
        }
        if inner || blocks.others.contains_key(id) || own && blocks.others.contains_key(&ty.word(1)) {
            push(&mut left, Why::SharedInput(position as u32))?;
        } else if !own {
            editor.decorate(*id, Decoration::Sample, &[])?;
            added += 1;
        } else if put(&mut done, ty.word(1), ())?.is_none() {
            added += blocks.decorate(&mut editor, &ty)?;
        }
    }
    if added == 0 {
        return Ok(Rewrite { left, ..Rewrite::default() });
    }
    editor.capability(Capability::SampleRateShading)?;
    let mut changes = Vec::new();
    push(&mut changes, PassChange::SampleAdded(added))?;
    Ok(Rewrite { words: Some(editor.finish()?), changes, left })
}

/// Past arrays, the type that a variable has.
fn element<'w>(module: &Module<'w>, variable: &Instruction<'_>) -> Option<Instruction<'w>> {
    let mut ty = module.definition(module.definition(variable.word(1))?.word(3))?;
    // An array of an array is the deepest that inputs are.
    for _ in 0..8 {
        if ty.opcode() != op::TYPE_ARRAY {
            break;
        }
        ty = module.definition(ty.word(2))?;
    }
    Some(ty)
}

/// Whether a type is made of floats that are interpolated; integers and doubles have to be flat.
fn is_interpolated<'w>(module: &Module<'w>, mut ty: Instruction<'w>) -> bool {
    for _ in 0..8 {
        match ty.opcode() {
            op::TYPE_FLOAT => return ty.word(2) <= 32,
            op::TYPE_ARRAY | op::TYPE_VECTOR | op::TYPE_MATRIX => match module.definition(ty.word(2)) {
                Some(of) => ty = of,
                None => return false,
            },
            _ => return false,
        }
    }
    false
}

/// Structures, and who else has what the entry point has.
#[derive(Default)]
struct Blocks {
    /// Members that are placed or builtins, by structure.
    members: Map<Vec<u32>>,
    /// Variables that are in the interface of another kind of entry point, and types of variables that are no inputs of this one.
    others: Map<()>,
}

impl Blocks {
    fn find(module: &Module<'_>, entry: &EntryPoint<'_>) -> Result<Blocks, Error> {
        let mut blocks = Blocks::default();
        for other in module.entry_points().filter(|it| it.model() != ExecutionModel::Fragment as u32) {
            for id in other.interface() {
                put(&mut blocks.others, *id, ())?;
            }
        }
        for instruction in module.instructions(module.sections.imports, module.sections.annotations) {
            let decoration = instruction.word(3);
            let placed = PLACED.iter().chain(&[Decoration::BuiltIn]).any(|it| *it as u32 == decoration);
            if instruction.opcode() == op::MEMBER_DECORATE && placed {
                let structure = instruction.word(1);
                let mut members = blocks.members.remove(&structure).unwrap_or_default();
                push(&mut members, instruction.word(2))?;
                put(&mut blocks.members, structure, members)?;
            }
        }
        let mut own: Map<()> = Map::default();
        for id in entry.interface() {
            put(&mut own, *id, ())?;
        }
        for variable in module.instructions(module.sections.annotations, module.sections.globals) {
            let input = variable.word(3) == StorageClass::Input as u32 && own.contains_key(&variable.word(2));
            if variable.opcode() == op::VARIABLE
                && !input
                && let Some(ty) = element(module, &variable)
            {
                put(&mut blocks.others, ty.word(1), ())?;
            }
        }
        Ok(blocks)
    }

    /// Whether structures in a structure have members that are placed.
    fn inner(&self, module: &Module<'_>, structure: &Instruction<'_>) -> Result<bool, Why> {
        if structure.opcode() != op::TYPE_STRUCT || self.members.is_empty() {
            return Ok(false);
        }
        let mut open = copied(structure.words.get(2..).unwrap_or_default())?;
        let mut steps = 1 << 12;
        while let Some(id) = open.pop() {
            steps -= 1;
            if steps == 0 {
                return Err(Why::Module(Error::TooComplex));
            }
            let Some(ty) = module.definition(id) else { continue };
            match ty.opcode() {
                op::TYPE_STRUCT if self.members.contains_key(&id) => return Ok(true),
                op::TYPE_STRUCT => {
                    for member in ty.words.iter().skip(2) {
                        push(&mut open, *member)?;
                    }
                }
                op::TYPE_ARRAY => push(&mut open, ty.word(2))?,
                _ => {}
            }
        }
        Ok(false)
    }

    /// Decorates the members that are not placed; says how many.
    fn decorate(&self, editor: &mut Editor<'_, '_>, structure: &Instruction<'_>) -> Result<u32, Error> {
        let placed = self.members.get(&structure.word(1)).map_or(&[][..], Vec::as_slice);
        let count = structure.words.len().saturating_sub(2);
        let mut is_placed = filled(count, false)?;
        for member in placed {
            if let Some(index) = is_placed.get_mut(*member as usize) {
                *index = true;
            }
        }
        let mut added = 0;
        for member in (0..count as u32).filter(|member| is_placed.get(*member as usize) == Some(&false)) {
            editor.decorate_member(structure.word(1), member, Decoration::Sample, &[])?;
            added += 1;
        }
        Ok(added)
    }
}
