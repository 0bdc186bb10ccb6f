//! A scene on the device: what a sampler gives of it, and what it has to give.

use crate::held::Slot;
use crate::scene::{Scene, first_difference};
use crate::skip::Skip;
use crate::{Context, Image, Pair, ResultKind, SamplePoint, Sampler, SamplerDesc, Value, View, reference, sample};

/// A scene on the device.
pub struct Texture<'c> {
    /// Where it was made.
    pub context: &'c Context,
    /// What it shows.
    pub scene: Scene,
    /// The image.
    pub image: Image<'c>,
    /// The view of it.
    pub view: View<'c>,
}

impl<'c> Texture<'c> {
    /// Makes a scene.
    pub fn new(context: &'c Context, scene: Scene) -> Result<Self, Skip> {
        let image = scene.image(context)?;
        let view = scene.view(&image);
        Ok(Self { context, scene, image, view })
    }

    /// Makes several.
    pub fn all(context: &'c Context, scenes: &[Scene]) -> Result<Vec<Self>, Skip> {
        scenes.iter().map(|scene| Self::new(context, *scene)).collect()
    }

    /// What shaders read of it.
    pub fn kind(&self) -> ResultKind {
        self.view.numeric_kind().into()
    }

    /// A descriptor of it.
    pub fn slot(&self, binding: u32, element: u32) -> Slot {
        Slot::image(&self.view, binding, element)
    }

    /// A descriptor of it and a sampler.
    pub fn pair(&self, sampler: &Sampler<'_>, binding: u32, element: u32) -> Slot {
        Slot::pair(&self.view, sampler, binding, element)
    }

    /// By the specification, what a sampler gives at these points.
    pub fn wanted(&self, sampler: &SamplerDesc, points: &[SamplePoint]) -> Vec<Value> {
        let texels = reference::Texture::read(&self.image, &self.view);
        let bias = self.context.limits().max_sampler_lod_bias;
        points.iter().map(|point| reference::sample(&texels, sampler, point, bias)).collect()
    }

    /// By the driver, what one descriptor of it and a sampler gives at these points; compared if the sampler compares.
    pub fn through(&self, sampler: &Sampler<'_>, points: &[SamplePoint]) -> Vec<Value> {
        self.compared(sampler, sampler.desc().compare_enable, points)
    }

    fn compared(&self, sampler: &Sampler<'_>, compares: bool, points: &[SamplePoint]) -> Vec<Value> {
        let pair = Pair::new(&self.view, sampler);
        sample(self.context, if compares { pair.shadow() } else { pair }, points)
    }

    /// Asserts that one descriptor of it and a sampler gives, within what drivers round, what `legal` gives by the specification.
    pub fn assert_reads(&self, sampler: &Sampler<'_>, legal: &SamplerDesc, what: &str) {
        let points = self.scene.points(legal.unnormalized);
        let (got, wanted) = (self.compared(sampler, legal.compare_enable, &points), self.wanted(legal, &points));
        if let Some(at) = first_difference(&got, &wanted, &self.scene, self.scene.tolerance(legal)) {
            panic!("{what}, {legal:?}: {:?} is not {:?} at {:?}", got[at], wanted[at], points[at]);
        }
    }
}
