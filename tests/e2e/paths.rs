//! Every way a sampler and a view reach a descriptor together: each must repair the illegal pairs and leave the others alone.
//!
//! The same five pairs take each path. Two of them share one sampler, which must go on filtering the view that can be filtered.

use crate::run::{self, Judged, Outcome, Skip, silent, skip_if, trial};
use crate::scene::Scene;
use ash::vk::{self, Handle};
use libtest_mimic::Trial;
use samplin_suite::case::{assert_same, reported};
use samplin_testkit::descriptor::{
    Binding, IMAGE_INFO_SIZE, Pool, SetLayout, Spelling, Template, TemplateData, push, update, whole, write_combined,
    write_images,
};
use samplin_testkit::job::with_texels;
use samplin_testkit::shader::{Access, Bind, Op};
use samplin_testkit::{
    Buffer, Capability, Context, ContextBuilder, Pair, Path, Probe, SamplePoint, Sampler, SamplerDesc, Texture, Value,
    sample_via,
};

/// One test for each path.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all: Vec<Trial> =
        Path::COMBINED.into_iter().map(|path| trial(format!("path/{}", name(path)), move || plain(path))).collect();
    all.extend(run::trials(&[
        ("path/update-mixed-types", mixed_types),
        ("path/update-array-element", array_element),
        ("path/update-overflow-unequal", overflow_unequal),
        ("path/update-chained-structure", chained_structure),
        ("path/update-again", update_again),
        ("path/update-and-copy-in-one-call", update_and_copy),
        ("path/template-mixed-types", template_mixed_types),
        ("path/template-data-too-large-to-copy", large_template),
        ("path/push-template-data-too-large-to-copy", large_push_template),
        ("path/push-wild-set", push_wild_set),
        ("path/update-nothing", update_nothing),
        ("path/update-from-read-only-memory", read_only_memory),
        ("path/update-null-view", null_view),
    ]));
    all
}

fn name(path: Path) -> String {
    let mut name = String::new();
    for letter in format!("{path:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// What the trace calls a path.
fn trace_name(path: Path) -> &'static str {
    match path {
        Path::Template | Path::TemplateArray | Path::TemplateKhr => "template",
        Path::Push | Path::Push2 | Path::PushCore | Path::Push2Core => "push",
        Path::PushTemplate | Path::PushTemplate2 | Path::PushTemplateCore | Path::PushTemplate2Core => "push_template",
        Path::DescriptorBuffer => "get_descriptor",
        _ => "update",
    }
}

// --- the five pairs -------------------------------------------------------------------------------------------------

const UINT: Scene = Scene::colour(vk::Format::R32_UINT);
const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);

/// (scene, which of [`samplers`], what the pair must behave like).
fn table() -> [(Scene, usize, SamplerDesc); 5] {
    [
        (UINT, 0, SamplerDesc::nearest()),
        (RGBA8, 0, SamplerDesc::linear()),
        (Scene::colour(vk::Format::R16G16B16A16_UINT), 1, SamplerDesc::nearest()),
        (Scene::colour(vk::Format::R8G8B8A8_UINT), 2, SamplerDesc::nearest()),
        (Scene::colour(vk::Format::R8_SINT), 1, SamplerDesc::nearest()),
    ]
}

/// Pairs 0 and 3 of the table are illegal.
const ILLEGAL: u64 = 2;

fn samplers() -> [SamplerDesc; 3] {
    [SamplerDesc::linear(), SamplerDesc::nearest(), SamplerDesc::trilinear()]
}

/// Images, views and samplers of the table.
struct Five<'c> {
    context: &'c Context,
    textures: Vec<Texture<'c>>,
    samplers: Vec<Sampler<'c>>,
}

impl<'c> Five<'c> {
    fn new(context: &'c Context) -> Result<Self, Skip> {
        let scenes = table().map(|(scene, ..)| scene);
        let samplers = samplers().iter().map(|sampler| sampler.create(context)).collect();
        Ok(Self { context, textures: Texture::all(context, &scenes)?, samplers })
    }

    fn pairs(&self) -> Vec<Pair<'_, 'c>> {
        let pairs = std::iter::zip(&self.textures, table());
        pairs.map(|(texture, (_, sampler, _))| Pair::new(&texture.view, &self.samplers[sampler])).collect()
    }

