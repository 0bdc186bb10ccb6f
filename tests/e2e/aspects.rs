//! Views of depth and stencil at once: a descriptor may show one of them, and shows what the shader declares: floats are the depth, integers
//! the stencil.

use crate::run::{Outcome, Skip, silent, skip_if, trial, with_layer, without_layer};
use crate::scene::pattern;
use ash::vk::{self, FormatFeatureFlags as Feature, ImageAspectFlags as Aspects};
use libtest_mimic::Trial;
use samplin_suite::case::assert_reported;
use samplin_testkit::{
    Context, ContextBuilder, Image, ImageDesc, Pair, Path, ResultKind, SamplePoint, SamplerDesc, Value, ViewDesc,
    lookup, sample_via, texel,
};

const REPORTED: &str = "VkDescriptorImageInfo-imageView-01976";
pub(crate) const BOTH: Aspects = Aspects::from_raw(Aspects::DEPTH.as_raw() | Aspects::STENCIL.as_raw());

pub(crate) fn trials() -> Vec<Trial> {
    let paths = || Path::COMBINED.into_iter().chain([Path::Immutable, Path::Separate, Path::SeparateImmutable]);
    let of = |path: Path, as_what: &str| format!("aspect/{as_what}{path:?}").to_lowercase();
    let mut trials: Vec<Trial> = paths().map(|path| trial(of(path, ""), move || both(path))).collect();
    // What lies in descriptor buffers is not looked at, and shows the depth.
    let followed = paths().filter(|path| *path != Path::DescriptorBuffer);
    trials.extend(followed.map(|path| trial(of(path, "stencil/"), move || stencil(path))));
    let written = Path::COMBINED.into_iter().chain([Path::Separate]).filter(|path| *path != Path::DescriptorBuffer);
    trials.extend(written.map(|path| trial(of(path, "stencil/texels/"), move || stencil_in_texels(path))));
    trials.extend([
        trial("aspect/linear".to_owned(), linear),
        trial("aspect/one-is-left-alone".to_owned(), one),
        trial("aspect/unread-is-left-alone".to_owned(), unread),
        trial("aspect/audit".to_owned(), audit),
        trial("aspect/keep".to_owned(), keep),
    ]);
    trials
}

fn builder() -> ContextBuilder {
    Context::builder().api_version(vk::make_api_version(0, 1, 4, 0))
}

fn points() -> Vec<SamplePoint> {
    lookup::grid(4, 4, [0.0, 0.0], [1.0, 1.0])
}

/// An image with a picture in its depth, and another one in its stencil. `turn`: which of several pictures.
pub(crate) fn image(context: &Context, turn: u32) -> Result<Image<'_>, Skip> {
    let formats = [vk::Format::D32_SFLOAT_S8_UINT, vk::Format::D24_UNORM_S8_UINT];
    let is_sampled = |format: &vk::Format| {
        context.format_features(*format, vk::ImageTiling::OPTIMAL).contains(Feature::SAMPLED_IMAGE)
    };
    let format = formats.into_iter().find(is_sampled);
    let Some(format) = format else { return Err(Skip("no format of depth and stencil can be sampled".to_owned())) };
    Image::filled(context, &ImageDesc::d2(format, 4, 4), |aspect, level, layer, at| {
        let kind = if aspect == Aspects::STENCIL { texel::NumericKind::Uint } else { texel::NumericKind::Float };
        pattern(kind, level, layer + turn, at)
    })
    .map_err(Skip)
}

/// What a view with these aspects reads, as the view's first aspect is.
fn read(context: &Context, path: Path, aspects: Aspects, sampler: &SamplerDesc) -> Result<Vec<Value>, Skip> {
    let kind = if aspects == Aspects::STENCIL { ResultKind::Uint } else { ResultKind::Float };
    read_as(context, path, (aspects, kind), sampler)
}

/// What a view with these aspects reads where the shader declares texels of this kind.
fn read_as(
    context: &Context,
    path: Path,
    of: (Aspects, ResultKind),
    sampler: &SamplerDesc,
) -> Result<Vec<Value>, Skip> {
    read_at(context, path, of, (sampler, &points()))
}

fn read_at(
    context: &Context,
    path: Path,
    (aspects, kind): (Aspects, ResultKind),
    (sampler, points): (&SamplerDesc, &[SamplePoint]),
) -> Result<Vec<Value>, Skip> {
    skip_if(path.missing(context))?;
    let image = image(context, 0)?;
    let view = image.view(&ViewDesc::aspect(aspects));
    let sampler = sampler.create(context);
    let pair = Pair { kind, ..Pair::new(&view, &sampler) };
    let texels = sample_via(context, path, &[pair], points).map_err(Skip)?;
    Ok(texels.into_iter().flatten().collect())
}

