//! The pass `split`: chosen links read their sampler from a descriptor set of the layer's own.
//!
//! The sampler is loaded where image and sampler are joined, in the same block and with the index that the image has, so no control
//! flow changes. A function that joins what it is called with is not cloned: where its calls disagree it takes one more parameter,
//! a pointer to the sampler, and each call passes the one that is right there. Cloning would have to know of every operand of
//! every instruction whether it is an id; this needs to know nothing of the rest of the function.

use spirv::{Decoration, Op, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, push};
use crate::fold::Specialization;
use crate::links::{Analysis, Pair, Scratch, origin};
use crate::module::{Function, Instruction, Module};
use crate::op;
use crate::operand::{Index, Operand};
use crate::sources::{Doubt, OperandSource, Sources, Wanted, varies};
use crate::trace::{Base, ELEMENTS, Element, Tracer};
use crate::uses::Uses;

pub use crate::sources::PARAMETERS;

/// A link that is to read another sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The link's image, as [`Module::links`] gives it under the same specialization.
    pub image: Operand,
    /// Its sampler.
    pub sampler: Operand,
    /// The binding in the hidden set that its sampler is read from.
    pub binding: u32,
}

/// A binding of the hidden set that the new module reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The binding.
    pub binding: u32,
    /// Descriptors in it. Element *i* goes with element *i* of the image or of the sampler, whichever is indexed dynamically; if both
    /// are, element *i m + j* with element *i* of the image and *j* of the sampler, of which there are *m*.
    pub count: u32,
}

/// What became of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The new module, for the entry point that was asked for: functions that others share with it read the hidden set there too.
    pub words: Vec<u32>,
    /// The bindings of the hidden set, one for each part, in the order of the parts.
    pub hidden: Vec<Hidden>,
}

/// Why a part cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The entry point has no such link, or never samples through it.
    NoLink,
    /// The image or the sampler is one of several at some instruction.
    Opaque,
    /// An index reaches elements of an array without a length, or more than 64.
    Unbounded,
    /// Vendors' instructions read more than one image, all through samplers that have to agree, or take no pair made in the shader.
    Vendor,
    /// A sampler has to be passed to a function that is called with different links, and the index is not known where it is called,
    /// or the function takes pairs or samplers that are no pointers.
    Call,
    /// A function would have more than [`PARAMETERS`] new parameters.
    Parameters,
}

/// Why nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The module as a whole.
    Module(Error),
    /// The part with this position.
    Part(usize, Why),
}

impl Doubt {
    fn refused(self, part: usize) -> Refused {
        Refused::Part(part, if self == Doubt::Opaque { Why::Opaque } else { Why::Parameters })
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::Module(error)
    }
}

/// Rewrites the links `parts` of the entry point `name` for an execution model so that their samplers come from `set`.
///
/// # Errors
///
/// The module as a whole, or the first part that cannot be split; the others may be tried without it.
pub fn split(
    module: &Module<'_>,
    (name, model): (&str, u32),
    specialization: Option<&Specialization<'_>>,
    set: u32,
    parts: &[Part],
) -> Result<Split, Refused> {
    let entry = module.entry(name, model).ok_or(Error::NoEntryPoint)?;
    let mut tracer = Tracer::new(module, specialization);
    let analysis = Analysis::new(&mut tracer, entry, &[])?;
    let (mut hidden, mut wanted) = (Vec::new(), Vec::new());
    for (position, part) in parts.iter().enumerate() {
        let count = elements(&analysis, part).map_err(|why| Refused::Part(position, why))?;
        push(&mut hidden, Hidden { binding: part.binding, count })?;
        push(&mut wanted, Wanted { image: part.image, sampler: part.sampler, indexed: count > 1 })?;
    }
    let sources = Sources::new(module, analysis, wanted)?;
    let editor = Editor::new(module);
    let (variables, pointer, sampler) = (Vec::new(), 0, 0);
    let mut pass = SplitEdit { tracer, sources, parts, hidden: &hidden, editor, variables, pointer, sampler };
    pass.declare(set)?;
    pass.sources.decide(&mut pass.tracer, &mut pass.editor, &|_, _| true)?;
    if let Some((part, doubt)) = pass.sources.doubts.first() {
        return Err(doubt.refused(*part));
    }
    pass.rewrite()?;
    let words = pass.editor.finish()?;
    Ok(Split { words, hidden })
}

/// Descriptors that a part needs.
fn elements(analysis: &Analysis, part: &Part) -> Result<u32, Why> {
    let mut found = false;
    for link in &analysis.links {
        if link.image == Some(part.image) && link.sampler == Some(part.sampler) && link.uses.samples() {
            if link.opaque {
                return Err(Why::Opaque);
            }
            if link.uses.intersects(Uses::VENDOR | Uses::FOOTPRINT) {
                return Err(Why::Vendor);
            }
            found = true;
        }
    }
    if !found {
        return Err(Why::NoLink);
    }
    let reach = |operand: &Operand| match operand.index {
        Index::Whole | Index::Const(_) | Index::Spec(_) => Ok(1),
        Index::Push(_) | Index::Dynamic { .. } if (1..=ELEMENTS).contains(&operand.count) => Ok(operand.count),
        _ => Err(Why::Unbounded),
    };
    // One descriptor that is both is indexed once.
    let sampler = if part.is_combined(analysis) { 1 } else { reach(&part.sampler)? };
    let count = reach(&part.image)? * sampler;
    if count > ELEMENTS { Err(Why::Unbounded) } else { Ok(count) }
}

