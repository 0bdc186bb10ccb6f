//! What modules for OpenGL carry beside counters and Vulkan forbids.
//!
//! The lower left origin and integer pixel centres (VUID-StandaloneSpirv-OriginLowerLeft-04653) go where nobody can see them.
//! `VertexId` and `InstanceId`, which glslang lists in every vertex shader, go where nobody reads them; else they are read as what
//! Vulkan has. Locations of uniform variables go from descriptors; a uniform variable that is none has no place in Vulkan.

use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, StorageClass};

use super::Options;
use crate::edit::Editor;
use crate::error::push;
use crate::ids;
use crate::map::{Map, put};
use crate::module::{Instruction, Module};
use crate::op;
use crate::outcome::{PassChange, Why};
use crate::scan::is_gl_mode;

/// A variable whose loads are followed by a subtraction: `InstanceIndex` counts from the base instance, `InstanceId` from 0.
#[derive(Clone, Copy)]
pub(super) struct Instance {
    pub(super) variable: u32,
    /// The variable of the builtin `BaseInstance`.
    pub(super) base: u32,
    /// The type of both.
    pub(super) ty: u32,
}

pub(super) fn rewrite(
    editor: &mut Editor<'_, '_>,
    module: &Module<'_>,
    options: &Options,
    changes: &mut Vec<PassChange>,
) -> Result<Option<Instance>, Why> {
    let annotations = || module.instructions(module.sections.imports, module.sections.annotations);
    let mut modes = Vec::new();
    // Builtins that matter, with the instruction that says so; the variables among them, and whether functions use them.
    let mut builtins: Vec<(u32, u32, Instruction<'_>)> = Vec::new();
    let mut used: Map<bool> = Map::default();
    for instruction in annotations() {
        match instruction.opcode() {
            op::EXECUTION_MODE if is_gl_mode(instruction.word(2)) => push(&mut modes, instruction)?,
            op::DECORATE if instruction.word(2) == Decoration::BuiltIn as u32 => {
                let (id, builtin) = (instruction.word(1), instruction.word(3));
                if is_of_interest(builtin) {
                    push(&mut builtins, (id, builtin, instruction))?;
                    put(&mut used, id, false)?;
                }
            }
            // A member can neither be removed nor told from the others where it is read.
            op::MEMBER_DECORATE
                if instruction.word(3) == Decoration::BuiltIn as u32 && is_of_interest(instruction.word(4)) =>
            {
                push(&mut builtins, (0, instruction.word(4), instruction))?;
            }
            op::DECORATE if instruction.word(2) == Decoration::Location as u32 => {
                let id = instruction.word(1);
                let variable = module.defined(id, op::VARIABLE);
                if let Some(variable) = variable.filter(|it| it.word(3) == StorageClass::UniformConstant as u32) {
                    // Some compilers give what is in no block a binding, too.
                    if module.decoration(id, Decoration::Binding).is_none() || !is_opaque(module, &variable) {
                        return Err(Why::DefaultUniform(instruction.word(3)));
                    }
                    editor.remove(&instruction)?;
                    push(changes, PassChange::LocationDropped(instruction.word(3)))?;
                }
            }
            _ => {}
        }
    }
    if modes.is_empty() && !builtins.iter().any(|(_, builtin, _)| is_id(*builtin)) {
        return Ok(None);
    }
    for instruction in module.instructions(module.sections.annotations, module.words().len()) {
        for id in ids::operands(&instruction) {
            if let Some(used) = used.get_mut(&id) {
                *used = true;
            }
        }
    }
    let is_used = |id: u32| used.get(&id).copied().unwrap_or(true);
    for mode in &modes {
        let sees = |(id, builtin, _): &(u32, u32, _)| is_coordinate(*builtin) && is_used(*id);
        if builtins.iter().any(sees) {
            return Err(Why::FragmentOrigin);
        }
        if mode.word(2) == ExecutionMode::OriginLowerLeft as u32 {
            editor.set(mode, 2, ExecutionMode::OriginUpperLeft as u32)?;
        } else {
            editor.remove(mode)?;
        }
        push(changes, PassChange::Origin)?;
    }
    let mut instance = None;
    for (id, builtin, decoration) in builtins.iter().filter(|(_, builtin, _)| is_id(*builtin)) {
        let variable = match module.definition(*id) {
            Some(variable) if variable.opcode() == op::VARIABLE => variable,
            Some(group) if group.opcode() == op::DECORATION_GROUP => return Err(Why::Group),
            _ => return Err(Why::Opcode(op::MEMBER_DECORATE)),
        };
        if !is_used(*id) {
            editor.remove(&variable)?;
            push(changes, PassChange::BuiltInDropped(*builtin))?;
            continue;
        }
        let to = if *builtin == BuiltIn::VertexId as u32 { BuiltIn::VertexIndex } else { BuiltIn::InstanceIndex };
        let taken = |other: u32| builtins.iter().any(|(id, builtin, _)| *builtin == other && is_used(*id));
        let same = builtins.iter().filter(|(_, other, _)| other == builtin).count();
        if taken(to as u32) || same > 1 {
            return Err(Why::BuiltIn(to as u32));
        }
        editor.set(decoration, 3, to as u32)?;
        push(changes, PassChange::BuiltInReplaced { from: *builtin, to: to as u32 })?;
        if to == BuiltIn::InstanceIndex {
            let base = builtins.iter().find(|(_, builtin, _)| *builtin == BuiltIn::BaseInstance as u32);
            instance = Some(subtract(editor, module, options, &variable, base.map(|(id, _, _)| *id))?);
        }
    }
    Ok(instance)
}

/// The variable from which instances count, declared if it is not.
fn subtract(
    editor: &mut Editor<'_, '_>,
    module: &Module<'_>,
    options: &Options,
    variable: &Instruction<'_>,
    base: Option<u32>,
) -> Result<Instance, Why> {
    let id = variable.word(2);
    let pointer = module.definition(variable.word(1)).ok_or(Why::Opcode(op::VARIABLE))?;
    let mut lists = module.entry_points().filter(|entry| entry.interface().contains(&id));
    let base = match base {
        Some(base) => {
            let same = module.type_of(base) == variable.word(1);
            if !same || !lists.all(|entry| entry.interface().contains(&base)) {
                return Err(Why::InstanceId);
            }
            base
        }
        None => {
            // A new input is listed by every entry point, so all have to be ones that may read it.
            if !options.draw_parameters || lists.count() != module.entry_points().count() {
                return Err(Why::InstanceId);
            }
            editor.capability(Capability::DrawParameters)?;
            if module.version() < 0x0001_0300 {
                editor.extension("SPV_KHR_shader_draw_parameters")?;
            }
            let base = editor.variable(variable.word(1), StorageClass::Input)?;
            editor.decorate(base, Decoration::BuiltIn, &[BuiltIn::BaseInstance as u32])?;
            base
        }
    };
    Ok(Instance { variable: id, base, ty: pointer.word(3) })
}

fn is_id(builtin: u32) -> bool {
    builtin == BuiltIn::VertexId as u32 || builtin == BuiltIn::InstanceId as u32
}

fn is_coordinate(builtin: u32) -> bool {
    builtin == BuiltIn::FragCoord as u32 || builtin == BuiltIn::PointCoord as u32
}

fn is_of_interest(builtin: u32) -> bool {
    const OTHERS: [BuiltIn; 3] = [BuiltIn::VertexIndex, BuiltIn::InstanceIndex, BuiltIn::BaseInstance];
    is_id(builtin) || is_coordinate(builtin) || OTHERS.iter().any(|other| *other as u32 == builtin)
}

/// Whether a variable is an image, a sampler, or an array of them: what else is in no block and constant is a uniform of OpenGL's.
fn is_opaque(module: &Module<'_>, variable: &Instruction<'_>) -> bool {
    let mut ty = module.definition(variable.word(1)).map_or(0, |pointer| pointer.word(3));
    // Deeper than any shader's arrays of arrays.
    for _ in 0..16 {
        let Some(definition) = module.definition(ty) else { return false };
        match definition.opcode() {
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => ty = definition.word(2),
            opcode => {
                let opaque = [spirv::Op::TypeImage, spirv::Op::TypeSampler, spirv::Op::TypeSampledImage];
                return opaque.iter().any(|it| *it as u32 == opcode);
            }
        }
    }
    false
}
