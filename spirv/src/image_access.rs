//! The pass `image_access`: what storage images declare about how they are read and written.
//!
//! *Access*: without `StorageImageReadWithoutFormat` a variable without a format must not be read and has to say so
//! (VUID-RuntimeSpirv-OpTypeImage-06270, -06269 for writing); compilers declare the capability for images that are only written, or
//! for none at all. *Relax*: HLSL has no formats, so its compilers declare one by the type of a texel, and with a view of any other
//! format texels are undefined; without a format they are those of the view. Where view and shader agree that changes nothing.
//!
//! A variable is followed through loads, access chains, copies, choices and calls to the instructions that read or write. What
//! goes anywhere else counts as both.

mod assign;
pub(crate) mod retype;

pub use self::assign::{Formats, assign};

use spirv::{Capability, Decoration, Dim, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, push};
use crate::ids;
use crate::map::{Map, put};
use crate::module::{Instruction, Module, sort};
use crate::op::{self, Result as Defines};
use crate::outcome::{PassChange, Rewrite, Why};
use crate::scan::{Scan, scan};

/// What the device can do, and whether formats are relaxed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whether shaders may read storage images without a format.
    pub read: bool,
    /// Whether shaders may write storage images without a format.
    pub write: bool,
    /// Whether both capabilities may be declared whatever the device can do (Vulkan 1.3, `VK_KHR_format_feature_flags2`), so that
    /// access stays as it is declared.
    pub may_declare: bool,
    /// Whether formats that compilers of HLSL and Slang made up become Unknown.
    pub relax: bool,
}

const READ: u8 = 1;
const WRITTEN: u8 = 2;
/// Under `OpImageTexelPointer`.
const ATOMIC: u8 = 4;
/// Somewhere that is not followed.
const ESCAPED: u8 = 8;

/// Formats that stand for a type of texels, by their numbers: Rgba32f, Rg32f, R32f, and the same of i and ui.
const MADE_UP: [u32; 9] = [1, 6, 3, 21, 25, 24, 30, 35, 33];

/// The number of the format Unknown.
const UNKNOWN: u32 = 0;

/// A variable that is a storage image, a storage texel buffer, or an array of them.
struct Variable {
    id: u32,
    /// The id of its image type.
    image: u32,
    /// What is done with it.
    uses: u8,
}

/// Corrects declarations of access and relaxes formats.
///
/// # Errors
///
/// Why the module as a whole is left as it was; of single variables the result says it.
#[inline(never)]
pub fn image_access(module: &Module<'_>, options: &Options) -> Result<Rewrite, Why> {
    let formatless = [
        (Capability::StorageImageReadWithoutFormat, options.read),
        (Capability::StorageImageWriteWithoutFormat, options.write),
    ];
    let images = Images::find(module)?;
    let unfounded =
        !options.may_declare && formatless.iter().any(|(capability, can)| !can && module.declares(*capability));
    let relax = options.relax && scan(module.words()).contains(Scan::HLSL);
    if !unfounded && !images.are_of_interest(options, relax) {
        return Ok(Rewrite::default());
    }
    if module.declares(Capability::Kernel) {
        return Err(Why::Kernel);
    }
    if images.untyped {
        return Err(Why::Untyped);
    }
    let variables = images.variables(module)?;
    let mut pass = AccessEdit {
        editor: Editor::new(module),
        module,
        images: &images,
        variables: &variables,
        changes: Vec::new(),
        left: Vec::new(),
        relaxed: Map::default(),
    };
    if relax {
        pass.relax(options)?;
    }
    if !options.may_declare {
        pass.access(options)?;
    }
    if pass.changes.is_empty() {
        return Ok(Rewrite { left: pass.left, ..Rewrite::default() });
    }
    retype::retype(&mut pass.editor, module, &pass.relaxed, None)?;
    Ok(Rewrite { words: Some(pass.editor.finish()?), changes: pass.changes, left: pass.left })
}

