//! Where the instructions of a function get what a pass gives to links: found where all calls of the function agree, else passed.
//!
//! A function that joins what it is called with is not cloned: where its calls disagree it takes one more parameter, and each call
//! passes what is right there.

use spirv::Op;

use crate::edit::{Editor, assemble};
use crate::error::{Error, filled, push};
use crate::links::{Analysis, Pair, Scratch};
use crate::module::{Function, Module};
use crate::operand::{Index, Operand};
use crate::trace::{Element, Tracer};
use crate::uses::Uses;

/// Most parameters that are added to one function.
pub const PARAMETERS: usize = 64;

/// A link that something is given to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedLink {
    pub(crate) image: Operand,
    pub(crate) sampler: Operand,
    /// Whether it depends on the index of the image, and on that of the sampler.
    pub(crate) by: [bool; 2],
}

impl WantedLink {
    /// Depends, if it does on an index at all, on all that can be more than one element.
    pub(crate) fn new(image: Operand, sampler: Operand, indexed: bool) -> WantedLink {
        let by = [image, sampler].map(|operand| indexed && varies(operand.index) && operand.count != 1);
        WantedLink { image, sampler, by }
    }
}

/// Where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandSource {
    /// It is not given.
    Own,
    /// The link with this position.
    Part(usize),
    /// A parameter of the function, and a link that is among those it may lead to.
    Passed(usize),
}

/// Why something cannot be given to all instructions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The image or the sampler is one of several at some call.
    Opaque,
    /// A function would have more than [`PARAMETERS`] new parameters.
    Parameters,
}

/// Whether an index can be more than one element.
pub(crate) fn varies(index: Index) -> bool {
    matches!(index, Index::Dynamic { .. } | Index::Push(_))
}

/// What an entry point's functions are called with.
pub(crate) struct Sources {
    pub(crate) analysis: Analysis,
    wanted: Vec<WantedLink>,
    /// By function: whether the entry point reaches it.
    reached: Vec<bool>,
    /// By function and open pair: what its calls agree on, none if nothing calls it.
    sources: Vec<Vec<Option<OperandSource>>>,
    /// By function and open pair: the id of the parameter, 0 if there is none.
    passed: Vec<Vec<u32>>,
    /// By function and open pair: whether what a call hands on may differ between invocations that run together.
    nonuniform: Vec<Vec<bool>>,
    /// What [`Sources::decide`] could not decide; it is not given there.
    pub(crate) doubts: Vec<(usize, Doubt)>,
}

impl Sources {
    pub(crate) fn new(module: &Module<'_>, analysis: Analysis, wanted: Vec<WantedLink>) -> Result<Sources, Error> {
        let (mut sources, mut passed, mut nonuniform) = (Vec::new(), Vec::new(), Vec::new());
        for open in &analysis.open {
            push(&mut sources, filled(open.len(), None)?)?;
            push(&mut passed, filled(open.len(), 0)?)?;
            push(&mut nonuniform, filled(open.len(), false)?)?;
        }
        let mut reached = filled(module.functions().len(), false)?;
        for number in &analysis.order {
            if let Some(reached) = reached.get_mut(*number) {
                *reached = true;
            }
        }
        Ok(Sources { analysis, wanted, reached, sources, passed, nonuniform, doubts: Vec::new() })
    }

