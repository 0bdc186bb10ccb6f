//! Blits: both commands and the alias, filters that the source's format cannot do, scaled and not.

use crate::run::{Judged, Outcome, Skip, silent, skip_if, trial, with_layer, without_layer};
use crate::scene::{Scene, Shape, pattern};
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::case::assert_reported;
use samplin_testkit::image::each_aspect;
use samplin_testkit::{BlitApi, Capability, Context, Image, ImageDesc, Value, texel};

/// One blit.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    source: Scene,
    filter: vk::Filter,
    api: BlitApi,
    /// The destination is twice as wide and high.
    scales: bool,
    /// Ids by suffix that validation reports without samplin; none for a legal blit.
    vuids: &'static [&'static str],
    /// Catalogue rows of the changes, in order.
    catalog: &'static [&'static str],
    /// The filter that goes down.
    legal: vk::Filter,
}

fn cases() -> Vec<Case> {
    use vk::Format as F;
    let integer = Case {
        name: "r32-uint",
        source: Scene::colour(F::R32_UINT),
        filter: vk::Filter::LINEAR,
        api: BlitApi::Core,
        scales: true,
        vuids: &["filter-02001"],
        catalog: &["C-10"],
        legal: vk::Filter::NEAREST,
    };
    // LINEAR is not allowed here whether the format has the bit or not.
    let depth =
        |name, source| Case { name, source, vuids: &["filter-02001", "srcImage-00232"], catalog: &["C-4"], ..integer };
    let legal = Case {
        name: "legal-rgba8",
        source: Scene::colour(F::R8G8B8A8_UNORM),
        vuids: &[],
        catalog: &[],
        legal: vk::Filter::LINEAR,
        ..integer
    };
    let cubic = vk::Filter::CUBIC_EXT;
    let [r8, rgba8, rgba16] = [F::R8_SINT, F::R8G8B8A8_UINT, F::R16G16B16A16_UINT].map(Scene::colour);
    vec![
        integer,
        Case { name: "r32-uint-2", api: BlitApi::Core2, ..integer },
        Case { name: "r32-uint-2-khr", api: BlitApi::Khr2, ..integer },
        Case { name: "r8-sint-unscaled", source: r8, scales: false, ..integer },
        Case { name: "rgba16-uint-unscaled-2", source: rgba16, api: BlitApi::Core2, scales: false, ..integer },
        Case { name: "rgba8-uint-3d", source: rgba8.shape(Shape::D3), ..integer },
        Case { name: "r32-uint-linear-tiling", source: integer.source.linear_tiling(), ..integer },
        depth("d16", Scene::depth(F::D16_UNORM)),
        Case { api: BlitApi::Core2, ..depth("d32-2", Scene::depth(F::D32_SFLOAT)) },
        Case { scales: false, ..depth("d32-unscaled", Scene::depth(F::D32_SFLOAT)) },
        Case { api: BlitApi::Khr2, ..depth("d32-s8-2-khr", Scene::depth(F::D32_SFLOAT_S8_UINT)) },
        depth("s8", Scene::stencil(F::S8_UINT)),
        // Where CUBIC cannot be, LINEAR may.
        Case {
            name: "cubic-rgba8",
            filter: cubic,
            vuids: &["filter-02002|filter-parameter"],
            catalog: &["C-2"],
            ..legal
        },
        Case {
            name: "cubic-rgba8-3d-2",
            source: legal.source.shape(Shape::D3),
            filter: cubic,
            api: BlitApi::Core2,
            vuids: &["filter-00237|filter-02002|filter-parameter"],
            catalog: &["C-3"],
            ..legal
        },
        Case {
            name: "cubic-r32-uint",
            filter: cubic,
            vuids: &["filter-02001|filter-02002|filter-parameter"],
            catalog: &["C-2", "C-10"],
            ..integer
        },
        legal,
        Case { name: "legal-rgba8-2", api: BlitApi::Core2, scales: false, ..legal },
        Case { name: "legal-rgba8-2-khr", api: BlitApi::Khr2, ..legal },
        Case { name: "legal-r32-uint-nearest", filter: vk::Filter::NEAREST, vuids: &[], catalog: &[], ..integer },
    ]
}

