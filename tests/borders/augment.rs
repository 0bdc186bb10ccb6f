//! What the layer enables on a device that the application did not ask for.

use crate::run::{Folder, Judged, Outcome, silent, skip_if, trial, with_layer};
use crate::scene::Scene;
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::{BorderValue, Capability, Context, ContextBuilder, SamplerDesc, Texture};
use serde_json::Value as Json;

type F = vk::Format;
type M = vk::SamplerAddressMode;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("augment/mirror-clamp", mirror_clamp),
        trial("augment/extensions-before-1.2", extensions_before_1_2),
        trial("augment/minmax", minmax),
        trial("augment/borders", borders),
        trial("augment/nothing-to-add", nothing_to_add),
        trial("augment/structures-unchanged", structures_unchanged),
    ]
}

fn augmented(judged: &Judged) -> Vec<String> {
    let list = judged.trace.first("device")["augmented"].as_array().cloned().expect("a list");
    list.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// Samples RGBA8 through `sampler` and compares with what `legal` gives.
fn look(builder: ContextBuilder, sampler: &SamplerDesc, legal: &SamplerDesc) -> Result<Judged, crate::run::Skip> {
    let ((), judged) = silent(builder, "an augmented device", |context| {
        skip_if((!context.device_name().contains("llvmpipe")).then(|| "made for Mesa's software driver".into()))?;
        Texture::new(context, Scene::RGBA8)?.assert_reads(&sampler.create(context), legal, "augmented");
        Ok(())
    })?;
    Ok(judged)
}

/// MIRROR_CLAMP_TO_EDGE without its feature: legal below with augment=on, MIRRORED_REPEAT without.
fn mirror_clamp() -> Outcome {
    let sampler = SamplerDesc::nearest().address(M::MIRROR_CLAMP_TO_EDGE);
    let builder = || Context::builder().without(Capability::SamplerMirrorClampToEdge);
    let on = look(builder(), &sampler, &sampler)?;
    on.assert_untouched("the mode is enabled");
    assert!(augmented(&on).contains(&"samplerMirrorClampToEdge".to_owned()), "{:?}", augmented(&on));
    let features = &on.trace.first("device")["features"];
    assert_eq!(features["samplerMirrorClampToEdge"], Json::Bool(true), "{features:#}");
    let repeat = SamplerDesc::nearest().address(M::MIRRORED_REPEAT);
    let off = look(builder().setting("augment", "off"), &sampler, &repeat)?;
    assert_eq!(augmented(&off), Vec::<String>::new());
    assert!(off.changes("sampler").iter().all(|change| change.catalog == "A-21"));
    assert_eq!(off.changes("sampler").len(), 3);
    // Audit changes nothing, devices included.
    let (_, judged) = with_layer(builder().setting("mode", "audit"), |_| Ok(()))?;
    assert_eq!(augmented(&judged), Vec::<String>::new());
    Ok(())
}

/// Before version 1.2 it is extensions that bring the two features.
fn extensions_before_1_2() -> Outcome {
    let sampler = SamplerDesc::nearest().address(M::MIRROR_CLAMP_TO_EDGE);
    for version in [vk::API_VERSION_1_0, vk::API_VERSION_1_1] {
        let builder = Context::builder()
            .api_version(version)
            .without(Capability::SamplerMirrorClampToEdge)
            .without(Capability::SamplerFilterMinmax);
        let judged = look(builder, &sampler, &sampler)?;
        judged.assert_untouched("the mode is enabled");
        let added = augmented(&judged);
        for name in ["VK_KHR_sampler_mirror_clamp_to_edge", "VK_EXT_sampler_filter_minmax"] {
            assert!(added.contains(&name.to_owned()), "{added:?}");
        }
    }
    Ok(())
}

fn minmax() -> Outcome {
    let builder = || Context::builder().without(Capability::SamplerFilterMinmax);
    let sampler = SamplerDesc::nearest().reduction(vk::SamplerReductionMode::MIN);
    let on = look(builder(), &sampler, &sampler)?;
    assert!(augmented(&on).contains(&"samplerFilterMinmax".to_owned()), "{:?}", augmented(&on));
    assert!(on.changes("sampler").is_empty());
    let off = look(builder().setting("augment", "off"), &sampler, &SamplerDesc::nearest())?;
    assert_eq!(off.changes("sampler")[0].catalog, "A-27");
    Ok(())
}

/// Custom borders and their swizzles, for an application that enabled neither.
fn borders() -> Outcome {
    let builder = || Context::builder().without(Capability::CustomBorderColor);
    let of = |format| SamplerDesc::nearest().custom_border(BorderValue::Float([0.25, 0.5, 0.5, 1.0]), format);
    let sampler = of(F::R8G8B8A8_UNORM);
    let on = look(builder(), &sampler, &sampler)?;
    on.assert_untouched("custom borders are enabled");
    let added = augmented(&on);
    for name in ["VK_EXT_custom_border_color", "VK_EXT_border_color_swizzle"] {
        assert!(added.contains(&name.to_owned()), "{added:?}");
    }
    // Leaving out the format may change and cost other samplers, so that is not; a variant has the view's.
    assert_eq!(on.trace.first("device")["features"]["customBorderColorWithoutFormat"], Json::Bool(false));
    let on = look(builder(), &of(F::UNDEFINED), &sampler)?;
    assert_eq!(on.changes("pair")[0].catalog, "A-32");
    let black = SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_BLACK);
    let off = look(builder().setting("augment", "off"), &sampler, &black)?;
    assert_eq!(off.changes("sampler")[0].catalog, "A-30");
    // What an application chained itself is its own decision, also a feature that it left off.
    let builder = Context::builder().without(Capability::CustomBorderColorWithoutFormat);
    let judged = look(builder, &of(F::UNDEFINED), &sampler)?;
    assert_eq!(judged.changes("pair")[0].catalog, "A-32");
    Ok(())
}

