//! What [`split`](mod@crate::split) and [`select`](mod@crate::select) share: chosen links read their sampler through another pointer.
//!
//! The sampler is loaded where image and sampler are joined, in the same block, so no control flow changes. A function that joins
//! what it is called with is not cloned: where its calls disagree it takes one more parameter, a pointer to the sampler, and each
//! call passes the one that is right there. Cloning would have to know of every operand of every instruction whether it is an id;
//! this needs to know nothing of the rest of the function.

use spirv::{Decoration, Op, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, push};
use crate::links::{Analysis, Pair, Scratch, origin};
use crate::module::{Function, Instruction, Module};
use crate::op;
use crate::operand::{Index, Operand};
use crate::sources::{Doubt, OperandSource, Sources, WantedLink};
use crate::trace::{Base, Tracer};
use crate::uses::Uses;

pub use crate::sources::PARAMETERS;

/// Why a link cannot be given another sampler.
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
    /// An index is no integer of 32 bits.
    IndexType,
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

/// What is done with a link of an image and a sampler, if it can be given another one.
pub(crate) fn uses(analysis: &Analysis, image: Operand, sampler: Operand) -> Result<Uses, Why> {
    let mut all = Uses::default();
    for link in &analysis.links {
        if link.image == Some(image) && link.sampler == Some(sampler) && link.uses.samples() {
            if link.opaque {
                return Err(Why::Opaque);
            }
            if link.uses.intersects(Uses::VENDOR | Uses::FOOTPRINT) {
                return Err(Why::Vendor);
            }
            all |= link.uses;
        }
    }
    if all.samples() { Ok(all) } else { Err(Why::NoLink) }
}

/// Where the other samplers are.
pub(crate) trait Samplers {
    /// The variable that has the sampler for a part's pair in a function, and the id of the index if it is an array; what has to be
    /// computed for that is appended to `words`.
    fn find(
        &mut self,
        editor: &mut Editor<'_, '_>,
        module: &Module<'_>,
        part: usize,
        pair: &Pair,
        words: &mut Vec<u32>,
    ) -> Result<(u32, Option<u32>), Refused>;
}

/// A module whose links are given other samplers.
pub(crate) struct Exchange<'m, 'w> {
    tracer: Tracer<'m, 'w>,
    sources: Sources,
    pub(crate) editor: Editor<'m, 'w>,
    /// The types of a sampler and of a pointer to one.
    pub(crate) sampler: u32,
    pub(crate) pointer: u32,
    /// Parameters of the function that is being changed that were said to be nonuniform.
    parameters: Vec<u32>,
}

impl<'m, 'w> Exchange<'m, 'w> {
    /// For links that are `wanted`, of which there is one at least.
    pub(crate) fn new(
        tracer: Tracer<'m, 'w>,
        analysis: Analysis,
        wanted: Vec<WantedLink>,
    ) -> Result<Exchange<'m, 'w>, Error> {
        let sources = Sources::new(tracer.module, analysis, wanted)?;
        let mut editor = Editor::new(tracer.module);
        let sampler = editor.ty(Op::TypeSampler, &[])?;
        let pointer = editor.ty(Op::TypePointer, &[StorageClass::UniformConstant as u32, sampler])?;
        Ok(Exchange { tracer, sources, editor, sampler, pointer, parameters: Vec::new() })
    }

    /// The type of a pointer to an array of samplers.
    pub(crate) fn array(&mut self, count: u32) -> Result<u32, Error> {
        let int = self.editor.ty(Op::TypeInt, &[32, 0])?;
        let length = self.editor.constant(int, &[count])?;
        let array = self.editor.aggregate(Op::TypeArray, &[self.sampler, length])?;
        self.editor.ty(Op::TypePointer, &[StorageClass::UniformConstant as u32, array])
    }

    /// The new module: changes instructions, calls and functions.
    pub(crate) fn finish(mut self, samplers: &mut dyn Samplers) -> Result<Vec<u32>, Refused> {
        self.sources.decide(&mut self.tracer, &mut self.editor, &|_, _| true)?;
        if let Some((part, doubt)) = self.sources.doubts.first() {
            return Err(doubt.refused(*part));
        }
        let module = self.tracer.module;
        let mut scratch = Scratch::default();
        for at in 0..self.sources.analysis.order.len() {
            let Some(number) = self.sources.analysis.order.get(at).copied() else { break };
            let Some(function) = module.functions().get(number) else { continue };
            // Words where image and sampler are joined and that have been changed.
            let mut done = Vec::new();
            self.parameters.clear();
            for site in module.sites(function) {
                scratch.site(&mut self.tracer, function, &site)?;
                if scratch.pairs.iter().any(|(_, uses)| uses.samples()) {
                    self.site(samplers, number, &site, &scratch, &mut done)?;
                }
            }
            self.sources.signature(&mut self.editor, module, function, self.pointer)?;
        }
        for function in module.functions() {
            for call in module.calls(function) {
                self.call(samplers, function, &call, &mut scratch)?;
            }
        }
        Ok(self.editor.finish()?)
    }

