//! Records of pairs that are met at a draw say which draw it was: frame, number in its command buffer and the application's label.

use std::ffi::{CStr, CString};
use std::ptr;

use ash::vk;
use serde_json::{Value, json};

use crate::binds::Scene;
use crate::driver::{Args, Call, Reuse};
use crate::loader::*;
use crate::pages::Guarded;

fn traced() -> Scene {
    Scene::of(InstanceBuilder::new().traced("decisions"))
}

/// What a record says of its draw.
fn draw_of(record: &Value) -> [&Value; 3] {
    ["frame", "draw", "label"].map(|member| &record[member])
}

impl Scene {
    /// Draws with a pair that no record tells of yet; returns what its record says of the draw.
    fn meet(&self) -> [Value; 3] {
        let told = self.device.records("pair").len();
        // A state that was not met before.
        let sampler = self.device.sampler(&linear_info().max_lod(1.0 + told as f32));
        let set = self.set_with([FILTERED, FLOATS], sampler);
        self.bind(self.pipeline());
        self.bind_sets(self.layouts[0], 0, &[set]);
        assert_eq!(self.device.records("pair").len(), told, "it is met at the draw");
        self.act();
        let records = self.device.records("pair");
        let [record] = &records[told..] else { panic!("one more than {told}: {records:#?}") };
        draw_of(record).map(Clone::clone)
    }

    fn begin_label(&self, name: &CStr) {
        let (device, info) = (&self.device, vk::DebugUtilsLabelEXT::default().label_name(name));
        call!(device.begin_label(self.commands.get(), &info));
    }

    fn end_label(&self) {
        let device = &self.device;
        call!(device.end_label(self.commands.get()));
    }

    fn present(&self) {
        let (device, info) = (&self.device, vk::PresentInfoKHR::default());
        assert_eq!(call!(device.present(device.queue(), &info)), SUCCESS);
    }
}

#[test]
fn a_record_says_the_first_draw_that_met_its_pair() {
    let scene = traced();
    let legal = scene.set([FILTERED; 2]);
    scene.bind(scene.pipeline());
    scene.bind_sets(scene.layouts[0], 0, &[legal]);
    (0..3).for_each(|_| scene.act());
    assert_eq!(scene.device.records("pair").len(), 0, "a draw without a conflict has no record");
    assert_eq!(scene.meet(), [json!(0), json!(4), Value::Null]);
    // It is met again, and not told again.
    (0..3).for_each(|_| scene.act());
    assert_eq!(scene.device.records("pair").len(), 1);
    scene.present();
    scene.present();
    assert_eq!(scene.meet(), [json!(2), json!(8), Value::Null]);
}

#[test]
fn draws_count_from_the_begin_of_their_command_buffer() {
    let scene = traced();
    let first = scene.commands.get();
    assert_eq!(scene.meet()[1], 1);
    // Another command buffer counts its own.
    scene.commands.set(scene.device.command_buffer());
    scene.begin();
    scene.act();
    assert_eq!(scene.meet()[1], 2);
    scene.commands.set(first);
    assert_eq!(scene.meet()[1], 2);
    scene.begin();
    assert_eq!(scene.meet()[1], 1);
}

#[test]
fn other_bind_points_count_as_well() {
    let scene = traced();
    for point in [GRAPHICS, Point::RAY_TRACING_KHR] {
        scene.device.act(scene.commands.get(), point);
    }
    assert_eq!(scene.meet()[1], 3);
}

#[test]
fn transform_feedback_is_no_draw() {
    let scene = traced();
    let (device, raw) = (&scene.device, scene.commands.get());
    call!(device.begin_feedback(raw, 0, 0, ptr::null(), ptr::null()));
    call!(device.end_feedback(raw, 0, 0, ptr::null(), ptr::null()));
    assert_eq!(scene.meet()[1], 1);
}

/// What is left is told with its draw too.
#[test]
fn what_is_left_says_its_draw() {
    let builder = InstanceBuilder::new().traced("decisions").set("separate_shared", "keep");
    let scene = Scene::of(builder);
    scene.present();
    scene.act();
    scene.begin_label(c"Shadow pass");
    scene.bind(scene.pipeline());
    scene.bind_sets(scene.layouts[0], 0, &[scene.set([FILTERED, FLOATS])]);
    scene.act();
    let records = scene.device.left_as("shared-sampler");
    let [record] = &records[..] else { panic!("{:?}", scene.device.left()) };
    assert_eq!(draw_of(record), [&json!(1), &json!(2), &json!("Shadow pass")]);
}

