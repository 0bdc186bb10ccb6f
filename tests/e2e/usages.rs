//! Views that inherit a usage which their format cannot have, and images that have one of which only other formats can.

use crate::run::{self, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use crate::scene::pattern;
use ash::vk::{self, FormatFeatureFlags as Feature, ImageUsageFlags as Usage};
use libtest_mimic::Trial;
use samplin_suite::case::{assert_reported, reported};
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};
use samplin_testkit::held::Slot;
use samplin_testkit::image::FIRST;
use samplin_testkit::{
    Context, Image, ImageDesc, Pair, Path, SamplerDesc, Value, View, ViewDesc, lookup, sample_via, texel,
};

const UNORM: vk::Format = vk::Format::R8G8B8A8_UNORM;
const SRGB: vk::Format = vk::Format::R8G8B8A8_SRGB;
const VIEW: &str = "VkImageViewCreateInfo-usage-02275";
const IMAGE: &str = "VkImageCreateInfo-imageCreateMaxMipLevels-02251";

pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("usage/srgb-view-of-a-storage-image", srgb_view),
        ("usage/storage-view-is-left-alone", storage_view),
        ("usage/stated-usage-is-left-alone", stated),
        ("usage/nothing-says-so-in-version-1.0", version_1_0),
        ("usage/an-extension-says-so-in-version-1.0", extension_of_version_1_0),
        ("usage/told-once", told_once),
        ("usage/stores-that-are-lost-are-told", lost_stores),
        ("usage/views-that-nobody-stores-to-are-not-told", || no_lost_stores("base")),
        ("usage/views-that-nobody-stores-to-are-not-told/emulate", || no_lost_stores("emulate")),
        ("usage/audit", audit),
        ("usage/image-of-a-listed-format", image_of_list),
        ("usage/view-of-the-own-format-of-an-extended-image", own_format),
        ("usage/image-without-a-list-is-left-alone", image_without_list),
    ])
}

/// The tests are about a device that stores UNORM and not sRGB.
fn check_device(context: &Context) -> Outcome {
    let stores = |format| context.format_features(format, vk::ImageTiling::OPTIMAL).contains(Feature::STORAGE_IMAGE);
    context.skip_where(stores(SRGB), "stores sRGB")?;
    context.skip_where(!stores(UNORM), "does not store UNORM")
}

/// A storage image that may be viewed with other formats, with a picture in it.
fn image(context: &Context) -> Result<Image<'_>, Skip> {
    check_device(context)?;
    let desc = ImageDesc::d2(UNORM, 4, 4).mutable().usage(Usage::STORAGE);
    Image::filled(context, &desc, |_, level, layer, at| pattern(texel::NumericKind::Float, level, layer, at))
        .map_err(Skip)
}

/// What a view of `format` reads.
fn read(context: &Context, format: vk::Format) -> Result<Vec<Value>, Skip> {
    let image = image(context)?;
    let view = image.view(&ViewDesc::format(format));
    let sampler = SamplerDesc::nearest().create(context);
    let points = lookup::grid(4, 4, [0.0, 0.0], [1.0, 1.0]);
    let texels = sample_via(context, Path::Update, &[Pair::new(&view, &sampler)], &points).map_err(Skip)?;
    Ok(texels.into_iter().flatten().collect())
}

fn srgb_view() -> Outcome {
    let wanted = reported(Context::builder(), &[VIEW], |context| read(context, SRGB))?;
    let (got, judged) = silent(Context::builder(), "with samplin", |context| read(context, SRGB))?;
    assert_eq!(got, wanted);
    assert!(wanted.iter().any(|value| *value != wanted[0]), "a picture of one colour proves nothing");
    let change = judged.change("view");
    assert_eq!((change.rule.as_str(), change.catalog.as_str(), change.field.as_str()), ("view-usage", "H-1", "usage"));
    assert!(change.from.contains("VK_IMAGE_USAGE_STORAGE_BIT"), "{change:?}");
    assert!(change.to.contains("VK_IMAGE_USAGE_SAMPLED_BIT") && !change.to.contains("STORAGE"), "{change:?}");
    assert_eq!(judged.summary()["changes"], serde_json::json!({"view-usage": 1}));
    assert!(judged.trace.events("view").next().expect("a record")["path"].is_null(), "it was created so");
    Ok(())
}

