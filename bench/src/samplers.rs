//! Samplers that come and go.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

use crate::row::Pairs;
use crate::sample::{CALLS, PASSES, thread_ns, time};

/// A sampler that nothing uses.
fn create_and_destroy(device: &ash::Device, info: &vk::SamplerCreateInfo<'_>) {
    // SAFETY: a valid create info; the sampler is not in use.
    unsafe {
        let sampler = device.create_sampler(info, None).expect("a sampler");
        device.destroy_sampler(sampler, None);
    }
}

/// Create infos, each of another state.
fn infos<'a>(plain: vk::SamplerCreateInfo<'a>) -> Vec<vk::SamplerCreateInfo<'a>> {
    (0..CALLS).map(|n| plain.max_lod(n as f32 / 64.0)).collect()
}

/// Samplers of states that were seen before, legal or not.
pub(crate) fn seen(device: &ash::Device, is_legal: bool) -> f64 {
    let plain = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR);
    // Beyond every driver's maxSamplerLodBias; drivers take it all the same.
    let plain = plain.mip_lod_bias(if is_legal { 0.0 } else { 1000.0 });
    time(&infos(plain), |info| create_and_destroy(device, info))
}

/// The same, and an equal one lives.
pub(crate) fn equal(device: &ash::Device) -> f64 {
    let infos = infos(vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR));
    // SAFETY: valid create infos.
    let create = |info| unsafe { device.create_sampler(info, None) }.expect("a sampler");
    let alive: Vec<vk::Sampler> = infos.iter().map(create).collect();
    let figure = time(&infos, |info| create_and_destroy(device, info));
    // SAFETY: the samplers are not in use.
    alive.into_iter().for_each(|sampler| unsafe { device.destroy_sampler(sampler, None) });
    figure
}

/// Samplers of states that were never seen before, every other one LINEAR unless all are legal.
pub(crate) fn new(device: &ash::Device, pairs: Pairs) -> f64 {
    static STATES: AtomicU32 = AtomicU32::new(0);
    let calls: Vec<usize> = (0..CALLS).collect();
    time(&calls, |call| {
        let state = STATES.fetch_add(1, Ordering::Relaxed);
        let is_legal = pairs == Pairs::Legal || call % 2 == 0;
        let filter = if is_legal { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let info = vk::SamplerCreateInfo::default().max_lod(state as f32).mag_filter(filter);
        // SAFETY: a valid create info; the sampler is not in use.
        unsafe {
            let sampler = device.create_sampler(&info, None).expect("a sampler");
            device.destroy_sampler(sampler, None);
        }
    })
}

/// Samplers that are created in a row, each the only one of its state, and destroyed off the clock.
pub(crate) fn created(device: &ash::Device, is_new: bool) -> f64 {
    static STATES: AtomicU32 = AtomicU32::new(1 << 22);
    let mut made = Vec::with_capacity(CALLS);
    let mut pass = |base: u32| {
        let plain = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::NEAREST);
        let infos: Vec<_> = (0..CALLS as u32).map(|n| plain.max_lod((base + n) as f32 / 64.0)).collect();
        let start = thread_ns();
        for info in &infos {
            // SAFETY: a valid create info.
            made.push(unsafe { device.create_sampler(black_box(info), None) }.expect("a sampler"));
        }
        let ns = thread_ns() - start;
        // SAFETY: the samplers are not in use.
        made.drain(..).for_each(|sampler| unsafe { device.destroy_sampler(sampler, None) });
        ns
    };
    let base = || if is_new { STATES.fetch_add(CALLS as u32, Ordering::Relaxed) } else { 1 << 20 };
    pass(base());
    (0..PASSES).map(|_| pass(base())).sum::<f64>() / (CALLS * PASSES) as f64
}