/// What is told at a bind has no draw, nor has a command buffer that was begun before anything could conflict.
#[test]
fn what_is_told_at_a_bind_says_no_draw() {
    let scene = Scene::without_conflict(Reuse::Never);
    scene.begin();
    scene.act();
    scene.begin_label(c"Shadow pass");
    let pipeline = scene.pipeline();
    let mixed = scene.set([FILTERED, FLOATS]);
    scene.bind(pipeline);
    scene.bind_sets(scene.layouts[0], 0, &[mixed]);
    scene.act();
    let records = scene.device.records("unresolved");
    assert!(!records.is_empty() && records.iter().all(|record| record["what"] == "began-before"), "{records:#?}");
    for record in &records {
        assert_eq!(draw_of(record), [&Value::Null; 3]);
    }
    // Begun again it is followed from its first draw on.
    scene.begin();
    scene.act();
    scene.begin_label(c"Main pass");
    assert_eq!(scene.meet(), [json!(0), json!(2), json!("Main pass")]);
}

#[test]
fn the_innermost_region_is_the_label() {
    let scene = traced();
    let label = |expected: Option<&str>| assert_eq!(scene.meet()[2], json!(expected));
    label(None);
    scene.begin_label(c"Frame");
    label(Some("Frame"));
    scene.begin_label(c"Shadow pass");
    label(Some("Shadow pass"));
    scene.end_label();
    label(Some("Frame"));
    scene.end_label();
    label(None);
    // Of a region that another command buffer began.
    scene.end_label();
    scene.begin_label(c"Main pass");
    label(Some("Main pass"));
    scene.begin();
    label(None);
}

/// Regions of both extensions are one stack, and the names of a command buffer are its own.
#[test]
fn markers_and_secondary_command_buffers_have_labels() {
    let scene = traced();
    let (device, primary) = (&scene.device, scene.commands.get());
    let marker = |name| vk::DebugMarkerMarkerInfoEXT::default().marker_name(name);
    scene.begin_label(c"Frame");
    call!(device.begin_marker(primary, &marker(c"Shadow pass")));
    assert_eq!(scene.meet()[2], "Shadow pass");
    let secondary = device.command_buffer();
    scene.commands.set(secondary);
    scene.begin();
    assert_eq!(scene.meet()[1..], [json!(1), Value::Null]);
    call!(device.insert_marker(secondary, &marker(c"Rocks")));
    assert_eq!(scene.meet()[2], "Rocks");
    scene.begin_label(c"Trees");
    assert_eq!(scene.meet()[2], "Trees");
    scene.commands.set(primary);
    call!(device.execute_commands(primary, 1, &secondary));
    assert_eq!(scene.meet()[1..], [json!(2), json!("Shadow pass")], "neither draws nor labels of the primary end");
    call!(device.end_marker(primary));
    assert_eq!(scene.meet()[2], "Frame");
}

#[test]
fn hostile_labels_are_survived() {
    let scene = traced();
    let (device, raw) = (&scene.device, scene.commands.get());
    scene.begin_label(c"Frame");
    call!(device.begin_label(raw, ptr::null()));
    call!(device.begin_marker(raw, ptr::null()));
    call!(device.begin_label(raw, &vk::DebugUtilsLabelEXT::default()));
    assert_eq!(scene.meet()[2], "Frame", "the innermost one that has a name");
    (0..3).for_each(|_| scene.end_label());
    scene.begin_label(c"a\xffb");
    assert_eq!(scene.meet()[2], "a\u{fffd}b");
    // A name that ends with the last byte of its page.
    let mut guarded = Guarded::new();
    for length in [0, 1, 63, 64, 65, 1000] {
        let mut bytes = "x".repeat(length).into_bytes();
        bytes.push(0);
        let name = guarded.slice(&bytes);
        // SAFETY: null-terminated.
        scene.begin_label(unsafe { CStr::from_ptr(name.cast()) });
        let expected = if length == 0 { "a\u{fffd}b".to_owned() } else { "x".repeat(length.min(64)) };
        assert_eq!(scene.meet()[2], expected, "{length}");
        scene.end_label();
    }
    let long = CString::new(format!("{}é", "x".repeat(63))).expect("no null");
    scene.begin_label(&long);
    assert_eq!(scene.meet()[2], "x".repeat(63), "not half of a character");
    for _ in 0..100 {
        scene.begin_label(c"deep");
    }
    assert_eq!(scene.meet()[2], "deep");
    (0..1000).for_each(|_| scene.end_label());
    assert_eq!(scene.meet()[2], Value::Null);
}

