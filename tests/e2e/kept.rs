//! Pipelines made of kept copies, over twins of their layouts: the same pictures as those that the application makes, from sets of the
//! application's layouts. The validation layer says whether the twins are compatible.

use std::cell::RefCell;

use ash::vk;
use libtest_mimic::Trial;
use samplin::kept;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::shader::{Access, Bind, MakeCompute, MakeGraphics, grid, make_compute, make_graphics, words};
use samplin_testkit::{Context, Image, ImageDesc, Mapping, Painter, Pair, Probe, SamplerDesc, Value, ViewDesc};

use crate::run::{self, Outcome, Skip, assert_silent, without_layer};

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[("kept/graphics", graphics), ("kept/compute", compute)])
}

const SEEN: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

/// Twins of layouts, made of kept copies of what the harness makes its own of.
struct Twins<'c> {
    context: &'c Context,
    sets: RefCell<Vec<vk::DescriptorSetLayout>>,
    layouts: RefCell<Vec<vk::PipelineLayout>>,
}

impl<'c> Twins<'c> {
    fn new(context: &'c Context) -> Self {
        Self { context, sets: RefCell::default(), layouts: RefCell::default() }
    }

    fn set(&self, bindings: &[(vk::DescriptorType, u32)]) -> vk::DescriptorSetLayout {
        let kept = {
            let mut bindings: Vec<_> = (0..)
                .zip(bindings)
                .map(|(number, (kind, count))| {
                    let binding = vk::DescriptorSetLayoutBinding::default().binding(number).stage_flags(SEEN);
                    binding.descriptor_type(*kind).descriptor_count(*count)
                })
                .collect();
            // Twins are identically defined whatever the order.
            bindings.reverse();
            // SAFETY: all of it lives in this block.
            unsafe { kept::SetLayout::new(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings)) }
        };
        let made = kept.expect("nothing is chained").with_create_info(|info| {
            // SAFETY: what is handed out is valid for the call.
            unsafe { self.context.device().create_descriptor_set_layout(info, None) }
        });
        let made = made.expect("vkCreateDescriptorSetLayout");
        self.sets.borrow_mut().push(made);
        made
    }

    fn layout(
        &self,
        sets: &[vk::DescriptorSetLayout],
        stage_flags: vk::ShaderStageFlags,
        size: u32,
    ) -> vk::PipelineLayout {
        let kept = {
            let push = [vk::PushConstantRange { stage_flags, offset: 0, size }];
            // SAFETY: all of it lives in this block.
            unsafe { kept::PipelineLayout::new(&vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push)) }
        };
        let made = kept.expect("nothing is chained").with_create_info(sets, |info| {
            // SAFETY: as above, and the sets' layouts live.
            unsafe { self.context.device().create_pipeline_layout(info, None) }
        });
        let made = made.expect("vkCreatePipelineLayout");
        self.layouts.borrow_mut().push(made);
        made
    }
}

impl Drop for Twins<'_> {
    fn drop(&mut self) {
        for layout in self.layouts.borrow_mut().drain(..) {
            // SAFETY: the pipelines over them are gone, because they were made later.
            unsafe { self.context.device().destroy_pipeline_layout(layout, None) };
        }
        for set in self.sets.borrow_mut().drain(..) {
            // SAFETY: as above.
            unsafe { self.context.device().destroy_descriptor_set_layout(set, None) };
        }
    }
}

/// A picture with something to see.
fn ramp(context: &Context, shift: u32) -> Result<Image<'_>, Skip> {
    let desc = ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 8, 8);
    let texel = |x: u32, y: u32| [x as f32 / 7.0, y as f32 / 7.0, ((x + y + shift) % 2) as f32, 1.0];
    Image::filled(context, &desc, |_, _, _, [x, y, _]| Value::Float(texel(x, y))).map_err(Skip)
}

fn is_plain(texels: &[Value]) -> bool {
    texels.iter().all(|texel| *texel == texels[0])
}

