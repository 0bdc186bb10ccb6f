//! The pass `image_formats`: storage images of declared formats become images of unsigned integers, and the shader decodes and encodes.
//!
//! A declared format stands for one layout of bits ("Compatibility Between SPIR-V Image Formats and Vulkan Formats"), so that neither
//! the view nor the draw need be known. Types are changed where they stand, and all that is made of them follows. A texel is read
//! as words and decoded by a function behind the module's own, so that no block is opened; the old result stays the last one.

mod code;
mod codec;

use spirv::{Capability, Dim, ImageOperands, Op};

use self::code::Functions;
pub use self::codec::{CODECS, Channels, Codec, UNNAMED};
use crate::edit::{Editor, assemble};
use crate::error::{Error, copied, extend, push};
use crate::ids;
use crate::image_access::{Images, retype};
use crate::map::{Map, put};
use crate::module::{Instruction, Module};
use crate::op;
use crate::outcome::{PassChange, Rewrite, Why};

/// Which formats shaders do without: bit *n* is the image format of number *n*. What has no [`Codec`] stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Of storage images.
    pub images: u64,
    /// Of storage texel buffers.
    pub buffers: u64,
}

/// Makes unsigned integers of the texels of images whose format the device cannot store.
///
/// # Errors
///
/// Why the module as a whole is left as it was.
#[inline(never)]
pub fn image_formats(module: &Module<'_>, options: &Options) -> Result<Rewrite, Why> {
    let images = Images::find(module)?;
    let lowered = lowered(module, options)?;
    if !images.variables.iter().any(|(_, image)| lowered.contains_key(image)) {
        return Ok(Rewrite::default());
    }
    if module.declares(Capability::Kernel) {
        return Err(Why::Kernel);
    }
    if images.untyped {
        return Err(Why::Untyped);
    }
    let mut editor = Editor::new(module);
    let (uint, aliases) = types(&mut editor, module, &lowered)?;
    let functions = Functions::new(&mut editor, uint)?;
    let mut pass = FormatsEdit { editor, module, images: &images, lowered: &lowered, functions };
    let mut is_inside = false;
    for instruction in module.instructions(module.sections.annotations, module.words().len()) {
        match instruction.opcode() {
            op::FUNCTION => is_inside = true,
            op::FUNCTION_END => is_inside = false,
            // What is called must be called from a function.
            opcode @ (op::IMAGE_READ | op::IMAGE_WRITE | op::IMAGE_SPARSE_READ) if !is_inside => {
                return Err(Why::Opcode(opcode));
            }
            _ => pass.instruction(&instruction)?,
        }
    }
    let mut editor = pass.editor;
    retype::retype(&mut editor, module, &aliases, Some(uint))?;
    if aliases.values().any(|alias| *alias != codec::R32_UI) {
        editor.capability(Capability::StorageImageExtendedFormats)?;
    }
    let mut changes = Vec::new();
    for (variable, image) in &images.variables {
        let Some(format) = lowered.get(image) else { continue };
        let (set, binding) = module.descriptor(*variable);
        push(&mut changes, PassChange::FormatLowered { set, binding, format: *format })?;
    }
    Ok(Rewrite { words: Some(editor.finish()?), changes, left: Vec::new() })
}

/// The image types that change: their formats.
#[inline(never)]
fn lowered(module: &Module<'_>, options: &Options) -> Result<Map<u32>, Error> {
    let mut lowered = Map::default();
    for instruction in module.instructions(module.sections.annotations, module.sections.globals) {
        let (dim, format) = (instruction.word(3), instruction.word(8));
        if instruction.opcode() != op::TYPE_IMAGE || instruction.word(7) != 2 || dim == Dim::DimSubpassData as u32 {
            continue;
        }
        let formats = if dim == Dim::DimBuffer as u32 { options.buffers } else { options.images };
        if format < 64 && formats >> format & 1 != 0 && Codec::of(format).is_some() {
            put(&mut lowered, instruction.word(1), format)?;
        }
    }
    Ok(lowered)
}