/// An application that has everything gets nothing, and anisotropy is enabled for rules only.
fn nothing_to_add() -> Outcome {
    let (_, judged) = with_layer(Context::builder(), |_| Ok(()))?;
    assert_eq!(augmented(&judged), Vec::<String>::new());
    let (_, judged) = with_layer(Context::builder().without(Capability::SamplerAnisotropy), |_| Ok(()))?;
    assert_eq!(augmented(&judged), Vec::<String>::new());
    let (_, judged) = with_layer(Context::builder().without(Capability::SampleRateShading), |_| Ok(()))?;
    assert_eq!(augmented(&judged), ["sampleRateShading"]);
    Ok(())
}

/// The bytes of a structure.
fn bytes<T: Copy>(of: &T) -> Vec<u8> {
    // SAFETY: any initialised bytes may be read; the structures here have no padding that is not zeroed.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(of).cast::<u8>(), size_of::<T>()) }.to_vec()
}

/// What the application hands to `vkCreateDevice` is not written to, whatever is added for it.
fn structures_unchanged() -> Outcome {
    let folder = Folder::new();
    let builder = Context::builder().rules(&folder, "[[rule]]\nset = { max_anisotropy = 16 }\n");
    let ((), judged) = silent(builder, "devices with chains in several orders", |context| {
        skip_if(context.missing(&[Capability::CustomBorderColor, Capability::SamplerAnisotropy]))?;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(context.queue_family()).queue_priorities(&[1.0])];
        for order in 0..3 {
            let mut two = vk::PhysicalDeviceFeatures2::default();
            let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
            let mut thirteen = vk::PhysicalDeviceVulkan13Features::default();
            // Nothing is enabled: both features have to be set in copies, wherever they stand.
            match order {
                0 => {
                    twelve.p_next = (&raw mut thirteen).cast();
                    two.p_next = (&raw mut twelve).cast();
                }
                1 => {
                    thirteen.p_next = (&raw mut two).cast();
                    twelve.p_next = (&raw mut thirteen).cast();
                }
                _ => two.p_next = (&raw mut thirteen).cast(),
            }
            let plain = vk::PhysicalDeviceFeatures::default();
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            info.p_next = if order == 1 { (&raw const twelve).cast() } else { (&raw const two).cast() };
            let all = |info: &vk::DeviceCreateInfo<'_>| {
                [bytes(info), bytes(&two), bytes(&twelve), bytes(&thirteen), bytes(&plain)]
            };
            let before = all(&info);
            // SAFETY: the chain is made of live locals.
            let device = unsafe { context.instance().create_device(context.physical_device(), &info, None) };
            assert!(before == all(&info), "order {order}: the layer wrote to the application's structures");
            // SAFETY: just created, without children.
            unsafe { device.expect("vkCreateDevice").destroy_device(None) };
        }
        // The same without a chain.
        let plain = vk::PhysicalDeviceFeatures::default();
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_features(&plain);
        let before = (bytes(&info), bytes(&plain));
        // SAFETY: the create info is made of live locals.
        let device = unsafe { context.instance().create_device(context.physical_device(), &info, None) };
        assert!(before == (bytes(&info), bytes(&plain)), "the layer wrote to the application's structures");
        // SAFETY: just created, without children.
        unsafe { device.expect("vkCreateDevice").destroy_device(None) };
        Ok(())
    })?;
    let devices: Vec<_> = judged.trace.events("device").skip(1).collect();
    assert_eq!(devices.len(), 4);
    for (index, device) in devices.iter().enumerate() {
        let added = device["augmented"].as_array().expect("a list");
        let has = |name: &str| added.iter().any(|added| added == name);
        assert!(has("samplerAnisotropy"), "{index}: {added:?}");
        let mirror = if index < 2 { "samplerMirrorClampToEdge" } else { "VK_KHR_sampler_mirror_clamp_to_edge" };
        assert!(has(mirror), "{index}: {added:?}");
        assert_eq!(device["features"]["samplerAnisotropy"], Json::Bool(true), "{index}: {device:#}");
        assert_eq!(device["features"]["samplerMirrorClampToEdge"], Json::Bool(true), "{index}: {device:#}");
    }
    Ok(())
}
