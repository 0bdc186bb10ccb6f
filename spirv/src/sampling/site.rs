//! An image instruction taken apart: what it does, and what a function that does it in its place has to be given.

use spirv::{Decoration, Dim, ImageOperands};

use super::{Passes, Stop, Unchanged};
use crate::error::{Error, extend, push};
use crate::links::Pair;
use crate::module::{Function, Instruction, Module};
use crate::op;
use crate::trace::{Base, Element, Term, Tracer};

/// Positions of an instruction's operands in [`Sample::operands`].
pub(super) mod operand {
    pub(in super::super) const COORDINATE: usize = 0;
    /// The depth that is compared with, or the component that is gathered.
    pub(in super::super) const EXTRA: usize = 1;
    pub(in super::super) const BIAS: usize = 2;
    pub(in super::super) const LOD: usize = 3;
    pub(in super::super) const DX: usize = 4;
    pub(in super::super) const DY: usize = 5;
    pub(in super::super) const CONST_OFFSET: usize = 6;
    pub(in super::super) const OFFSET: usize = 7;
    pub(in super::super) const CONST_OFFSETS: usize = 8;
    pub(in super::super) const MIN_LOD: usize = 9;
    pub(in super::super) const COUNT: usize = 10;
}
use operand::{BIAS, CONST_OFFSET, CONST_OFFSETS, COORDINATE, COUNT, DX, DY, EXTRA, LOD, MIN_LOD, OFFSET};

/// Image operands in the order of their words, and where they are kept; gradients are two.
pub(super) const MASK: [(ImageOperands, &[usize]); 7] = [
    (ImageOperands::BIAS, &[BIAS]),
    (ImageOperands::LOD, &[LOD]),
    (ImageOperands::GRAD, &[DX, DY]),
    (ImageOperands::CONST_OFFSET, &[CONST_OFFSET]),
    (ImageOperands::OFFSET, &[OFFSET]),
    (ImageOperands::CONST_OFFSETS, &[CONST_OFFSETS]),
    (ImageOperands::MIN_LOD, &[MIN_LOD]),
];

/// Bits of the mask that have no operand and stay.
const PLAIN: ImageOperands =
    ImageOperands::SIGN_EXTEND.union(ImageOperands::ZERO_EXTEND).union(ImageOperands::NONTEMPORAL);

/// Where an image, a sampler or a pair is had from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    /// The global variable, or the parameter of the function that the instruction is in.
    pub(super) id: u32,
    /// The type of that.
    pub(super) ty: u32,
    /// Whether it has to be passed.
    pub(super) passed: bool,
    /// The index of the element, 0 if it is no array, and whether that is no constant.
    pub(super) index: u32,
    pub(super) indexed: bool,
}

/// What an opcode says.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleForm {
    /// Of the form that is not sparse.
    pub(super) opcode: u32,
    pub(super) sparse: bool,
    pub(super) implicit: bool,
    pub(super) projected: bool,
    pub(super) compared: bool,
    pub(super) gathers: bool,
    /// Only the level of detail is asked for.
    pub(super) asks: bool,
}

impl SampleForm {
    fn new(opcode: u32) -> SampleForm {
        let sparse = (op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SPARSE_DREF_GATHER).contains(&opcode);
        // The sparse forms are the same instructions in the same order.
        let opcode =
            if sparse { opcode - op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD + op::IMAGE_SAMPLE_IMPLICIT_LOD } else { opcode };
        let gathers = matches!(opcode, op::IMAGE_GATHER | op::IMAGE_DREF_GATHER);
        let asks = opcode == op::IMAGE_QUERY_LOD;
        let form = if gathers || asks { 1 } else { opcode.wrapping_sub(op::IMAGE_SAMPLE_IMPLICIT_LOD) };
        SampleForm {
            opcode,
            sparse,
            implicit: form & 1 == 0,
            projected: form & 4 != 0,
            compared: form & 2 != 0 || opcode == op::IMAGE_DREF_GATHER,
            gathers,
            asks,
        }
    }

