//! The pass `select`: chosen links read their sampler from a pool, at an index that the shader looks up in tables.
//!
//! It is for links whose indices only the running shader knows. Each image has a column and each sampler a row of a matrix, whose
//! entries are positions in the pool:
//!
//! ```text
//! c = column[first + min(i, n - 1)];  r = row[first + min(j, m - 1)];  p = matrix[r + c];  sample(images[i], pool[p], …)
//! ```
//!
//! Behind the places that entries name, a pool may have the samplers of an operand's own descriptors, in their order: where an entry is the
//! greatest number there is, the shader reads the one that it names itself ([`select_or_own`]).
//!
//! The image instruction stays where it is and is executed once and unconditionally, so implicit levels of detail keep their
//! neighbours: a branch would take them away.

use spirv::{Capability, Decoration, GlslStd450Op, Op, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, copied, push};
use crate::exchange::{Exchange, Samplers, uses};
use crate::fold::Specialization;
use crate::links::{Analysis, Pair};
use crate::module::Module;
use crate::op;
use crate::operand::{Index, Operand};
use crate::sources::WantedLink;
use crate::trace::{Element, Tracer};
use crate::uses::Uses;

pub use crate::exchange::{PARAMETERS, Refused, Why};

/// Where the words of one operand of a link are: in a storage buffer `{ uint words[]; }` of the hidden set, which has word `first`
/// at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The binding of the buffer; lookups may share it.
    pub binding: u32,
    /// The word of the first descriptor.
    pub first: u32,
    /// How many words there are.
    pub length: Length,
}

/// How many words an operand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// One, whatever the index is.
    One,
    /// So many, which are all in the buffer. An index beyond them reads the last.
    Fixed(u32),
    /// All to the end of the buffer. An index beyond it reads the last.
    Rest,
}

/// A link that is to read a sampler of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The link's image, as [`Module::links`] gives it under the same specialization.
    pub image: Operand,
    /// Its sampler.
    pub sampler: Operand,
    /// The columns of the image.
    pub column: Lookup,
    /// The rows of the sampler.
    pub row: Lookup,
}

/// What all parts share, in the hidden set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolAt {
    /// The number of the set.
    pub set: u32,
    /// The binding of the matrix, a buffer like those of [`Lookup`] with one word at least.
    pub matrix: u32,
    /// The binding of the pool.
    pub pool: u32,
    /// Samplers in the pool: one at least.
    pub count: u32,
}

/// Rewrites the links `parts` of the entry point `name` for an execution model so that they sample through the pool of `place`. The
/// new module is for that entry point: functions that others share with it read the pool there too.
///
/// The pool is indexed dynamically: where both indices of a part are constants, the new module declares
/// `SampledImageArrayDynamicIndexing`, for which the device must have the feature.
///
/// # Errors
///
/// The module as a whole, or the first part that cannot be rewritten; the others may be tried without it. A combined descriptor is no
/// link of a sampler's ([`Why::NoLink`]).
pub fn select(
    module: &Module<'_>,
    name: &str,
    model: u32,
    specialization: Option<&Specialization<'_>>,
    place: &PoolAt,
    parts: &[Part],
) -> Result<Vec<u32>, Refused> {
    select_or_own(module, name, model, specialization, place, parts, &[])
}

/// [`select`], for a pool that has more samplers behind its places. `own`: for each part, if there is one, the position in the pool of the
/// sampler in the first descriptor that its row is looked up for. The others follow, and entries name none of them: what an entry names
/// beyond is read from there.
///
/// # Errors
///
/// As for [`select`].
pub fn select_or_own(
    module: &Module<'_>,
    name: &str,
    model: u32,
    specialization: Option<&Specialization<'_>>,
    place: &PoolAt,
    parts: &[Part],
    own: &[Option<u32>],
) -> Result<Vec<u32>, Refused> {
    let entry = module.entry(name, model).ok_or(Error::NoEntryPoint)?;
    let mut tracer = Tracer::new(module, specialization);
    let analysis = Analysis::new(&mut tracer, entry, &[])?;
    let mut wanted = Vec::new();
    for (position, part) in parts.iter().enumerate() {
        let uses = uses(&analysis, part.image, part.sampler).map_err(|why| Refused::Part(position, why))?;
        if uses.contains(Uses::COMBINED) {
            return Err(Refused::Part(position, Why::NoLink));
        }
        let by = [part.column.is_indexed(&part.image), part.row.is_indexed(&part.sampler)];
        push(&mut wanted, WantedLink { image: part.image, sampler: part.sampler, by })?;
    }
    if parts.is_empty() {
        return Ok(copied(module.words())?);
    }
    let mut exchange = Exchange::new(tracer, analysis, wanted)?;
    let mut tables = Tables::new(module, &mut exchange, place, parts, own)?;
    exchange.finish(&mut tables)
}

