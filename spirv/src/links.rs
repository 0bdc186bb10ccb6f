//! Which images a shader reads through which samplers.
//!
//! A link is found at the image instruction, whose sampled image is either made there of an image and a sampler or loaded as a
//! pair. Both are followed back to their variables: in a function in terms of its parameters, once, and at each call with what is
//! passed there.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use spirv::Dim;

use crate::error::{Error, filled, push};
use crate::fold::Specialization;
use crate::map::Fold;
use crate::module::{Function, Instruction, Module, is_vendor};
use crate::op;
use crate::operand::Operand;
use crate::trace::{Base, Term, Tracer};
use crate::uses::{Uses, uses};

/// What texels become in the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampled {
    /// Floating point; also what is neither of the others.
    Float,
    /// Signed integers.
    Sint,
    /// Unsigned integers.
    Uint,
}

/// What the shader declares of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageType {
    /// A number of [`spirv::Dim`], or an unknown one.
    pub dim: u32,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether it has samples.
    pub multisampled: bool,
    /// What texels become.
    pub sampled: Sampled,
}

/// An image that is read through a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The image; none if it comes from no variable with a set and a binding.
    pub image: Option<Operand>,
    /// The sampler; the same as the image where both are one descriptor.
    pub sampler: Option<Operand>,
    /// All that is done with it, in all functions that the entry point reaches.
    pub uses: Uses,
    /// What the shader declares of the image.
    pub ty: ImageType,
    /// Whether image or sampler are one of several or unknown: the link is then a possible one.
    pub opaque: bool,
}

impl Module<'_> {
    /// The links of the entry point `name` for an execution model (a number of [`spirv::ExecutionModel`]), in the order in which
    /// functions are first met callee first, and instructions in them. Links that differ in their uses only are one.
    ///
    /// Branches that are never taken count. With a specialization, constants have the values that the pipeline gives them.
    ///
    /// # Errors
    ///
    /// [`Error::NoEntryPoint`], [`Error::Recursion`], [`Error::TooManyLinks`], [`Error::TooComplex`], [`Error::Memory`].
    pub fn links(
        &self,
        name: &str,
        model: u32,
        specialization: Option<&Specialization<'_>>,
    ) -> Result<Vec<Link>, Error> {
        let entry = self.entry(name, model).ok_or(Error::NoEntryPoint)?;
        let mut tracer = Tracer::new(self, specialization);
        Ok(Analysis::new(&mut tracer, entry, &[])?.links)
    }

    /// The number in the list of functions of an entry point.
    pub(crate) fn entry(&self, name: &str, model: u32) -> Option<usize> {
        let entry = self.entry_points().find(|entry| entry.model() == model && entry.name().eq(name.bytes()))?;
        self.function(entry.function())
    }
}

/// A link in terms of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub(crate) image: Term,
    pub(crate) sampler: Term,
    pub(crate) ty: ImageType,
    /// Loaded as one.
    pub(crate) combined: bool,
    pub(crate) opaque: bool,
}

impl Pair {
    pub(crate) fn is_open(&self) -> bool {
        self.image.is_parameter() || self.sampler.is_parameter()
    }

    /// Whether invocations that run together may join different elements.
    pub(crate) fn is_nonuniform(&self) -> bool {
        [self.image, self.sampler].iter().any(|term| term.element.is_some_and(|element| element.is_nonuniform()))
    }
}

type Indices<K> = HashMap<K, usize, BuildHasherDefault<Fold>>;

/// The links of an entry point, and those of its functions that depend on what they are called with.
pub(crate) struct Analysis {
    /// Numbers of the functions that the entry point reaches, callees before callers.
    pub(crate) order: Vec<usize>,
    /// By number: pairs with a parameter in them, and what is done with them.
    pub(crate) open: Vec<Vec<(Pair, Uses)>>,
    pub(crate) links: Vec<Link>,
    /// By link, with no uses but that of being one descriptor.
    indices: Indices<Link>,
}