/// A render pass, two stages, static viewport.
fn graphics() -> Outcome {
    let (pictures, errors) = without_layer(Context::builder(), |context| {
        let image = ramp(context, 0)?;
        let view = image.view(&ViewDesc::default());
        let sampler = SamplerDesc::linear().create(context);
        let pair = Pair::new(&view, &sampler);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let (_pool, set) = Pool::set(context, &layout);
        write_combined(context, set, (0, 0), &[pair]);
        let twins = Twins::new(context);
        let again: MakeGraphics<'_> = &|device, info| {
            let subpass = kept::Subpass { colors: 1, color: Some(true), depth_stencil: false };
            let knows = kept::Context { subpass: Some(subpass), ..Default::default() };
            // SAFETY: the harness's create info is valid.
            let kept = unsafe { kept::Graphics::new(info, knows) }.expect("can be kept");
            let twin = twins.set(&[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 1)]);
            let twin = twins.layout(&[twin], vk::ShaderStageFlags::FRAGMENT, 72);
            assert_ne!(twin, info.layout);
            let make = |info: &vk::GraphicsPipelineCreateInfo<'_>| make_graphics(device, info);
            kept.with_create_info(twin, kept.render_pass(), |stage| stage.module, make)
        };
        let paint = |make| {
            let words = words("draw", pair.shape, pair.kind, Access::Single { binding: 0 });
            let painter = Painter::made_by(make, context, &layout, (pair.kind, &words), [16, 16]).map_err(Skip)?;
            Ok(painter.paint(set, &Mapping::rectangle([0.0, 0.0], [1.0, 1.0])))
        };
        Ok((paint(&make_graphics)?, paint(again)?))
    })?;
    assert_silent(&errors, "a pipeline made of a kept copy");
    assert!(!is_plain(&pictures.0), "there is something to see");
    assert_eq!(pictures.0, pictures.1);
    Ok(())
}

/// Specialization constants choose the element, so a copy without them reads another picture.
fn compute() -> Outcome {
    let (texels, errors) = without_layer(Context::builder(), |context| {
        let images = [ramp(context, 0)?, ramp(context, 1)?];
        let views = images.each_ref().map(|image| image.view(&ViewDesc::default()));
        let sampler = SamplerDesc::nearest().create(context);
        let pairs = views.each_ref().map(|view| Pair::new(view, &sampler));
        let layout = SetLayout::new(context, &[Binding::combined(0, 2)]);
        let (_pool, set) = Pool::set(context, &layout);
        write_combined(context, set, (0, 0), &pairs);
        let twins = Twins::new(context);
        let again: MakeCompute<'_> = &|device, info| {
            // SAFETY: the harness's create info is valid.
            let kept = unsafe { kept::Compute::new(info) }.expect("can be kept");
            let storage = (vk::DescriptorType::STORAGE_BUFFER, 1);
            let sets = [twins.set(&[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 2)]), twins.set(&[storage, storage])];
            let twin = twins.layout(&sets, vk::ShaderStageFlags::COMPUTE, 4);
            kept.with_create_info(twin, kept.stage().module, |info| make_compute(device, info))
        };
        let points = grid(8, 8, [0.0, 0.0], [1.0, 1.0]);
        let run = |make, element| {
            let access = Access::Array { binding: 0, count: 2, element };
            let probe = Probe::made_by(make, context, &layout, pairs[0].shape, pairs[0].kind, access);
            probe.run(&Bind::Set(set), &points)
        };
        Ok([run(&make_compute, 0), run(again, 0), run(&make_compute, 1), run(again, 1)])
    })?;
    assert_silent(&errors, "a pipeline made of a kept copy");
    assert_ne!(texels[0], texels[2], "the elements differ");
    assert_eq!(texels[0], texels[1]);
    assert_eq!(texels[2], texels[3]);
    Ok(())
}