/// Whether a descriptor is known when the pipeline is created.
fn is_constant(operand: &Operand) -> bool {
    matches!(operand.index, Index::Whole | Index::Const(_) | Index::Spec(_))
}

impl Lookup {
    /// How many words there are, if that is known.
    fn count(&self) -> Option<u32> {
        match self.length {
            Length::One => Some(1),
            Length::Fixed(count) => Some(count.max(1)),
            Length::Rest => None,
        }
    }

    /// Whether the word depends on an index that the shader computes.
    fn is_indexed(&self, operand: &Operand) -> bool {
        self.count() != Some(1) && !matches!(operand.index, Index::Whole | Index::Const(_))
    }
}

/// The pool, and the tables that lead to its samplers.
struct Tables<'a> {
    place: &'a PoolAt,
    parts: &'a [Part],
    /// See [`select_or_own`].
    own: &'a [Option<u32>],
    pool: u32,
    /// Of unsigned integers.
    int: u32,
    /// The types of pointers to a buffer and to a word of one.
    buffer: u32,
    word: u32,
    class: StorageClass,
    /// By binding: the variable of a buffer.
    buffers: Vec<(u32, u32)>,
    /// The import of GLSL.std.450.
    glsl: u32,
}

impl<'a> Tables<'a> {
    /// Declares what is the same for all parts.
    fn new(
        module: &Module<'_>,
        exchange: &mut Exchange<'_, '_>,
        place: &'a PoolAt,
        parts: &'a [Part],
        own: &'a [Option<u32>],
    ) -> Result<Tables<'a>, Error> {
        let array = exchange.array(place.count.max(1))?;
        let editor = &mut exchange.editor;
        let pool = editor.descriptor(array, StorageClass::UniformConstant, place.set, place.pool)?;
        let int = editor.ty(Op::TypeInt, &[32, 0])?;
        let (class, block) = module.buffer_class();
        let words = editor.aggregate(Op::TypeRuntimeArray, &[int])?;
        let structure = editor.block(words, 4, block)?;
        let buffer = editor.ty(Op::TypePointer, &[class as u32, structure])?;
        let word = editor.ty(Op::TypePointer, &[class as u32, int])?;
        let glsl = editor.import("GLSL.std.450")?;
        Ok(Tables { place, parts, own, pool, int, buffer, word, class, buffers: Vec::new(), glsl })
    }

    /// The variable of a buffer, declared when it is first read.
    fn variable(&mut self, editor: &mut Editor<'_, '_>, binding: u32) -> Result<u32, Error> {
        if let Some((_, variable)) = self.buffers.iter().find(|(known, _)| *known == binding) {
            return Ok(*variable);
        }
        let variable = editor.descriptor(self.buffer, self.class, self.place.set, binding)?;
        // Without `fragmentStoresAndAtomics` and its like all storage buffers have to be (VUID-RuntimeSpirv-NonWritable-06340, 06341).
        editor.decorate(variable, Decoration::NonWritable, &[])?;
        push(&mut self.buffers, (binding, variable))?;
        Ok(variable)
    }
}

/// Computes with unsigned integers.
struct Code<'c, 'm, 'w> {
    editor: &'c mut Editor<'m, 'w>,
    words: &'c mut Vec<u32>,
    glsl: u32,
    int: u32,
    word: u32,
}

