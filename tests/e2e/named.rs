//! What stays as the application has it and is named, on drivers that have it: swapchains, layouts that differ in immutable samplers, and
//! embedded samplers.

use crate::run::{self, Judged, Outcome, Skip, skip_if, with_layer};
use ash::vk::{self, DescriptorType as T, Format as F, ImageUsageFlags as Usage};
use libtest_mimic::Trial;
use samplin_compiler::{Language, compile};
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::image::FIRST;
use samplin_testkit::shader::{ShaderModule, make_compute, pipeline_layout};
use samplin_testkit::swapchain::Swapchain;
use samplin_testkit::{Capability, Context, ContextBuilder, Image, ImageDesc, Pair, SamplerDesc, ViewDesc};
use serde_json::Value as Json;

pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("named/swapchain-that-nothing-stores-to", || swapchain(F::B8G8R8A8_UNORM, Usage::STORAGE, true)),
        ("named/swapchain-that-stores-is-left-alone", || swapchain(F::R8G8B8A8_UNORM, Usage::STORAGE, false)),
        ("named/swapchain-that-is-sampled-is-left-alone", || swapchain(F::B8G8R8A8_UNORM, Usage::SAMPLED, false)),
        ("named/immutable-samplers-of-the-bind-differ", || layouts([0, 1, 1], Other::Mirrored, &[BIND])),
        ("named/immutable-samplers-of-the-draw-differ", || layouts([0, 0, 1], Other::Mirrored, &[DRAW])),
        ("named/immutable-samplers-that-are-alike-are-left-alone", || layouts([0, 1, 1], Other::Same, &[])),
        ("named/immutable-samplers-of-one-layout-are-left-alone", || layouts([0, 0, 0], Other::Mirrored, &[])),
        ("named/embedded-sampler-of-integers", || embedded(SamplerDesc::linear(), true)),
        ("named/embedded-sampler-that-suits-is-left-alone", || embedded(SamplerDesc::nearest(), false)),
    ])
}

const BIND: &str = "VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358";
const DRAW: &str = "VUID-vkCmdDraw-None-08600";

fn builder() -> ContextBuilder {
    Context::builder().record_only()
}

fn left<'j>(judged: &'j Judged, what: &str) -> Vec<&'j Json> {
    judged.trace.events("unresolved").filter(|record| record["what"] == what).collect()
}

/// A device that stores RGBA8 and not BGRA8, which the drivers here do.
const NO_BGRA: &str = "qualcomm-adreno-540-android";

/// A swapchain of a format, with a view of each of its images, which inherits the usage.
fn swapchain(format: F, usage: Usage, named: bool) -> Outcome {
    let ((), judged) = with_layer(builder().surfaces().setting("device", NO_BGRA), |context| {
        skip_if((!context.has_surfaces()).then(|| "there are no surfaces without a window".to_owned()))?;
        for image in &Swapchain::of(context, [16, 16], Some(format), usage)?.images {
            let info = vk::ImageViewCreateInfo::default().image(*image).view_type(vk::ImageViewType::TYPE_2D);
            let info = info.format(format).subresource_range(FIRST);
            // SAFETY: what is not valid about it is what the test is about; the images are never used.
            unsafe {
                let view = context.device().create_image_view(&info, None).expect("a view");
                context.device().destroy_image_view(view, None);
            }
        }
        Ok(())
    })?;
    let records = left(&judged, "image-usage");
    let changes = judged.changes("view");
    assert_eq!((records.len(), changes.len()), (usize::from(named), usize::from(named)), "{:#?}", judged.trace);
    if let ([record], [change]) = (records.as_slice(), changes.as_slice()) {
        assert_eq!(record["vuid"], "VUID-VkSwapchainCreateInfoKHR-imageFormat-01778");
        assert_eq!((change.rule.as_str(), change.field.as_str()), ("view-usage", "usage"));
        assert!(change.from.contains("STORAGE") && !change.to.contains("STORAGE"), "{change:?}");
    }
    judged.assert_silent("with samplin");
    Ok(())
}

/// The sampler of the other layout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    Mirrored,
    Same,
}