/// The commands go down with the application's own pointers, whether they are noted or not.
#[test]
fn labels_go_down_as_they_came() {
    let scenes = [Scene::new(), Scene::without_conflict(Reuse::Never), traced()];
    for scene in &scenes {
        let (device, raw) = (&scene.device, scene.commands.get());
        let label = vk::DebugUtilsLabelEXT::default().label_name(c"Shadow pass");
        let marker = vk::DebugMarkerMarkerInfoEXT::default().marker_name(c"Shadow pass");
        device.driver.calls();
        call!(device.begin_label(raw, &label));
        call!(device.insert_label(raw, &label));
        call!(device.end_label(raw));
        call!(device.begin_marker(raw, &marker));
        call!(device.insert_marker(raw, &marker));
        call!(device.end_marker(raw));
        let [label, marker] = [&raw const label as u64, &raw const marker as u64];
        let raw = vk::Handle::as_raw(raw);
        let words = |call: Call| if let Args::Other(words) = call.args { Some((call.command, words)) } else { None };
        let came: Vec<_> = device.driver.calls().into_iter().filter_map(words).collect();
        let expected = [
            (c"vkCmdBeginDebugUtilsLabelEXT", vec![raw, label]),
            (c"vkCmdInsertDebugUtilsLabelEXT", vec![raw, label]),
            (c"vkCmdEndDebugUtilsLabelEXT", vec![raw]),
            (c"vkCmdDebugMarkerBeginEXT", vec![raw, marker]),
            (c"vkCmdDebugMarkerInsertEXT", vec![raw, marker]),
            (c"vkCmdDebugMarkerEndEXT", vec![raw]),
        ];
        assert_eq!(came, expected);
    }
}

/// Where a submission says that a frame ends, these are the frames.
#[test]
fn frame_boundaries_count_in_place_of_presents() {
    let scene = traced();
    let (device, fence) = (&scene.device, vk::Fence::null());
    scene.present();
    let frame = |expected: u64| assert_eq!(scene.meet()[0], expected);
    frame(1);
    let inside = vk::FrameBoundaryEXT::default();
    let end = inside.flags(vk::FrameBoundaryFlagsEXT::FRAME_END);
    let submit = |boundary: &vk::FrameBoundaryEXT<'_>| {
        let chained = ptr::from_ref(boundary).cast();
        let plain = vk::SubmitInfo::default();
        let infos = [plain, vk::SubmitInfo { p_next: chained, ..plain }];
        assert_eq!(call!(device.submit(device.queue(), 2, infos.as_ptr(), fence)), SUCCESS);
        args_are_own(&scene, c"vkQueueSubmit", infos.as_ptr() as u64);
        let infos = [vk::SubmitInfo2 { p_next: chained, ..Default::default() }];
        assert_eq!(call!(device.submit2(device.queue(), 1, infos.as_ptr(), fence)), SUCCESS);
        args_are_own(&scene, c"vkQueueSubmit2", infos.as_ptr() as u64);
        let infos = [vk::BindSparseInfo { p_next: chained, ..Default::default() }];
        assert_eq!(call!(device.bind_sparse(device.queue(), 1, infos.as_ptr(), fence)), SUCCESS);
        args_are_own(&scene, c"vkQueueBindSparse", infos.as_ptr() as u64);
    };
    submit(&inside);
    frame(1);
    submit(&end);
    frame(4);
    scene.present();
    frame(4);
    let mut info = vk::PresentInfoKHR::default();
    info.p_next = ptr::from_ref(&end).cast();
    assert_eq!(call!(device.present(device.queue(), &info)), SUCCESS);
    frame(5);
    // Nothing is submitted: no pointer is followed.
    assert_eq!(call!(device.submit(device.queue(), 0, crate::pages::dangling(), fence)), SUCCESS);
}

#[track_caller]
fn args_are_own(scene: &Scene, command: &CStr, info: u64) {
    let calls = scene.device.driver.calls();
    let call = calls.iter().rfind(|call| call.command == command).expect("it goes down");
    assert!(matches!(&call.args, Args::Other(words) if words[..] == [info]), "{call:?}");
}

/// Without the extension no submission is hooked.
#[test]
fn submissions_are_hooked_where_they_can_end_a_frame() {
    for (has_boundaries, follows) in [(true, "resolve"), (false, "resolve"), (true, "base")] {
        let builder = InstanceBuilder::new().set("separate", follows);
        let mut info: DeviceInfo = builder.device_info();
        info.extensions.retain(|name| has_boundaries || *name != ash::ext::frame_boundary::NAME);
        let device = builder.instance().device(&info);
        let which = device.entry().which();
        assert_eq!((which.frames, which.separate), (has_boundaries && follows == "resolve", follows == "resolve"));
    }
}