    fn pair(&self, index: usize) -> Pair<'_, 'c> {
        self.pairs()[index]
    }

    /// Asserts that `got` is what pair `index` must show.
    fn check(&self, index: usize, got: &[Value], what: &str) {
        let (scene, _, legal) = &table()[index];
        let wanted = self.textures[index].wanted(legal, &points());
        assert_same(got, &wanted, legal, scene, &format!("{what}, pair {index}"));
    }

    /// Samples descriptors of a set as these pairs, and `checks` the results or does not look at them.
    fn look(&self, layout: &SetLayout<'c>, set: vk::DescriptorSet, looks: &[(Access, usize)], checks: bool) {
        for (access, index) in looks {
            let got = Probe::read(&self.pair(*index), (layout, set), *access, &points());
            if checks {
                self.check(*index, &got, "through a set");
            }
        }
    }
}

fn points() -> Vec<SamplePoint> {
    RGBA8.points(false)
}

/// Runs `body` without samplin, where nothing is executed and validation must object to the LINEAR filters, and with it,
/// where validation must be silent. `body` checks the pixels when told to.
fn twice(builder: impl Fn() -> ContextBuilder, body: impl Fn(&Context, bool) -> Outcome) -> Result<Judged, Skip> {
    twice_reporting(&["magFilter-04553"], builder, body)
}

/// [`twice`], with the ids that validation reports.
fn twice_reporting(
    ids: &[&str],
    builder: impl Fn() -> ContextBuilder,
    body: impl Fn(&Context, bool) -> Outcome,
) -> Result<Judged, Skip> {
    reported(builder().record_only(), ids, |context| body(context, false))?;
    let ((), judged) = silent(builder(), "with samplin", |context| body(context, true))?;
    Ok(judged)
}

/// Asserts the counts of one path and that it wrote `records` records.
fn assert_counts(judged: &Judged, path: &str, seen: u64, rewritten: u64, records: usize) {
    let summary = judged.summary();
    for (name, counts) in summary["writes"].as_object().expect("counts by path") {
        let wanted = if name == path { [seen, rewritten] } else { [0, 0] };
        assert_eq!([&counts["seen"], &counts["rewritten"]], wanted, "{name} in {summary:#}");
    }
    let pairs: Vec<_> = judged.trace.events("pair").collect();
    assert_eq!(pairs.len(), records, "{pairs:#?}");
    for record in pairs {
        assert_eq!(record["path"], path, "{record:#}");
        let changes = samplin_testkit::trace::changes(record);
        let filters = changes.iter().filter(|change| change.rule == "linear-filter").count();
        assert_eq!(filters, 2, "{record:#}");
    }
}

// --- the plain paths ------------------------------------------------------------------------------------------------

fn plain(path: Path) -> Outcome {
    // H12: what lies in descriptor buffers is not looked at.
    let ids: &[&str] = if path == Path::DescriptorBuffer { &[] } else { &["magFilter-04553"] };
    let judged = twice_reporting(
        ids,
        || Context::builder().api_version(vk::make_api_version(0, 1, 4, 0)),
        |context, checks| {
            skip_if(path.missing(context))?;
            let five = Five::new(context)?;
            let got = sample_via(context, path, &five.pairs(), &points()).map_err(Skip)?;
            if checks {
                for (index, got) in got.iter().enumerate() {
                    five.check(index, got, &format!("{path:?}"));
                }
            }
            Ok(())
        },
    )?;
    let name = trace_name(path);
    // Paths without sets bind all five for each of the five programs.
    let times = if matches!(name, "push" | "push_template" | "get_descriptor") { 5 } else { 1 };
    assert_counts(&judged, name, 5 * times, ILLEGAL * times, 2);
    let variants = judged.summary()["variants"].clone();
    assert_eq!(variants, serde_json::json!({"live": 0, "peak": 1, "created": 1}), "both become the same sampler");
    Ok(())
}

// --- vkUpdateDescriptorSets -----------------------------------------------------------------------------------------

/// A pointer that must not be followed.
fn wild<T>() -> *const T {
    std::ptr::without_provenance(0x5a8)
}