    /// Finds, callers first, what the calls of each function agree on, and takes ids for its new parameters: for open pairs that
    /// are `relevant`.
    pub(crate) fn decide(
        &mut self,
        tracer: &mut Tracer<'_, '_>,
        editor: &mut Editor<'_, '_>,
        relevant: &dyn Fn(&Pair, Uses) -> bool,
    ) -> Result<(), Error> {
        let module = tracer.module;
        // Functions of other entry points go on as they do: what they call counts as called with nothing given.
        for (function, _) in module.functions().iter().zip(&self.reached).filter(|(_, reached)| !**reached) {
            for call in module.calls(function) {
                let callee = module.function(call.word(3)).and_then(|callee| self.sources.get_mut(callee));
                callee.into_iter().flatten().for_each(|source| *source = Some(OperandSource::Own));
            }
        }
        let mut scratch = Scratch::default();
        for at in (0..self.analysis.order.len()).rev() {
            let Some(number) = self.analysis.order.get(at).copied() else { break };
            let Some(function) = module.functions().get(number) else { continue };
            self.add_parameters(number, editor, relevant)?;
            for call in module.calls(function) {
                let Some(callee) = module.function(call.word(3)) else { continue };
                for position in 0..self.count(callee) {
                    let Some((pair, _)) = self.open(callee, position) else { break };
                    scratch.call(tracer, function, &call, &pair)?;
                    let source = match self.source(tracer, number, &scratch)? {
                        Ok(source) => source,
                        Err(part) => {
                            push(&mut self.doubts, (part, Doubt::Opaque))?;
                            OperandSource::Own
                        }
                    };
                    let earlier = self.sources.get_mut(callee).and_then(|sources| sources.get_mut(position));
                    if let Some(earlier) = earlier {
                        *earlier = Some(meet(*earlier, source));
                    }
                    let differs = scratch.pairs.iter().any(|(pair, _)| self.is_nonuniform(number, pair));
                    if let Some(known) = self.nonuniform.get_mut(callee).and_then(|known| known.get_mut(position)) {
                        *known |= differs;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives a function, all of whose callers are known, its new parameters.
    fn add_parameters(
        &mut self,
        number: usize,
        editor: &mut Editor<'_, '_>,
        relevant: &dyn Fn(&Pair, Uses) -> bool,
    ) -> Result<(), Error> {
        let mut added = 0;
        for position in 0..self.count(number) {
            let Some((pair, uses)) = self.open(number, position) else { break };
            let Some(source) = self.sources.get_mut(number).and_then(|sources| sources.get_mut(position)) else {
                break;
            };
            let part = match *source {
                // What all calls agree on is found here, unless an index is known to the callers only.
                Some(OperandSource::Part(part)) => match self.wanted.get(part) {
                    Some(wanted) if is_local(&pair, wanted) => continue,
                    _ => part,
                },
                Some(OperandSource::Passed(part)) => part,
                _ => continue,
            };
            if !relevant(&pair, uses) {
                *source = Some(OperandSource::Own);
                continue;
            }
            added += 1;
            if added > PARAMETERS {
                *source = Some(OperandSource::Own);
                push(&mut self.doubts, (part, Doubt::Parameters))?;
                continue;
            }
            *source = Some(OperandSource::Passed(part));
            let id = editor.id()?;
            if let Some(passed) = self.passed.get_mut(number).and_then(|passed| passed.get_mut(position)) {
                *passed = id;
            }
        }
        Ok(())
    }

    /// Where the pairs that `scratch` has found in a function get it from: one answer for all, or a link of several that are there.
    pub(crate) fn source(
        &self,
        tracer: &mut Tracer<'_, '_>,
        number: usize,
        scratch: &Scratch,
    ) -> Result<Result<OperandSource, usize>, Error> {
        let mut source = OperandSource::Own;
        for (pair, _) in &scratch.pairs {
            let one = if pair.is_open() {
                tracer.step(self.count(number))?;
                let sources = self.sources.get(number);
                self.position(number, pair).and_then(|at| *sources?.get(at)?).unwrap_or(OperandSource::Own)
            } else {
                let (image, sampler) = (tracer.operand(pair.image), tracer.operand(pair.sampler));
                tracer.step(self.wanted.len())?;
                let same = |wanted: &WantedLink| Some(wanted.image) == image && Some(wanted.sampler) == sampler;
                self.wanted.iter().position(same).map_or(OperandSource::Own, OperandSource::Part)
            };
            match one {
                OperandSource::Own => {}
                OperandSource::Part(part) | OperandSource::Passed(part) if pair.opaque || scratch.pairs.len() > 1 => {
                    return Ok(Err(part));
                }
                found => source = found,
            }
        }
        Ok(Ok(source))
    }

    /// Adds to a function the parameters that were decided on, which have a type.
    pub(crate) fn signature(
        &self,
        editor: &mut Editor<'_, '_>,
        module: &Module<'_>,
        function: &Function,
        of: u32,
    ) -> Result<(), Error> {
        let mut words = Vec::new();
        let mut types = Vec::new();
        push(&mut types, module.instruction(function.at).word(1))?;
        let mut behind = function.at;
        for parameter in module.parameters(function) {
            push(&mut types, parameter.word(1))?;
            behind = parameter.at + parameter.words.len();
        }
        for id in self.passed.get(function.number).into_iter().flatten().filter(|id| **id != 0) {
            assemble(&mut words, Op::FunctionParameter, &[of, *id])?;
            push(&mut types, of)?;
        }
        if words.is_empty() {
            return Ok(());
        }
        let ty = editor.ty(Op::TypeFunction, &types)?;
        editor.replace(function.at + 4, 1, &[ty])?;
        editor.insert(behind, &words)
    }

    /// The id of a function's parameter for one of its open pairs.
    pub(crate) fn parameter(&self, number: usize, pair: &Pair) -> u32 {
        self.position(number, pair).and_then(|at| self.passed.get(number)?.get(at)).copied().unwrap_or(0)
    }

    /// Whether invocations that run together may have different elements for a pair of a function, as it says or its calls.
    pub(crate) fn is_nonuniform(&self, number: usize, pair: &Pair) -> bool {
        let known = || self.position(number, pair).and_then(|at| self.nonuniform.get(number)?.get(at));
        pair.is_nonuniform() || pair.is_open() && known().copied().unwrap_or(false)
    }

    fn position(&self, number: usize, pair: &Pair) -> Option<usize> {
        self.analysis.open.get(number)?.iter().position(|(open, _)| open == pair)
    }

    /// Open pairs of a function.
    pub(crate) fn count(&self, number: usize) -> usize {
        self.analysis.open.get(number).map_or(0, Vec::len)
    }

    fn open(&self, number: usize, position: usize) -> Option<(Pair, Uses)> {
        self.analysis.open.get(number)?.get(position).copied()
    }

    /// An open pair of a function for which there is a parameter, and a link that it may lead to.
    pub(crate) fn passed(&self, number: usize, position: usize) -> Option<(Pair, usize)> {
        self.passed.get(number)?.get(position).filter(|id| **id != 0)?;
        match self.sources.get(number)?.get(position)? {
            Some(OperandSource::Passed(part)) => Some((self.open(number, position)?.0, *part)),
            _ => None,
        }
    }

    pub(crate) fn is_reached(&self, number: usize) -> bool {
        self.reached.get(number).is_some_and(|reached| *reached)
    }
}

/// Whether the function that a pair belongs to has all indices that matter.
fn is_local(pair: &Pair, wanted: &WantedLink) -> bool {
    let has = |element: Option<Element>| element.is_some_and(|element| element.id != 0);
    wanted.by.iter().zip([pair.image, pair.sampler]).all(|(matters, term)| !matters || has(term.element))
}

/// What calls agree on, one more of which wants `source`.
fn meet(earlier: Option<OperandSource>, source: OperandSource) -> OperandSource {
    match (earlier, source) {
        (None, source) => source,
        (Some(earlier), source) if earlier == source => earlier,
        (Some(OperandSource::Passed(part) | OperandSource::Part(part)), _)
        | (_, OperandSource::Passed(part) | OperandSource::Part(part)) => OperandSource::Passed(part),
        (Some(OperandSource::Own), OperandSource::Own) => OperandSource::Own,
    }
}