/// One test for each blit.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all: Vec<Trial> =
        cases().into_iter().map(|case| trial(format!("blit/{}", case.name), move || case.run())).collect();
    all.push(trial("blit/told-once-for-each-format-and-filter", told_once));
    all.push(trial("blit/formats-of-two-classes-are-named", two_classes));
    all.push(trial("blit/two-aspects-are-named", two_aspects));
    all
}

impl Case {
    fn check_device(&self, context: &Context) -> Outcome {
        match self.api {
            BlitApi::Core => {}
            BlitApi::Core2 => skip_if(context.missing(&[Capability::Copy2]))?,
            BlitApi::Khr2 => skip_if(context.missing(&[Capability::Copy2Khr]))?,
        }
        let target = Scene { linear_tiling: false, ..self.source };
        let lacks = |scene: &Scene, wanted: vk::FormatFeatureFlags| {
            let missing = wanted & !scene.features(context);
            (!missing.is_empty()).then(|| {
                format!("{} lacks {missing:?} for {:?} ({:?})", context.device_name(), scene.format, scene.tiling())
            })
        };
        skip_if(lacks(&self.source, vk::FormatFeatureFlags::BLIT_SRC))?;
        skip_if(lacks(&target, vk::FormatFeatureFlags::BLIT_DST))
    }

    /// Blits with `filter` and returns the destination's texels, aspect after aspect.
    fn blit(&self, context: &Context, filter: vk::Filter) -> Result<Vec<Value>, Skip> {
        self.check_device(context)?;
        let source = self.source.flat().image(context)?;
        let mut desc = Scene { linear_tiling: false, ..self.source.flat() }.image_desc();
        if self.scales {
            desc.extent = [desc.extent[0] * 2, desc.extent[1] * 2, desc.extent[2]];
        }
        let target = Image::new(context, &desc).map_err(Skip)?;
        target.blit_from(&source, filter, self.api);
        Ok(each_aspect(desc.format).flat_map(|aspect| target.read(aspect, 0, 0)).collect())
    }

    /// What NEAREST makes of the pattern.
    fn nearest(&self) -> Vec<Value> {
        let [mut width, mut height, depth] = self.source.flat().image_desc().extent;
        let step = if self.scales { 2 } else { 1 };
        (width, height) = (width * step, height * step);
        let mut all = Vec::new();
        for aspect in each_aspect(self.source.format) {
            for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
                all.extend((0..width).map(|x| {
                    let value = pattern(texel::numeric_kind(self.source.format, aspect), 0, 0, [x / step, y / step, z]);
                    let mut bytes = Vec::new();
                    texel::encode(self.source.format, aspect, value, &mut bytes);
                    texel::decode(self.source.format, aspect, &bytes)
                }));
            }
        }
        all
    }

    fn run(self) -> Outcome {
        let (can_filter, errors) = without_layer(Context::builder().record_only(), |context| {
            self.blit(context, self.filter)?;
            Ok(self.source.features(context).contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR))
        })?;
        // A depth format with the LINEAR bit breaks one rule only.
        let expected: Vec<&str> =
            self.vuids.iter().copied().filter(|id| !(can_filter && *id == "filter-02001")).collect();
        assert_reported(&errors, &expected, "without samplin");
        let wanted = if self.legal == vk::Filter::NEAREST {
            self.nearest()
        } else {
            without_layer(Context::builder(), |context| self.blit(context, self.legal))?.0
        };
        let (got, judged) = with_layer(Context::builder(), |context| self.blit(context, self.filter))?;
        assert_eq!(got.len(), wanted.len());
        for (index, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            assert!(got.is_near(*wanted, 1e-6), "texel {index}: {got:?} is not {wanted:?}");
        }
        assert!(wanted.iter().any(|value| *value != wanted[0]), "a picture of one colour proves nothing");
        judged.assert_silent("with samplin");
        if self.catalog.is_empty() {
            judged.assert_untouched("a legal blit");
            return Ok(());
        }
        let record = judged.only("blit");
        assert_eq!(record["src_format"], format!("VK_FORMAT_{:?}", self.source.format), "{record:#}");
        assert_eq!(record["lossless"], !self.scales, "{record:#}");
        let changes = judged.changes("blit");
        let rows: Vec<&str> = changes.iter().map(|change| change.catalog.as_str()).collect();
        assert_eq!(rows, self.catalog, "{record:#}");
        assert!(changes.iter().all(|change| change.rule == "blit-filter" && change.field == "filter"), "{record:#}");
        let last = changes.last().expect("a change");
        let name = |filter: vk::Filter| format!("VK_FILTER_{filter:?}");
        assert_eq!((changes[0].from.as_str(), last.to.as_str()), (&*name(self.filter), &*name(self.legal)));
        assert_eq!(judged.summary()["blits_rewritten"], 1);
        Ok(())
    }
}

