//! Debug labels, which records of draws say. They are noted as binds are; until then the commands only reach the driver.

use ash::vk;

use crate::device::{Device, Label, Recording, Text};

/// Notes a label.
fn note(device: &Device, commands: Recording<'_>, label: Label<'_>) {
    if let Some(separate) = device.separate.as_deref().filter(|_| device.ground.hot.follows_binds()) {
        device.ground.guard(|| separate.label(&device.ground.journal, commands, label), || ());
    }
}

macro_rules! labels {
    ($($command:ident: $info:ident $name:ident => $label:ident;)+) => {$(
        pub(crate) unsafe extern "system" fn $command(commands: vk::CommandBuffer, info: *const vk::$info<'_>) {
            let (device, next) = enter!(commands, $command);
            // SAFETY: a recording command buffer, and a structure whose name is null-terminated, by the command's valid usage.
            let (recording, name) = unsafe {
                let name = info.as_ref().map_or(std::ptr::null(), |info| info.$name);
                (Recording::new(commands), Text::new(name))
            };
            note(device, recording, Label::$label(name));
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
            note(device, unsafe { Recording::new(commands) }, Label::End);
            down!(next(commands));
        }
    )+};
}

ends! { cmd_end_debug_utils_label cmd_debug_marker_end }
