//! The pass `sample_builtins`: fragment shaders that need the feature `sampleRateShading` do without it.
//!
//! With one sample nothing changes: the sample's number is 0, its position the centre, and all ways to interpolate an input give the
//! value there. With more samples the shader runs once for each pixel instead of once for each sample, which is a loss that the
//! caller has to tell.

use spirv::{BuiltIn, Capability, Decoration, ExecutionModel, Op, StorageClass};

use crate::edit::{Editor, assemble};
use crate::error::{Error, extend, push};
use crate::ids;
use crate::map::{Map, put};
use crate::module::{EntryPoint, Instruction, Module};
use crate::op;
use crate::outcome::{PassChange, Rewrite, Why};

/// Instructions of GLSL.std.450 that interpolate; that at a sample is between them.
const AT_CENTROID: u32 = 76;
const AT_OFFSET: u32 = 78;

/// Pointers into the variables of builtins that have changed: the variable, and whether what is pointed to is a component.
#[derive(Clone, Copy)]
struct Pointer {
    component: bool,
}

/// Rewrites a module so that it needs neither `SampleRateShading` nor `InterpolationFunction`.
///
/// # Errors
///
/// What of it cannot be rewritten; nothing is changed then.
pub fn sample_builtins(module: &Module<'_>) -> Result<Rewrite, Why> {
    let mut pass = BuiltinsEdit {
        editor: Editor::new(module),
        module,
        changes: Vec::new(),
        pointers: Map::default(),
        imports: Vec::new(),
        component: 0,
        offsets: 0,
        diverging: 0,
        interpolated: 0,
        blocks: 0,
        top: None,
    };
    pass.annotations()?;
    pass.variables()?;
    if module.declares(Capability::InterpolationFunction) || !pass.pointers.is_empty() {
        pass.functions()?;
    }
    for capability in [Capability::SampleRateShading, Capability::InterpolationFunction] {
        if pass.editor.drop_capability(capability)? {
            push(&mut pass.changes, PassChange::CapabilityDropped(capability as u32))?;
        }
    }
    if pass.changes.is_empty() {
        return Ok(Rewrite::default());
    }
    if module.declares(Capability::Kernel) {
        return Err(Why::Kernel);
    }
    // It declares `SampleRateShading` without saying so, and the coverage that it overrides is one of samples.
    if module.declares(Capability::SampleMaskOverrideCoverageNV) {
        return Err(Why::Capability(Capability::SampleMaskOverrideCoverageNV as u32));
    }
    Ok(Rewrite { words: Some(pass.editor.finish()?), changes: pass.changes, left: Vec::new() })
}

struct BuiltinsEdit<'m, 'w> {
    editor: Editor<'m, 'w>,
    module: &'m Module<'w>,
    changes: Vec<PassChange>,
    /// Builtins that became variables of the shader's own, and pointers into them.
    pointers: Map<Pointer>,
    /// Ids of the import of GLSL.std.450.
    imports: Vec<u32>,
    /// The type of a pointer to a component of the position.
    component: u32,
    offsets: u32,
    diverging: u32,
    interpolated: u32,
    /// How many blocks of a function have begun.
    blocks: u32,
    /// Where its first instruction is that is no variable, if it is that of a fragment entry point.
    top: Option<usize>,
}