/// Sees to it that the type of words stands before all types that change. Returns its id, and the formats that these get.
#[inline(never)]
fn types(editor: &mut Editor<'_, '_>, module: &Module<'_>, lowered: &Map<u32>) -> Result<(u32, Map<u32>), Why> {
    let mut aliases = Map::default();
    let mut first = None;
    let mut uint: Option<Instruction<'_>> = None;
    for instruction in module.instructions(module.sections.annotations, module.sections.globals) {
        if instruction.opcode() == op::TYPE_INT && instruction.words.get(2..) == Some(&[32, 0]) {
            uint = uint.or(Some(instruction));
        }
        let Some(format) = lowered.get(&instruction.word(1)).filter(|_| instruction.opcode() == op::TYPE_IMAGE) else {
            continue;
        };
        let codec = Codec::of(*format).ok_or(Why::ImageType(*format))?;
        let sampled = module.definition(instruction.word(2));
        let of = sampled.filter(|ty| ty.word(2) == 32).map_or(0, |ty| ty.opcode());
        let is_integer = matches!(codec.kind, Channels::Uint | Channels::Sint);
        if of != if is_integer { op::TYPE_INT } else { op::TYPE_FLOAT } {
            return Err(Why::ImageType(*format));
        }
        put(&mut aliases, instruction.word(1), codec.alias())?;
        first = first.or(Some(instruction.at));
    }
    let first = first.unwrap_or(module.sections.globals);
    let uint = match uint {
        Some(uint) => {
            if uint.at > first {
                // It has no operands that would have to come before it.
                editor.insert(first, uint.words)?;
                editor.replace(uint.at, uint.words.len(), &[])?;
            }
            uint.word(1)
        }
        None => {
            let id = editor.id()?;
            let mut words = Vec::new();
            assemble(&mut words, Op::TypeInt, &[id, 32, 0])?;
            editor.insert(first, &words)?;
            id
        }
    };
    Ok((uint, aliases))
}

struct FormatsEdit<'a, 'm, 'w> {
    editor: Editor<'m, 'w>,
    module: &'m Module<'w>,
    images: &'a Images,
    /// Image types that change: their formats.
    lowered: &'a Map<u32>,
    functions: Functions,
}

