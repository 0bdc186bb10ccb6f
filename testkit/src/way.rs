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
        if matches!(self, Self::Template | Self::PushTemplate) {
            skip_if(context.missing(&[Capability::UpdateTemplate]))?;
        }
        Ok(())
    }
}

/// Where the data of a template begins.
const OFFSET: usize = 4;

fn entries(slots: &[Slot]) -> Vec<vk::DescriptorUpdateTemplateEntry> {
    let entry = |(number, slot): (usize, &Slot)| vk::DescriptorUpdateTemplateEntry {
        dst_binding: slot.at.0,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: slot.ty,
        offset: OFFSET + number * IMAGE_INFO_SIZE,
        stride: 0,
    };
    slots.iter().enumerate().map(entry).collect()
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

    /// Puts the descriptors in the sets.
    fn fill(&self, slots: &[Slot]) {
        let (context, parts) = (self.context, [&slots[..self.first], &slots[self.first..]]);
        for ((set, layout), slots) in self.sets.iter().zip(&self.layouts).zip(parts) {
            match self.way {
                Way::Template => {
                    Template::for_set(context, Spelling::Core, layout, &entries(slots)).update(*set, &data(slots))
                }
                Way::Copy => {
                    let pool = Pool::new(context, &[layout]);
                    let from = pool.allocate(layout);
                    write(context, from, slots);
                    let copy = |slot: &Slot| {
                        let copy = vk::CopyDescriptorSet::default().src_set(from).src_binding(slot.at.0).dst_set(*set);
                        copy.dst_binding(slot.at.0).descriptor_count(1)
                    };
                    update(context, &[], &slots.iter().map(copy).collect::<Vec<_>>(), &[]);
                }
                _ => write(context, *set, slots),
            }
        }
    }

    /// Executes once with these descriptors; what was found.
    pub fn found(&self, rig: &Rig<'_>, slots: &[Slot], points: &[SamplePoint]) -> Vec<Vec<Value>> {
        let context = self.context;
        self.fill(slots);
        let job = Job::new(rig, points);
        let (entries, data) = (entries(slots), data(slots));
        let template = (self.way == Way::PushTemplate)
            .then(|| Template::for_push(context, Spelling::Core, (rig.point(), rig.layout()), 0, &entries));
        let bind = |commands| {
            if self.way == Way::SetsFirst {
                job.bind(commands);
                rig.bind_sets(commands, 1, &self.sets[1..], &[]);
                rig.bind_sets(commands, 0, &self.sets[..1], &[]);
                return rig.bind(commands);
            }
            rig.bind(commands);
            job.bind(commands);
            if let Some(template) = &template {
                rig.push_with_template(commands, template, &data);
            } else if self.way.pushes() {
                // All at once, or the last one by itself.
                let writes: Vec<_> = slots.iter().map(|slot| slot.write(vk::DescriptorSet::null())).collect();
                let all = if slots.len() == 3 { writes.len() - 1 } else { writes.len() };
                writes.chunks(all).for_each(|writes| rig.push(commands, 0, writes));
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
            let commands = Commands::primary(context, |commands| {
                bind(commands);
                job.run(commands, 0);
            });
            commands.execute();
        }
        job.results()
    }
}