impl Analysis {
    /// Of all functions but those, sorted, with the ids `but`.
    pub(crate) fn new(tracer: &mut Tracer<'_, '_>, entry: usize, but: &[u32]) -> Result<Analysis, Error> {
        let module = tracer.module;
        let mut order = order(module, entry)?;
        let id = |number: &usize| module.functions().get(*number).map_or(0, |it| module.instruction(it.at).word(2));
        order.retain(|number| but.binary_search(&id(number)).is_err());
        let open = filled(module.functions().len(), Vec::new())?;
        let mut analysis = Analysis { order, open, links: Vec::new(), indices: Indices::default() };
        let (mut scratch, mut total) = (Scratch::default(), 0);
        for at in 0..analysis.order.len() {
            let Some(index) = analysis.order.get(at).copied() else { break };
            let Some(function) = module.functions().get(index) else { continue };
            let mut indices = Indices::default();
            let mut own = Vec::new();
            for site in module.sites(function) {
                scratch.site(tracer, function, &site)?;
                for (pair, uses) in &scratch.pairs {
                    analysis.add(tracer, *pair, *uses, &mut own, &mut indices)?;
                }
            }
            for call in module.calls(function) {
                let callee = module.function(call.word(3)).and_then(|callee| analysis.open.get_mut(callee));
                let Some(callee) = callee.map(std::mem::take).filter(|pairs| !pairs.is_empty()) else { continue };
                for (pair, uses) in &callee {
                    scratch.call(tracer, function, &call, pair)?;
                    for (pair, _) in &scratch.pairs {
                        analysis.add(tracer, *pair, *uses, &mut own, &mut indices)?;
                    }
                }
                if let Some(index) = module.function(call.word(3)).and_then(|index| analysis.open.get_mut(index)) {
                    *index = callee;
                }
            }
            total += own.len();
            if total > Module::LINKS {
                return Err(Error::TooManyLinks);
            }
            if let Some(index) = analysis.open.get_mut(index) {
                *index = own;
            }
        }
        Ok(analysis)
    }

    /// Adds a pair to the function's own if it has a parameter in it, else to the links.
    fn add(
        &mut self,
        tracer: &mut Tracer<'_, '_>,
        pair: Pair,
        uses: Uses,
        own: &mut Vec<(Pair, Uses)>,
        indices: &mut Indices<Pair>,
    ) -> Result<(), Error> {
        tracer.step(1)?;
        if pair.is_open() {
            indices.try_reserve(1).map_err(|_| Error::Memory)?;
            let next = own.len();
            let index = *indices.entry(pair).or_insert(next);
            match own.get_mut(index) {
                Some(seen) => seen.1 |= uses,
                None if next < Module::LINKS => push(own, (pair, uses))?,
                None => return Err(Error::TooManyLinks),
            }
            return Ok(());
        }
        let (image, sampler) = (tracer.operand(pair.image), tracer.operand(pair.sampler));
        let opaque = pair.opaque || image.is_none() || sampler.is_none();
        let combined = if pair.combined { Uses::COMBINED } else { Uses::default() };
        let link = Link { image, sampler, uses: combined, ty: pair.ty, opaque };
        self.indices.try_reserve(1).map_err(|_| Error::Memory)?;
        let next = self.links.len();
        let index = *self.indices.entry(link).or_insert(next);
        match self.links.get_mut(index) {
            Some(seen) => seen.uses |= uses,
            None if next < Module::LINKS => push(&mut self.links, Link { uses, ..link })?,
            None => return Err(Error::TooManyLinks),
        }
        Ok(())
    }
}

/// The numbers of the functions that one reaches, callees before callers.
pub(crate) fn order(module: &Module<'_>, entry: usize) -> Result<Vec<usize>, Error> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let functions = module.functions();
    let mut marks = filled(functions.len(), Mark::New)?;
    let mut order = Vec::new();
    let callees = |index: usize| functions.get(index).map(|function| module.calls(function));
    // Functions that are being looked at, with the calls in them that have not been.
    let mut stack = Vec::new();
    push(&mut stack, (entry, callees(entry)))?;
    if let Some(mark) = marks.get_mut(entry) {
        *mark = Mark::Open;
    }
    while let Some((index, calls)) = stack.last_mut() {
        let index = *index;
        let Some(call) = calls.as_mut().and_then(Iterator::next) else {
            if let Some(mark) = marks.get_mut(index) {
                *mark = Mark::Done;
            }
            push(&mut order, index)?;
            stack.pop();
            continue;
        };
        // A call of what is no function here is one of an import.
        let Some(callee) = module.function(call.word(3)) else { continue };
        match marks.get_mut(callee) {
            Some(Mark::Open) => return Err(Error::Recursion),
            Some(mark @ Mark::New) => {
                *mark = Mark::Open;
                push(&mut stack, (callee, callees(callee)))?;
            }
            _ => {}
        }
    }
    Ok(order)
}

/// Lists that are filled again and again.
#[derive(Default)]
pub(crate) struct Scratch {
    images: Vec<Term>,
    samplers: Vec<Term>,
    /// What the last call found.
    pub(crate) pairs: Vec<(Pair, Uses)>,
}

impl Scratch {
    /// The pairs of an image instruction.
    pub(crate) fn site(
        &mut self,
        tracer: &mut Tracer<'_, '_>,
        function: &Function,
        site: &Instruction<'_>,
    ) -> Result<(), Error> {
        self.pairs.clear();
        let opcode = site.opcode();
        if !is_vendor(opcode) {
            return self.value(tracer, function, site.word(3), uses(tracer, site));
        }
        for id in site.words.iter().skip(3).take(3) {
            let module = tracer.module;
            let ty = module.definition(module.type_of(*id));
            if ty.is_some_and(|ty| ty.opcode() == op::TYPE_SAMPLED_IMAGE) {
                self.value(tracer, function, *id, Uses::VENDOR)?;
            }
        }
        Ok(())
    }