/// A storage image, or a storage texel buffer, that a shader reads or writes without saying of which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formatless {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
    /// The dimension, as `OpTypeImage` has it.
    pub dim: u32,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether its texels are integers, and whether these have a sign.
    pub integer: Option<bool>,
}

/// The images that a module reads or writes without a format.
///
/// # Errors
///
/// [`Error::Memory`].
#[inline(never)]
pub fn formatless(module: &Module<'_>) -> Result<Vec<Formatless>, Error> {
    let images = Images::find(module)?;
    let mut found = Vec::new();
    if !images.formats.values().any(|format| *format == UNKNOWN) {
        return Ok(found);
    }
    for variable in images.variables(module)? {
        if images.format(variable.image) != UNKNOWN || variable.uses == 0 {
            continue;
        }
        let Some(image) = module.definition(variable.image) else { continue };
        let texel = module.defined(image.word(2), op::TYPE_INT);
        let (set, binding) = module.descriptor(variable.id);
        let one = Formatless {
            set,
            binding,
            dim: image.word(3),
            arrayed: image.word(5) == 1,
            integer: texel.map(|texel| texel.word(3) == 1),
        };
        push(&mut found, one)?;
    }
    Ok(found)
}

/// Types and variables of storage images.
#[derive(Default)]
pub(crate) struct Images {
    /// Image types: their formats.
    formats: Map<u32>,
    /// Types of images, of pointers to them and of arrays of them: the id of the image type.
    pub(crate) bases: Map<u32>,
    /// Variables and their image types.
    pub(crate) variables: Vec<(u32, u32)>,
    /// Whether images are members of structures, which are not followed.
    in_structures: bool,
    /// Whether pointers without a type may lead to images.
    pub(crate) untyped: bool,
}

impl Images {
    #[inline(never)]
    pub(crate) fn find(module: &Module<'_>) -> Result<Images, Error> {
        let mut images = Images::default();
        for instruction in module.instructions(module.sections.annotations, module.sections.globals) {
            let base = |n: usize| images.bases.get(&instruction.word(n)).copied();
            let base = match instruction.opcode() {
                op::TYPE_IMAGE if instruction.word(7) == 2 && !is_attachment(instruction.word(3)) => {
                    put(&mut images.formats, instruction.word(1), instruction.word(8))?;
                    Some(instruction.word(1))
                }
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => base(2),
                op::TYPE_POINTER => base(3),
                op::TYPE_STRUCT => {
                    let mut members = instruction.words.iter().skip(2);
                    images.in_structures |= members.any(|member| images.bases.contains_key(member));
                    None
                }
                op::TYPE_UNTYPED_POINTER_KHR => {
                    images.untyped |= instruction.word(2) == StorageClass::UniformConstant as u32;
                    None
                }
                op::VARIABLE => {
                    if let Some(base) = base(1) {
                        push(&mut images.variables, (instruction.word(2), base))?;
                    }
                    None
                }
                _ => None,
            };
            if let Some(base) = base {
                put(&mut images.bases, instruction.word(1), base)?;
            }
        }
        Ok(images)
    }

    fn format(&self, image: u32) -> u32 {
        self.formats.get(&image).copied().unwrap_or(UNKNOWN)
    }

    /// Whether anything could be done about the types, before any use is looked at.
    fn are_of_interest(&self, options: &Options, relax: bool) -> bool {
        let unknown = !(options.may_declare || options.read && options.write);
        let interesting = |format: &u32| unknown && *format == UNKNOWN || relax && MADE_UP.contains(format);
        !self.variables.is_empty() && self.formats.values().any(interesting)
    }

    /// The variables with what is done with them.
    #[inline(never)]
    fn variables(&self, module: &Module<'_>) -> Result<Vec<Variable>, Error> {
        let mut flow = Flow { images: self, module, seen: Map::default(), edges: Vec::new(), open: Vec::new() };
        for (id, _) in &self.variables {
            put(&mut flow.seen, *id, 0)?;
        }
        for instruction in module.instructions(module.sections.globals, module.words().len()) {
            flow.instruction(&instruction)?;
        }
        flow.propagate()?;
        let mut variables = Vec::new();
        for (id, image) in &self.variables {
            let uses = flow.seen.get(id).copied().unwrap_or(0);
            let uses = if self.in_structures { uses | READ | WRITTEN | ESCAPED } else { uses };
            push(&mut variables, Variable { id: *id, image: *image, uses })?;
        }
        Ok(variables)
    }
}