/// Buffers, texel buffers, images, samplers and pairs in one call. What a type ignores is a wild pointer.
fn mixed_types() -> Outcome {
    use vk::DescriptorType as Type;
    let judged = twice(Context::builder, |context, checks| {
        let five = Five::new(context)?;
        let types = [
            (0, Type::STORAGE_BUFFER),
            (1, Type::COMBINED_IMAGE_SAMPLER),
            (2, Type::UNIFORM_TEXEL_BUFFER),
            (3, Type::SAMPLED_IMAGE),
            (4, Type::COMBINED_IMAGE_SAMPLER),
            (5, Type::SAMPLER),
            (6, Type::COMBINED_IMAGE_SAMPLER),
        ];
        let layout = SetLayout::new(context, &types.map(|(binding, ty)| Binding::new(binding, ty, 1)));
        let (_pool, set) = Pool::set(context, &layout);
        let storage = Buffer::new(context, 64, vk::BufferUsageFlags::STORAGE_BUFFER);
        let texels = Buffer::new(context, 64, vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER);
        let buffers = [whole(&storage)];
        let info = |index: usize| five.pair(index).info();
        // The image write's sampler and the sampler write's view are ignored.
        let ignored = (vk::Sampler::from_raw(0x1234_5678), vk::ImageView::from_raw(0x1234_5678));
        let infos = [
            info(0),
            vk::DescriptorImageInfo { sampler: ignored.0, ..info(1) },
            info(1),
            vk::DescriptorImageInfo { image_view: ignored.1, ..info(2) },
            info(3),
        ];
        let write = |binding: u32| {
            let ty = types[binding as usize].1;
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(ty);
            let mut write = write.descriptor_count(1);
            (write.p_image_info, write.p_buffer_info, write.p_texel_buffer_view) = (wild(), wild(), wild());
            write
        };
        let mut writes = [0, 1, 2, 3, 4, 5, 6].map(write);
        writes[0].p_buffer_info = buffers.as_ptr();
        for (write, info) in [1, 3, 4, 5, 6].into_iter().zip(&infos) {
            writes[write].p_image_info = info;
        }
        with_texels(context, &texels, vk::Format::R32_UINT, |view| {
            writes[2].p_texel_buffer_view = &view;
            update(context, &writes, &[], &infos);
            let single = |binding| Access::Single { binding };
            five.look(&layout, set, &[(single(1), 0), (single(4), 1), (single(6), 3)], checks);
        });
        Ok(())
    })?;
    assert_counts(&judged, "update", 3, 2, 2);
    assert!(judged.left().is_empty(), "no shader joins the separate ones: {:?}", judged.left());
    Ok(())
}

/// A set of these bindings that `fill` fills, and what is looked for in it; `counts` as for [`assert_counts`].
fn filled(
    bindings: &[Binding],
    path: &str,
    (seen, rewritten, records): (u64, u64, usize),
    fill: impl Fn(&Five<'_>, &SetLayout<'_>, vk::DescriptorSet) -> Result<Vec<(Access, usize)>, Skip>,
) -> Outcome {
    let judged = twice(Context::builder, |context, checks| {
        let five = Five::new(context)?;
        let layout = SetLayout::new(context, bindings);
        let (_pool, set) = Pool::set(context, &layout);
        let looks = fill(&five, &layout, set)?;
        five.look(&layout, set, &looks, checks);
        Ok(())
    })?;
    assert_counts(&judged, path, seen, rewritten, records);
    Ok(())
}

/// A write that starts in the middle of an array, after one that filled all of it.
fn array_element() -> Outcome {
    filled(&[Binding::combined(7, 5)], "update", (7, 6, 2), |five, _, set| {
        // Element 0 is illegal, because recent validation layers only look at that one.
        write_combined(five.context, set, (7, 0), &[five.pair(0); 5]);
        write_combined(five.context, set, (7, 2), &[five.pair(2), five.pair(3)]);
        let element = |element| Access::Array { binding: 7, count: 5, element };
        Ok(vec![(element(0), 0), (element(1), 0), (element(2), 2), (element(3), 3), (element(4), 0)])
    })
}

