//! Handles that come back, handles that stand for two objects, and when records go.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use ash::vk::{self, Handle};
use samplin::device::Device as Entry;

use crate::driver::{Args, Kind, Reuse, lock};
use crate::loader::*;

#[test]
fn one_handle_for_equal_samplers_is_counted() {
    let device = InstanceBuilder::new().driver(|driver| driver.share_samplers = true).device();
    let view = device.view(INTEGERS);
    let samplers: Vec<_> = (0..3).map(|_| device.linear()).collect();
    assert!(samplers.iter().all(|sampler| *sampler == samplers[0]));
    let counted = device.entry().pairs.samplers.rows(&device.entry().ground.hot).samplers();
    assert_eq!((counted.live, counted.peak, counted.created), (3, 3, 3));
    let variant = written(&device, samplers[0], view);
    assert!(device.is_variant(variant));
    for left in (0..3).rev() {
        device.destroy_sampler(samplers[left]);
        assert_eq!(device.driver.live(Kind::Sampler).contains(&variant.as_raw()), left > 0, "{left} left");
        if left > 0 {
            assert_eq!(written(&device, samplers[0], view), variant);
        }
    }
    assert_eq!(device.entry().ground.hot.gate.samplers(), 0);
    assert_eq!(device.driver.live(Kind::Sampler), [0; 0]);
}

#[test]
fn one_handle_for_samplers_that_were_made_equal_is_counted() {
    // Different states of the application become one legal state, for which the driver has one handle.
    let device = InstanceBuilder::new().driver(|driver| driver.share_samplers = true).device();
    let view = device.view(INTEGERS);
    let info = |bias| vk::SamplerCreateInfo { mip_lod_bias: bias, ..linear_info() };
    for order in [[4.0, 100.0, 50.0], [100.0, 50.0, 4.0]] {
        let samplers = order.map(|bias| device.sampler(&info(bias)));
        assert!(samplers.iter().all(|sampler| *sampler == samplers[0]));
        let variant = written(&device, samplers[0], view);
        assert!(device.is_variant(variant));
        device.destroy_sampler(samplers[0]);
        device.destroy_sampler(samplers[1]);
        // One is left, and so is everything made for it; other states that come and go meanwhile do not matter.
        let others: Vec<_> = (1..9_u8).map(|n| device.sampler(&info(f32::from(n) / 4.0 - 3.0))).collect();
        assert_eq!(written(&device, samplers[2], view), variant);
        assert!(device.is_variant(variant));
        others.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
        assert_eq!(written(&device, samplers[2], view), variant);
        device.destroy_sampler(samplers[2]);
        assert_eq!(device.driver.live(Kind::Sampler), [0; 0], "nothing is left behind");
        let kept = device.entry();
        let states = kept.pairs.samplers.rows(&kept.ground.hot).states().live;
        assert_eq!((kept.ground.hot.gate.samplers(), states), (0, 0));
    }
}

#[test]
fn a_variant_may_be_a_sampler_of_the_application() {
    // The driver shares handles: the variant of the first is the second.
    let device = InstanceBuilder::new().driver(|driver| driver.share_samplers = true).device();
    let view = device.view(INTEGERS);
    let linear = device.linear();
    let nearest = device.sampler(&linear_info().mag_filter(Filter::NEAREST).min_filter(Filter::NEAREST));
    assert_eq!(written(&device, linear, view), nearest);
    device.destroy_sampler(nearest);
    assert_eq!(written(&device, linear, view), nearest, "it lives on as the variant");
    assert_eq!(device.driver.live(Kind::Sampler), [linear.as_raw(), nearest.as_raw()]);
    device.destroy_sampler(linear);
    assert_eq!(device.driver.live(Kind::Sampler), [0; 0]);
    // The other way round: first the variant, then the application's.
    let linear = device.linear();
    let variant = written(&device, linear, view);
    let nearest = device.sampler(&linear_info().mag_filter(Filter::NEAREST).min_filter(Filter::NEAREST));
    assert_eq!(nearest, variant);
    device.destroy_sampler(linear);
    assert_eq!(device.driver.live(Kind::Sampler), [nearest.as_raw()]);
    assert_eq!(written(&device, nearest, view), nearest);
    device.destroy_sampler(nearest);
    assert_eq!(device.driver.live(Kind::Sampler), [0; 0]);
}