impl Code<'_, '_, '_> {
    fn op(&mut self, opcode: Op, operands: &[u32]) -> Result<u32, Error> {
        self.editor.op(self.words, opcode, self.int, operands)
    }

    fn constant(&mut self, value: u32) -> Result<u32, Error> {
        self.editor.constant(self.int, &[value])
    }

    /// The smaller of two words, which have no sign.
    fn min(&mut self, a: u32, b: u32) -> Result<u32, Error> {
        self.op(Op::ExtInst, &[self.glsl, GlslStd450Op::UMin as u32, a, b])
    }

    /// The last word of a buffer, counted from the word `first`.
    fn last(&mut self, buffer: u32, first: u32) -> Result<u32, Error> {
        let length = self.op(Op::ArrayLength, &[buffer, 0])?;
        let without = self.constant(first.saturating_add(1))?;
        self.op(Op::ISub, &[length, without])
    }

    fn load(&mut self, buffer: u32, at: u32) -> Result<u32, Error> {
        let member = self.constant(0)?;
        let chain = self.editor.op(self.words, Op::AccessChain, self.word, &[buffer, member, at])?;
        self.op(Op::Load, &[chain])
    }

    /// Which of its words a lookup reads: the one that an operand names, or of this index.
    fn element(&mut self, buffer: u32, lookup: &Lookup, operand: &Operand, index: u32) -> Result<At, Error> {
        Ok(match (lookup.count(), operand.index) {
            (Some(1), _) | (_, Index::Whole) => At::Constant(0),
            (Some(count), Index::Const(element)) => At::Constant(element.min(count - 1)),
            (count, constant_or_not) => {
                let index = match constant_or_not {
                    Index::Const(element) => self.constant(element)?,
                    _ => index,
                };
                let last = match count {
                    Some(count) => self.constant(count - 1)?,
                    None => self.last(buffer, lookup.first)?,
                };
                At::Computed(self.min(index, last)?)
            }
        })
    }

    /// A number and an element.
    fn sum(&mut self, first: u32, element: At) -> Result<u32, Error> {
        match element {
            At::Constant(element) => self.constant(first.saturating_add(element)),
            At::Computed(element) if first == 0 => Ok(element),
            At::Computed(element) => {
                let first = self.constant(first)?;
                self.op(Op::IAdd, &[element, first])
            }
        }
    }

    /// The word of a lookup, and which one that is.
    fn look_up(&mut self, buffer: u32, lookup: &Lookup, operand: &Operand, index: u32) -> Result<(u32, At), Error> {
        let element = self.element(buffer, lookup, operand, index)?;
        let at = self.sum(lookup.first, element)?;
        Ok((self.load(buffer, at)?, element))
    }
}

/// An element, or the result of the instruction that computes it.
#[derive(Clone, Copy)]
enum At {
    Constant(u32),
    Computed(u32),
}

impl Samplers for Tables<'_> {
    fn find(
        &mut self,
        editor: &mut Editor<'_, '_>,
        module: &Module<'_>,
        position: usize,
        pair: &Pair,
        words: &mut Vec<u32>,
    ) -> Result<(u32, Option<u32>), Refused> {
        let refused = |why| Refused::Part(position, why);
        let part = *self.parts.get(position).ok_or(refused(Why::NoLink))?;
        let index = |lookup: &Lookup, operand: &Operand, element: Option<Element>| {
            if !lookup.is_indexed(operand) {
                return Ok(0);
            }
            let id = element.map_or(0, |element| element.id);
            if id == 0 {
                return Err(refused(Why::Call));
            }
            let ty = module.defined(module.type_of(id), op::TYPE_INT).filter(|ty| ty.word(2) == 32);
            ty.map(|_| id).ok_or(refused(Why::IndexType))
        };
        let column = index(&part.column, &part.image, pair.image.element)?;
        let row = index(&part.row, &part.sampler, pair.sampler.element)?;
        // Compilers do not declare it, but a shader with an index of its own needs the feature anyway.
        if [part.image, part.sampler].iter().all(is_constant) {
            editor.capability(Capability::SampledImageArrayDynamicIndexing)?;
        }
        let buffers = [part.column.binding, part.row.binding, self.place.matrix];
        let mut variables = [0; 3];
        for (variable, binding) in variables.iter_mut().zip(buffers) {
            *variable = self.variable(editor, binding)?;
        }
        let [columns, rows, matrix] = variables;
        let mut code = Code { editor, words, glsl: self.glsl, int: self.int, word: self.word };
        let (column, _) = code.look_up(columns, &part.column, &part.image, column)?;
        let (row, element) = code.look_up(rows, &part.row, &part.sampler, row)?;
        // Matrix and pool of a set may be shorter than those that words were written for, and what invocations read that only help others
        // need not be a word.
        let (at, last) = (code.op(Op::IAdd, &[row, column])?, code.last(matrix, 0)?);
        let at = code.min(at, last)?;
        let last = match self.own.get(position).copied().flatten() {
            Some(own) => code.sum(own, element)?,
            None => code.constant(self.place.count.max(1) - 1)?,
        };
        let at = code.load(matrix, at)?;
        let at = code.min(at, last)?;
        Ok((self.pool, Some(at)))
    }
}