impl<'w> BuiltinsEdit<'_, 'w> {
    fn all_annotations(&self) -> impl Iterator<Item = Instruction<'w>> + use<'w> {
        self.module.instructions(self.module.sections.imports, self.module.sections.annotations)
    }

    fn annotations(&mut self) -> Result<(), Why> {
        let (mut samples, mut masks) = (0, false);
        for instruction in self.all_annotations() {
            let (decoration, builtin) = match instruction.opcode() {
                op::DECORATE => (instruction.word(2), instruction.word(3)),
                op::MEMBER_DECORATE => (instruction.word(3), instruction.word(4)),
                _ => continue,
            };
            if decoration == Decoration::Sample as u32 {
                self.editor.remove(&instruction)?;
                samples += 1;
            }
            let id = instruction.word(1);
            if decoration == Decoration::BuiltIn as u32 && builtin == BuiltIn::SampleMask as u32 {
                let class = self.module.definition(id).map_or(0, |variable| variable.word(3));
                masks |= class == StorageClass::Output as u32;
            }
            if decoration != Decoration::BuiltIn as u32 || !is_of_a_sample(builtin) {
                continue;
            }
            match self.module.definition(id) {
                Some(variable) if instruction.opcode() == op::DECORATE && is_input(&variable) => {
                    put(&mut self.pointers, id, Pointer { component: false })?;
                    self.editor.remove(&instruction)?;
                    push(&mut self.changes, PassChange::BuiltInConstant(builtin))?;
                }
                Some(group) if group.opcode() == op::DECORATION_GROUP => return Err(Why::Group),
                _ => return Err(Why::Opcode(instruction.opcode())),
            }
        }
        if samples != 0 {
            push(&mut self.changes, PassChange::SampleDropped(samples))?;
        }
        if masks && !self.changes.is_empty() {
            push(&mut self.changes, PassChange::MaskOfPixels)?;
        }
        if self.pointers.is_empty() {
            return Ok(());
        }
        // Ways to interpolate are for inputs (VUID-StandaloneSpirv-Flat-04670).
        const INTERPOLATION: [Decoration; 3] = [Decoration::Flat, Decoration::NoPerspective, Decoration::Centroid];
        for instruction in self.all_annotations() {
            match instruction.opcode() {
                op::DECORATE
                    if self.pointers.contains_key(&instruction.word(1))
                        && INTERPOLATION.iter().any(|it| *it as u32 == instruction.word(2)) =>
                {
                    self.editor.remove(&instruction)?;
                }
                op::GROUP_DECORATE if instruction.words.iter().skip(2).any(|id| self.pointers.contains_key(id)) => {
                    return Err(Why::Group);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes the variables of builtins the shader's own. They move behind all types, and what names them there moves with them.
    fn variables(&mut self) -> Result<(), Why> {
        if self.pointers.is_empty() {
            return Ok(());
        }
        for instruction in self.module.instructions(self.module.sections.annotations, self.module.sections.globals) {
            if instruction.opcode() == op::VARIABLE && self.pointers.contains_key(&instruction.word(2)) {
                self.variable(&instruction)?;
                continue;
            }
            if ids::operands(&instruction).any(|id| self.pointers.contains_key(&id)) {
                if instruction.opcode() != op::EXT_INST {
                    return Err(Why::Opcode(instruction.opcode()));
                }
                self.editor.move_behind(&instruction, instruction.words)?;
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &Instruction<'w>) -> Result<(), Why> {
        let (module, id) = (self.module, variable.word(2));
        let builtin = module.decoration(id, Decoration::BuiltIn).unwrap_or(0);
        let wrong = Why::BuiltInType(builtin);
        let ty = module.definition(variable.word(1)).ok_or(wrong)?.word(3);
        let of = module.definition(ty).ok_or(wrong)?;
        let initializer = match of.opcode() {
            op::TYPE_INT if is_id(builtin) && of.word(2) == 32 => self.editor.constant(ty, &[0])?,
            op::TYPE_VECTOR if !is_id(builtin) && of.word(3) == 2 && is_float(module, of.word(2)) => {
                let half = self.editor.constant(of.word(2), &[0.5f32.to_bits()])?;
                let class = StorageClass::Private as u32;
                self.component = self.editor.ty(Op::TypePointer, &[class, of.word(2)])?;
                self.editor.composite(ty, &[half, half])?
            }
            _ => return Err(wrong),
        };
        let class = StorageClass::Private as u32;
        let pointer = self.editor.ty(Op::TypePointer, &[class, ty])?;
        let mut words = Vec::new();
        assemble(&mut words, Op::Variable, &[pointer, id, class, initializer])?;
        self.editor.move_behind(variable, &words)?;
        // From SPIR-V 1.4 on interfaces list all variables, before that inputs and outputs only.
        if module.version() < 0x0001_0400 {
            self.editor.unlist(id)?;
        }
        Ok(())
    }

    fn functions(&mut self) -> Result<(), Why> {
        let module = self.module;
        // "GLSL.std.450", and the zero behind it; what follows that in its word is nobody's.
        const NAME: [u32; 3] = [0x4c53_4c47, 0x6474_732e, 0x3035_342e];
        for import in module.instructions(Module::HEADER, module.sections.imports) {
            if import.opcode() == op::EXT_INST_IMPORT
                && import.words.get(2..5) == Some(&NAME)
                && import.word(5) & 0xff == 0
            {
                push(&mut self.imports, import.word(1))?;
            }
        }
        for instruction in module.instructions(module.sections.globals, module.words().len()) {
            self.place(&instruction);
            if instruction.opcode() == op::EXT_INST
                && matches!(instruction.word(4), AT_CENTROID..=AT_OFFSET)
                && self.imports.contains(&instruction.word(3))
            {
                self.interpolation(&instruction)?;
                continue;
            }
            if self.pointers.is_empty() || !ids::operands(&instruction).any(|id| self.pointers.contains_key(&id)) {
                continue;
            }
            let source = self.pointers.get(&instruction.word(3)).copied();
            match (instruction.opcode(), source) {
                (op::LOAD, _) => {}
                (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::COPY_OBJECT, Some(source)) => {
                    self.pointer(&instruction, source)?;
                }
                (op::FUNCTION_CALL, _) => return Err(Why::Passed),
                (op::SELECT | op::PHI, _) => return Err(Why::Selected),
                (opcode, _) => return Err(Why::Opcode(opcode)),
            }
        }
        if self.interpolated + self.offsets != 0 {
            push(
                &mut self.changes,
                PassChange::Interpolation {
                    at_the_centre: self.interpolated,
                    at_offsets: self.offsets,
                    diverging: self.diverging,
                },
            )?;
        }
        Ok(())
    }

    /// Follows where an instruction stands.
    #[inline(never)]
    fn place(&mut self, instruction: &Instruction<'_>) {
        let behind = instruction.at + instruction.words.len();
        match instruction.opcode() {
            op::FUNCTION => {
                let is_its = |it: EntryPoint<'_>| {
                    it.model() == ExecutionModel::Fragment as u32 && it.function() == instruction.word(2)
                };
                (self.top, self.blocks) = (self.module.entry_points().any(is_its).then_some(behind), 0);
            }
            op::LABEL => self.blocks += 1,
            op::VARIABLE => {}
            _ => return,
        }
        if self.blocks < 2 && self.top.is_some() {
            self.top = Some(behind);
        }
    }

    /// The input where derivatives of it are defined whatever neighbours do: at the begin of the entry point's function. A chain to it
    /// comes along; none if that is not known there.
    #[inline(never)]
    fn hoisted(&mut self, input: u32, ahead: &mut Vec<u32>) -> Result<Option<u32>, Error> {
        let module = self.module;
        let is = |id: u32, opcode| module.definition(id).is_some_and(|it| it.opcode() == opcode);
        if is(input, op::VARIABLE) {
            return Ok(Some(input));
        }
        let is_plain = |chain: &Instruction<'_>| {
            let mut indices = chain.words.iter().skip(4);
            chain.opcode() == op::ACCESS_CHAIN
                && is(chain.word(3), op::VARIABLE)
                && indices.all(|id| is(*id, op::CONSTANT))
        };
        let Some(chain) = module.definition(input).filter(is_plain) else { return Ok(None) };
        extend(ahead, chain.words)?;
        let id = self.editor.id()?;
        if let Some(word) = ahead.get_mut(2) {
            *word = id;
        }
        Ok(Some(id))
    }

    /// A pointer into what was a builtin, which gets the type that goes with its new storage class.
    fn pointer(&mut self, chain: &Instruction<'w>, source: Pointer) -> Result<(), Why> {
        let indices = if chain.opcode() == op::COPY_OBJECT { 0 } else { chain.words.len().saturating_sub(4) };
        let component = match (indices, source.component) {
            (0, component) => component,
            (1, false) if self.component != 0 => true,
            _ => return Err(Why::Opcode(chain.opcode())),
        };
        let ty = if component {
            self.component
        } else {
            let pointee = self.module.definition(chain.word(1)).map_or(0, |pointer| pointer.word(3));
            self.editor.ty(Op::TypePointer, &[StorageClass::Private as u32, pointee])?
        };
        self.editor.set(chain, 1, ty)?;
        put(&mut self.pointers, chain.word(2), Pointer { component })?;
        Ok(())
    }

    /// An input that is interpolated somewhere: read as it is everywhere.
    fn interpolation(&mut self, instruction: &Instruction<'w>) -> Result<(), Why> {
        let (module, wrong) = (self.module, Why::Opcode(op::EXT_INST));
        let (ty, id, input) = (instruction.word(1), instruction.word(2), instruction.word(5));
        let pointer = module.defined(module.type_of(input), op::TYPE_POINTER);
        let is_input = |it: &Instruction<'_>| it.words.get(2..) == Some(&[StorageClass::Input as u32, ty]);
        if !pointer.is_some_and(|pointer| is_input(&pointer)) || self.pointers.contains_key(&input) {
            return Err(wrong);
        }
        let mut words = Vec::new();
        if instruction.word(4) != AT_OFFSET {
            self.interpolated += 1;
            assemble(&mut words, Op::Load, &[ty, id, input])?;
        } else {
            self.offsets += 1;
            self.offset(&mut words, instruction)?.ok_or(wrong)?;
        }
        Ok(self.editor.replace(instruction.at, instruction.words.len(), &words)?)
    }

    /// The value at the centre and what its derivatives add to it; none if that has no types.
    #[inline(never)]
    fn offset(&mut self, words: &mut Vec<u32>, instruction: &Instruction<'w>) -> Result<Option<()>, Error> {
        let module = self.module;
        let (ty, id) = (instruction.word(1), instruction.word(2));
        let (input, offset) = (instruction.word(5), instruction.word(6));
        let two = module.definition(module.type_of(offset)).filter(|vector| vector.word(3) == 2);
        let float = two.map_or(0, |vector| vector.word(2));
        let of = module.definition(ty);
        let vector = of.is_some_and(|of| of.opcode() == op::TYPE_VECTOR && of.word(2) == float);
        if !is_float(module, float) || !vector && ty != float {
            return Ok(None);
        }
        let scale = if vector { Op::VectorTimesScalar } else { Op::FMul };
        // In the first block of the entry point they are defined as they stand.
        let top = self.top.filter(|_| self.blocks > 1);
        let hoisted = if top.is_some() { self.hoisted(input, words)? } else { None };
        self.diverging += u32::from(hoisted.is_none() && (top.is_some() || self.top.is_none()));
        let centre = self.editor.op(words, Op::Load, ty, &[hoisted.unwrap_or(input)])?;
        let along_x = self.editor.op(words, Op::DPdx, ty, &[centre])?;
        let along_y = self.editor.op(words, Op::DPdy, ty, &[centre])?;
        if let Some(top) = top.filter(|_| hoisted.is_some()) {
            self.editor.insert(top, words)?;
            words.clear();
        }
        let mut along = |component: u32, slope: u32| {
            let by = self.editor.op(words, Op::CompositeExtract, float, &[offset, component])?;
            self.editor.op(words, scale, ty, &[slope, by])
        };
        let (along_x, along_y) = (along(0, along_x)?, along(1, along_y)?);
        let sum = self.editor.op(words, Op::FAdd, ty, &[centre, along_x])?;
        assemble(words, Op::FAdd, &[ty, id, sum, along_y])?;
        Ok(Some(()))
    }
}

fn is_id(builtin: u32) -> bool {
    builtin == BuiltIn::SampleId as u32
}

fn is_of_a_sample(builtin: u32) -> bool {
    is_id(builtin) || builtin == BuiltIn::SamplePosition as u32
}

fn is_input(variable: &Instruction<'_>) -> bool {
    variable.opcode() == op::VARIABLE && variable.word(3) == StorageClass::Input as u32
}

fn is_float(module: &Module<'_>, ty: u32) -> bool {
    module.defined(ty, op::TYPE_FLOAT).is_some_and(|ty| ty.word(2) == 32)
}
