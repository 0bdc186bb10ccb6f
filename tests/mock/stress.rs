//! Many threads on one device, against a model: a conflicting pair never goes down unrepaired, a legal one never changed, and what
//! stands in for a sampler has its state.
//!
//! The driver hands every value out again at once, so that all tables churn. What a write means travels in members that its
//! type ignores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use ash::vk::{self, Handle};

use crate::driver::{Args, Config, DeviceState, Kind, Reuse};
use crate::loader::*;

const THREADS: u64 = 8;

/// Numbers that look random and are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) % limit
    }
}

#[derive(Clone, Copy)]
struct Sampler {
    handle: vk::Sampler,
    linear: bool,
    /// Tells states apart; a multiple of 1/16.
    bias: f32,
}

#[derive(Clone, Copy)]
struct View {
    handle: vk::ImageView,
    filters: bool,
}

/// A write of one pair that says what it means: the sampler in `pTexelBufferView`, linear and filters in the low bits of
/// `pBufferInfo`, the bias above them.
fn write<'a>(
    set: vk::DescriptorSet,
    sampler: Sampler,
    view: View,
    infos: &'a [vk::DescriptorImageInfo],
) -> vk::WriteDescriptorSet<'a> {
    let meaning = usize::from(sampler.linear) | usize::from(view.filters) << 1 | ((sampler.bias * 16.0) as usize) << 4;
    vk::WriteDescriptorSet {
        p_texel_buffer_view: std::ptr::without_provenance(sampler.handle.as_raw() as usize),
        p_buffer_info: std::ptr::without_provenance(meaning << 8),
        ..combined(set, 0, infos)
    }
}

/// Checks one pair as it arrives.
fn check(driver: &DeviceState, given: u64, linear: bool, filters: bool, bias: f32, down: vk::DescriptorImageInfo) {
    let Some(model) = driver.sampler(down.sampler.as_raw()) else {
        return driver.error(format!("{:#x} arrives and does not live", down.sampler.as_raw()));
    };
    let is_nearest = [model.info.mag_filter, model.info.min_filter] == [Filter::NEAREST; 2];
    let fine = if linear && !filters {
        model.by_layer && is_nearest && model.info.mip_lod_bias == bias
    } else {
        down.sampler.as_raw() == given
    };
    if !fine {
        driver.error(format!(
            "sampler {given:#x} (linear {linear}, bias {bias}) with a view that filters {filters} arrives as {:#x}: {:?}, {}",
            down.sampler.as_raw(),
            model.info,
            if model.by_layer { "a variant" } else { "the application's" },
        ));
    }
}

fn sampler(device: &Device, random: &mut Random) -> Sampler {
    let linear = random.below(3) != 0;
    let bias = random.below(24) as f32 / 16.0;
    let filter = if linear { Filter::LINEAR } else { Filter::NEAREST };
    let info = vk::SamplerCreateInfo { mip_lod_bias: bias, ..linear_info() };
    Sampler { handle: device.sampler(&info.mag_filter(filter).min_filter(filter)), linear, bias }
}

fn view(device: &Device, images: [vk::Image; 2], random: &mut Random) -> View {
    let filters = random.below(2) == 0;
    let (image, format) = if filters { (images[0], FILTERED) } else { (images[1], INTEGERS) };
    View { handle: device.view_of(image, format), filters }
}

/// One of a thread's own, if it has any, or one that all share.
fn one_of<T: Copy>(own: &[T], shared: &[T], random: &mut Random) -> T {
    let of = if own.is_empty() || random.below(3) == 0 { shared } else { own };
    of[random.below(of.len() as u64) as usize]
}