/// Whether images of this dimension belong to the framebuffer.
fn is_attachment(dim: u32) -> bool {
    dim == Dim::DimSubpassData as u32 || dim == Dim::DimTileImageDataEXT as u32
}

/// What is done with images, by id, and from where they come.
struct Flow<'a, 'w> {
    images: &'a Images,
    module: &'a Module<'w>,
    seen: Map<u8>,
    /// What an id comes from.
    edges: Vec<(u32, u32)>,
    open: Vec<u32>,
}

impl<'w> Flow<'_, 'w> {
    fn instruction(&mut self, instruction: &Instruction<'w>) -> Result<(), Error> {
        let opcode = instruction.opcode();
        let word = |n: usize| instruction.word(n);
        let makes = op::result(opcode) == Defines::Typed && self.images.bases.contains_key(&word(1));
        if makes {
            put(&mut self.seen, word(2), 0)?;
        }
        match opcode {
            op::LOAD
            | op::COPY_OBJECT
            | op::COPY_LOGICAL
            | op::ACCESS_CHAIN
            | op::IN_BOUNDS_ACCESS_CHAIN
            | op::COMPOSITE_EXTRACT
                if makes =>
            {
                push(&mut self.edges, (word(2), word(3)))
            }
            op::SELECT | op::PHI if makes => {
                let (first, every) = if opcode == op::PHI { (3, 2) } else { (4, 1) };
                for value in instruction.words.iter().skip(first).step_by(every) {
                    push(&mut self.edges, (word(2), *value))?;
                }
                Ok(())
            }
            op::FUNCTION_PARAMETER => Ok(()),
            op::FUNCTION_CALL => {
                if makes {
                    // What is returned is not followed; where it is returned it counts as used in every way.
                    self.mark(word(2), READ | WRITTEN | ESCAPED)?;
                }
                let index = self.module.function(word(3));
                let callee = index.and_then(|index| self.module.functions().get(index));
                let mut parameters = callee.into_iter().flat_map(|callee| self.module.parameters(callee));
                for argument in instruction.words.get(4..).unwrap_or_default() {
                    let parameter = parameters.next();
                    if !self.seen.contains_key(argument) {
                        continue;
                    }
                    match parameter {
                        Some(parameter) => push(&mut self.edges, (parameter.word(2), *argument))?,
                        None => self.mark(*argument, READ | WRITTEN | ESCAPED)?,
                    }
                }
                Ok(())
            }
            op::IMAGE_READ | op::IMAGE_SPARSE_READ => self.mark(word(3), READ),
            op::IMAGE_WRITE => self.mark(word(1), WRITTEN),
            op::IMAGE_TEXEL_POINTER => self.mark(word(3), READ | WRITTEN | ATOMIC),
            op::IMAGE_QUERY_FORMAT..=op::IMAGE_QUERY_SAMPLES => Ok(()),
            _ => {
                for operand in ids::operands(instruction) {
                    self.mark(operand, READ | WRITTEN | ESCAPED)?;
                }
                Ok(())
            }
        }
    }

    /// Notes uses of an id, if it is an image or leads to one.
    fn mark(&mut self, id: u32, uses: u8) -> Result<(), Error> {
        match self.seen.get_mut(&id) {
            Some(seen) if *seen | uses != *seen => {
                *seen |= uses;
                push(&mut self.open, id)
            }
            _ => Ok(()),
        }
    }

    /// What is done with something is done with what it comes from.
    fn propagate(&mut self) -> Result<(), Error> {
        sort(&mut self.edges);
        while let Some(id) = self.open.pop() {
            let uses = self.seen.get(&id).copied().unwrap_or(0);
            let mut at = self.edges.partition_point(|(derived, _)| *derived < id);
            while let Some((_, from)) = self.edges.get(at).copied().filter(|(derived, _)| *derived == id) {
                self.mark(from, uses)?;
                at += 1;
            }
        }
        Ok(())
    }
}