    /// The opcode of the same with an explicit level of detail and no projection.
    pub(super) fn plain(&self) -> u32 {
        let opcode = if self.gathers {
            self.opcode
        } else {
            ((self.opcode - op::IMAGE_SAMPLE_IMPLICIT_LOD) & !4 | 1) + op::IMAGE_SAMPLE_IMPLICIT_LOD
        };
        self.stated(opcode)
    }

    /// An opcode, in its sparse form if this is one.
    pub(super) fn stated(&self, opcode: u32) -> u32 {
        if self.sparse { opcode - op::IMAGE_SAMPLE_IMPLICIT_LOD + op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD } else { opcode }
    }
}

/// An image instruction, as the parameters of the function that replaces it describe it.
pub(super) struct Sample {
    pub(super) form: SampleForm,
    pub(super) passes: Passes,
    /// The type of the result.
    pub(super) ty: u32,
    /// The type of the pair.
    pub(super) pair: u32,
    /// The pair's variable, or the image's and the sampler's.
    pub(super) roots: [Option<Root>; 2],
    /// How many of what is passed is for the roots, and what the function depends on of them.
    pub(super) rooted: usize,
    pub(super) rooting: Vec<u32>,
    /// Coordinates that are not layers, and whether there is a layer.
    pub(super) axes: u32,
    pub(super) arrayed: bool,
    /// Whether coordinates are directions, and how many sizes a level has.
    pub(super) cube: bool,
    pub(super) sides: u32,
    /// Whether texels are integers.
    pub(super) whole: bool,
    /// Whether they are fetched whatever the task says.
    pub(super) fetches: bool,
    pub(super) nonuniform: bool,
    pub(super) relaxed: bool,
    /// Ids by position, 0 where there is none; as the instruction has them.
    pub(super) operands: [u32; COUNT],
    /// Types of what is passed for them, 0 for what is not passed.
    pub(super) types: [u32; COUNT],
    /// The bits of the mask that have no operand.
    pub(super) plain: u32,
    /// Ids and types of what is passed behind the task: for the roots, then for the operands.
    pub(super) passed: Vec<(u32, u32)>,
    /// All that the function depends on.
    pub(super) key: Vec<u32>,
}

/// What a pair asks of an instruction.
pub(super) struct PairTasks {
    pub(super) passes: Passes,
    /// Its texels are always fetched.
    pub(super) fetches: bool,
    /// Which task it is differs between invocations.
    pub(super) nonuniform: bool,
}