#[test]
fn no_pair_is_missed_and_none_is_changed_without_need() {
    let busy = |driver: &mut Config| (driver.reuse, driver.max_samplers) = (Reuse::AtOnce, 1 << 20);
    let device = Arc::new(InstanceBuilder::new().driver(busy).device());
    device.forget_calls();
    let checked = Arc::new(AtomicU64::new(0));
    let repaired = Arc::new(AtomicU64::new(0));
    let (counter, changes) = (Arc::clone(&checked), Arc::clone(&repaired));
    device.driver.observe(move |driver, call| {
        let (Args::Update { writes, .. } | Args::Push { writes, .. }) = &call.args else {
            if let Args::Template { elements, .. } = &call.args {
                // The meaning of a pair lies behind it, in bytes of its own.
                for two in elements.chunks_exact(2) {
                    let word = |at: usize| u64::from_ne_bytes(two[1].bytes[at..at + 8].try_into().unwrap());
                    let (given, meaning) = (word(0), word(8) >> 8);
                    let bias = (meaning >> 4) as f32 / 16.0;
                    counter.fetch_add(1, Ordering::Relaxed);
                    check(driver, given, meaning & 1 != 0, meaning & 2 != 0, bias, two[0].image.unwrap());
                }
            }
            return;
        };
        for write in &writes.items {
            let meaning = write.raw.p_buffer_info as usize >> 8;
            for image in &write.images {
                counter.fetch_add(1, Ordering::Relaxed);
                let given = write.raw.p_texel_buffer_view as u64;
                changes.fetch_add(u64::from(image.sampler.as_raw() != given), Ordering::Relaxed);
                check(driver, given, meaning & 1 != 0, meaning & 2 != 0, (meaning >> 4) as f32 / 16.0, *image);
            }
        }
    });

    let images = [device.image(FILTERED), device.image(INTEGERS)];
    let mut seed = Random(1);
    // Some objects that every thread uses all the time.
    let shared_samplers: Arc<Vec<Sampler>> = Arc::new((0..16).map(|_| sampler(&device, &mut seed)).collect());
    let shared_views: Arc<Vec<View>> = Arc::new((0..16).map(|_| view(&device, images, &mut seed)).collect());
    let start = Arc::new(Barrier::new(THREADS as usize));
    let until = Instant::now() + Duration::from_secs(2);
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (device, start) = (Arc::clone(&device), Arc::clone(&start));
            let (shared_samplers, shared_views) = (Arc::clone(&shared_samplers), Arc::clone(&shared_views));
            std::thread::spawn(move || {
                let mut random = Random(thread + 77);
                let (mut samplers, mut views) = (Vec::new(), Vec::new());
                let set = device.plain_set();
                let entries = [entry(0, 0, 1, COMBINED, 0, 0), entry(1, 0, 16, Ty::INLINE_UNIFORM_BLOCK, INFO, 0)];
                let template = device.template(device.layout(&[]), &entries);
                start.wait();
                let mut rounds = 0_u64;
                while Instant::now() < until {
                    rounds += 1;
                    match random.below(12) {
                        0 if samplers.len() < 40 => samplers.push(sampler(&device, &mut random)),
                        1 if !samplers.is_empty() => {
                            let index = random.below(samplers.len() as u64) as usize;
                            device.destroy_sampler(samplers.swap_remove(index).handle);
                        }
                        2 if views.len() < 40 => views.push(view(&device, images, &mut random)),
                        3 if !views.is_empty() => {
                            let index = random.below(views.len() as u64) as usize;
                            device.destroy_view(views.swap_remove(index).handle);
                        }
                        kind => {
                            let any = |random: &mut Random| {
                                let sampler = one_of(&samplers, &shared_samplers, random);
                                (sampler, one_of(&views, &shared_views, random))
                            };
                            let pairs: Vec<(Sampler, View)> =
                                (0..1 + random.below(5)).map(|_| any(&mut random)).collect();
                            let infos: Vec<[vk::DescriptorImageInfo; 1]> =
                                pairs.iter().map(|(s, v)| [pair(s.handle, v.handle)]).collect();
                            let writes: Vec<_> =
                                pairs.iter().zip(&infos).map(|((s, v), infos)| write(set, *s, *v, infos)).collect();
                            match kind {
                                4..8 => device.update(&writes, &[]),
                                8..10 => device.push(vk::PipelineLayout::null(), 0, &writes),
                                _ => {
                                    let meaning =
                                        [writes[0].p_texel_buffer_view as u64, writes[0].p_buffer_info as u64];
                                    let data = Data { pair: infos[0], meaning };
                                    device.update_with_template(set, template, std::ptr::from_ref(&data).cast());
                                }
                            }
                        }
                    }
                }
                samplers.into_iter().for_each(|own| device.destroy_sampler(own.handle));
                views.into_iter().for_each(|own| device.destroy_view(own.handle));
                rounds
            })
        })
        .collect();
    let rounds: u64 = threads.into_iter().map(|thread| thread.join().expect("the thread ends")).sum();
    device.driver.check();
    assert!(checked.load(Ordering::Relaxed) > rounds / 4 && repaired.load(Ordering::Relaxed) > 0);
    shared_samplers.iter().for_each(|own| device.destroy_sampler(own.handle));
    shared_views.iter().for_each(|own| device.destroy_view(own.handle));
    assert_eq!(device.driver.live(Kind::Sampler), [0; 0], "no variant is left behind");
    let kept = device.entry();
    let states = kept.pairs.samplers.rows(&kept.ground.hot).states().live;
    assert_eq!((kept.ground.hot.gate.samplers(), kept.ground.hot.gate.views(), states), (0, 0, 0));
    println!("{rounds} rounds, {checked:?} pairs checked, {repaired:?} repaired");
    Arc::into_inner(device).expect("the threads have ended").finish();
}

/// What a template reads: a pair, and what it means.
#[repr(C)]
struct Data {
    pair: [vk::DescriptorImageInfo; 1],
    meaning: [u64; 2],
}