fn storage_view() -> Outcome {
    let (_, judged) = silent(Context::builder(), "with samplin", |context| read(context, UNORM))?;
    judged.assert_untouched("a view of the image's own format");
    assert_eq!(judged.trace.events("view").count(), 0);
    Ok(())
}

/// Creates a view that says itself what it is used for.
fn view_with(context: &Context, usage: Usage) -> Outcome {
    let image = image(context)?;
    let mut own = vk::ImageViewUsageCreateInfo::default().usage(usage);
    let info = image.view_info(&ViewDesc::format(SRGB)).push_next(&mut own);
    // SAFETY: the image is alive and the chain is a local.
    unsafe {
        let view = context.device().create_image_view(&info, None).expect("vkCreateImageView");
        context.device().destroy_image_view(view, None);
    }
    Ok(())
}

/// What the application says itself stays: a legal usage without a word, an illegal one with its record.
fn stated() -> Outcome {
    let ((), judged) = silent(Context::builder(), "with samplin", |context| view_with(context, Usage::SAMPLED))?;
    judged.assert_untouched("a view that is narrowed already");
    let ((), judged) = with_layer(Context::builder(), |context| view_with(context, Usage::SAMPLED | Usage::STORAGE))?;
    assert_reported(&judged.errors, &[VIEW], "with samplin");
    let left = judged.only_left();
    assert_eq!((&left["what"], &left["rule"]), (&"view-usage".into(), &"view-usage".into()));
    Ok(())
}

fn version_1_0() -> Outcome {
    let builder = Context::builder().api_version(vk::API_VERSION_1_0).setting("augment", "off");
    let (_, judged) = with_layer(builder, |context| {
        skip_if(context.extensions().contains(&ash::khr::maintenance2::NAME).then(|| "has maintenance2".into()))?;
        read(context, SRGB)
    })?;
    assert_reported(&judged.errors, &[VIEW], "with samplin");
    assert_eq!(judged.trace.events("view").count(), 0);
    assert_eq!(judged.trace.events("unresolved").filter(|record| record["what"] == "view-usage").count(), 1);
    Ok(())
}

/// The layer enables the extension that brings the structure.
fn extension_of_version_1_0() -> Outcome {
    let builder = || Context::builder().api_version(vk::API_VERSION_1_0);
    let (wanted, _) = without_layer(builder(), |context| read(context, SRGB))?;
    let (got, judged) = silent(builder(), "with samplin", |context| {
        skip_if(context.extensions().contains(&ash::khr::maintenance2::NAME).then(|| "has maintenance2".into()))?;
        read(context, SRGB)
    })?;
    assert_eq!(got, wanted);
    let added = judged.trace.first("device")["augmented"].clone();
    assert!(added.as_array().expect("a list").contains(&"VK_KHR_maintenance2".into()), "{added}");
    assert_eq!(judged.changes("view").len(), 1);
    // Who has version 1.1 has it.
    let (_, judged) = with_layer(Context::builder().api_version(vk::API_VERSION_1_1), |context| read(context, SRGB))?;
    let added = judged.trace.first("device")["augmented"].clone();
    assert!(!added.as_array().expect("a list").contains(&"VK_KHR_maintenance2".into()), "{added}");
    Ok(())
}

fn told_once() -> Outcome {
    let twice = |context: &Context| {
        let image = image(context)?;
        for _ in 0..3 {
            image.view(&ViewDesc::format(SRGB));
        }
        Ok(())
    };
    let ((), judged) = silent(Context::builder(), "with samplin", twice)?;
    assert_eq!(judged.trace.events("view").count(), 1);
    let ((), judged) = with_layer(Context::builder().setting("trace_level", "all"), twice)?;
    assert_eq!(judged.trace.events("view").count(), 3);
    Ok(())
}

