//! Every way a (sampler, view) pair reaches set 0 of a [`Probe`].

use crate::Capability;
use crate::context::Context;
use crate::descriptor::{
    Binding, DescriptorBuffer, IMAGE_INFO_SIZE, Pair, Pool, SetLayout, Spelling, Template, TemplateData, raw_infos,
    update, write_images,
};
use crate::lookup::{Access, SamplePoint};
use crate::shader::{Bind, Probe};
use crate::texel::Value;
use ash::vk;

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

/// Binds `pairs` by `path` and samples each at `points`; one list of results per pair, in order.
///
/// Where a path fills several bindings or elements, all pairs are bound together.
///
/// # Errors
///
/// What the device lacks, see [`Path::missing`].
///
/// # Panics
///
/// When a Vulkan call fails or somebody changed application memory.
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
    let count = length(pairs);
    let combined = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let single = |binding| Access::Single { binding };
    let arrays = Arrays::of(pairs);
    let element = |index: u32| arrays.access(index as usize);
    let one_each: Vec<_> = (0..count).map(|binding| Binding::combined(binding, 1)).collect();
    // Runs every pair's probe over one set.
    let over_set = |layout: &SetLayout<'_>, set: vk::DescriptorSet, access: &dyn Fn(u32) -> Access| {
        (0..)
            .zip(pairs)
            .map(|(index, pair)| {
                let probe = Probe::new(context, layout, pair.op, pair.shape, pair.kind, access(index));
                probe.run(&Bind::Set(set), points)
            })
            .collect()
    };
    let entry = |binding, element, descriptor_count, offset, stride| vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding,
        dst_array_element: element,
        descriptor_count,
        descriptor_type: combined,
        offset,
        stride,
    };
    // Gaps that are no multiple of the structure's size.
    const OFFSET: usize = 12;
    const STRIDE: usize = IMAGE_INFO_SIZE + 20;
    let entries: Vec<_> = (0..count).map(|index| entry(index, 0, 1, OFFSET + index as usize * STRIDE, 0)).collect();

    Ok(match path {
        Path::Update => {
            let layout = SetLayout::new(context, &one_each);
            let (_pool, set) = Pool::set(context, &layout);
            let writes: Vec<_> = (0..)
                .zip(&infos)
                .map(|(binding, info)| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(binding)
                        .descriptor_type(combined)
                        .image_info(std::slice::from_ref(info))
                })
                .collect();
            update(context, &writes, &[], &infos);
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
            let bindings: Vec<_> = (0..count).map(|index| Binding::combined(index * 2, 1)).collect();
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
                let length = length(&infos);
                copies.push(copy.dst_set(to).dst_binding(binding).descriptor_count(length));
            }
            update(context, &[], &copies, &[]);
            over_set(&layout, to, &element)
        }
        Path::Template | Path::TemplateKhr => {
            let spelling = if path == Path::Template { Spelling::Core } else { Spelling::Khr };
            let layout = SetLayout::new(context, &one_each);
            let (_pool, set) = Pool::set(context, &layout);
            let template = Template::for_set(context, spelling, &layout, &entries);
            template.update(set, &TemplateData::pack(&infos, OFFSET, STRIDE));
            over_set(&layout, set, &single)
        }
        Path::TemplateArray => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let (_pool, set) = Pool::set(context, &layout);
            let parts = arrays.split(&infos);
            let mut offset = OFFSET;
            let mut entries = Vec::new();
            for (binding, part) in (0..).zip(&parts) {
                entries.push(entry(binding, 0, length(part), offset, STRIDE));
                offset += part.len() * STRIDE;
            }
            let template = Template::for_set(context, Spelling::Core, &layout, &entries);
            template.update(set, &TemplateData::pack(&parts.concat(), OFFSET, STRIDE));
            over_set(&layout, set, &element)
        }
        Path::DescriptorBuffer => {
            let flags = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT;
            let layout = SetLayout::with_flags(context, &one_each, flags);
            (0..)
                .zip(pairs)
                .map(|(index, pair)| {
                    let probe = Probe::with_descriptor_buffer(
                        context,
                        &layout,
                        (pair.op, pair.shape, pair.kind, single(index)),
                    );
                    let memory = DescriptorBuffer::new(context, &layout, probe.io_layout());
                    for (binding, info) in (0..).zip(&infos) {
                        memory.write_combined(binding, info);
                    }
                    probe.run(&Bind::Buffer(&memory), points)
                })
                .collect()
        }
        Path::Immutable => {
            let bindings: Vec<_> = (0..)
                .zip(pairs)
                .map(|(binding, pair)| Binding::combined(binding, 1).immutable(&[pair.sampler]))
                .collect();
            let layout = SetLayout::new(context, &bindings);
            let (_pool, set) = Pool::set(context, &layout);
            for (binding, info) in (0..).zip(&infos) {
                let info = vk::DescriptorImageInfo { sampler: vk::Sampler::null(), ..*info };
                write_images(context, set, (binding, 0), combined, &[info]);
            }
            over_set(&layout, set, &single)
        }
        Path::Separate | Path::SeparateImmutable => pairs
            .iter()
            .zip(&infos)
            .map(|(pair, info)| {
                let mut sampler = Binding::new(1, vk::DescriptorType::SAMPLER, 1);
                if path == Path::SeparateImmutable {
                    sampler = sampler.immutable(&[pair.sampler]);
                }
                let image = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 1);
                let layout = SetLayout::new(context, &[image, sampler]);
                let (_pool, set) = Pool::set(context, &layout);
                let image = vk::DescriptorImageInfo { sampler: vk::Sampler::null(), ..*info };
                write_images(context, set, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &[image]);
                if path == Path::Separate {
                    let sampler = vk::DescriptorImageInfo { sampler: info.sampler, ..Default::default() };
                    write_images(context, set, (1, 0), vk::DescriptorType::SAMPLER, &[sampler]);
                }
                let access = Access::Separate { image: 0, sampler: 1 };
                let probe = Probe::new(context, &layout, pair.op, pair.shape, pair.kind, access);
                probe.run(&Bind::Set(set), points)
            })
            .collect(),
        _ => push_and_sample(context, path, pairs, &infos, &one_each, &entries, points, (OFFSET, STRIDE)),
    })
}