    /// Where the pairs that `scratch` has found in a function get their sampler from.
    fn source(&mut self, number: usize, scratch: &Scratch) -> Result<OperandSource, Refused> {
        match self.sources.source(&mut self.tracer, number, scratch)? {
            Ok(source) => Ok(source),
            Err(part) => Err(Doubt::Opaque.refused(part)),
        }
    }

    /// Changes what an image instruction reads through.
    fn site(
        &mut self,
        samplers: &mut dyn Samplers,
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
        let module = self.tracer.module;
        let mut words = Vec::new();
        // A function may say of what it is called with that it differs, and its callers need not.
        let stated = [site.word(3), value.word(2), value.word(3), value.word(4)];
        let differs = stated.iter().take(if joined { 4 } else { 2 }).any(|id| module.is_nonuniform(*id));
        let (pointer, nonuniform) = self.pointer(samplers, number, source, pair, differs, &mut words)?;
        let sampler = self.editor.op(&mut words, Op::Load, self.sampler, &[pointer])?;
        if nonuniform {
            if matches!(source, OperandSource::Passed(_)) && !self.parameters.contains(&pointer) {
                self.decorate(pointer)?;
                push(&mut self.parameters, pointer)?;
            }
            self.decorate(sampler)?;
        }
        let (changed, with) = if joined {
            if nonuniform {
                self.decorate(value.word(2))?;
            }
            (at + 4, sampler)
        } else {
            let ty = module.type_of(site.word(3));
            let image_ty = module.definition(ty).map_or(0, |ty| ty.word(2));
            let image = self.editor.op(&mut words, Op::Image, image_ty, &[site.word(3)])?;
            let pair = self.editor.op(&mut words, Op::SampledImage, ty, &[image, sampler])?;
            if nonuniform || module.is_nonuniform(site.word(3)) {
                self.decorate(image)?;
                self.decorate(pair)?;
            }
            (at + 3, pair)
        };
        self.editor.insert(at, &words)?;
        self.editor.replace(changed, 1, &[with])?;
        Ok(())
    }

    /// Says of an id that invocations that run together may have different values, if nothing has said so.
    fn decorate(&mut self, id: u32) -> Result<(), Error> {
        let is_said = self.tracer.module.is_nonuniform(id);
        if is_said { Ok(()) } else { self.editor.decorate(id, Decoration::NonUniform, &[]) }
    }

    /// The id of a pointer to the sampler, and whether it differs between invocations, as it does if `differs` and it is not the only
    /// one; what has to be computed for it is appended.
    fn pointer(
        &mut self,
        samplers: &mut dyn Samplers,
        number: usize,
        source: OperandSource,
        pair: &Pair,
        differs: bool,
        words: &mut Vec<u32>,
    ) -> Result<(u32, bool), Refused> {
        let nonuniform = differs || self.sources.is_nonuniform(number, pair);
        let part = match source {
            OperandSource::Part(part) => part,
            OperandSource::Own | OperandSource::Passed(_) => {
                return Ok((self.sources.parameter(number, pair), nonuniform));
            }
        };
        let module = self.tracer.module;
        let (variable, index) = samplers.find(&mut self.editor, module, part, pair, words)?;
        let Some(index) = index else { return Ok((variable, false)) };
        let chain = self.editor.op(words, Op::AccessChain, self.pointer, &[variable, index])?;
        if nonuniform {
            self.decorate(chain)?;
            // What the application has computed says itself what it is.
            if index >= module.bound() {
                self.decorate(index)?;
            }
        }
        Ok((chain, nonuniform))
    }

    /// Passes to a function the samplers that it takes now.
    fn call(
        &mut self,
        samplers: &mut dyn Samplers,
        function: &Function,
        call: &Instruction<'w>,
        scratch: &mut Scratch,
    ) -> Result<(), Refused> {
        let Some(callee) = self.tracer.module.function(call.word(3)) else { return Ok(()) };
        let (mut before, mut arguments) = (Vec::new(), Vec::new());
        for position in 0..self.sources.count(callee) {
            let Some((pair, part)) = self.sources.passed(callee, position) else { continue };
            let source = if self.sources.is_reached(function.number) {
                scratch.call(&mut self.tracer, function, call, &pair)?;
                self.source(function.number, scratch)?
            } else {
                OperandSource::Own
            };
            let pointer = match (source, scratch.pairs.first()) {
                (OperandSource::Part(_) | OperandSource::Passed(_), Some((seen, _))) => {
                    self.pointer(samplers, function.number, source, seen, false, &mut before)?.0
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