/// Writes a view as a descriptor of a type, twice.
fn write(context: &Context, ty: vk::DescriptorType, view: &View<'_>) {
    let layout = SetLayout::new(context, &[Binding::new(0, ty, 1)]);
    let (_pool, set) = Pool::set(context, &layout);
    // That the view cannot be stored to is what the test is about.
    (0..2).for_each(|_| write_images(context, set, (0, 0), ty, &[Slot::stored(view, 0).info]));
}

/// A view that storing was taken from is written to a storage image's descriptor: once for each class of views, not for each view.
fn lost_stores() -> Outcome {
    for storage in ["base", "emulate"] {
        let ((), judged) = with_layer(Context::builder().setting("storage", storage), |context| {
            let image = image(context)?;
            let plain = ViewDesc::format(SRGB);
            let array = ViewDesc { view_type: Some(vk::ImageViewType::TYPE_2D_ARRAY), ..plain };
            let views = [&plain, &plain, &array, &plain].map(|desc| image.view(desc));
            views.iter().for_each(|view| write(context, vk::DescriptorType::STORAGE_IMAGE, view));
            // What was said of its class is not looked for again.
            write(context, vk::DescriptorType::STORAGE_IMAGE, &image.view(&plain));
            Ok(())
        })?;
        let told: Vec<_> = judged.trace.events("unresolved").collect();
        assert_eq!(told.len(), 2, "{storage}: {told:#?}");
        for (record, view_type) in told.iter().zip(["VK_IMAGE_VIEW_TYPE_2D", "VK_IMAGE_VIEW_TYPE_2D_ARRAY"]) {
            assert_eq!((&record["what"], &record["rule"]), (&"storage-view".into(), &"view-usage".into()));
            assert_eq!(
                (&record["format"], &record["view_type"]),
                (&"VK_FORMAT_R8G8B8A8_SRGB".into(), &view_type.into())
            );
        }
    }
    Ok(())
}

/// Storing through a view of a format that has it, and sampling through one that has not.
fn no_lost_stores(storage: &str) -> Outcome {
    let ((), judged) = silent(Context::builder().setting("storage", storage), "with samplin", |context| {
        let image = image(context)?;
        let srgb = image.view(&ViewDesc::format(SRGB));
        write(context, vk::DescriptorType::SAMPLED_IMAGE, &srgb);
        write(context, vk::DescriptorType::STORAGE_IMAGE, &image.view(&ViewDesc::default()));
        Ok(())
    })?;
    judged.assert_resolved();
    assert_eq!(judged.changes("view").len(), 1);
    Ok(())
}

/// Written down and not done.
fn audit() -> Outcome {
    let (_, judged) = with_layer(Context::builder().setting("mode", "audit"), |context| {
        let made = list_image(context, &[SRGB, UNORM])?;
        assert!(made, "the driver makes what validation reports");
        read(context, SRGB)
    })?;
    assert_reported(&judged.errors, &[VIEW, IMAGE], "in audit mode");
    assert_eq!((judged.changes("view").len(), judged.changes("image").len()), (1, 1));
    Ok(())
}

const MUTABLE: vk::ImageCreateFlags = vk::ImageCreateFlags::MUTABLE_FORMAT;
const STORED: Usage = Usage::from_raw(Usage::SAMPLED.as_raw() | Usage::STORAGE.as_raw());

/// Creates an sRGB storage image that may be viewed with the formats of `list`; whether there is one.
fn list_image(context: &Context, list: &[vk::Format]) -> Result<bool, Skip> {
    image_and_views(context, MUTABLE, STORED, list, &[])
}