impl FormatsEdit<'_, '_, '_> {
    /// The layout and the sampled type of an image that changes.
    fn codec(&self, image: u32) -> Option<(&'static Codec, u32)> {
        let ty = self.module.type_of(image);
        let codec = self.lowered.get(&ty).and_then(|format| Codec::of(*format))?;
        Some((codec, self.module.definition(ty)?.word(2)))
    }

    #[inline(never)]
    fn instruction(&mut self, instruction: &Instruction<'_>) -> Result<(), Why> {
        let word = |n: usize| instruction.word(n);
        let opcode = instruction.opcode();
        let image = match opcode {
            op::IMAGE_READ | op::IMAGE_SPARSE_READ => self.codec(word(3)),
            op::IMAGE_WRITE => self.codec(word(1)),
            _ => None,
        };
        match (opcode, image) {
            (op::IMAGE_WRITE, Some((codec, sampled))) => self.write(instruction, codec, sampled),
            (_, Some((codec, sampled))) => self.read(instruction, codec, sampled),
            (op::IMAGE_TEXEL_POINTER, _) => {
                let image = self.images.bases.get(&self.module.type_of(word(3)));
                match image.filter(|image| self.lowered.contains_key(image)) {
                    Some(image) => Err(self.atomics(*image)),
                    None => Ok(()),
                }
            }
            // What asks about an image gets the same answer.
            (op::IMAGE_QUERY_FORMAT..=op::IMAGE_QUERY_SAMPLES, _) => Ok(()),
            _ if is_followed(opcode) => Ok(()),
            _ => {
                let leads = |id| {
                    let base = self.images.bases.get(&self.module.type_of(id));
                    base.is_some_and(|image| self.lowered.contains_key(image))
                };
                if ids::operands(instruction).any(leads) { Err(Why::Opcode(opcode)) } else { Ok(()) }
            }
        }
    }

    fn atomics(&self, image: u32) -> Why {
        let variable = self.images.variables.iter().find(|(_, of)| *of == image).map_or(0, |(id, _)| *id);
        let (set, binding) = self.module.descriptor(variable);
        Why::Atomics { set, binding }
    }

    /// Appends further operands, from word `at` on, but for what says how integers are widened.
    fn operands(&self, instruction: &Instruction<'_>, at: usize, kind: Channels, to: &mut Vec<u32>) -> Result<(), Why> {
        let Some([mask, rest @ ..]) = instruction.words.get(at..) else { return Ok(()) };
        let given = ImageOperands::from_bits_retain(*mask);
        let sign = given.contains(ImageOperands::SIGN_EXTEND) && kind != Channels::Sint;
        let zero = given.contains(ImageOperands::ZERO_EXTEND) && kind != Channels::Uint;
        if sign || zero {
            return Err(Why::ImageOperands(*mask));
        }
        let mask = given.difference(ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND).bits();
        if mask != 0 {
            push(to, mask)?;
            extend(to, rest)?;
        }
        Ok(())
    }

    /// Whether `ty` is a vector of four of these components.
    fn is_texel(&self, ty: u32, of: u32) -> bool {
        let vector = self.module.defined(ty, op::TYPE_VECTOR);
        vector.is_some_and(|vector| vector.words.get(2..) == Some(&[of, 4]))
    }

    #[inline(never)]
    fn read(&mut self, instruction: &Instruction<'_>, codec: &'static Codec, sampled: u32) -> Result<(), Why> {
        let is_sparse = instruction.opcode() == op::IMAGE_SPARSE_READ;
        let (ty, id) = (instruction.word(1), instruction.word(2));
        // With a residency code both are members of a structure.
        let [residency, texel] =
            self.module.definition(ty).filter(|_| is_sparse).map_or([ty, ty], |it| [it.word(2), it.word(3)]);
        if !self.is_texel(texel, sampled) {
            return Err(Why::Texel);
        }
        let decode = self.functions.make(
            &mut self.editor,
            self.module,
            codec,
            sampled,
            false,
            [texel, self.functions.vector],
        )?;
        let vector = self.functions.vector;
        let mut operands = copied(&[instruction.word(3), instruction.word(4)])?;
        self.operands(instruction, 5, codec.kind, &mut operands)?;
        let (mut out, editor) = (Vec::new(), &mut self.editor);
        if is_sparse {
            let both = editor.aggregate(Op::TypeStruct, &[residency, vector])?;
            let read = editor.op(&mut out, Op::ImageSparseRead, both, &operands)?;
            let code = editor.op(&mut out, Op::CompositeExtract, residency, &[read, 0])?;
            let words = editor.op(&mut out, Op::CompositeExtract, vector, &[read, 1])?;
            let decoded = editor.op(&mut out, Op::FunctionCall, texel, &[decode, words])?;
            assemble(&mut out, Op::CompositeConstruct, &[ty, id, code, decoded])?;
        } else {
            let words = editor.op(&mut out, Op::ImageRead, vector, &operands)?;
            assemble(&mut out, Op::FunctionCall, &[texel, id, decode, words])?;
        }
        Ok(editor.replace(instruction.at, instruction.words.len(), &out)?)
    }

    #[inline(never)]
    fn write(&mut self, instruction: &Instruction<'_>, codec: &'static Codec, sampled: u32) -> Result<(), Why> {
        let given = instruction.word(3);
        let of_given = self.module.definition(self.module.type_of(given)).ok_or(Why::Texel)?;
        // A scalar, or a vector of at least two.
        let (of, count) = match of_given.opcode() {
            op::TYPE_VECTOR => (of_given.word(2), of_given.word(3)),
            _ => (of_given.word(1), 1),
        };
        if of != sampled || !(1..=4).contains(&count) {
            return Err(Why::Texel);
        }
        let ty = self.editor.ty(Op::TypeVector, &[sampled, 4])?;
        let zero = self.editor.constant(sampled, &[0])?;
        let vector = self.functions.vector;
        let encode = self.functions.make(&mut self.editor, self.module, codec, sampled, true, [vector, ty])?;
        let (mut out, mut texel) = (Vec::new(), given);
        if count < 4 {
            let parts = [given, zero, zero, zero];
            let parts = parts.get(..5 - count as usize).unwrap_or(&parts);
            texel = self.editor.op(&mut out, Op::CompositeConstruct, ty, parts)?;
        }
        let words = self.editor.op(&mut out, Op::FunctionCall, vector, &[encode, texel])?;
        let mut operands = copied(&[instruction.word(1), instruction.word(2), words])?;
        self.operands(instruction, 4, codec.kind, &mut operands)?;
        assemble(&mut out, Op::ImageWrite, &operands)?;
        Ok(self.editor.replace(instruction.at, instruction.words.len(), &out)?)
    }
}

/// Whether what an instruction does with images or pointers to them, if anything, does not depend on their format. Of most that is so
/// because they cannot name one.
fn is_followed(opcode: u32) -> bool {
    let reads = matches!(
        opcode,
        op::SAMPLED_IMAGE..=op::IMAGE_WRITE | op::IMAGE | op::IMAGE_SPARSE_READ | op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SPARSE_DREF_GATHER
    );
    ids::is_known(opcode) && !reads
}
