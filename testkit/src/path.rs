//! Every way a (sampler, view) pair reaches set 0 of a [`Probe`].

use crate::Capability;
use crate::context::Context;
use crate::descriptor::{
    Binding, DescriptorBuffer, IMAGE_INFO_SIZE, Pair, Pool, SetLayout, Spelling, Template, TemplateData, raw_infos,
    update, write_images,
};
use crate::held::{Held, Slot, bindings};
use crate::lookup::{Access, SamplePoint};
use crate::shader::{Bind, Probe};
use crate::texel::Value;
use ash::vk;
use std::ffi::CStr;

/// A way to bind pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// `vkUpdateDescriptorSets`, one write per pair in one call.
    Update,
    /// One write per array binding.
    UpdateArray,
    /// One write that runs over into the following bindings, skipping unused numbers.
    UpdateOverflow,
    /// Written to one set and copied to another.
    Copy,
    /// `vkUpdateDescriptorSetWithTemplate`, one entry per pair, with gaps in the data.
    Template,
    /// The same with one entry per array binding.
    TemplateArray,
    /// `vkUpdateDescriptorSetWithTemplateKHR`.
    TemplateKhr,
    /// `vkCmdPushDescriptorSetKHR`.
    Push,
    /// `vkCmdPushDescriptorSetWithTemplateKHR`.
    PushTemplate,
    /// `vkCmdPushDescriptorSet2KHR`.
    Push2,
    /// `vkCmdPushDescriptorSetWithTemplate2KHR`.
    PushTemplate2,
    /// `vkCmdPushDescriptorSet`, Vulkan 1.4.
    PushCore,
    /// `vkCmdPushDescriptorSetWithTemplate`, Vulkan 1.4.
    PushTemplateCore,
    /// `vkCmdPushDescriptorSet2`, Vulkan 1.4.
    Push2Core,
    /// `vkCmdPushDescriptorSetWithTemplate2`, Vulkan 1.4.
    PushTemplate2Core,
    /// `vkGetDescriptorEXT`.
    DescriptorBuffer,
    /// Combined image samplers with an immutable sampler; the write names no sampler.
    Immutable,
    /// A sampled image and a sampler in two bindings.
    Separate,
    /// The same with an immutable sampler.
    SeparateImmutable,
}

impl Path {
    /// The paths on which view and sampler meet in one call.
    pub const COMBINED: [Self; 16] = [
        Self::Update,
        Self::UpdateArray,
        Self::UpdateOverflow,
        Self::Copy,
        Self::Template,
        Self::TemplateArray,
        Self::TemplateKhr,
        Self::Push,
        Self::PushTemplate,
        Self::Push2,
        Self::PushTemplate2,
        Self::PushCore,
        Self::PushTemplateCore,
        Self::Push2Core,
        Self::PushTemplate2Core,
        Self::DescriptorBuffer,
    ];

    /// The paths on which they meet in the layout or in the shader.
    pub const APART: [Self; 3] = [Self::Immutable, Self::Separate, Self::SeparateImmutable];

    /// Why the device cannot take this path; `None` when it can.
    pub fn missing(self, context: &Context) -> Option<String> {
        let template =
            || context.missing(&[Capability::UpdateTemplate]).and(context.missing(&[Capability::UpdateTemplateKhr]));
        let core_1_4 = || {
            (context.version() < vk::make_api_version(0, 1, 4, 0))
                .then(|| format!("{} is not used with Vulkan 1.4", context.device_name()))
        };
        let push = || context.missing(&[Capability::PushDescriptor]);
        let push2 = || context.missing(&[Capability::PushDescriptor, Capability::Maintenance6]);
        match self {
            Self::Template | Self::TemplateArray => context.missing(&[Capability::UpdateTemplate]),
            Self::TemplateKhr => context.missing(&[Capability::UpdateTemplateKhr]),
            Self::Push => push(),
            Self::PushTemplate => push().or_else(template),
            Self::Push2 => push2(),
            Self::PushTemplate2 => push2().or_else(template),
            Self::PushCore | Self::PushTemplateCore => push().or_else(core_1_4),
            Self::Push2Core | Self::PushTemplate2Core => push2().or_else(core_1_4),
            Self::DescriptorBuffer => context.missing(&[Capability::DescriptorBuffer]),
            _ => None,
        }
    }
}