#[test]
fn records_are_gone_when_a_destroy_call_arrives() {
    let device = Device::usual();
    let (image, sampler) = (device.image(FILTERED), device.linear());
    let immutable = [sampler];
    let bindings = [binding(0, COMBINED, 1).immutable_samplers(&immutable)];
    let layout = device.layout(&bindings);
    let pipeline = device.pipeline_layout(&[layout]);
    let pool = device.pool();
    let set = device.sets(pool, &[layout])[0];
    let template = device.template(layout, &[entry(0, 0, 1, COMBINED, 0, INFO)]);
    let view = device.view_of(image, FILTERED);
    let info = vk::SamplerYcbcrConversionCreateInfo { format: FILTERED, ..Default::default() };
    let conversion = create!(device.create_conversion(&info));
    let info = vk::SwapchainCreateInfoKHR::default().image_format(FILTERED);
    let swapchain = create!(device.create_swapchain(&info));
    let (mut count, mut images) = (3, [vk::Image::null(); 3]);
    assert_eq!(call!(device.get_swapchain_images(device.raw, swapchain, &mut count, images.as_mut_ptr())), SUCCESS);

    // The records, looked at from another thread while the driver is at work.
    let found = move |device: &Entry, kind: Kind, handle: u64| {
        // SAFETY: nobody removes an entry while the driver's command runs.
        unsafe {
            match kind {
                Kind::Sampler => device.ground.hot.gate.sampler(handle) != 0,
                Kind::View => device.ground.hot.gate.view(handle) != 0,
                Kind::Image => device.pairs.images.image_number(vk::Image::from_raw(handle)).is_some(),
                Kind::Layout => device.layouts.set_layout(vk::DescriptorSetLayout::from_raw(handle)).is_some(),
                Kind::PipelineLayout => device.ground.hot.pipeline_layouts.get(handle).is_some(),
                Kind::Set => device.ground.hot.sets.get(handle).is_some(),
                Kind::Template => device.ground.hot.templates.get(handle).is_some(),
                Kind::Conversion => device.pairs.samplers.has_conversion(vk::SamplerYcbcrConversion::from_raw(handle)),
                Kind::Swapchain => device.pairs.images.has_swapchain(vk::SwapchainKHR::from_raw(handle)),
                Kind::Pool => device.layouts.has_pool(vk::DescriptorPool::from_raw(handle)),
                _ => false,
            }
        }
    };
    let raw = device.raw;
    let look = Arc::new(move |kind: Kind, handle: u64| {
        let thread = std::thread::spawn(move || {
            // SAFETY: the device lives until the end of the test.
            let kept = unsafe { Entry::find(raw) }.expect("the layer knows the device");
            found(kept, kind, handle)
        });
        thread.join().expect("the thread ends")
    });
    let seen = Arc::new(AtomicU32::new(0));
    let objects = [
        (c"vkDestroySampler", Kind::Sampler, sampler.as_raw()),
        (c"vkDestroyImageView", Kind::View, view.as_raw()),
        (c"vkDestroyImage", Kind::Image, image.as_raw()),
        (c"vkDestroyDescriptorSetLayout", Kind::Layout, layout.as_raw()),
        (c"vkDestroyPipelineLayout", Kind::PipelineLayout, pipeline.as_raw()),
        (c"vkDestroyDescriptorUpdateTemplate", Kind::Template, template.as_raw()),
        (c"vkDestroySamplerYcbcrConversion", Kind::Conversion, conversion.as_raw()),
        (c"vkDestroySwapchainKHR", Kind::Swapchain, swapchain.as_raw()),
        (c"vkDestroyDescriptorPool", Kind::Pool, pool.as_raw()),
        // What goes along with its owner.
        (c"vkDestroyDescriptorPool", Kind::Set, set.as_raw()),
        (c"vkDestroySwapchainKHR", Kind::Image, images[0].as_raw()),
    ];
    objects.iter().for_each(|(_, kind, handle)| assert!(look(*kind, *handle), "{kind:?} is known before"));
    let (observer, counter) = (Arc::clone(&look), Arc::clone(&seen));
    device.driver.observe(move |driver, call| {
        let gone = objects.iter().filter(|(command, ..)| *command == call.command);
        counter.fetch_add(u32::from(matches!(call.args, Args::Destroy { .. })), Ordering::Relaxed);
        for (command, kind, handle) in gone.filter(|(_, kind, handle)| observer(*kind, *handle)) {
            driver.error(format!("{command:?} arrives while the layer still knows {kind:?} {handle:#x}"));
        }
    });
    device.destroy_all();
    assert_eq!(seen.load(Ordering::Relaxed), 9, "each is destroyed");
}

#[test]
fn a_handle_that_another_thread_gets_at_once_is_its_own() {
    // While the driver destroys, another thread creates and is given the handle before the destroy call returns.
    let device = Arc::new(InstanceBuilder::new().driver(|driver| driver.reuse = Reuse::AtOnce).device());
    let view = device.view(INTEGERS);
    let first = device.linear();
    let variant = written(&device, first, view);
    assert!(device.is_variant(variant));
    let (done, wait) = mpsc::channel();
    // The observer sees the call of the first sampler and lets the other thread in after the driver has freed the handle: the
    // destruction of a sampler that is created and destroyed in between.
    let (to_other, from_observer) = mpsc::channel::<()>();
    let other = {
        let device = Arc::clone(&device);
        std::thread::spawn(move || {
            from_observer.recv().unwrap();
            // NEAREST: legal with every view.
            let second = device.nearest();
            done.send(second).unwrap();
        })
    };
    let destroyed = Arc::new(Mutex::new(None));
    let wait = Mutex::new(wait);
    let keep = Arc::clone(&destroyed);
    let to_other = Mutex::new(Some(to_other));
    device.driver.observe(move |driver, call| {
        let Args::Destroy { handle, .. } = call.args else { return };
        if call.command != c"vkDestroySampler" || handle != first.as_raw() {
            return;
        }
        // What the driver is about to do happens here, so that the handle is free while the call still runs.
        if let Some(to_other) = lock(&to_other).take() {
            driver.free_early(Kind::Sampler, handle);
            to_other.send(()).unwrap();
            *lock(&keep) = Some(lock(&wait).recv().unwrap());
        }
    });
    device.destroy_sampler(first);
    other.join().unwrap();
    let second = lock(&destroyed).take().expect("the other thread created a sampler");
    assert_eq!(second, first, "the driver handed the value out again");
    assert_ne!(device.entry().ground.hot.gate.sampler(second.as_raw()), 0, "its entry survives the first one's end");
    assert_eq!(written(&device, second, view), second);
    device.destroy_sampler(second);
    assert_eq!(device.entry().ground.hot.gate.samplers(), 0);
    assert!(Arc::into_inner(device).is_some(), "the other thread has ended");
}
