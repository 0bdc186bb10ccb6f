//! What sets note of combined descriptors, and writes of those: views with depth and stencil, and comparisons that the shader does.

use ash::vk;
use samplin_testkit::context::Context;
use samplin_testkit::image::{Image, ImageDesc, View, ViewDesc};
use samplin_testkit::shader::SamplePoint;
use samplin_testkit::{Pair, Sampler, SamplerDesc, sample};

use crate::sample::{CALLS, combined, time};

/// What makes a combined descriptor one that is noted.
#[derive(Clone, Copy)]
pub(crate) struct Noted {
    view: vk::ImageView,
    /// None where any sampler does.
    sampler: Option<vk::Sampler>,
}

/// The objects behind it.
pub(crate) struct Held<'c> {
    view: View<'c>,
    sampler: Option<Sampler<'c>>,
    _image: Image<'c>,
}

impl<'c> Held<'c> {
    /// What there is of this.
    pub(crate) fn of(context: &'c Context, both_aspects: bool, compared: bool) -> Option<Self> {
        let made = both_aspects.then(|| Self::both_aspects(context));
        made.or_else(|| compared.then(|| Self::compared(context)))
    }

    /// A view of depth and stencil.
    fn both_aspects(context: &'c Context) -> Self {
        let format = vk::Format::D32_SFLOAT_S8_UINT;
        let image = Image::new(context, &ImageDesc::d2(format, 4, 4)).expect("an image of depth and stencil");
        let view = image.view(&ViewDesc::aspect(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL));
        Self { view, sampler: None, _image: image }
    }

    /// A colour with a sampler that compares, which a shader has done.
    fn compared(context: &'c Context) -> Self {
        let image = Image::new(context, &ImageDesc::d2(vk::Format::R32_SFLOAT, 4, 4)).expect("an image of floats");
        let view = image.view(&ViewDesc::default());
        let sampler = SamplerDesc::linear().compare(vk::CompareOp::LESS).create(context);
        sample(context, Pair::new(&view, &sampler).shadow(), &[SamplePoint::at(0.5, 0.5, 0.5)]);
        Self { view, sampler: Some(sampler), _image: image }
    }

    pub(crate) fn noted(&self) -> Noted {
        Noted { view: self.view.handle(), sampler: self.sampler.as_ref().map(Sampler::handle) }
    }
}

impl Noted {
    /// The descriptor in place of another one.
    fn in_place_of(&self, info: &vk::DescriptorImageInfo) -> vk::DescriptorImageInfo {
        vk::DescriptorImageInfo { sampler: self.sampler.unwrap_or(info.sampler), image_view: self.view, ..*info }
    }

    /// Calls of one write of `n` descriptors of a set, of which all are noted: they are others and such ones by turns.
    pub(crate) fn measure(
        &self,
        context: &Context,
        set: vk::DescriptorSet,
        plain: &[vk::DescriptorImageInfo],
        n: usize,
    ) -> f64 {
        let device = context.device();
        let noted: Vec<_> = plain.iter().map(|info| self.in_place_of(info)).collect();
        // SAFETY: a valid write to a set that only this thread uses.
        unsafe { device.update_descriptor_sets(&[combined(set, 0, &noted)], &[]) };
        let calls: Vec<_> = (0..CALLS)
            .map(|call| {
                let (infos, at) = (if call % 2 == 0 { plain } else { &noted }, call / 2 * n % plain.len());
                [combined(set, at as u32, &infos[at..at + n])]
            })
            .collect();
        // SAFETY: as above.
        time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) })
    }
}