/// How pairs are spread over array bindings: one binding per (kind, shape), since a shader declares each array with one
/// type and every element has to fit it.
struct Arrays {
    /// Of each binding, the indices of its pairs.
    groups: Vec<Vec<usize>>,
}

impl Arrays {
    fn of(pairs: &[Pair<'_, '_>]) -> Self {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, pair) in pairs.iter().enumerate() {
            let fits =
                |group: &&mut Vec<usize>| (pairs[group[0]].kind, pairs[group[0]].shape) == (pair.kind, pair.shape);
            match groups.iter_mut().find(fits) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        Self { groups }
    }

    fn bindings(&self) -> Vec<Binding> {
        (0..).zip(&self.groups).map(|(binding, group)| Binding::combined(binding, length(group))).collect()
    }

    /// The items of each binding.
    fn split<T: Copy>(&self, items: &[T]) -> Vec<Vec<T>> {
        self.groups.iter().map(|group| group.iter().map(|index| items[*index]).collect()).collect()
    }

    fn access(&self, pair: usize) -> Access {
        let found = (0..).zip(&self.groups).find_map(|(binding, group)| {
            let element = group.iter().position(|index| *index == pair)?;
            let element = u32::try_from(element).expect("few pairs");
            Some(Access::Array { binding, count: length(group), element })
        });
        found.expect("every pair is in a group")
    }
}

fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).expect("short lists")
}

