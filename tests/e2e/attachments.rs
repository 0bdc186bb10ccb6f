//! What shaders read of the attachments of their subpass.

use crate::aspects::BOTH;
use crate::run::{self, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use crate::scene::pattern;
use ash::vk::{
    self, Format as F, FormatFeatureFlags as Feature, ImageAspectFlags as Aspects, ImageUsageFlags as Usage,
};
use libtest_mimic::Trial;
use samplin_compiler::{Language, compile};
use samplin_testkit::descriptor::{Pool, write_images};
use samplin_testkit::{Context, ContextBuilder, Image, ImageDesc, Subpass, Value, ViewDesc, texel};

pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("attachment/stencil", || shown("usubpassInput", Aspects::STENCIL)),
        ("attachment/depth", || shown("subpassInput", Aspects::DEPTH)),
        ("attachment/one-aspect-is-left-alone", one_aspect),
        ("attachment/declared-numbers", || numbers("usubpassInput", F::R8G8B8A8_UNORM, &["declared-numbers"])),
        ("attachment/declared-signs", || numbers("usubpassInput", F::R8G8B8A8_SINT, &["declared-numbers"])),
        ("attachment/declared-floats-are-left-alone", || numbers("subpassInput", F::R8G8B8A8_UNORM, &[])),
        ("attachment/declared-integers-are-left-alone", || numbers("isubpassInput", F::R8G8B8A8_SINT, &[])),
    ])
}

fn builder() -> ContextBuilder {
    Context::builder().api_version(vk::make_api_version(0, 1, 2, 0))
}

/// A shader whose input attachment is of this type.
fn words(ty: &str) -> Vec<u32> {
    let texel = match ty {
        "subpassInput" => "floatBitsToUint(subpassLoad(attachment))",
        _ => "uvec4(subpassLoad(attachment))",
    };
    let source = format!(
        "#version 450
        layout(input_attachment_index = 0, set = 0, binding = 0) uniform {ty} attachment;
        layout(location = 0) out uvec4 result;
        void main() {{ result = {texel}; }}"
    );
    compile(Language::Glsl("vulkan1.0"), "frag", &source)
}

/// An image of this format that may be an input attachment, with a picture in each aspect.
fn image(context: &Context, format: F) -> Result<Image<'_>, Skip> {
    let usage = Usage::INPUT_ATTACHMENT | Usage::TRANSFER_DST;
    let desc = ImageDesc::d2(format, 4, 4).usage(usage);
    let image = Image::filled(context, &desc, |aspect, level, layer, at| {
        let kind =
            if aspect == Aspects::STENCIL { texel::NumericKind::Uint } else { texel::numeric_kind(format, aspect) };
        pattern(kind, level, layer, at)
    });
    let image = image.map_err(Skip)?;
    image.transition(vk::ImageLayout::GENERAL);
    Ok(image)
}

/// A format of depth and stencil that the device renders to.
fn with_both(context: &Context) -> Result<F, Skip> {
    let is_rendered = |format: &F| {
        let features = context.format_features(*format, vk::ImageTiling::OPTIMAL);
        features.contains(Feature::DEPTH_STENCIL_ATTACHMENT)
    };
    let found = [F::D32_SFLOAT_S8_UINT, F::D24_UNORM_S8_UINT].into_iter().find(is_rendered);
    found.ok_or_else(|| Skip("no format of depth and stencil can be rendered to".to_owned()))
}

/// What a shader reads through a view with these aspects.
fn read(context: &Context, image: &Image<'_>, ty: &str, aspects: Aspects) -> Result<Vec<Value>, Skip> {
    let program = Subpass::new(context, image, &words(ty)).map_err(Skip)?;
    let view = image.view(&ViewDesc::aspect(aspects));
    let pool = Pool::new(context, &[program.set_layout()]);
    let set = pool.allocate(program.set_layout());
    let info = vk::DescriptorImageInfo {
        sampler: vk::Sampler::null(),
        image_view: view.handle(),
        image_layout: vk::ImageLayout::GENERAL,
    };
    write_images(context, set, (0, 0), vk::DescriptorType::INPUT_ATTACHMENT, &[info]);
    Ok(program.paint(set))
}

fn read_both(context: &Context, ty: &str, aspects: Aspects) -> Result<Vec<Value>, Skip> {
    let image = image(context, with_both(context)?)?;
    read(context, &image, ty, aspects)
}

/// Through a view with both aspects a shader reads the one that it declares, as through a view of that aspect alone.
fn shown(ty: &'static str, aspect: Aspects) -> Outcome {
    let (wanted, _) = without_layer(builder(), |context| read_both(context, ty, aspect))?;
    assert!(wanted.iter().any(|value| *value != wanted[0]), "a picture of one colour proves nothing");
    let (got, judged) = silent(builder(), "with samplin", |context| read_both(context, ty, BOTH))?;
    assert_eq!(got, wanted);
    let shown: Vec<String> = judged.changes("view").into_iter().map(|change| change.to).collect();
    let name = if aspect == Aspects::STENCIL { "STENCIL" } else { "DEPTH" };
    assert!(shown.iter().any(|to| to.contains(name)), "{shown:?}");
    Ok(())
}

fn one_aspect() -> Outcome {
    for (ty, aspect) in [("usubpassInput", Aspects::STENCIL), ("subpassInput", Aspects::DEPTH)] {
        let (wanted, _) = without_layer(builder(), |context| read_both(context, ty, aspect))?;
        let (got, judged) = silent(builder(), "with samplin", |context| read_both(context, ty, aspect))?;
        assert_eq!(got, wanted);
        assert!(judged.changes("view").is_empty() && judged.left().is_empty(), "{:#?}", judged.trace);
    }
    Ok(())
}

/// The numbers that a shader declares of an attachment are those of the view, or it is named by its valid usage.
fn numbers(ty: &'static str, format: F, wanted: &[&str]) -> Outcome {
    let (_, judged) = with_layer(builder().record_only(), |context| {
        let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
        skip_if((!features.contains(Feature::COLOR_ATTACHMENT)).then(|| format!("{format:?} cannot be rendered to")))?;
        let image = image(context, format)?;
        read(context, &image, ty, Aspects::COLOR)
    })?;
    assert_eq!(judged.left(), wanted, "{:#?}", judged.trace);
    for record in judged.trace.events("unresolved") {
        assert_eq!(record["vuid"], "VUID-vkCmdDraw-format-07753", "{record:#}");
    }
    if wanted.is_empty() {
        judged.assert_silent("with samplin");
    }
    Ok(())
}