/// A record for each format and filter, a count for each blit.
fn told_once() -> Outcome {
    let [first, second] =
        [vk::Format::R32_UINT, vk::Format::R8_SINT].map(|format| Case { source: Scene::colour(format), ..cases()[0] });
    let ((), judged) = silent(Context::builder(), "with samplin", |context| {
        for case in [first, second, first, first] {
            case.blit(context, vk::Filter::LINEAR)?;
        }
        Ok(())
    })?;
    let formats: Vec<_> = judged.trace.events("blit").map(|record| record["src_format"].clone()).collect();
    assert_eq!(formats, ["VK_FORMAT_R32_UINT", "VK_FORMAT_R8_SINT"]);
    assert_eq!(judged.summary()["blits_rewritten"], 4);
    assert_eq!(judged.summary()["changes"], serde_json::json!({"blit-filter": 2}));
    Ok(())
}

/// No filter makes such a blit legal, so it stays and is named.
fn two_classes() -> Outcome {
    use vk::Format as F;
    let rows = [
        (F::R8G8B8A8_UINT, F::R8G8B8A8_UNORM, "VUID-vkCmdBlitImage-srcImage-00230"),
        (F::R8G8B8A8_SNORM, F::R8G8B8A8_SINT, "VUID-vkCmdBlitImage-srcImage-00229"),
        (F::D16_UNORM, F::D32_SFLOAT, "VUID-vkCmdBlitImage-srcImage-00231"),
        (F::R16_UNORM, F::D16_UNORM, "VUID-vkCmdBlitImage-srcImage-00231"),
    ];
    for (from, to, vuid) in rows {
        let record = |context: &Context| {
            let (source, target) = (plain(context, from)?, plain(context, to)?);
            for api in [BlitApi::Core, BlitApi::Core] {
                target.blit_from(&source, vk::Filter::NEAREST, api);
            }
            Ok(())
        };
        let ((), judged) = with_layer(Context::builder().record_only(), record)?;
        let is_it = judged.errors.iter().any(|error| error.id == vuid);
        assert!(is_it, "validation does not say {vuid}: {:#?}", judged.errors);
        assert_eq!(named(&judged), [vuid], "{from:?} to {to:?}");
    }
    Ok(())
}

/// An image of a format, with nothing in it.
fn plain(context: &Context, format: vk::Format) -> Result<Image<'_>, Skip> {
    Image::new(context, &ImageDesc::d2(format, 4, 4)).map_err(Skip)
}

/// The rules that blits were named for.
fn named(judged: &Judged) -> Vec<String> {
    let blits = judged.trace.events("unresolved").filter(|record| record["what"] == "blit");
    blits.filter_map(|record| record["vuid"].as_str()).map(str::to_owned).collect()
}

/// A region goes from an aspect to the same one.
fn two_aspects() -> Outcome {
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let vuid = "VUID-VkImageBlit-aspectMask-00238";
    for (from, to, wanted) in [(depth, stencil, &[vuid][..]), (depth, depth, &[]), (stencil, stencil, &[])] {
        for api in [BlitApi::Core, BlitApi::Core2] {
            let record = |context: &Context| {
                skip_if(context.missing(&[Capability::Copy2]).filter(|_| api == BlitApi::Core2))?;
                let format = vk::Format::D32_SFLOAT_S8_UINT;
                let (source, target) = (plain(context, format)?, plain(context, format)?);
                let region = |aspect| {
                    let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
                    (layers, [vk::Offset3D::default(), vk::Offset3D { x: 4, y: 4, z: 1 }])
                };
                (0..2).for_each(|_| target.blit_region(&source, vk::Filter::NEAREST, api, region(from), region(to)));
                Ok(())
            };
            let ((), judged) = with_layer(Context::builder().record_only(), record)?;
            let is_it = judged.errors.iter().any(|error| error.id.ends_with("aspectMask-00238"));
            assert_eq!(is_it, !wanted.is_empty(), "{:#?}", judged.errors);
            assert_eq!(named(&judged), wanted, "{from:?} to {to:?}");
        }
    }
    Ok(())
}