/// Binds `pairs` by `path` and samples each at `points`; one list of results per pair, in order. The error is what the device lacks.
///
/// Where a path fills several bindings or elements, all pairs are bound together. Panics when somebody changed application memory.
pub fn sample_via(
    context: &Context,
    path: Path,
    pairs: &[Pair<'_, '_>],
    points: &[SamplePoint],
) -> Result<Vec<Vec<Value>>, String> {
    if let Some(missing) = path.missing(context) {
        return Err(missing);
    }
    let infos: Vec<_> = pairs.iter().map(Pair::info).collect();
    let combined = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let single = |binding| Access::Single { binding };
    let arrays = Arrays::of(pairs);
    let element = |index: u32| arrays.access(index as usize);
    // A binding for each.
    let slots: Vec<_> = (0..).zip(pairs).map(|(at, pair)| Slot::pair(pair.view, pair.sampler, at, 0)).collect();
    let one_each = bindings(&slots);
    let probe = |layout: &SetLayout<'_>, pair: &Pair<'_, '_>, access| {
        Probe::new(context, layout, pair.op, pair.shape, pair.kind, access)
    };
    // Runs every pair's probe over one set.
    let over_set = |layout: &SetLayout<'_>, set: vk::DescriptorSet, access: &dyn Fn(u32) -> Access| {
        let run = |(index, pair)| probe(layout, pair, access(index)).run(&Bind::Set(set), points);
        (0..).zip(pairs).map(run).collect()
    };
    // Gaps that are no multiple of the structure's size.
    const OFFSET: usize = 12;
    const STRIDE: usize = IMAGE_INFO_SIZE + 20;
    let entries: Vec<_> = (0..).zip(&slots).map(|(index, slot)| slot.entry(OFFSET + index * STRIDE)).collect();
    let data = TemplateData::pack(&infos, OFFSET, STRIDE);

    Ok(match path {
        Path::Update => {
            let layout = SetLayout::new(context, &one_each);
            let (_pool, set) = Pool::set(context, &layout);
            update(context, &slots.iter().map(|slot| slot.write(set)).collect::<Vec<_>>(), &[], &infos);
            over_set(&layout, set, &single)
        }
        Path::UpdateArray => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let (_pool, set) = Pool::set(context, &layout);
            for (binding, infos) in (0..).zip(arrays.split(&infos)) {
                write_images(context, set, (binding, 0), combined, &infos);
            }
            over_set(&layout, set, &element)
        }
        Path::UpdateOverflow => {
            // Bindings 0, 2, 4, …: the numbers between are skipped by the overflow.
            let bindings: Vec<_> = (0..length(pairs)).map(|index| Binding::combined(index * 2, 1)).collect();
            let layout = SetLayout::new(context, &bindings);
            let (_pool, set) = Pool::set(context, &layout);
            write_images(context, set, (0, 0), combined, &infos);
            over_set(&layout, set, &|index| single(index * 2))
        }
        Path::Copy => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let pool = Pool::new(context, &[&layout, &layout]);
            let (from, to) = (pool.allocate(&layout), pool.allocate(&layout));
            let mut copies = Vec::new();
            for (binding, infos) in (0..).zip(arrays.split(&infos)) {
                write_images(context, from, (binding, 0), combined, &infos);
                let copy = vk::CopyDescriptorSet::default().src_set(from).src_binding(binding);
                copies.push(copy.dst_set(to).dst_binding(binding).descriptor_count(length(&infos)));
            }
            update(context, &[], &copies, &[]);
            over_set(&layout, to, &element)
        }
        Path::Template | Path::TemplateKhr => {
            let spelling = if path == Path::Template { Spelling::Core } else { Spelling::Khr };
            let layout = SetLayout::new(context, &one_each);
            let (_pool, set) = Pool::set(context, &layout);
            Template::for_set(context, spelling, &layout, &entries).update(set, &data);
            over_set(&layout, set, &single)
        }
        Path::TemplateArray => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let (_pool, set) = Pool::set(context, &layout);
            let (parts, mut offset) = (arrays.split(&infos), OFFSET);
            let entries = (0..).zip(&parts).map(|(binding, part)| {
                let mut entry = slots[0].entry(offset);
                (entry.dst_binding, entry.descriptor_count, entry.stride) = (binding, length(part), STRIDE);
                offset += part.len() * STRIDE;
                entry
            });
            let template = Template::for_set(context, Spelling::Core, &layout, &entries.collect::<Vec<_>>());
            template.update(set, &TemplateData::pack(&parts.concat(), OFFSET, STRIDE));
            over_set(&layout, set, &element)
        }
        Path::DescriptorBuffer => {
            let flags = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT;
            let layout = SetLayout::with_flags(context, &one_each, flags);
            let run = |(index, pair): (u32, &Pair<'_, '_>)| {
                let lookup = (pair.op, pair.shape, pair.kind, single(index));
                let probe = Probe::with_descriptor_buffer(context, &layout, lookup);
                let memory = DescriptorBuffer::new(context, &layout, probe.io_layout());
                (0..).zip(&infos).for_each(|(binding, info)| memory.write_combined(binding, info));
                probe.run(&Bind::Buffer(&memory), points)
            };
            (0..).zip(pairs).map(run).collect()
        }
        Path::Immutable => {
            let held = Held::of(context, &slots.iter().map(|slot| slot.fixed()).collect::<Vec<_>>());
            over_set(&held.layout, held.set, &single)
        }
        Path::Separate | Path::SeparateImmutable => {
            let run = |pair: &Pair<'_, '_>| {
                let sampler = Slot::sampler(pair.sampler, 1, 0);
                let sampler = if path == Path::Separate { sampler } else { sampler.fixed() };
                let held = Held::of(context, &[Slot::image(pair.view, 0, 0), sampler]);
                let access = Access::Separate { image: 0, sampler: 1 };
                probe(&held.layout, pair, access).run(&Bind::Set(held.set), points)
            };
            pairs.iter().map(run).collect()
        }
        _ => {
            let layout = SetLayout::pushed(context, &one_each);
            let writes: Vec<_> = slots.iter().map(|slot| slot.write(vk::DescriptorSet::null())).collect();
            let run = |(index, pair)| {
                let probe = probe(&layout, pair, single(index));
                let of = (vk::PipelineBindPoint::COMPUTE, probe.layout());
                let is_core = context.supports(Capability::UpdateTemplate);
                let spelling = if is_core { Spelling::Core } else { Spelling::Khr };
                let template = Template::for_push(context, spelling, of, 0, &entries);
                let push = |commands, layout| {
                    let before = raw_infos(&infos);
                    record_push(context, path, (commands, layout), &writes, (&template, &data));
                    assert_eq!(before, raw_infos(&infos), "a push command changed the application's image infos");
                };
                probe.run(&Bind::Push(&push), points)
            };
            (0..).zip(pairs).map(run).collect()
        }
    })
}

