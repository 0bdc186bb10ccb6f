//! The ways that descriptors reach a shader of [`separate`](crate::separate), one for all that try each.

use crate::Capability;
use crate::context::Context;
use crate::descriptor::{Binding, IMAGE_INFO_SIZE, Pool, SetLayout, Spelling, Template, TemplateData, update};
use crate::held::{Slot, write};
use crate::lookup::SamplePoint;
use crate::separate::{Commands, Job, Rig};
use crate::skip::{Outcome, Skip, skip_if};
use crate::texel::Value;
use ash::vk;

/// How the descriptors get to where the shader reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Written to one set.
    Set,
    /// Written to two, the last ones in one of their own.
    Sets,
    /// The same, and the sets are bound last first, before the pipeline.
    SetsFirst,
    /// Pushed.
    Push,
    /// Pushed with a template.
    PushTemplate,
    /// Written with a template.
    Template,
    /// The same by the names of the extension.
    TemplateKhr,
    /// Written to one set and copied to another.
    Copy,
    /// As with one set, all of it in a secondary command buffer.
    Secondary,
}

impl Way {
    /// Whether there are two sets.
    pub fn has_sets(self) -> bool {
        matches!(self, Self::Sets | Self::SetsFirst)
    }

    /// Whether there is none.
    pub fn pushes(self) -> bool {
        matches!(self, Self::Push | Self::PushTemplate)
    }

    /// Skips where the device lacks it.
    pub fn check(self, context: &Context) -> Outcome {
        if self.pushes() {
            skip_if(context.missing(&[Capability::PushDescriptor]))?;
        }
        match self {
            Self::Template | Self::PushTemplate => skip_if(context.missing(&[Capability::UpdateTemplate])),
            Self::TemplateKhr => skip_if(context.missing(&[Capability::UpdateTemplateKhr])),
            _ => Ok(()),
        }
    }

    /// Puts the descriptors in a set.
    pub fn fill(self, context: &Context, layout: &SetLayout<'_>, set: vk::DescriptorSet, slots: &[Slot]) {
        let by_template = |spelling| {
            Template::for_set(context, spelling, layout, &entries(slots)).update(set, &data(slots));
        };
        match self {
            Self::Template => by_template(Spelling::Core),
            Self::TemplateKhr => by_template(Spelling::Khr),
            Self::Copy => {
                let (_pool, from) = Pool::set(context, layout);
                write(context, from, slots);
                update(context, &[], &slots.iter().map(|slot| slot.copy(from, set)).collect::<Vec<_>>(), &[]);
            }
            _ => write(context, set, slots),
        }
    }

    /// Records the push of the descriptors to set 0, all at once; by writes, if not by a template.
    pub fn push(
        self,
        context: &Context,
        commands: vk::CommandBuffer,
        (point, layout): (vk::PipelineBindPoint, vk::PipelineLayout),
        slots: &[Slot],
    ) {
        let push = &context.functions.push;
        if self != Self::PushTemplate {
            let writes: Vec<_> = slots.iter().map(|slot| slot.write(vk::DescriptorSet::null())).collect();
            // SAFETY: the buffer is recording, and set 0 of the layout is a push set with these bindings.
            return unsafe { push.cmd_push_descriptor_set(commands, point, layout, 0, &writes) };
        }
        let template = Template::for_push(context, Spelling::Core, (point, layout), 0, &entries(slots));
        data(slots).watch(|data| {
            let template = template.handle();
            // SAFETY: as above; the data holds an info at each place that the entries describe.
            unsafe { push.cmd_push_descriptor_set_with_template(commands, template, layout, 0, data) };
        });
    }
}

/// Where the data of a template begins.
const OFFSET: usize = 4;

fn entries(slots: &[Slot]) -> Vec<vk::DescriptorUpdateTemplateEntry> {
    slots.iter().enumerate().map(|(number, slot)| slot.entry(OFFSET + number * IMAGE_INFO_SIZE)).collect()
}

fn data(slots: &[Slot]) -> TemplateData {
    TemplateData::pack(&slots.iter().map(|slot| slot.info).collect::<Vec<_>>(), OFFSET, IMAGE_INFO_SIZE)
}

/// The layouts of a way, and its sets: none where descriptors are pushed.
pub struct Route<'c> {
    context: &'c Context,
    way: Way,
    layouts: Vec<SetLayout<'c>>,
    _pools: Vec<Pool<'c>>,
    sets: Vec<vk::DescriptorSet>,
    /// How many of the bindings are in the first set.
    first: usize,
}

impl<'c> Route<'c> {
    /// `last` of the bindings are in a set of their own where there are two.
    pub fn new(context: &'c Context, way: Way, bindings: &[Binding], last: usize) -> Result<Self, Skip> {
        way.check(context)?;
        let first = if way.has_sets() { bindings.len() - last } else { bindings.len() };
        let make = if way.pushes() { SetLayout::pushed } else { SetLayout::new };
        let parts = [&bindings[..first], &bindings[first..]];
        let parts = parts.iter().filter(|part| !part.is_empty());
        let layouts: Vec<_> = parts.map(|part| make(context, part)).collect();
        let pools: Vec<_> = layouts.iter().filter(|_| !way.pushes()).map(|of| Pool::new(context, &[of])).collect();
        let sets = std::iter::zip(&pools, &layouts).map(|(pool, layout)| pool.allocate(layout)).collect();
        Ok(Self { context, way, layouts, _pools: pools, sets, first })
    }

    /// The layouts of the sets.
    pub fn layouts(&self) -> Vec<&SetLayout<'c>> {
        self.layouts.iter().collect()
    }

    /// Executes once with these descriptors; what was found.
    pub fn found(&self, rig: &Rig<'_>, slots: &[Slot], points: &[SamplePoint]) -> Vec<Vec<Value>> {
        let (context, parts) = (self.context, [&slots[..self.first], &slots[self.first..]]);
        for ((set, layout), slots) in self.sets.iter().zip(&self.layouts).zip(parts) {
            self.way.fill(context, layout, *set, slots);
        }
        let job = Job::new(rig, points);
        let bind = |commands| {
            if self.way == Way::SetsFirst {
                job.bind(commands);
                rig.bind_sets(commands, 1, &self.sets[1..], &[]);
                rig.bind_sets(commands, 0, &self.sets[..1], &[]);
                return rig.bind(commands);
            }
            rig.bind(commands);
            job.bind(commands);
            if self.way.pushes() {
                // All at once, or the last one by itself.
                let is_apart = self.way == Way::Push && slots.len() == 3;
                let all = if is_apart { slots.len() - 1 } else { slots.len() };
                slots.chunks(all).for_each(|slots| {
                    self.way.push(context, commands, (rig.point(), rig.layout()), slots);
                });
            } else {
                rig.bind_sets(commands, 0, &self.sets, &[]);
            }
        };
        if self.way == Way::Secondary {
            let secondary = Commands::secondary(context, rig, |commands| {
                bind(commands);
                job.record(commands, 0);
            });
            context.submit(|commands| {
                let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
                rig.in_pass(commands, contents, || secondary.record_into(commands));
                job.finish(commands);
            });
        } else {
            Commands::once(context, |commands| {
                bind(commands);
                job.run(commands, 0);
            });
        }
        job.results()
    }
}
