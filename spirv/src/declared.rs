//! What an entry point declares of the images that it reads and writes: the type of each variable, beside what is done with it.
//!
//! A view has to suit that type (vkCmdDraw, "Compatibility Between SPIR-V Image Dimensions and Vulkan ImageView Types", "numeric type"),
//! and of a storage image also its format. Variables are followed as [`Module::links`] does it: in a function in terms of its
//! parameters, once, and at each call with what is passed there. Asking for a size reads nothing.

use spirv::{Decoration, Dim};

use crate::error::{Error, filled, push};
use crate::fold::Specialization;
use crate::links::{ImageType, Sampled, argument, image_type, order};
use crate::module::{Function, Instruction, Module};
use crate::op;
use crate::operand::Operand;
use crate::trace::{Base, Term, Tracer};

/// What is done with an image, as a set of the constants here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access(u8);

impl Access {
    /// Texels are read through no sampler (`OpImageRead`), or by an atomic.
    pub const READ: Access = Access(1);
    /// Texels are written, or changed by an atomic.
    pub const WRITTEN: Access = Access(2);
    /// There are atomics (`OpImageTexelPointer`).
    pub const ATOMIC: Access = Access(4);
    /// It is sampled, gathered or fetched.
    pub const SAMPLED: Access = Access(8);

    /// Whether any of `other` is in it.
    pub const fn intersects(self, other: Access) -> bool {
        self.0 & other.0 != 0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// An image, or the images of an array, as an entry point declares and uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The descriptor, or descriptors.
    pub at: Operand,
    /// Dimension, layers, samples and what texels become.
    pub ty: ImageType,
    /// It is a storage image or a storage texel buffer.
    pub is_storage: bool,
    /// The image format, a number of [`spirv::ImageFormat`]; 0 for Unknown and for what is no storage image.
    pub format: u32,
    /// The id of the variable.
    pub variable: u32,
    /// The id of the image type, which other variables may share.
    pub image: u32,
    /// What is done with it.
    pub access: Access,
    /// The line of the first instruction that does, if the module has lines.
    pub line: Option<(String, u32)>,
}

impl Declared {
    /// Whether it is an input attachment.
    pub fn is_attachment(&self) -> bool {
        self.ty.dim == Dim::DimSubpassData as u32
    }

    /// Whether it is a texel buffer.
    pub fn is_buffer(&self) -> bool {
        self.ty.dim == Dim::DimBuffer as u32
    }
}

/// A binding of sampled images or of an input attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageRead {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
    /// Whether texels are integers.
    pub is_integer: bool,
}

/// A use in terms of one function; the instruction is at `at` in function `by`.
#[derive(Clone, Copy)]
struct ImageUse {
    term: Term,
    access: Access,
    by: usize,
    at: usize,
}

/// The image operand of an instruction, and what it does with that.
fn operand(instruction: &Instruction<'_>) -> Option<(u32, Access)> {
    Some(match instruction.opcode() {
        op::IMAGE_READ | op::IMAGE_SPARSE_READ => (instruction.word(3), Access::READ),
        op::IMAGE_WRITE => (instruction.word(1), Access::WRITTEN),
        op::IMAGE_TEXEL_POINTER => (instruction.word(3), Access::READ.with(Access::WRITTEN).with(Access::ATOMIC)),
        op::IMAGE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_DREF_GATHER
        | op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SPARSE_DREF_GATHER => (instruction.word(3), Access::SAMPLED),
        _ => return None,
    })
}

/// Adds a use of a parameter to those of its function.
fn add(own: &mut Vec<ImageUse>, one: &ImageUse) -> Result<(), Error> {
    let count = own.len();
    match own.iter_mut().find(|known| known.term == one.term) {
        Some(known) => known.access = known.access.with(one.access),
        None if count < Module::LINKS => push(own, *one)?,
        None => return Err(Error::TooManyLinks),
    }
    Ok(())
}

/// Whether an `OpTypeImage` is one of sampled images or of input attachments.
fn is_read(image: &Instruction<'_>, ty: &ImageType) -> bool {
    ty.dim == Dim::DimSubpassData as u32 || ty.dim != Dim::DimBuffer as u32 && image.word(7) == 1
}