/// The push-descriptor paths of [`sample_via`].
#[expect(clippy::too_many_arguments, reason = "the second half of one function")]
fn push_and_sample(
    context: &Context,
    path: Path,
    pairs: &[Pair<'_, '_>],
    infos: &[vk::DescriptorImageInfo],
    bindings: &[Binding],
    entries: &[vk::DescriptorUpdateTemplateEntry],
    points: &[SamplePoint],
    (offset, stride): (usize, usize),
) -> Vec<Vec<Value>> {
    let layout = SetLayout::pushed(context, bindings);
    let writes: Vec<_> = (0..)
        .zip(infos)
        .map(|(binding, info)| {
            vk::WriteDescriptorSet::default()
                .dst_binding(binding)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .image_info(std::slice::from_ref(info))
        })
        .collect();
    let data = TemplateData::pack(infos, offset, stride);
    let functions = &context.functions;
    let template_spelling = if context.supports(Capability::UpdateTemplate) { Spelling::Core } else { Spelling::Khr };
    let stages = vk::ShaderStageFlags::COMPUTE;
    (0..)
        .zip(pairs)
        .map(|(index, pair)| {
            let access = Access::Single { binding: index };
            let probe = Probe::new(context, &layout, pair.op, pair.shape, pair.kind, access);
            let template = Template::for_push(
                context,
                template_spelling,
                (vk::PipelineBindPoint::COMPUTE, probe.layout()),
                0,
                entries,
            );
            let push = |commands: vk::CommandBuffer, pipeline_layout: vk::PipelineLayout| {
                let point = vk::PipelineBindPoint::COMPUTE;
                let before = raw_infos(infos);
                let info2 = vk::PushDescriptorSetInfoKHR::default()
                    .stage_flags(stages)
                    .layout(pipeline_layout)
                    .descriptor_writes(&writes);
                let template2 = |data| {
                    let mut info = vk::PushDescriptorSetWithTemplateInfoKHR::default()
                        .descriptor_update_template(template.handle())
                        .layout(pipeline_layout);
                    info.p_data = data;
                    info
                };
                match path {
                    // SAFETY: recording; set 0 of the layout is a push set with these bindings.
                    Path::Push => unsafe {
                        functions.push.cmd_push_descriptor_set(commands, point, pipeline_layout, 0, &writes);
                    },
                    Path::PushTemplate => data.watch(|data| {
                        let template = template.handle();
                        // SAFETY: as above; the data holds an info at each place the entries describe.
                        unsafe {
                            functions.push.cmd_push_descriptor_set_with_template(
                                commands,
                                template,
                                pipeline_layout,
                                0,
                                data,
                            );
                        }
                    }),
                    // SAFETY: as above.
                    Path::Push2 => unsafe { functions.maintenance6.cmd_push_descriptor_set2(commands, &info2) },
                    Path::PushTemplate2 => data.watch(|data| {
                        // SAFETY: as above.
                        unsafe {
                            functions.maintenance6.cmd_push_descriptor_set_with_template2(commands, &template2(data));
                        }
                    }),
                    Path::PushCore => {
                        let address = context.device_proc(c"vkCmdPushDescriptorSet").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSetKHR = unsafe { std::mem::transmute(address) };
                        let count = length(&writes);
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, point, pipeline_layout, 0, count, writes.as_ptr()) };
                    }
                    Path::PushTemplateCore => data.watch(|data| {
                        let address =
                            context.device_proc(c"vkCmdPushDescriptorSetWithTemplate").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR =
                            unsafe { std::mem::transmute(address) };
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, template.handle(), pipeline_layout, 0, data) };
                    }),
                    Path::Push2Core => {
                        let address = context.device_proc(c"vkCmdPushDescriptorSet2").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSet2KHR = unsafe { std::mem::transmute(address) };
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, &info2) };
                    }
                    Path::PushTemplate2Core => data.watch(|data| {
                        let address =
                            context.device_proc(c"vkCmdPushDescriptorSetWithTemplate2").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR =
                            unsafe { std::mem::transmute(address) };
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, &template2(data)) };
                    }),
                    _ => unreachable!("{path:?} pushes nothing"),
                }
                assert_eq!(before, raw_infos(infos), "a push command changed the application's image infos");
            };
            probe.run(&Bind::Push(&push), points)
        })
        .collect()
}

/// Binds one pair by `vkUpdateDescriptorSets` and samples it at `points`.
///
/// # Panics
///
/// As [`sample_via`].
pub fn sample(context: &Context, pair: Pair<'_, '_>, points: &[SamplePoint]) -> Vec<Value> {
    let mut results = sample_via(context, Path::Update, &[pair], points).expect("every device takes this path");
    results.remove(0)
}