/// A command by its name of version 1.4.
///
/// # Safety
///
/// It has this type, that of the extension's command.
unsafe fn core<F: Copy>(context: &Context, name: &CStr) -> F {
    let address = context.device_proc(name);
    assert!(address.is_some() && size_of::<F>() == size_of_val(&address), "{name:?} is a 1.4 command");
    // SAFETY: the caller says so.
    unsafe { std::mem::transmute_copy(&address) }
}

/// The push-descriptor paths of [`sample_via`].
fn record_push(
    context: &Context,
    path: Path,
    (commands, layout): (vk::CommandBuffer, vk::PipelineLayout),
    writes: &[vk::WriteDescriptorSet<'_>],
    (template, data): (&Template<'_>, &TemplateData),
) {
    let (point, stages) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
    let (own, newer) = (context.functions.push.fp(), context.functions.maintenance6.fp());
    let info2 = vk::PushDescriptorSetInfoKHR::default().stage_flags(stages).layout(layout).descriptor_writes(writes);
    let template = template.handle();
    let mut with_template2 = vk::PushDescriptorSetWithTemplateInfoKHR::default().layout(layout);
    with_template2 = with_template2.descriptor_update_template(template);
    // SAFETY: recording; set 0 of the layout is a push set with these bindings, the data holds an info at each place that the entries
    // describe, and the commands of version 1.4 have the types of those that they were promoted from.
    unsafe {
        match path {
            Path::Push | Path::PushCore => {
                let own = own.cmd_push_descriptor_set_khr;
                let push = if path == Path::Push { own } else { core(context, c"vkCmdPushDescriptorSet") };
                push(commands, point, layout, 0, length(writes), writes.as_ptr());
            }
            Path::PushTemplate | Path::PushTemplateCore => {
                let (own, name) =
                    (own.cmd_push_descriptor_set_with_template_khr, c"vkCmdPushDescriptorSetWithTemplate");
                let push = if path == Path::PushTemplate { own } else { core(context, name) };
                data.watch(|data| push(commands, template, layout, 0, data));
            }
            Path::Push2 | Path::Push2Core => {
                let own = newer.cmd_push_descriptor_set2_khr;
                let push = if path == Path::Push2 { own } else { core(context, c"vkCmdPushDescriptorSet2") };
                push(commands, &info2);
            }
            Path::PushTemplate2 | Path::PushTemplate2Core => {
                let own = newer.cmd_push_descriptor_set_with_template2_khr;
                let name = c"vkCmdPushDescriptorSetWithTemplate2";
                let push = if path == Path::PushTemplate2 { own } else { core(context, name) };
                data.watch(|data| {
                    with_template2.p_data = data;
                    push(commands, &with_template2);
                });
            }
            _ => unreachable!("{path:?} pushes nothing"),
        }
    }
}

/// Binds one pair by `vkUpdateDescriptorSets` and samples it at `points`.
pub fn sample(context: &Context, pair: Pair<'_, '_>, points: &[SamplePoint]) -> Vec<Value> {
    let mut results = sample_via(context, Path::Update, &[pair], points).expect("every device takes this path");
    results.remove(0)
}
