//! Programs that are older or younger than the library, and those that make mistakes.

use std::ffi::CStr;
use std::mem::{offset_of, zeroed};
use std::ptr;

use samplin_capi::*;
use samplin_core::{Sampler, View, vk};

const TEXT: &str = r#"{"schema": "device-caps/1", "name": "test", "limits": {"maxSamplerLodBias": 4},
    "formats": {"VK_FORMAT_R8_UNORM": {"optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT"]}}}"#;

fn device() -> *mut SamplinDevice {
    let mut device = ptr::null_mut();
    // SAFETY: a text of that length; `device` can be written.
    let result = unsafe { samplin_device_from_json(TEXT.as_ptr().cast(), TEXT.len(), &mut device, ptr::null_mut(), 0) };
    assert_eq!(result, SamplinResult::Success);
    device
}

fn linear() -> SamplinSampler {
    SamplinSampler::new(&Sampler { mag_filter: vk::Filter::LINEAR, mip_lod_bias: 9.0, ..Sampler::default() })
}

#[test]
fn null_is_refused_or_nothing() {
    let (sampler, view) = (linear(), SamplinView::new(&View::new_2d(vk::Format::R8_UNORM)));
    let (mut made, mut outcome) = (ptr::null_mut(), ptr::null_mut());
    let device = device();
    // SAFETY: each pointer is null or one of the library's, or can be read and written.
    unsafe {
        for result in [
            samplin_device_create(ptr::null(), &mut made),
            samplin_device_from_json(ptr::null(), 0, &mut made, ptr::null_mut(), 0),
            samplin_device_from_json(TEXT.as_ptr().cast(), TEXT.len(), ptr::null_mut(), ptr::null_mut(), 0),
            samplin_decide(ptr::null(), &sampler, &view, &mut outcome),
            samplin_decide(device, ptr::null(), &view, &mut outcome),
            samplin_decide(device, &sampler, ptr::null(), &mut outcome),
            samplin_decide(device, &sampler, &view, ptr::null_mut()),
            samplin_create(device, ptr::null(), &mut outcome),
            samplin_create(device, &sampler, ptr::null_mut()),
            samplin_outcome_sampler(ptr::null(), ptr::null_mut()),
            samplin_outcome_change(ptr::null(), 0, ptr::null_mut()),
            samplin_outcome_unresolved(ptr::null(), 0, ptr::null_mut()),
            samplin_view_2d(9, ptr::null_mut()),
        ] {
            assert_eq!(result, SamplinResult::Null);
        }
        let mut info: SamplinDeviceInfo = zeroed();
        (info.size, info.format_count) = (size_of::<SamplinDeviceInfo>() as u32, 1);
        assert_eq!(samplin_device_create(&info, &mut made), SamplinResult::Null);
        assert!(made.is_null() && outcome.is_null());
        assert_eq!((samplin_outcome_change_count(ptr::null()), samplin_outcome_unresolved_count(ptr::null())), (0, 0));
        samplin_device_destroy(ptr::null_mut());
        samplin_outcome_destroy(ptr::null_mut());
        assert_eq!(samplin_decide(device, &sampler, &view, &mut outcome), SamplinResult::Success);
        let mut change: SamplinChange = zeroed();
        assert_eq!(samplin_outcome_change(outcome, 0, &mut change), SamplinResult::Size, "no size is too small a size");
        change.size = size_of::<SamplinChange>() as u32;
        assert_eq!(samplin_outcome_change(outcome, 99, &mut change), SamplinResult::Index);
        assert_eq!(samplin_outcome_change(outcome, 0, &mut change), SamplinResult::Success);
        assert_eq!(CStr::from_ptr(change.field), c"magFilter");
        samplin_outcome_destroy(outcome);
        samplin_device_destroy(device);
    }
}

#[test]
fn a_program_may_be_older_than_the_library() {
    let device = device();
    let mut outcome = ptr::null_mut();
    // All that this program knows of is the filters and the modes; the bias that follows is not its own.
    let mut sampler = linear();
    sampler.size = offset_of!(SamplinSampler, mip_lod_bias) as u32;
    let given = sampler;
    // SAFETY: whole structures, or as much as their size says.
    unsafe {
        assert_eq!(samplin_create(device, &sampler, &mut outcome), SamplinResult::Success);
        assert_eq!(samplin_outcome_change_count(outcome), 0, "a bias of 9 would be too much");
        sampler.mip_lod_bias = 7.0;
        assert_eq!(samplin_outcome_sampler(outcome, &mut sampler), SamplinResult::Success);
        samplin_outcome_destroy(outcome);
        samplin_device_destroy(device);
    }
    assert_eq!((sampler.size, sampler.mip_lod_bias), (given.size, 7.0), "what lies behind is not written");
}

#[test]
fn a_program_may_be_younger_than_the_library() {
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Younger {
        known: SamplinSampler,
        more: [u32; 2],
    }
    let device = device();
    let mut outcome = ptr::null_mut();
    let mut younger = Younger { known: linear(), more: [0; 2] };
    younger.known.size = size_of::<Younger>() as u32;
    // SAFETY: as many bytes as the size says.
    unsafe {
        assert_eq!(samplin_create(device, (&raw const younger).cast(), &mut outcome), SamplinResult::Success);
        younger.more = [1, 2];
        assert_eq!(samplin_outcome_sampler(outcome, (&raw mut younger).cast()), SamplinResult::Success);
        assert_eq!((younger.known.mip_lod_bias, younger.more), (4.0, [0; 2]));
        samplin_outcome_destroy(outcome);
        younger.more = [0, 1];
        assert_eq!(samplin_create(device, (&raw const younger).cast(), &mut outcome), SamplinResult::Size);
        samplin_device_destroy(device);
    }
}

#[test]
fn a_text_that_is_no_device_is_told_in_the_room_there_is() {
    let mut device = ptr::null_mut();
    let mut tell = |text: &[u8], size: usize| {
        let mut message = vec![b'x'; 64];
        // SAFETY: a text of that length, and a message of at least that size.
        let result = unsafe {
            samplin_device_from_json(text.as_ptr().cast(), text.len(), &mut device, message.as_mut_ptr().cast(), size)
        };
        assert_eq!(result, SamplinResult::Malformed);
        assert!(message[size..].iter().all(|byte| *byte == b'x'));
        message.truncate(size);
        message
    };
    assert!(tell(b"{}", 64).starts_with(b"the file is not a capability file"));
    assert_eq!(tell(b"{}", 5), b"the \0");
    assert_eq!(tell(b"{}", 1), b"\0");
    assert_eq!(tell(b"{}", 0), b"");
    assert!(tell(b"\xff", 64).starts_with(b"invalid utf-8"));
    assert!(device.is_null());
}
