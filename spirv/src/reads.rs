//! Which descriptors of images an entry point reads, and what the shader declares of them.

use spirv::{Decoration, Dim};

use crate::error::{Error, push};
use crate::links::{ImageType, image_type, order};
use crate::map::{Map, put};
use crate::module::{Instruction, Module};
use crate::op;

/// A binding of images that are read, but not stored to: sampled images and input attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageRead {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
    /// What the shader declares of the image.
    pub ty: ImageType,
}

impl Module<'_> {
    /// The images that the entry point `name` for an execution model (a number of [`spirv::ExecutionModel`]) reads, one for each variable that
    /// a function names which it reaches. Branches that are never taken count. Texel buffers do not.
    ///
    /// # Errors
    ///
    /// [`Error::NoEntryPoint`], [`Error::Recursion`], [`Error::Memory`].
    pub fn images_read(&self, name: &str, model: u32) -> Result<Vec<ImageRead>, Error> {
        let entry = self.entry(name, model).ok_or(Error::NoEntryPoint)?;
        let mut variables = self.variables_of_images()?;
        let mut reads = Vec::new();
        if variables.is_empty() {
            return Ok(reads);
        }
        for number in order(self, entry)? {
            let Some(function) = self.functions().get(number) else { continue };
            for instruction in self.instructions(function.at, function.end) {
                for id in named(&instruction) {
                    let Some(ty) = variables.remove(id) else { continue };
                    let of = |decoration| self.decoration(*id, decoration);
                    let at = of(Decoration::DescriptorSet).zip(of(Decoration::Binding));
                    if let Some((set, binding)) = at {
                        push(&mut reads, ImageRead { set, binding, ty })?;
                    }
                }
            }
        }
        Ok(reads)
    }

    /// Variables of images that are read, and of arrays of them.
    fn variables_of_images(&self) -> Result<Map<ImageType>, Error> {
        let (mut types, mut variables) = (Map::default(), Map::default());
        for instruction in self.instructions(self.sections.annotations, self.sections.globals) {
            let of = |n: usize, types: &Map<ImageType>| types.get(&instruction.word(n)).copied();
            let ty = match instruction.opcode() {
                op::TYPE_IMAGE if is_read(&instruction) => image_type(self, instruction.word(1)),
                op::TYPE_SAMPLED_IMAGE | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => of(2, &types),
                op::TYPE_POINTER => of(3, &types),
                op::VARIABLE => {
                    if let Some(ty) = of(1, &types) {
                        put(&mut variables, instruction.word(2), ty)?;
                    }
                    None
                }
                _ => None,
            };
            if let Some(ty) = ty {
                put(&mut types, instruction.word(1), ty)?;
            }
        }
        Ok(variables)
    }
}

/// Whether an `OpTypeImage` is of images that a descriptor of a sampled image or an input attachment shows.
fn is_read(ty: &Instruction<'_>) -> bool {
    ty.word(3) == Dim::DimSubpassData as u32 || ty.word(3) != Dim::DimBuffer as u32 && ty.word(7) == 1
}

/// The ids that an instruction may name a variable by.
fn named<'w>(instruction: &Instruction<'w>) -> &'w [u32] {
    let first = match instruction.opcode() {
        op::LOAD | op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::COPY_OBJECT => 3..4,
        op::FUNCTION_CALL => 4..instruction.words.len(),
        _ => 0..0,
    };
    instruction.words.get(first).unwrap_or_default()
}