impl Sample {
    pub(super) fn new(
        tracer: &Tracer<'_, '_>,
        function: &Function,
        site: &Instruction<'_>,
        pair: &Pair,
        tasks: PairTasks,
    ) -> Result<Sample, Stop> {
        let module = tracer.module;
        let form = match site.opcode() {
            op::IMAGE_SAMPLE_FOOTPRINT_NV => return Err(Stop::Unchanged(Unchanged::Footprint)),
            opcode if crate::module::is_vendor(opcode) => return Err(Stop::Unchanged(Unchanged::Vendor)),
            opcode => SampleForm::new(opcode),
        };
        let (cube, axes) = (is_cube(pair.ty.dim), axes(pair.ty.dim, tasks.passes).map_err(Stop::Unchanged)?);
        let mut operands = [0; COUNT];
        operands[COORDINATE] = site.word(4);
        let has_extra = form.compared || form.gathers;
        if has_extra {
            operands[EXTRA] = site.word(5);
        }
        let plain =
            masked(site, 5 + usize::from(has_extra), &mut operands).ok_or(Stop::Unchanged(Unchanged::Operands))?;
        // What is computed with these has 32 bits.
        let mut computed = [BIAS, LOD, DX, DY, MIN_LOD].into_iter().map(|position| operands[position]);
        if computed.any(|id| id != 0 && floats(module, module.type_of(id)).is_none()) {
            return Err(Stop::Unchanged(Unchanged::Operands));
        }
        // One code says whether all texels are there, and four gathers give four of them. Levels and biases of gathers
        // (SPV_AMD_texture_gather_bias_lod) would have to be followed to the size of the level.
        let levels = form.gathers && operands[BIAS] | operands[LOD] != 0;
        if levels || form.sparse && operands[CONST_OFFSETS] != 0 {
            return Err(Stop::Unchanged(Unchanged::Operands));
        }
        let mut passes = tasks.passes.of(&form, pair.ty.sampled);
        passes.saturate &= !cube;
        passes.fetch &= !cube;
        // Directions have no length that counts.
        passes.divide &= !cube;
        let least = axes + u32::from(pair.ty.arrayed && !form.asks || form.projected);
        let given = floats(module, module.type_of(operands[COORDINATE]));
        let whole = pair.ty.sampled != crate::Sampled::Float;
        let is_texel = || scalars(module, site.word(1)).is_some_and(|(ty, _)| (ty == op::TYPE_INT) == whole);
        if given.is_none_or(|count| count < least) || (passes.filter || passes.compare) && !is_texel() {
            return Err(Stop::Unchanged(Unchanged::Coordinate));
        }
        let pair_ty = module.type_of(site.word(3));
        module.defined(pair_ty, op::TYPE_SAMPLED_IMAGE).ok_or(Stop::Unchanged(Unchanged::Opaque))?;
        let second = if pair.combined { None } else { Some(root(module, function, &pair.sampler)?) };
        let roots = [Some(root(module, function, &pair.image)?), second];
        let mut sample = Sample {
            form,
            passes,
            ty: site.word(1),
            pair: pair_ty,
            roots,
            rooted: 0,
            rooting: Vec::new(),
            axes,
            arrayed: pair.ty.arrayed,
            cube,
            sides: if cube { 2 } else { axes },
            whole,
            fetches: passes.fetch && tasks.fetches,
            nonuniform: tasks.nonuniform || module.is_nonuniform(site.word(3)),
            relaxed: module.decoration(site.word(2), Decoration::RelaxedPrecision).is_some(),
            operands,
            types: [0; COUNT],
            plain,
            passed: Vec::new(),
            key: Vec::new(),
        };
        sample.pass(module)?;
        Ok(sample)
    }

    /// Finds what is passed, and what the function depends on.
    fn pass(&mut self, module: &Module<'_>) -> Result<(), Error> {
        let Passes { saturate, filter, fetch, divide, compare, must_compare, own_sampler } = self.passes;
        let is_sure = self.fetches || must_compare;
        let does = [saturate, filter, fetch, compare, is_sure, divide, own_sampler];
        let bits = [self.roots[1].is_some(), self.nonuniform].into_iter().chain(does);
        let bits = bits.fold(0, |all, bit| all << 1 | u32::from(bit));
        extend(&mut self.rooting, &[bits, self.pair])?;
        for root in self.roots.iter().flatten() {
            let (id, index) = (if root.passed { 0 } else { root.id }, if root.indexed { u32::MAX } else { root.index });
            extend(&mut self.rooting, &[id, root.ty, index])?;
            if root.passed {
                push(&mut self.passed, (root.id, root.ty))?;
            }
            if root.indexed {
                push(&mut self.passed, (root.index, module.type_of(root.index)))?;
            }
        }
        self.rooted = self.passed.len();
        extend(&mut self.key, &self.rooting)?;
        let form = self.form.opcode << 2 | u32::from(self.form.sparse) << 1 | u32::from(self.relaxed);
        extend(&mut self.key, &[form, self.ty, self.plain])?;
        for (position, id) in self.operands.iter().enumerate().filter(|(_, id)| **id != 0) {
            let constant = match position {
                CONST_OFFSET | CONST_OFFSETS => true,
                // Which component is gathered has to be a constant.
                EXTRA if self.form.gathers && !self.form.compared => is_global(module, *id),
                _ => false,
            };
            push(&mut self.key, position as u32)?;
            if constant {
                push(&mut self.key, *id)?;
                continue;
            }
            let ty = module.type_of(*id);
            if let Some(slot) = self.types.get_mut(position) {
                *slot = ty;
            }
            push(&mut self.key, ty)?;
            push(&mut self.passed, (*id, ty))?;
        }
        Ok(())
    }
}