    /// The pairs of an image or a sampled image.
    fn value(
        &mut self,
        tracer: &mut Tracer<'_, '_>,
        function: &Function,
        id: u32,
        mut uses: Uses,
    ) -> Result<(), Error> {
        let Some(mut value) = origin(tracer, id)? else { return Ok(()) };
        if !uses.samples() {
            // An image by itself has no sampler, unless it was taken out of a pair.
            if value.opcode() != op::IMAGE {
                return Ok(());
            }
            match origin(tracer, value.word(3))? {
                Some(pair) if pair.opcode() != op::SAMPLED_IMAGE => value = pair,
                _ => return Ok(()),
            }
        }
        let Some(ty) = image_type(tracer.module, value.word(1)) else { return Ok(()) };
        // A texel buffer has no sampler, whatever its type is called.
        if ty.dim == Dim::DimBuffer as u32 {
            return Ok(());
        }
        self.images.clear();
        self.samplers.clear();
        let combined = value.opcode() != op::SAMPLED_IMAGE;
        let opaque = if combined {
            uses |= Uses::COMBINED;
            tracer.terms(function, value.word(2), &mut self.images)?
        } else {
            let image = tracer.terms(function, value.word(3), &mut self.images)?;
            let sampler = tracer.terms(function, value.word(4), &mut self.samplers)?;
            image || sampler
        };
        self.product(tracer, Pair { image: Term::UNKNOWN, sampler: Term::UNKNOWN, ty, combined, opaque }, uses)
    }

    /// The pairs that a pair of a callee's becomes at a call.
    pub(crate) fn call(
        &mut self,
        tracer: &mut Tracer<'_, '_>,
        function: &Function,
        call: &Instruction<'_>,
        pair: &Pair,
    ) -> Result<(), Error> {
        self.pairs.clear();
        let image = argument(tracer, function, call, pair.image, &mut self.images)?;
        let sampler = if pair.combined {
            self.samplers.clear();
            false
        } else {
            argument(tracer, function, call, pair.sampler, &mut self.samplers)?
        };
        self.product(tracer, Pair { opaque: pair.opaque || image || sampler, ..*pair }, Uses::default())
    }

    /// All pairs of an image and a sampler.
    fn product(&mut self, tracer: &mut Tracer<'_, '_>, pair: Pair, uses: Uses) -> Result<(), Error> {
        tracer.step(self.images.len() * self.samplers.len().max(1))?;
        for image in &self.images {
            if pair.combined {
                push(&mut self.pairs, (Pair { image: *image, sampler: *image, ..pair }, uses))?;
            }
            for sampler in &self.samplers {
                push(&mut self.pairs, (Pair { image: *image, sampler: *sampler, ..pair }, uses))?;
            }
        }
        Ok(())
    }
}

/// Fills `terms` with what a callee's term is in the caller; says whether that is one of several, or unknown.
pub(crate) fn argument(
    tracer: &mut Tracer<'_, '_>,
    function: &Function,
    call: &Instruction<'_>,
    term: Term,
    terms: &mut Vec<Term>,
) -> Result<bool, Error> {
    terms.clear();
    let Base::Parameter(position) = term.base else {
        push(terms, term.elsewhere())?;
        return Ok(false);
    };
    let opaque = tracer.terms(function, call.word(4 + position as usize), terms)?;
    for argument in terms.iter_mut() {
        *argument = term.of(*argument);
    }
    Ok(opaque)
}

/// The instruction that a value was first defined by, past copies.
pub(crate) fn origin<'w>(tracer: &mut Tracer<'_, 'w>, mut id: u32) -> Result<Option<Instruction<'w>>, Error> {
    loop {
        tracer.step(1)?;
        match tracer.module.definition(id) {
            Some(copy) if copy.opcode() == op::COPY_OBJECT => id = copy.word(3),
            found => return Ok(found),
        }
    }
}

/// What an `OpTypeImage`, or the one of an `OpTypeSampledImage`, says.
pub(crate) fn image_type(module: &Module<'_>, id: u32) -> Option<ImageType> {
    let mut ty = module.definition(id)?;
    if ty.opcode() == op::TYPE_SAMPLED_IMAGE {
        ty = module.definition(ty.word(2))?;
    }
    if ty.opcode() != op::TYPE_IMAGE {
        return None;
    }
    let sampled = match module.definition(ty.word(2)) {
        Some(texel) if texel.opcode() == op::TYPE_INT && texel.word(3) != 0 => Sampled::Sint,
        Some(texel) if texel.opcode() == op::TYPE_INT => Sampled::Uint,
        _ => Sampled::Float,
    };
    Some(ImageType { dim: ty.word(3), arrayed: ty.word(5) != 0, multisampled: ty.word(6) != 0, sampled })
}
