//! Trying a case on the driver: an image with known texels, sampled through the case's way, and what the reference says.

use ash::vk;
use samplin_testkit::reference::Texture;
use samplin_testkit::{Context, Pair, SamplePoint, SamplerDesc, Value, ViewDesc, sample_via};

use super::case::Trial;
use super::compared::{Compared, Difference};

/// What came out, with what is needed to compare it.
pub(super) struct TrialResult {
    texture: Texture,
    points: Vec<SamplePoint>,
    got: Vec<Value>,
    max_lod_bias: f32,
}

/// Samples as a trial says.
///
/// # Errors
///
/// Why it cannot be tried here, or that the driver fails.
pub(super) fn look(context: &Context, trial: &Trial) -> Result<TrialResult, Compared> {
    let lacks = |why: String| Compared::Unknown(why);
    if let Some(missing) = trial.way.missing(context) {
        return Err(lacks(missing));
    }
    let image = trial.scene.image(context).map_err(|skip| lacks(skip.0))?;
    let plain = trial.scene.view(&image);
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let both = trial.both_aspects.then(|| image.view(&ViewDesc { aspect: both, ..trial.scene.view_desc() }));
    let view = both.as_ref().unwrap_or(&plain);
    let sampler =
        trial.asked.try_create(context).map_err(|error| Compared::Failed(format!("vkCreateSampler: {error:?}")))?;
    let mut pair = Pair { kind: plain.numeric_kind().into(), op: trial.op, ..Pair::new(view, &sampler) };
    if trial.compares {
        pair = pair.shadow();
    }
    let points = trial.scene.points(trial.asked.unnormalized);
    let got = sample_via(context, trial.way, &[pair], &points).map_err(lacks)?.remove(0);
    let texture = Texture::read(&image, &plain);
    Ok(TrialResult { texture, points, got, max_lod_bias: context.limits().max_sampler_lod_bias })
}

impl TrialResult {
    /// Compares with what one of these samplers has to give: with the first that agrees, else with the first.
    pub(super) fn compared_with(&self, trial: &Trial, samplers: &[SamplerDesc]) -> Compared {
        let mut all = samplers.iter().map(|sampler| self.compared(trial, sampler)).collect::<Vec<_>>();
        let which = all.iter().position(|compared| *compared == Compared::Same).unwrap_or(0);
        all.swap_remove(which)
    }

    /// Compares with what a sampler has to give.
    pub(super) fn compared(&self, trial: &Trial, sampler: &SamplerDesc) -> Compared {
        let wanted = trial.read_through(sampler);
        let tolerance = trial.scene.tolerance(&wanted);
        let (mut first, mut wrong, mut known) = (None, 0, 0);
        for (point, got) in self.points.iter().zip(&self.got) {
            let Some(expected) = trial.expected(&self.texture, &wanted, point, self.max_lod_bias) else { continue };
            known += 1;
            if !trial.scene.is_same(*got, expected, tolerance) {
                wrong += 1;
                first.get_or_insert((point, *got, expected));
            }
        }
        match first {
            // How texels are weighed with anisotropy is the driver's matter, even with an explicit level.
            Some(_) if wanted.anisotropy_enable && wanted.max_anisotropy > 1.0 => {
                Compared::Unknown("no reference for anisotropy".to_owned())
            }
            Some((point, got, expected)) => Compared::Differs(Difference {
                coord: point.coord,
                lod: point.lod,
                got: got.components(),
                expected: expected.components(),
                points: (wrong, known),
            }),
            None if known == 0 => Compared::Unknown("the reference knows none of its enumerants".to_owned()),
            None => Compared::Same,
        }
    }
}