impl Part {
    fn is_combined(&self, analysis: &Analysis) -> bool {
        let same = |link: &&crate::Link| link.image == Some(self.image) && link.sampler == Some(self.sampler);
        analysis.links.iter().find(same).is_some_and(|link| link.uses.contains(Uses::COMBINED))
    }
}

struct SplitEdit<'a, 'm, 'w> {
    tracer: Tracer<'m, 'w>,
    sources: Sources,
    parts: &'a [Part],
    hidden: &'a [Hidden],
    editor: Editor<'m, 'w>,
    /// By part: the variable.
    variables: Vec<u32>,
    /// The types of a sampler and of a pointer to one.
    pointer: u32,
    sampler: u32,
}

impl<'w> SplitEdit<'_, '_, 'w> {
    /// Adds the variables of the hidden set.
    fn declare(&mut self, set: u32) -> Result<(), Error> {
        let class = StorageClass::UniformConstant;
        if self.parts.is_empty() {
            return Ok(());
        }
        self.sampler = self.editor.ty(Op::TypeSampler, &[])?;
        self.pointer = self.editor.ty(Op::TypePointer, &[class as u32, self.sampler])?;
        for hidden in self.hidden {
            let pointer = if hidden.count == 1 {
                self.pointer
            } else {
                let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
                let length = self.editor.constant(int, &[hidden.count])?;
                let array = self.editor.aggregate(Op::TypeArray, &[self.sampler, length])?;
                self.editor.ty(Op::TypePointer, &[class as u32, array])?
            };
            push(&mut self.variables, self.editor.descriptor(pointer, class, (set, hidden.binding))?)?;
        }
        Ok(())
    }

    /// Where the pairs that `scratch` has found in a function get their sampler from.
    fn source(&mut self, number: usize, scratch: &Scratch) -> Result<OperandSource, Refused> {
        match self.sources.source(&mut self.tracer, number, scratch)? {
            Ok(source) => Ok(source),
            Err(part) => Err(Doubt::Opaque.refused(part)),
        }
    }

    /// Changes instructions, calls and functions.
    fn rewrite(&mut self) -> Result<(), Refused> {
        let module = self.tracer.module;
        let mut scratch = Scratch::default();
        for at in 0..self.sources.analysis.order.len() {
            let Some(number) = self.sources.analysis.order.get(at).copied() else { break };
            let Some(function) = module.functions().get(number) else { continue };
            // Words where image and sampler are joined and that have been changed.
            let mut done = Vec::new();
            for site in module.sites(function) {
                scratch.site(&mut self.tracer, function, &site)?;
                if scratch.pairs.iter().any(|(_, uses)| uses.samples()) {
                    self.site(number, &site, &scratch, &mut done)?;
                }
            }
            self.sources.signature(&mut self.editor, module, (number, function), self.pointer)?;
        }
        for (number, function) in module.functions().iter().enumerate() {
            for call in module.calls(function) {
                self.call(number, function, &call, &mut scratch)?;
            }
        }
        Ok(())
    }

    /// Changes what an image instruction reads through.
    fn site(
        &mut self,
        number: usize,
        site: &Instruction<'w>,
        scratch: &Scratch,
        done: &mut Vec<usize>,
    ) -> Result<(), Refused> {
        let source = self.source(number, scratch)?;
        let Some((pair, _)) = scratch.pairs.first().filter(|_| source != OperandSource::Own) else { return Ok(()) };
        let Some(value) = origin(&mut self.tracer, site.word(3))? else { return Ok(()) };
        let joined = value.opcode() == op::SAMPLED_IMAGE;
        let at = if joined { value.at } else { site.at };
        if done.contains(&at) {
            return Ok(());
        }
        self.tracer.step(done.len())?;
        push(done, at)?;
        let mut words = Vec::new();
        let (pointer, nonuniform) = self.pointer(number, source, pair, &mut words)?;
        let sampler = self.editor.op(&mut words, Op::Load, self.sampler, &[pointer])?;
        if nonuniform {
            self.editor.decorate(sampler, Decoration::NonUniform, &[])?;
        }
        let (changed, with) = if joined {
            (at + 4, sampler)
        } else {
            let ty = self.tracer.module.type_of(site.word(3));
            let image_ty = self.tracer.module.definition(ty).map_or(0, |ty| ty.word(2));
            let image = self.editor.op(&mut words, Op::Image, image_ty, &[site.word(3)])?;
            let pair = self.editor.op(&mut words, Op::SampledImage, ty, &[image, sampler])?;
            if self.tracer.module.is_nonuniform(site.word(3)) {
                self.editor.decorate(image, Decoration::NonUniform, &[])?;
                self.editor.decorate(pair, Decoration::NonUniform, &[])?;
            }
            (at + 3, pair)
        };
        self.editor.insert(at, &words)?;
        self.editor.replace(changed, 1, &[with])?;
        Ok(())
    }