/// Two layouts that differ at most in their immutable samplers. `of`: those of the set, of its bind and of the pipeline.
fn layouts(of: [usize; 3], other: Other, wanted: &[&str]) -> Outcome {
    let ((), judged) = with_layer(builder(), |context| {
        let device = context.device();
        let desc = SamplerDesc::nearest();
        let other = match other {
            Other::Mirrored => desc.clone().address(vk::SamplerAddressMode::MIRRORED_REPEAT),
            Other::Same => desc.clone(),
        };
        let samplers = [desc, other].map(|desc| desc.create(context));
        let layouts =
            [0, 1].map(|at: usize| SetLayout::new(context, &[Binding::combined(0, 1).immutable(&[&samplers[at]])]));
        let made = layouts.each_ref().map(|layout| pipeline_layout(context, &[layout], &[]));
        let words = compile(Language::Glsl("vulkan1.0"), "comp", SAMPLED);
        let pipeline = compute(context, &words, made[of[2]], vk::PipelineCreateFlags::empty());
        let desc = ImageDesc::d2(F::R8G8B8A8_UNORM, 4, 4);
        let image = Image::new(context, &desc).map_err(Skip)?;
        let view = image.view(&ViewDesc::default());
        let (_pool, set) = Pool::set(context, &layouts[of[0]]);
        write_combined(context, set, (0, 0), &[Pair::new(&view, &samplers[of[0]])]);
        let point = vk::PipelineBindPoint::COMPUTE;
        for _ in 0..2 {
            // SAFETY: the buffer is recording, and what is bound is alive; which layouts do not suit is what the test is about.
            context.submit(|commands| unsafe {
                device.cmd_bind_pipeline(commands, point, pipeline);
                device.cmd_bind_descriptor_sets(commands, point, made[of[1]], 0, &[set], &[]);
                device.cmd_dispatch(commands, 1, 1, 1);
            });
        }
        // SAFETY: nothing was submitted.
        unsafe {
            device.destroy_pipeline(pipeline, None);
            made.iter().for_each(|layout| device.destroy_pipeline_layout(*layout, None));
        }
        Ok(())
    })?;
    let records = left(&judged, "immutable-layout");
    let vuids: Vec<_> = records.iter().filter_map(|record| record["vuid"].as_str()).collect();
    assert_eq!(vuids, wanted, "{:#?}", judged.trace);
    if of == [0; 3] {
        judged.assert_silent("with samplin");
    }
    Ok(())
}

/// A shader that samples set 0, binding 0.
const SAMPLED: &str = "#version 450
    layout(local_size_x = 1) in;
    layout(binding = 0) uniform sampler2D image;
    shared vec4 sum;
    void main() { sum = textureLod(image, vec2(0.5), 0.0); }";

/// A shader that samples the integers of set 0 through the sampler of set 1.
const JOINED: &str = "#version 450
    layout(local_size_x = 1) in;
    layout(set = 0, binding = 0) uniform utexture2D image;
    layout(set = 1, binding = 0) uniform sampler own;
    shared uvec4 sum;
    void main() { sum = textureLod(usampler2D(image, own), vec2(0.5), 0.0); }";

fn compute(
    context: &Context,
    words: &[u32],
    layout: vk::PipelineLayout,
    flags: vk::PipelineCreateFlags,
) -> vk::Pipeline {
    let module = ShaderModule::new(context, words);
    let stage = module.stage(vk::ShaderStageFlags::COMPUTE);
    let info = vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(layout);
    make_compute(context.device(), &info)
}

/// A sampler that is embedded in a layout, and an image of integers that was asked for as a descriptor.
fn embedded(sampler: SamplerDesc, named: bool) -> Outcome {
    let ((), judged) = with_layer(builder(), |context| {
        skip_if(context.missing(&[Capability::DescriptorBuffer]))?;
        let device = context.device();
        let functions = ash::ext::descriptor_buffer::Device::new(context.instance(), device);
        type Flags = vk::DescriptorSetLayoutCreateFlags;
        let sampler = sampler.create(context);
        let in_buffer = Flags::DESCRIPTOR_BUFFER_EXT;
        let images = SetLayout::with_flags(context, &[Binding::image(0)], in_buffer);
        let own = [Binding::sampler(0).immutable(&[&sampler])];
        let own = SetLayout::with_flags(context, &own, in_buffer | Flags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT);
        let layout = pipeline_layout(context, &[&images, &own], &[]);
        let words = compile(Language::Glsl("vulkan1.2"), "comp", JOINED);
        let pipeline = compute(context, &words, layout, vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT);
        let image = Image::new(context, &ImageDesc::d2(F::R8G8B8A8_UINT, 4, 4)).map_err(Skip)?;
        let view = image.view(&ViewDesc::default());
        let mut properties = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut head = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: the capability implies the extension whose structure is chained.
        unsafe { context.instance().get_physical_device_properties2(context.physical_device(), &mut head) };
        let described = Pair::new(&view, &sampler).info();
        let data = vk::DescriptorDataEXT { p_sampled_image: &described };
        let get = vk::DescriptorGetInfoEXT::default().ty(T::SAMPLED_IMAGE).data(data);
        let mut bytes = vec![0; properties.sampled_image_descriptor_size];
        // SAFETY: the member of the union is that of the type, and the size is the device's.
        (0..2).for_each(|_| unsafe { functions.get_descriptor(&get, &mut bytes) });
        // SAFETY: nothing was submitted.
        unsafe {
            device.destroy_pipeline(pipeline, None);
            device.destroy_pipeline_layout(layout, None);
        }
        Ok(())
    })?;
    let records = left(&judged, "embedded-sampler");
    assert_eq!(records.len(), usize::from(named), "{:#?}", judged.trace);
    for record in records {
        assert_eq!((&record["format"], &record["rule"]), (&"VK_FORMAT_R8G8B8A8_UINT".into(), &"linear-filter".into()));
        assert_eq!(record["link"]["sampler"], serde_json::json!({ "set": 1, "binding": 0 }));
    }
    judged.assert_silent("with samplin");
    Ok(())
}