/// One write over bindings of different length, over a binding without descriptors and over numbers that do not exist.
fn overflow_unequal() -> Outcome {
    let bindings = [Binding::combined(1, 2), Binding::combined(2, 0), Binding::combined(5, 3)];
    filled(&bindings, "update", (5, 3, 2), |five, _, set| {
        write_combined(five.context, set, (1, 0), &[2, 0, 3, 2, 0].map(|index| five.pair(index)));
        let first = |element| Access::Array { binding: 1, count: 2, element };
        let last = |element| Access::Array { binding: 5, count: 3, element };
        Ok(vec![(first(0), 2), (first(1), 0), (last(0), 3), (last(1), 2), (last(2), 0)])
    })
}

/// A structure in the chain of a write, which means nothing to this type but has to be carried along.
fn chained_structure() -> Outcome {
    filled(&[Binding::combined(0, 1)], "update", (1, 1, 1), |five, _, set| {
        if five.context.version() < vk::API_VERSION_1_3 {
            return Err(Skip("VkWriteDescriptorSetInlineUniformBlock needs Vulkan 1.3".to_owned()));
        }
        let bytes = [0u8; 16];
        let mut chained = vk::WriteDescriptorSetInlineUniformBlock::default().data(&bytes);
        let infos = [five.pair(0).info()];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&infos)
            .push_next(&mut chained);
        update(five.context, &[write], &[], &infos);
        Ok(vec![(Access::Single { binding: 0 }, 0)])
    })
}

/// A binding that held a repaired pair gets a legal one with the same sampler, and the other way round.
fn update_again() -> Outcome {
    let judged = twice(Context::builder, |context, checks| {
        let five = Five::new(context)?;
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let (_pool, set) = Pool::set(context, &layout);
        for index in [0, 1, 3, 0] {
            write_combined(context, set, (0, 0), &[five.pair(index)]);
            five.look(&layout, set, &[(Access::Single { binding: 0 }, index)], checks);
        }
        Ok(())
    })?;
    assert_counts(&judged, "update", 4, 3, 2);
    Ok(())
}

/// Writes and copies in one call: the copies come after the writes and take the repaired pair along.
fn update_and_copy() -> Outcome {
    let judged = twice(Context::builder, |context, checks| {
        let five = Five::new(context)?;
        let layout = SetLayout::new(context, &[Binding::combined(0, 2)]);
        let pool = Pool::new(context, &[&layout, &layout]);
        let (from, to) = (pool.allocate(&layout), pool.allocate(&layout));
        let infos = [five.pair(2).info(), five.pair(3).info()];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(from)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&infos);
        let copy = vk::CopyDescriptorSet::default().src_set(from).src_array_element(1).dst_set(to).descriptor_count(1);
        update(context, &[write], &[copy, copy.dst_array_element(1)], &infos);
        let element = |element| Access::Array { binding: 0, count: 2, element };
        five.look(&layout, to, &[(element(0), 3), (element(1), 3)], checks);
        Ok(())
    })?;
    assert_counts(&judged, "update", 2, 1, 1);
    Ok(())
}

/// No writes, no copies, and null pointers for both.
fn update_nothing() -> Outcome {
    let ((), judged) = silent(Context::builder(), "an empty update", |context| {
        let five = Five::new(context)?;
        update(context, &[], &[], &[]);
        let function = context.device().fp_v1_0().update_descriptor_sets;
        // SAFETY: both counts are 0, so neither pointer is read.
        unsafe { function(context.device().handle(), 0, wild(), 0, wild()) };
        drop(five);
        Ok(())
    })?;
    judged.assert_untouched("an empty update");
    Ok(())
}

/// The application's arrays lie in memory that faults when somebody writes to it.
fn read_only_memory() -> Outcome {
    filled(&[Binding::combined(0, 1), Binding::combined(1, 1)], "update", (2, 1, 1), |five, _, set| {
        let infos = ReadOnly::new(&[five.pair(0).info(), five.pair(1).info()]);
        let write = |binding: usize| {
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding as u32)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .image_info(std::slice::from_ref(&infos.slice()[binding]))
        };
        let writes = ReadOnly::new(&[write(0), write(1)]);
        // SAFETY: set, views and samplers are alive; the arrays are borrowed for the call.
        unsafe { five.context.device().update_descriptor_sets(writes.slice(), &[]) };
        Ok(vec![(Access::Single { binding: 0 }, 0), (Access::Single { binding: 1 }, 1)])
    })
}