/// Creates an sRGB image that may be viewed with the formats of `list`, and views of it; whether there is one.
fn image_and_views(
    context: &Context,
    flags: vk::ImageCreateFlags,
    usage: Usage,
    list: &[vk::Format],
    views: &[vk::Format],
) -> Result<bool, Skip> {
    check_device(context)?;
    let mut formats = vk::ImageFormatListCreateInfo::default().view_formats(list);
    let mut info = ImageDesc { flags, usage, ..ImageDesc::d2(SRGB, 4, 4) }.info();
    if !list.is_empty() {
        info = info.push_next(&mut formats);
    }
    let device = context.device();
    // SAFETY: a create info of locals; the drivers at hand make what the rules forbid, or say that they cannot.
    unsafe {
        let Ok(image) = device.create_image(&info, None) else { return Ok(false) };
        if context.version() >= vk::API_VERSION_1_3 {
            let asked = vk::DeviceImageMemoryRequirements::default().create_info(&info);
            let (mut before, mut after) = (vk::MemoryRequirements2::default(), vk::MemoryRequirements2::default());
            device.get_device_image_memory_requirements(&asked, &mut before);
            device
                .get_image_memory_requirements2(&vk::ImageMemoryRequirementsInfo2::default().image(image), &mut after);
            assert_eq!(
                (before.memory_requirements.size, before.memory_requirements.alignment),
                (after.memory_requirements.size, after.memory_requirements.alignment),
                "what an image would need is what it needs"
            );
        }
        let requirements = device.get_image_memory_requirements(image);
        let memory = context.allocate(requirements, vk::MemoryPropertyFlags::DEVICE_LOCAL, false);
        device.bind_image_memory(image, memory, 0).expect("vkBindImageMemory");
        for format in views {
            let info = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_2D);
            let info = info.format(*format).subresource_range(FIRST);
            let view = device.create_image_view(&info, None).expect("vkCreateImageView");
            device.destroy_image_view(view, None);
        }
        device.destroy_image(image, None);
        device.free_memory(memory, None);
    }
    Ok(true)
}

fn image_of_list() -> Outcome {
    let (_, errors) = without_layer(Context::builder(), |context| list_image(context, &[SRGB, UNORM]))?;
    assert!(errors.iter().any(|error| error.id.ends_with(IMAGE)), "without samplin: {errors:#?}");
    let (made, judged) = with_layer(Context::builder(), |context| list_image(context, &[SRGB, UNORM]))?;
    assert!(made);
    judged.assert_silent("with samplin");
    let change = judged.change("image");
    assert_eq!((change.rule.as_str(), change.catalog.as_str(), change.field.as_str()), ("image-usage", "H-2", "flags"));
    assert!(!change.from.contains("EXTENDED_USAGE") && change.to.contains("VK_IMAGE_CREATE_EXTENDED_USAGE_BIT"));
    Ok(())
}

/// An image whose usage only another format of its list has: its views of its own format have to go without, whether the application
/// says that the usage is an extended one or samplin does.
fn own_format() -> Outcome {
    let extended = MUTABLE | vk::ImageCreateFlags::EXTENDED_USAGE;
    let list = [SRGB, UNORM];
    let (_, errors) =
        without_layer(Context::builder(), |context| image_and_views(context, extended, STORED, &list, &list))?;
    assert_reported(&errors, &[VIEW], "without samplin");
    for (flags, images) in [(extended, 0), (MUTABLE, 1)] {
        let (made, judged) =
            with_layer(Context::builder(), |context| image_and_views(context, flags, STORED, &list, &list))?;
        assert!(made);
        judged.assert_silent("with samplin");
        let change = judged.change("view");
        assert_eq!(
            (change.rule.as_str(), change.catalog.as_str(), change.field.as_str()),
            ("view-usage", "H-1", "usage")
        );
        assert_eq!(judged.trace.first("view")["format"], "VK_FORMAT_R8G8B8A8_SRGB");
        assert_eq!(
            (judged.changes("image").len(), judged.trace.events("unresolved").count()),
            (images, 0),
            "{flags:?}"
        );
    }
    // The twin says nothing of an extended usage, so that its own format has all of it.
    let (_, judged) = silent(Context::builder(), "a usage that its format has", |context| {
        image_and_views(context, MUTABLE, Usage::SAMPLED, &list, &list)
    })?;
    judged.assert_untouched("a usage that its format has");
    assert_eq!(judged.trace.events("view").count(), 0);
    Ok(())
}

/// Nothing says that any view will be able to store: nothing is changed.
fn image_without_list() -> Outcome {
    for list in [&[][..], &[SRGB]] {
        let (_, judged) = with_layer(Context::builder(), |context| list_image(context, list))?;
        assert!(judged.errors.iter().any(|error| error.id.ends_with(IMAGE)), "with samplin: {:#?}", judged.errors);
        assert_eq!(judged.trace.events("image").count(), 0);
    }
    Ok(())
}
