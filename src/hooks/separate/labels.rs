//! Debug labels, which records of draws say. They are noted as binds are; until then the commands only go down.

use ash::vk;

use crate::device::{Device, Label};

/// Takes note of a label.
///
/// # Safety
///
/// `commands` is a valid command buffer in the recording state; the name is null or null-terminated.
unsafe fn note(device: &Device, commands: vk::CommandBuffer, label: Label) {
    if device.ground.hot.follows_binds() {
        // SAFETY: by this function's contract.
        device.ground.guard(|| unsafe { device.label(commands, label) }, || ());
    }
}

macro_rules! labels {
    ($($command:ident: $info:ident $name:ident => $label:ident;)+) => {$(
        pub(crate) unsafe extern "system" fn $command(commands: vk::CommandBuffer, info: *const vk::$info<'_>) {
            let (device, next) = enter!(commands, $command);
            // SAFETY: a recording command buffer, and a structure whose name is null-terminated, by the command's valid usage.
            unsafe {
                let name = info.as_ref().map_or(std::ptr::null(), |info| info.$name);
                note(device, commands, Label::$label(name));
            }
            down!(next(commands, info));
        }
    )+};
}

labels! {
    cmd_begin_debug_utils_label: DebugUtilsLabelEXT p_label_name => Begin;
    cmd_insert_debug_utils_label: DebugUtilsLabelEXT p_label_name => Insert;
    cmd_debug_marker_begin: DebugMarkerMarkerInfoEXT p_marker_name => Begin;
    cmd_debug_marker_insert: DebugMarkerMarkerInfoEXT p_marker_name => Insert;
}

macro_rules! ends {
    ($($command:ident)+) => {$(
        pub(crate) unsafe extern "system" fn $command(commands: vk::CommandBuffer) {
            let (device, next) = enter!(commands, $command);
            // SAFETY: a recording command buffer, by the command's valid usage.
            unsafe { note(device, commands, Label::End) };
            down!(next(commands));
        }
    )+};
}

ends! { cmd_end_debug_utils_label cmd_debug_marker_end }