/// A copy of some values in a page that cannot be written to.
struct ReadOnly<T: Copy> {
    start: *mut T,
    count: usize,
}

impl<T: Copy> ReadOnly<T> {
    const SIZE: usize = 4096;

    fn new(values: &[T]) -> Self {
        assert!(size_of_val(values) <= Self::SIZE);
        // SAFETY: a new private mapping of one page.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED);
        let start = page.cast::<T>();
        // SAFETY: the page is writable, has room for the values (asserted) and is aligned for anything.
        unsafe { start.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        // SAFETY: the mapping made above.
        assert_eq!(unsafe { libc::mprotect(page, Self::SIZE, libc::PROT_READ) }, 0);
        Self { start, count: values.len() }
    }

    fn slice(&self) -> &[T] {
        // SAFETY: `new` has put `count` values there, and the mapping lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

impl<T: Copy> Drop for ReadOnly<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, unmapped once.
        unsafe { libc::munmap(self.start.cast(), Self::SIZE) };
    }
}

/// A null view (`nullDescriptor`) conflicts with no sampler.
fn null_view() -> Outcome {
    let ((), judged) = silent(Context::builder(), "a null view", |context| {
        skip_if(context.missing(&[Capability::NullDescriptor]))?;
        let five = Five::new(context)?;
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let (_pool, set) = Pool::set(context, &layout);
        let info = vk::DescriptorImageInfo { image_view: vk::ImageView::null(), ..five.pair(0).info() };
        write_images(context, set, (0, 0), vk::DescriptorType::COMBINED_IMAGE_SAMPLER, &[info]);
        Ok(())
    })?;
    judged.assert_untouched("a null view");
    Ok(())
}

// --- templates ------------------------------------------------------------------------------------------------------

fn entry(
    binding: u32,
    element: u32,
    ty: vk::DescriptorType,
    count: u32,
    (offset, stride): (usize, usize),
) -> vk::DescriptorUpdateTemplateEntry {
    vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding,
        dst_array_element: element,
        descriptor_count: count,
        descriptor_type: ty,
        offset,
        stride,
    }
}

/// Buffers, texel buffers and pairs in one template; offsets that are aligned to nothing, strides with gaps, and entries
/// that start in the middle of an array and come in no order.
fn template_mixed_types() -> Outcome {
    use vk::DescriptorType as Type;
    let judged = twice(Context::builder, |context, checks| {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
        let five = Five::new(context)?;
        let combined = Type::COMBINED_IMAGE_SAMPLER;
        let layout = SetLayout::new(
            context,
            &[
                Binding::new(0, Type::STORAGE_BUFFER, 1),
                Binding::combined(1, 4),
                Binding::new(2, Type::UNIFORM_TEXEL_BUFFER, 1),
                Binding::combined(3, 1),
            ],
        );
        let (_pool, set) = Pool::set(context, &layout);
        let storage = Buffer::new(context, 64, vk::BufferUsageFlags::STORAGE_BUFFER);
        let texels = Buffer::new(context, 64, vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER);
        const STRIDE: usize = IMAGE_INFO_SIZE + 9;
        let entries = [
            entry(3, 0, combined, 1, (301, 0)),
            entry(1, 1, combined, 3, (5, STRIDE)),
            entry(0, 0, Type::STORAGE_BUFFER, 1, (200, 0)),
            entry(2, 0, Type::UNIFORM_TEXEL_BUFFER, 1, (240, 0)),
            entry(1, 0, combined, 1, (131, 0)),
        ];
        let info = |index: usize| five.pair(index).info();
        let mut data = TemplateData::new(400);
        data.put(301, info(1));
        for (element, index) in [0, 2, 3].into_iter().enumerate() {
            data.put(5 + element * STRIDE, info(index));
        }
        data.put(200, whole(&storage));
        data.put(131, info(3));
        let template = Template::for_set(context, Spelling::Core, &layout, &entries);
        let element = |element| Access::Array { binding: 1, count: 4, element };
        let looks =
            [(Access::Single { binding: 3 }, 1), (element(0), 3), (element(1), 0), (element(2), 2), (element(3), 3)];
        with_texels(context, &texels, vk::Format::R32_UINT, |view| {
            data.put(240, view);
            template.update(set, &data);
            five.look(&layout, set, &looks, checks);
        });
        Ok(())
    })?;
    assert_counts(&judged, "template", 5, 3, 2);
    Ok(())
}