    /// The id of a pointer to the sampler, and whether it differs between invocations; what has to be computed for it is appended.
    fn pointer(
        &mut self,
        number: usize,
        source: OperandSource,
        pair: &Pair,
        words: &mut Vec<u32>,
    ) -> Result<(u32, bool), Refused> {
        let part = match source {
            OperandSource::Part(part) => part,
            OperandSource::Own | OperandSource::Passed(_) => return Ok((self.sources.parameter(number, pair), false)),
        };
        let cannot = Refused::Part(part, Why::Call);
        let (Some(asked), Some(hidden), Some(variable)) =
            (self.parts.get(part), self.hidden.get(part), self.variables.get(part).copied())
        else {
            return Err(cannot);
        };
        if hidden.count == 1 {
            return Ok((variable, false));
        }
        let index = |operand: &Operand, element: Option<Element>| match element {
            Some(element) if varies(operand.index) && operand.count > 1 => {
                if element.id == 0 {
                    Err(cannot)
                } else {
                    Ok(Some(element.id))
                }
            }
            _ => Ok(None),
        };
        let image = index(&asked.image, pair.image.element)?;
        let sampler = if pair.combined { None } else { index(&asked.sampler, pair.sampler.element)? };
        let index = match (image, sampler) {
            (Some(image), Some(sampler)) => {
                let module = self.tracer.module;
                for id in [image, sampler] {
                    let ty = module.defined(module.type_of(id), op::TYPE_INT);
                    ty.filter(|ty| ty.word(2) == 32).ok_or(cannot)?;
                }
                let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
                let length = self.editor.constant(int, &[asked.sampler.count])?;
                let row = self.editor.op(words, Op::IMul, int, &[image, length])?;
                self.editor.op(words, Op::IAdd, int, &[row, sampler])?
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Err(cannot),
        };
        let chain = self.editor.op(words, Op::AccessChain, self.pointer, &[variable, index])?;
        let differs = |operand: &Operand| operand.index == Index::Dynamic { nonuniform: true };
        let nonuniform = differs(&asked.image) || differs(&asked.sampler);
        if nonuniform {
            self.editor.decorate(chain, Decoration::NonUniform, &[])?;
            if image.is_some() && sampler.is_some() {
                self.editor.decorate(index, Decoration::NonUniform, &[])?;
            }
        }
        Ok((chain, nonuniform))
    }

    /// Passes to a function the samplers that it takes now.
    fn call(
        &mut self,
        number: usize,
        function: &Function,
        call: &Instruction<'w>,
        scratch: &mut Scratch,
    ) -> Result<(), Refused> {
        let Some(callee) = self.tracer.module.function(call.word(3)) else { return Ok(()) };
        let (mut before, mut arguments) = (Vec::new(), Vec::new());
        for position in 0..self.sources.count(callee) {
            let Some((pair, part)) = self.sources.passed(callee, position) else { continue };
            let source = if self.sources.is_reached(number) {
                scratch.call(&mut self.tracer, function, call, &pair)?;
                self.source(number, scratch)?
            } else {
                OperandSource::Own
            };
            let pointer = match (source, scratch.pairs.first()) {
                (OperandSource::Part(_) | OperandSource::Passed(_), Some((seen, _))) => {
                    self.pointer(number, source, seen, &mut before)?.0
                }
                _ => self.own(call, &pair, &mut before)?.ok_or(Refused::Part(part, Why::Call))?,
            };
            push(&mut arguments, pointer)?;
        }
        if arguments.is_empty() {
            return Ok(());
        }
        self.editor.insert(call.at, &before)?;
        self.editor.lengthen(call, &arguments)?;
        Ok(())
    }

    /// The pointer to the sampler that a callee's pair has had so far, as its caller knows it; none if there is none.
    fn own(&mut self, call: &Instruction<'_>, pair: &Pair, words: &mut Vec<u32>) -> Result<Option<u32>, Error> {
        let module = self.tracer.module;
        if pair.combined {
            return Ok(None);
        }
        let base = match pair.sampler.base {
            Base::Parameter(position) => call.word(4 + position as usize),
            Base::Variable(variable) => variable,
            Base::Unknown => return Ok(None),
        };
        if module.defined(module.type_of(base), op::TYPE_POINTER).is_none() {
            return Ok(None);
        }
        match pair.sampler.element.map(|element| element.index) {
            None => Ok(Some(base)),
            Some(Index::Const(element)) => {
                let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
                let element = self.editor.constant(int, &[element])?;
                self.editor.op(words, Op::AccessChain, self.pointer, &[base, element]).map(Some)
            }
            Some(_) => Ok(None),
        }
    }
}
