//! How many custom colours a device holds.

use samplin_core::budget::IN_FLIGHT;

use super::rows::WITH_CUSTOM;
use super::*;

/// A device that holds few custom borders and needs their format.
fn few_borders() -> ContextBuilder {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/devices/few-borders.json");
    Context::builder().setting("augment", "off").file("device", path)
}

/// Places for custom borders in that file.
const PLACES: usize = 24;

fn distinct(index: usize, format: F) -> SamplerDesc {
    let part = |shift: usize| ((index >> shift) & 127) as f32 / 255.0 + 0.1;
    custom_float([part(0), part(7), part(14), 0.5], format)
}

/// Writes each (sampler, view) into a set, without sampling it.
fn write(context: &Context, view: &View<'_>, samplers: &[Sampler<'_>]) {
    let held = Held::new(context, &[descriptor::Binding::combined(0, 1)], &[]);
    samplers.iter().for_each(|sampler| held.write(&[Slot::pair(view, sampler, 0, 0)]));
}

/// Records of an event with a change by the budget.
fn downgraded(judged: &Judged, event: &str) -> usize {
    let by_budget = |record: &&Json| changes(record).iter().any(|change| change.catalog == "A-35");
    for record in judged.trace.events(event).filter(by_budget) {
        for change in changes(record).iter().filter(|change| change.catalog == "A-35") {
            assert!(change.to.contains("_OPAQUE_") || change.to.contains("_TRANSPARENT_"), "{change:?}");
            assert!(change.because.contains("24"), "{change:?}");
            assert_eq!((change.rule.as_str(), change.lost.as_str()), ("border-budget", "exact border colour"));
        }
    }
    judged.trace.events(event).filter(by_budget).count()
}

fn small<'c>(context: &'c Context, format: F) -> Result<Image<'c>, Skip> {
    Image::filled(context, &ImageDesc::d2(format, 2, 2), |_, _, _, _| Value::Float([0.5; 4])).map_err(Skip)
}

/// Ten thousand samplers with a colour each (or as many as the driver allows), all alive, on a device that holds 24.
pub(crate) fn ten_thousand() -> Outcome {
    let (count, judged) = silent(few_borders(), "ten thousand custom borders", |context| {
        skip_if(context.missing(&WITH_CUSTOM))?;
        // Two more must fit: the variant that all share, with what variants leave free, and the sampler at the end.
        let most = context.limits().max_sampler_allocation_count - IN_FLIGHT - 2;
        let count = (most as usize).min(10_000);
        let (plain, other) = (small(context, F::R8G8B8A8_UNORM)?, small(context, F::B8G8R8A8_UNORM)?);
        let (plain_view, other_view) = (plain.view(&ViewDesc::default()), other.view(&ViewDesc::default()));
        // The driver may fail none of them.
        let samplers: Vec<_> = (0..count).map(|index| distinct(index, F::R8G8B8A8_UNORM).create(context)).collect();
        write(context, &plain_view, &samplers);
        // The first ones would each need another custom variant for a view of another format.
        write(context, &other_view, &samplers);
        let outside = [SamplePoint::at(-1.0, 0.5, 0.0)];
        let shown = |sampler: &Sampler<'_>, view| sample(context, Pair::new(view, sampler), &outside)[0];
        let first = Value::Float([0.1, 0.1, 0.1, 0.5]);
        assert!(shown(&samplers[0], &plain_view).is_near(first, 0.004), "a place was free for the first one");
        let nothing = Value::Float([0.0; 4]);
        assert_eq!(shown(&samplers[0], &other_view), nothing, "and none for its variant");
        assert_eq!(shown(&samplers[PLACES], &plain_view), nothing, "nor for the twenty-fifth sampler");
        // Places come back with the samplers that had them.
        drop(samplers);
        let again = distinct(count, F::R8G8B8A8_UNORM).create(context);
        assert_ne!(shown(&again, &plain_view), nothing, "no place came back");
        Ok(count)
    })?;
    assert_eq!(downgraded(&judged, "sampler"), count - PLACES);
    assert_eq!(downgraded(&judged, "pair"), PLACES, "one for each custom one on the other view");
    let summary = judged.summary();
    assert_eq!(summary["changes"]["border-budget"], count, "{summary:#}");
    assert_eq!(summary["census"]["headroom"]["maxCustomBorderColorSamplers"], 0, "{summary:#}");
    assert_eq!(summary["variants"]["peak"], PLACES + 1 - PLACES, "the downgraded ones share one sampler: {summary:#}");
    Ok(())
}

/// Samplers without a format take no place themselves; the variants with the view's format do.
pub(crate) fn variants_count() -> Outcome {
    const COUNT: usize = 40;
    let ((), judged) = silent(few_borders(), "forty variants", |context| {
        skip_if(context.missing(&[Capability::CustomBorderColorWithoutFormat]))?;
        let image = small(context, F::R8G8B8A8_UNORM)?;
        let view = image.view(&ViewDesc::default());
        let samplers: Vec<_> = (0..COUNT).map(|index| distinct(index, F::UNDEFINED).create(context)).collect();
        write(context, &view, &samplers);
        // A second look at the same pairs takes no further place.
        write(context, &view, &samplers);
        Ok(())
    })?;
    assert_eq!(downgraded(&judged, "sampler"), 0);
    assert_eq!(downgraded(&judged, "pair"), COUNT - PLACES);
    let summary = judged.summary();
    assert_eq!(summary["census"]["headroom"]["maxCustomBorderColorSamplers"], 0, "{summary:#}");
    assert_eq!(summary["variants"]["created"], PLACES, "{summary:#}");
    Ok(())
}