/// Whether coordinates are directions.
pub(super) fn is_cube(dim: u32) -> bool {
    dim == Dim::DimCube as u32
}

/// Coordinates of a dimension that are not layers. Cubes have no edges to clamp at, but can be filtered and compared, and have
/// nothing to divide.
pub(super) fn axes(dim: u32, passes: Passes) -> Result<u32, Unchanged> {
    match dim {
        dim if dim == Dim::Dim1D as u32 => Ok(1),
        dim if dim == Dim::Dim2D as u32 => Ok(2),
        dim if dim == Dim::Dim3D as u32 => Ok(3),
        dim if is_cube(dim) => {
            if passes.filter || passes.compare || passes.divide {
                Ok(3)
            } else {
                Err(Unchanged::Cube)
            }
        }
        _ => Err(Unchanged::Dimension),
    }
}

/// Finds the operands that the mask at `word` names; the bits of those that have none.
fn masked(site: &Instruction<'_>, word: usize, operands: &mut [u32; COUNT]) -> Option<u32> {
    let mask = ImageOperands::from_bits_retain(site.word(word));
    let (mut at, mut known) = (word + 1, PLAIN);
    for (bit, positions) in MASK {
        known |= bit;
        for position in positions.iter().filter(|_| mask.contains(bit)) {
            *operands.get_mut(*position)? = *site.words.get(at)?;
            at += 1;
        }
    }
    known.contains(mask).then_some((mask & PLAIN).bits())
}

/// How many floats of 32 bits a type is; none if it is another.
fn floats(module: &Module<'_>, ty: u32) -> Option<u32> {
    scalars(module, ty).filter(|(ty, _)| *ty == op::TYPE_FLOAT).map(|(_, count)| count)
}

/// The opcode of a type of 32 bits, and how many of these a type is; none if it is another.
fn scalars(module: &Module<'_>, ty: u32) -> Option<(u32, u32)> {
    let mut ty = module.definition(ty)?;
    let mut count = 1;
    if ty.opcode() == op::TYPE_VECTOR {
        count = ty.word(3);
        ty = module.definition(ty.word(2))?;
    }
    (matches!(ty.opcode(), op::TYPE_FLOAT | op::TYPE_INT) && ty.word(2) == 32).then_some((ty.opcode(), count))
}

/// Whether an id is a constant: what every function may use.
fn is_global(module: &Module<'_>, id: u32) -> bool {
    module.definition(id).is_some_and(|it| it.at < module.sections.globals)
}

fn root(module: &Module<'_>, function: &Function, term: &Term) -> Result<Root, Stop> {
    let opaque = Stop::Unchanged(Unchanged::Opaque);
    let (id, passed) = match term.base {
        Base::Variable(id) => (id, false),
        Base::Parameter(position) => match module.parameters(function).nth(position as usize) {
            Some(parameter) => (parameter.word(2), true),
            None => return Err(opaque),
        },
        Base::Unknown => return Err(opaque),
    };
    let index = term.element.map_or(0, |element: Element| element.id);
    if term.element.is_some() && index == 0 {
        return Err(opaque);
    }
    let definition = module.definition(id).filter(|it| it.opcode() != op::UNTYPED_VARIABLE_KHR);
    let ty = definition.ok_or(opaque)?.word(1);
    Ok(Root { id, ty, passed, index, indexed: index != 0 && !is_global(module, index) })
}