struct AccessEdit<'a, 'm, 'w> {
    editor: Editor<'m, 'w>,
    module: &'m Module<'w>,
    images: &'a Images,
    variables: &'a [Variable],
    changes: Vec<PassChange>,
    left: Vec<Why>,
    /// Image types whose format becomes Unknown.
    relaxed: Map<u32>,
}

impl AccessEdit<'_, '_, '_> {
    /// Finds the types whose format goes: all variables of a type have to allow it, since they share it.
    fn relax(&mut self, options: &Options) -> Result<(), Error> {
        let mut uses: Map<u8> = Map::default();
        for variable in self.variables {
            let seen = uses.get(&variable.image).copied().unwrap_or(0);
            put(&mut uses, variable.image, seen | variable.uses)?;
        }
        let mut needed = 0;
        for variable in self.variables {
            let format = self.images.format(variable.image);
            if !MADE_UP.contains(&format) {
                continue;
            }
            let (set, binding) = self.module.descriptor(variable.id);
            let uses = uses.get(&variable.image).copied().unwrap_or(0);
            let why = match () {
                () if uses & ESCAPED != 0 => Why::Escapes { set, binding },
                () if uses & ATOMIC != 0 => Why::Atomics { set, binding },
                () if uses & READ != 0 && !options.read => Why::FormatlessRead { set, binding },
                () if uses & WRITTEN != 0 && !options.write => Why::FormatlessWrite { set, binding },
                () => {
                    needed |= uses;
                    put(&mut self.relaxed, variable.image, UNKNOWN)?;
                    push(&mut self.changes, PassChange::FormatRelaxed { set, binding, format })?;
                    continue;
                }
            };
            push(&mut self.left, why)?;
        }
        for (mask, capability) in
            [(READ, Capability::StorageImageReadWithoutFormat), (WRITTEN, Capability::StorageImageWriteWithoutFormat)]
        {
            if needed & mask != 0 && !self.module.declares(capability) {
                self.editor.capability(capability)?;
                push(&mut self.changes, PassChange::CapabilityAdded(capability as u32))?;
            }
        }
        Ok(())
    }

    /// Decorates variables without a format with what they are not used for, and drops what was declared for nothing.
    fn access(&mut self, options: &Options) -> Result<(), Error> {
        let kinds = [
            (READ, options.read, Decoration::NonReadable, Capability::StorageImageReadWithoutFormat),
            (WRITTEN, options.write, Decoration::NonWritable, Capability::StorageImageWriteWithoutFormat),
        ];
        for (mask, _, decoration, capability) in kinds.into_iter().filter(|(_, can, ..)| !can) {
            let mut used = false;
            for variable in self.variables {
                let relaxed = self.relaxed.contains_key(&variable.image);
                if self.images.format(variable.image) != UNKNOWN && !relaxed {
                    continue;
                }
                let (set, binding) = self.module.descriptor(variable.id);
                if variable.uses & mask != 0 {
                    used = true;
                    let why = if mask == READ {
                        Why::FormatlessRead { set, binding }
                    } else {
                        Why::FormatlessWrite { set, binding }
                    };
                    push(&mut self.left, why)?;
                } else if self.module.decoration(variable.id, decoration).is_none() {
                    self.editor.decorate(variable.id, decoration, &[])?;
                    let change = if mask == READ {
                        PassChange::NotRead { set, binding }
                    } else {
                        PassChange::NotWritten { set, binding }
                    };
                    push(&mut self.changes, change)?;
                }
            }
            if !used && self.editor.drop_capability(capability)? {
                push(&mut self.changes, PassChange::CapabilityDropped(capability as u32))?;
            }
        }
        Ok(())
    }
}
