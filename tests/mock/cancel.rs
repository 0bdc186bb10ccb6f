//! A thread that is being cancelled (`pthread_cancel`) while it is inside the layer.
//!
//! No command of Vulkan is a cancellation point, so each returns, and the thread goes at the next point of its own. What goes wrong
//! ends the process, so each test runs in a process of its own.

use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use samplin_testkit::again::alone;

use crate::loader::*;

// Of pthread.h. Cancelling unwinds the stack through whoever calls a cancellation point.
unsafe extern "C-unwind" {
    fn pthread_self() -> c_ulong;
    fn pthread_cancel(thread: c_ulong) -> c_int;
    fn pthread_testcancel();
    fn pthread_join(thread: c_ulong, result: *mut *mut c_void) -> c_int;
    fn pthread_create(
        thread: *mut c_ulong,
        attributes: *const c_void,
        start: extern "C-unwind" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
}

/// What a cancelled thread is joined with: `PTHREAD_CANCELED`.
const CANCELED: *mut c_void = ptr::without_provenance_mut(usize::MAX);

/// How far the thread came: 1 inside its work, 2 after it, 3 after its own cancellation point.
static CAME: AtomicU32 = AtomicU32::new(0);

extern "C-unwind" fn start(work: *mut c_void) -> *mut c_void {
    CAME.store(1, Ordering::Relaxed);
    // SAFETY: `cancelled` passes this type, and joins before it goes.
    let work = unsafe { &*work.cast::<fn()>() };
    // The mock driver's maps ask for random keys once a thread, which is a cancellation point (the layer's have none, see
    // tests/sources.rs).
    drop(std::hash::RandomState::new());
    // SAFETY: the calling thread exists; it is cancelled at its next cancellation point.
    assert_eq!(unsafe { pthread_cancel(pthread_self()) }, 0);
    work();
    CAME.store(2, Ordering::Relaxed);
    // SAFETY: nothing on this stack has a destructor.
    unsafe { pthread_testcancel() };
    CAME.store(3, Ordering::Relaxed);
    ptr::null_mut()
}

/// Does `work` in a thread that has been cancelled and has not met a cancellation point, and checks that it is done and that the
/// thread goes afterwards.
fn cancelled(work: fn()) {
    CAME.store(0, Ordering::Relaxed);
    let mut thread = 0;
    let mut result = ptr::null_mut();
    // SAFETY: `work` lives until the thread is joined, and both results are written to live places.
    unsafe {
        assert_eq!(pthread_create(&raw mut thread, ptr::null(), start, ptr::from_ref(&work).cast_mut().cast()), 0);
        assert_eq!(pthread_join(thread, &raw mut result), 0);
    }
    assert_eq!(CAME.load(Ordering::Relaxed), 2, "the thread does its work, and goes at its own cancellation point");
    assert_eq!(result, CANCELED);
}

/// Everything that makes a record: settings, an instance, a device, a sampler, a pair, the summaries.
fn life(builder: InstanceBuilder) {
    let device = builder.device();
    let illegal = device.sampler(&vk::SamplerCreateInfo { mip_lod_bias: 99.0, ..linear_info() });
    let view = device.view(INTEGERS);
    let infos = [pair(illegal, view)];
    device.update(&[combined(device.plain_set(), 0, &infos)], &[]);
    device.destroy_view(view);
    device.destroy_sampler(illegal);
}

/// A folder of the process's own, as home and for every kind of file the layer reads or writes.
fn furnish() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("samplin-cancel-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("creates");
    std::fs::write(folder.join("vk_layer_settings.txt"), "samplin.border = strict\n").expect("writes");
    std::fs::write(folder.join("rules.toml"), "[[rule]]\nset = { max_anisotropy = 4 }\n").expect("writes");
    let old = folder.join("samplin");
    std::fs::create_dir_all(&old).expect("creates");
    for number in 0..25 {
        std::fs::write(old.join(format!("old-{}.jsonl", 4_000_000 + number)), "").expect("writes");
    }
    // SAFETY: the process has one thread so far that reads the environment, this one.
    unsafe {
        std::env::set_var("VK_LAYER_SETTINGS_PATH", &folder);
        std::env::set_var("XDG_STATE_HOME", &folder);
    }
    folder
}

#[test]
fn a_cancelled_thread_comes_back_from_the_layer() {
    alone("cancel::a_cancelled_thread_comes_back_from_the_layer", || {
        let folder = furnish();
        // A file of the automatic kind, which removes older ones, and everything that can be read.
        cancelled(|| {
            let home = std::env::var("XDG_STATE_HOME").expect("set");
            let builder = InstanceBuilder::new().set("trace", "auto").set("config", &format!("{home}/rules.toml"));
            life(builder.set("device", "devices/qualcomm-adreno-650-android.json"));
        });
        let written: Vec<_> = std::fs::read_dir(folder.join("samplin")).expect("reads").flatten().collect();
        assert_eq!(written.len(), 20, "older ones were removed");
        let own = format!("-{}.jsonl", std::process::id());
        let own = written.iter().find(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(&own)));
        let text = std::fs::read_to_string(own.expect("a trace was written").path()).expect("reads");
        for event in ["layer", "device", "sampler", "pair", "summary"] {
            assert!(text.contains(&format!("\"event\":\"{event}\"")), "{event}: {text}");
        }
        // A named one that is there, standard error, a complaint on it, and a file of settings that is none.
        std::fs::write(folder.join("there.jsonl"), "").expect("writes");
        cancelled(|| {
            let home = std::env::var("XDG_STATE_HOME").expect("set");
            life(InstanceBuilder::new().set("trace", &format!("{home}/there.jsonl")).set("trace_level", "all"));
        });
        assert!(std::fs::read_to_string(folder.join("there.jsonl")).expect("reads").contains("\"event\":\"summary\""));
        cancelled(|| life(InstanceBuilder::new().set("trace", "stderr")));
        cancelled(|| life(InstanceBuilder::new().set("trace", "/proc/no/such/folder/x.jsonl")));
        cancelled(|| life(InstanceBuilder::new().set("device", "no such device").set("config", "/dev/null/x")));
        let _ = std::fs::remove_dir_all(&folder);
    });
}

/// The twin: a thread that may not be cancelled stays one that may not.
#[test]
fn a_thread_that_may_not_be_cancelled_stays_so() {
    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }
    alone("cancel::a_thread_that_may_not_be_cancelled_stays_so", || {
        for state in [1, 0] {
            let mut before = -1;
            // SAFETY: both states are those of pthread.h (0 enables, 1 disables), and `before` is a live integer.
            assert_eq!(unsafe { pthread_setcancelstate(state, &raw mut before) }, 0);
            life(InstanceBuilder::new().set("trace", "stderr"));
            // SAFETY: as above.
            assert_eq!(unsafe { pthread_setcancelstate(state, &raw mut before) }, 0);
            assert_eq!(before, state);
        }
    });
}