impl Module<'_> {
    /// The images that the entry point `name` reads or writes, each type, descriptor and index once. What is chosen between several
    /// counts as each of them, and what comes from no variable with a set and a binding is left out.
    ///
    /// # Errors
    ///
    /// Those of [`Module::links`].
    pub fn declared(
        &self,
        name: &str,
        model: u32,
        specialization: Option<&Specialization<'_>>,
    ) -> Result<Vec<Declared>, Error> {
        let mut found = Vec::new();
        let mut globals = self.instructions(self.sections.annotations, self.sections.globals);
        if !globals.any(|it| it.opcode() == op::TYPE_IMAGE) {
            return Ok(found);
        }
        let entry = self.entry(name, model).ok_or(Error::NoEntryPoint)?;
        let mut tracer = Tracer::new(self, specialization);
        let mut open: Vec<Vec<ImageUse>> = filled(self.functions().len(), Vec::new())?;
        let (mut terms, mut uses) = (Vec::new(), Vec::new());
        // Callees first.
        for number in order(self, entry)? {
            let Some(function) = self.functions().get(number) else { continue };
            uses.clear();
            for instruction in self.instructions(function.at, function.end) {
                if let Some((image, access)) = operand(&instruction) {
                    terms.clear();
                    tracer.terms(function, image, &mut terms)?;
                    for term in &terms {
                        push(&mut uses, ImageUse { term: *term, access, by: number, at: instruction.at })?;
                    }
                } else if instruction.opcode() == op::FUNCTION_CALL {
                    let callee = self.function(instruction.word(3)).and_then(|callee| open.get(callee));
                    for one in callee.into_iter().flatten() {
                        argument(&mut tracer, function, &instruction, one.term, &mut terms)?;
                        for term in &terms {
                            push(&mut uses, ImageUse { term: *term, ..*one })?;
                        }
                    }
                }
            }
            let mut own: Vec<ImageUse> = Vec::new();
            for one in &uses {
                tracer.step(1 + own.len())?;
                match one.term.base {
                    Base::Variable(variable) => self.declare(&mut tracer, variable, one, &mut found)?,
                    Base::Parameter(_) => add(&mut own, one)?,
                    Base::Unknown => {}
                }
            }
            if let Some(place) = open.get_mut(number) {
                *place = own;
            }
        }
        Ok(found)
    }

    /// The bindings of sampled images and of input attachments: those that the entry point `name` reads as integers, and those that the module
    /// declares as floats, whoever reads them. Almost no module has integers, and then no use is looked at.
    ///
    /// # Errors
    ///
    /// Those of [`Module::links`].
    pub fn images_read(
        &self,
        name: &str,
        model: u32,
        specialization: Option<&Specialization<'_>>,
    ) -> Result<Vec<ImageRead>, Error> {
        let mut reads: Vec<ImageRead> = Vec::new();
        let mut add = |read: ImageRead| if reads.contains(&read) { Ok(()) } else { push(&mut reads, read) };
        let mut has_integers = false;
        for variable in self.instructions(self.sections.annotations, self.sections.globals) {
            if variable.opcode() != op::VARIABLE {
                continue;
            }
            let id = variable.word(2);
            let Some((_, ty)) = self.image_of(id).filter(|(image, ty)| is_read(image, ty)) else { continue };
            let at = self.decoration(id, Decoration::DescriptorSet).zip(self.decoration(id, Decoration::Binding));
            let Some((set, binding)) = at else { continue };
            if ty.sampled == Sampled::Float {
                add(ImageRead { set, binding, is_integer: false })?;
            } else {
                has_integers = true;
            }
        }
        let found = if has_integers { self.declared(name, model, specialization)? } else { Vec::new() };
        for one in found.iter().filter(|one| !one.is_storage && !one.is_buffer() && one.ty.sampled != Sampled::Float) {
            add(ImageRead { set: one.at.set, binding: one.at.binding, is_integer: true })?;
        }
        Ok(reads)
    }

    /// Adds a use of a variable.
    fn declare(
        &self,
        tracer: &mut Tracer<'_, '_>,
        variable: u32,
        one: &ImageUse,
        found: &mut Vec<Declared>,
    ) -> Result<(), Error> {
        let Some((image, ty)) = self.image_of(variable) else { return Ok(()) };
        let Some(at) = tracer.operand(one.term) else { return Ok(()) };
        let is_attachment = ty.dim == Dim::DimSubpassData as u32 || ty.dim == Dim::DimTileImageDataEXT as u32;
        let is_storage = image.word(7) == 2 && !is_attachment;
        let format = if is_storage { image.word(8) } else { 0 };
        tracer.step(1 + found.len())?;
        let same = |other: &&mut Declared| (other.at, other.variable) == (at, variable);
        if let Some(other) = found.iter_mut().find(same) {
            other.access = other.access.with(one.access);
            return Ok(());
        }
        if found.len() >= Self::LINKS {
            return Err(Error::TooManyLinks);
        }
        let function: Option<&Function> = self.functions().get(one.by);
        let line = function.and_then(|function| self.line_at(function, one.at));
        let image = image.word(1);
        push(found, Declared { at, ty, is_storage, format, variable, image, access: one.access, line })
    }

    /// The image type of a variable that is an image or a sampled image, or an array of them.
    pub(crate) fn image_of(&self, variable: u32) -> Option<(Instruction<'_>, ImageType)> {
        let variable = self.defined(variable, op::VARIABLE)?;
        let mut ty = self.defined(variable.word(1), op::TYPE_POINTER)?.word(3);
        // No array of arrays is a descriptor in Vulkan, but a bound all the same.
        for _ in 0..4 {
            let of = self.definition(ty)?;
            match of.opcode() {
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY | op::TYPE_SAMPLED_IMAGE => ty = of.word(2),
                op::TYPE_IMAGE => return Some((of, image_type(self, ty)?)),
                _ => return None,
            }
        }
        None
    }
}