/// Where [`large_template`] and [`large_push_template`] have their data, in bytes.
const FAR: (usize, usize) = (3, 150_001);

/// Data of a template that is too long to be copied: the conflicting descriptors are written after the template.
fn large_template() -> Outcome {
    filled(&[Binding::combined(0, 3)], "template", (3, 2, 2), |five, layout, set| {
        skip_if(five.context.missing(&[Capability::UpdateTemplate]))?;
        let infos = [0, 2, 3].map(|index| five.pair(index).info());
        let entries = [entry(0, 0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 3, FAR)];
        let template = Template::for_set(five.context, Spelling::Core, layout, &entries);
        template.update(set, &TemplateData::pack(&infos, FAR.0, FAR.1));
        let element = |element| Access::Array { binding: 0, count: 3, element };
        Ok(vec![(element(0), 0), (element(1), 2), (element(2), 3)])
    })
}

/// The same, pushed. The three descriptors are three bindings: llvmpipe 22.3 pushes every element of an array to its start.
fn large_push_template() -> Outcome {
    let judged = twice(Context::builder, |context, checks| {
        skip_if(context.missing(&[Capability::UpdateTemplate]))?;
        skip_if(Path::PushTemplate.missing(context))?;
        let five = Five::new(context)?;
        let chosen = [2, 0, 3];
        let bindings = [0, 1, 2].map(|binding| Binding::combined(binding, 1));
        let layout = SetLayout::pushed(context, &bindings);
        let functions = ash::khr::push_descriptor::Device::new(context.instance(), context.device());
        let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let entries = [0, 1, 2].map(|binding| entry(binding, 0, ty, 1, (FAR.0 + binding as usize * FAR.1, 0)));
        let data = TemplateData::pack(&chosen.map(|index| five.pair(index).info()), FAR.0, FAR.1);
        for (binding, index) in (0..).zip(chosen) {
            let pair = five.pair(index);
            let access = Access::Single { binding };
            let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, access);
            let template = Template::for_push(
                context,
                Spelling::Core,
                (vk::PipelineBindPoint::COMPUTE, probe.layout()),
                0,
                &entries,
            );
            let push = |commands, pipeline_layout| {
                data.watch(|data| {
                    let template = template.handle();
                    // SAFETY: recording; the layout's set 0 is a push set and the data has what the entries describe.
                    unsafe {
                        functions.cmd_push_descriptor_set_with_template(commands, template, pipeline_layout, 0, data);
                    }
                });
            };
            let got = probe.run(&Bind::Push(&push), &points());
            if checks {
                five.check(index, &got, "pushed with a large template");
            }
        }
        Ok(())
    })?;
    assert_counts(&judged, "push_template", 9, 6, 2);
    Ok(())
}

/// `dstSet` of a pushed write is ignored, so it may be anything.
fn push_wild_set() -> Outcome {
    let judged = twice(Context::builder, |context, checks| {
        skip_if(Path::Push.missing(context))?;
        let five = Five::new(context)?;
        let layout = SetLayout::pushed(context, &[Binding::combined(0, 1)]);
        let pair = five.pair(3);
        let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, Access::Single { binding: 0 });
        let infos = [pair.info()];
        let writes = [vk::WriteDescriptorSet::default()
            .dst_set(vk::DescriptorSet::from_raw(0x00dd_00dd))
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&infos)];
        let got = probe.run(&Bind::Push(&|commands, layout| push(context, commands, layout, &writes)), &points());
        if checks {
            five.check(3, &got, "pushed to a wild set");
        }
        Ok(())
    })?;
    assert_counts(&judged, "push", 1, 1, 1);
    Ok(())
}