fn both(path: Path) -> Outcome {
    let nearest = SamplerDesc::nearest();
    let wanted = without_layer(builder(), |context| read(context, path, Aspects::DEPTH, &nearest))?.0;
    let report = |context: &Context| read(context, path, BOTH, &nearest).map(|_| ());
    let (_, errors) = without_layer(builder().record_only(), report)?;
    // What lies in descriptor buffers is not looked at.
    let ids: &[&str] = if path == Path::DescriptorBuffer { &[] } else { &[REPORTED] };
    assert_reported(&errors, ids, "without samplin");
    let (got, judged) = silent(builder(), "with samplin", |context| read(context, path, BOTH, &nearest))?;
    assert_eq!(got, wanted);
    assert!(wanted.iter().any(|value| *value != wanted[0]), "a picture of one colour proves nothing");
    let change = judged.change("view");
    assert_eq!((change.rule.as_str(), change.catalog.as_str(), change.field.as_str()), ("aspect", "H-6", "aspectMask"));
    assert!(change.from.contains("VK_IMAGE_ASPECT_STENCIL_BIT") && !change.to.contains("STENCIL"), "{change:?}");
    assert_eq!(judged.summary()["changes"], serde_json::json!({"aspect": 1}));
    assert_eq!(judged.trace.events("view").next().expect("a record")["path"], "descriptor");
    Ok(())
}

/// What a shader declares as integers is the stencil.
fn stencil(path: Path) -> Outcome {
    let nearest = SamplerDesc::nearest();
    let wanted = without_layer(builder(), |context| read(context, path, Aspects::STENCIL, &nearest))?.0;
    let (got, judged) =
        silent(builder(), "with samplin", |context| read_as(context, path, (BOTH, ResultKind::Uint), &nearest))?;
    assert_eq!(got, wanted);
    assert!(wanted.iter().any(|value| *value != wanted[0]), "a picture of one colour proves nothing");
    let shown: Vec<String> = judged.changes("view").into_iter().map(|change| change.to).collect();
    assert!(shown.iter().any(|to| to.contains("STENCIL")), "{shown:?}");
    let paths: Vec<_> = judged.trace.events("view").map(|record| record["path"].clone()).collect();
    assert_eq!(paths, ["descriptor", "draw"], "{:#?}", judged.trace);
    Ok(())
}

/// Where the shader divides, the sampler suits the stencil, which nothing filters: not the depth that the descriptor shows to others.
fn stencil_in_texels(path: Path) -> Outcome {
    let wanted = without_layer(builder(), |context| read(context, path, Aspects::STENCIL, &SamplerDesc::nearest()))?.0;
    let sampler = SamplerDesc { unnormalized: true, ..SamplerDesc::linear().address(vk::SamplerAddressMode::REPEAT) };
    let texels: Vec<SamplePoint> = lookup::grid(4, 4, [0.0, 0.0], [4.0, 4.0]);
    let (got, judged) = silent(builder(), "with samplin", |context| {
        read_at(context, path, (BOTH, ResultKind::Uint), (&sampler, &texels))
    })?;
    assert_eq!(got, wanted, "{:#?}", judged.trace);
    assert!(wanted.iter().any(|value| *value != wanted[0]), "a picture of one colour proves nothing");
    let pairs = judged.changes("pair");
    assert!(pairs.iter().any(|change| change.catalog == "S-5"), "{pairs:#?}");
    Ok(())
}

/// The sampler is chosen by the depth that is shown.
fn linear() -> Outcome {
    let check = |context: &Context| {
        let features = context.format_features(image(context, 0)?.desc().format, vk::ImageTiling::OPTIMAL);
        skip_if(features.contains(Feature::SAMPLED_IMAGE_FILTER_LINEAR).then(|| "depth is filtered".to_owned()))
    };
    without_layer(builder(), check)?;
    let (wanted, _) =
        with_layer(builder(), |context| read(context, Path::Update, Aspects::DEPTH, &SamplerDesc::linear()))?;
    let (got, judged) =
        silent(builder(), "with samplin", |context| read(context, Path::Update, BOTH, &SamplerDesc::linear()))?;
    assert_eq!(got, wanted);
    assert_eq!(judged.summary()["changes"]["aspect"], 1);
    assert!(judged.changes("pair").iter().all(|change| change.rule == "linear-filter"));
    Ok(())
}

fn one() -> Outcome {
    for aspect in [Aspects::DEPTH, Aspects::STENCIL] {
        let (_, judged) =
            silent(builder(), "with samplin", |context| read(context, Path::Update, aspect, &SamplerDesc::nearest()))?;
        judged.assert_untouched("a view of one aspect");
    }
    Ok(())
}

/// A view with both may be there, as an attachment needs it, beside the one that is read.
fn unread() -> Outcome {
    let (_, judged) = silent(builder(), "with samplin", |context| {
        let image = image(context, 0)?;
        let (_both, depth) = (image.view(&ViewDesc::aspect(BOTH)), image.view(&ViewDesc::aspect(Aspects::DEPTH)));
        let sampler = SamplerDesc::nearest().create(context);
        sample_via(context, Path::Update, &[Pair::new(&depth, &sampler)], &points()).map_err(Skip)
    })?;
    judged.assert_untouched("a view with both that no descriptor has");
    Ok(())
}

fn audit() -> Outcome {
    let builder = builder().setting("mode", "audit").record_only();
    let (_, judged) =
        with_layer(builder, |context| read(context, Path::Update, BOTH, &SamplerDesc::nearest()).map(|_| ()))?;
    assert_reported(&judged.errors, &[REPORTED], "with samplin");
    assert_eq!(judged.changes("view").len(), 1);
    Ok(())
}

fn keep() -> Outcome {
    let builder = builder().setting("aspect", "keep").record_only();
    let (_, judged) =
        with_layer(builder, |context| read(context, Path::Update, BOTH, &SamplerDesc::nearest()).map(|_| ()))?;
    assert_reported(&judged.errors, &[REPORTED], "with samplin");
    judged.assert_untouched("aspect=keep");
    Ok(())
}
