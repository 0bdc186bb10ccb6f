//! The pass `split`: chosen links read their sampler from a descriptor set of the layer's own, with the index that the image has.

use spirv::{Op, StorageClass};

use crate::edit::Editor;
use crate::error::{Error, copied, push};
use crate::exchange::{Exchange, Samplers, uses};
use crate::fold::Specialization;
use crate::links::{Analysis, Pair};
use crate::module::Module;
use crate::op;
use crate::operand::{Index, Operand};
use crate::sources::{WantedLink, varies};
use crate::trace::{ELEMENTS, Element, Tracer};
use crate::uses::Uses;

pub use crate::exchange::{PARAMETERS, Refused, Why};

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

/// Rewrites the links `parts` of the entry point `name` for an execution model so that their samplers come from `set`.
///
/// # Errors
///
/// The module as a whole, or the first part that cannot be split; the others may be tried without it.
pub fn split(
    module: &Module<'_>,
    name: &str,
    model: u32,
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
        push(&mut wanted, WantedLink::new(part.image, part.sampler, count > 1))?;
    }
    if parts.is_empty() {
        return Ok(Split { words: copied(module.words())?, hidden });
    }
    let mut exchange = Exchange::new(tracer, analysis, wanted)?;
    let mut samplers = HiddenSet { parts, hidden: &hidden, variables: Vec::new() };
    samplers.declare(&mut exchange, set)?;
    let words = exchange.finish(&mut samplers)?;
    Ok(Split { words, hidden })
}

/// Descriptors that a part needs.
fn elements(analysis: &Analysis, part: &Part) -> Result<u32, Why> {
    let uses = uses(analysis, part.image, part.sampler)?;
    let reach = |operand: &Operand| match operand.index {
        Index::Whole | Index::Const(_) | Index::Spec(_) => Ok(1),
        Index::Push(_) | Index::Dynamic { .. } if (1..=ELEMENTS).contains(&operand.count) => Ok(operand.count),
        _ => Err(Why::Unbounded),
    };
    // One descriptor that is both is indexed once.
    let sampler = if uses.contains(Uses::COMBINED) { 1 } else { reach(&part.sampler)? };
    let count = reach(&part.image)? * sampler;
    if count > ELEMENTS { Err(Why::Unbounded) } else { Ok(count) }
}

/// The samplers of the hidden set, a binding for each part.
struct HiddenSet<'a> {
    parts: &'a [Part],
    hidden: &'a [Hidden],
    /// By part: the variable.
    variables: Vec<u32>,
}

impl HiddenSet<'_> {
    /// Adds the variables.
    fn declare(&mut self, exchange: &mut Exchange<'_, '_>, set: u32) -> Result<(), Error> {
        let class = StorageClass::UniformConstant;
        for hidden in self.hidden {
            let pointer = match hidden.count {
                1 => exchange.pointer,
                count => exchange.array(count)?,
            };
            push(&mut self.variables, exchange.editor.descriptor(pointer, class, set, hidden.binding)?)?;
        }
        Ok(())
    }
}

impl Samplers for HiddenSet<'_> {
    fn find(
        &mut self,
        editor: &mut Editor<'_, '_>,
        module: &Module<'_>,
        part: usize,
        pair: &Pair,
        words: &mut Vec<u32>,
    ) -> Result<(u32, Option<u32>), Refused> {
        let cannot = Refused::Part(part, Why::Call);
        let (Some(asked), Some(hidden), Some(variable)) =
            (self.parts.get(part), self.hidden.get(part), self.variables.get(part).copied())
        else {
            return Err(cannot);
        };
        if hidden.count == 1 {
            return Ok((variable, None));
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
                for id in [image, sampler] {
                    let ty = module.defined(module.type_of(id), op::TYPE_INT);
                    ty.filter(|ty| ty.word(2) == 32).ok_or(Refused::Part(part, Why::IndexType))?;
                }
                let int = editor.ty(Op::TypeInt, &[32, 0])?;
                let length = editor.constant(int, &[asked.sampler.count])?;
                let row = editor.op(words, Op::IMul, int, &[image, length])?;
                editor.op(words, Op::IAdd, int, &[row, sampler])?
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Err(cannot),
        };
        Ok((variable, Some(index)))
    }
}
