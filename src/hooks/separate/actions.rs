//! Draws, dispatches and traces of rays: what one needs is bound right before it.
//!
//! A pipeline brings its static state with it. Before a draw of its own that is what is in force already, because a draw may not follow
//! a `vkCmdSet*` of a state that the bound pipeline has static (VUID-vkCmdDraw-None-08608); at any other place it would overwrite what the
//! application has set for the next pipeline.
//!
//! The hooks derive from the rows under `actions` in `src/commands.rs`. Where nothing has been bound since the last one they jump down.

use ash::vk;
use vk::PipelineBindPoint as Point;

use crate::commands::commands;
use crate::device::{Device, Recording, Separate};
use crate::dispatch::DeviceFns;

/// A command that uses what is bound at a bind point.
pub(crate) trait Action {
    /// Its function pointer.
    type Next: Hooked;
    /// The bind point.
    const POINT: Point;
    /// That of the layer below.
    fn next(fns: &DeviceFns) -> Option<Self::Next>;
}

macro_rules! rows {
    (
        own { $($own:tt)+ }
        followed { $($followed:tt)+ }
        retuned { $($retuned:tt)+ }
        pulsed { $($pulsed:tt)+ }
        actions { $($field:ident: $type:ty, $needed:literal, $($name:literal),+ => $point:ident;)+ }
        $($others:tt)+
    ) => {
        $(
            #[expect(non_camel_case_types, reason = "the row of that name")]
            pub(crate) enum $field {}

            impl Action for $field {
                type Next = $type;
                const POINT: Point = Point::$point;

                #[inline(always)]
                fn next(fns: &DeviceFns) -> Option<$type> {
                    fns.$field
                }
            }
        )+

        /// The commands, each by all of its names.
        #[cfg(test)]
        const NAMES: &[&std::ffi::CStr] = &[$($($name),+),+];
    };
}

commands!(rows);

/// A type of function pointers that has a hook for each action of that type.
pub(crate) trait Hooked: Sized {
    /// The hook of an action.
    fn hook<A: Action<Next = Self>>() -> Self;
    /// The one with `pulse=on`.
    fn pulsed<A: Action<Next = Self>>() -> Self;
}

/// The hook of an action.
pub(crate) fn hook<A: Action>() -> A::Next {
    A::Next::hook::<A>()
}

/// The hook of an action that is counted.
pub(crate) fn pulsed<A: Action>() -> A::Next {
    A::Next::pulsed::<A>()
}

/// Counts an action that was recorded.
///
/// # Safety
///
/// The command buffer is recording.
unsafe fn count(commands: vk::CommandBuffer, point: Point) {
    let device = enter!(commands);
    if let Some(activity) = device.pairs.activity.as_deref() {
        // SAFETY: the command buffer is recording, which this function asks of its caller.
        let recording = unsafe { Recording::new(commands) };
        let reads = |separate: &Separate| separate.reads_repaired(&device.ground, &device.pairs, recording, point);
        let is_repaired = || activity.is_recorded && device.separate.as_deref().is_some_and(reads);
        let is_graphics = point == Point::GRAPHICS;
        device.ground.guard(|| activity.draw(commands, is_graphics, is_repaired()), || ());
    }
}

/// A row for each number of parameters behind the command buffer.
macro_rules! hooked {
    ($(($($argument:ident: $type:ident),+))+) => {
        $(
            impl<$($type: Copy),+> Hooked for unsafe extern "system" fn(vk::CommandBuffer, $($type),+) {
                fn hook<Own: Action<Next = Self>>() -> Self {
                    /// A leaf that jumps.
                    unsafe extern "system" fn straight<Own, $($type: Copy),+>(
                        commands: vk::CommandBuffer,
                        $($argument: $type),+
                    ) where
                        Own: Action<Next = unsafe extern "system" fn(vk::CommandBuffer, $($type),+)>,
                    {
                        // SAFETY: the command buffer is valid during the command (the `-commandBuffer-parameter` VUID of each action),
                        // as the look-up asks; what is jumped to gets the application's own arguments.
                        unsafe {
                            let mut to: Own::Next = followed::<Own, $($type),+>;
                            if let Some(device) = Device::find_first(commands)
                                && !device.ground.hot.follows_binds()
                                && let Some(next) = Own::next(&device.ground.driver.fns)
                            {
                                to = next;
                            }
                            to(commands, $($argument),+);
                        }
                    }

                    /// A leaf that jumps. Apart from the one before, which needs no room on the stack.
                    #[inline(never)]
                    unsafe extern "system" fn followed<Own, $($type: Copy),+>(
                        commands: vk::CommandBuffer,
                        $($argument: $type),+
                    ) where
                        Own: Action<Next = unsafe extern "system" fn(vk::CommandBuffer, $($type),+)>,
                    {
                        // SAFETY: a recording command buffer (the `-commandBuffer-recording` VUID of each action); what is jumped to gets
                        // the application's own arguments.
                        unsafe {
                            let mut to: Own::Next = counted::<Own, $($type),+>;
                            if let Some(device) = Device::find_first(commands)
                                && let Some(next) = Own::next(&device.ground.driver.fns)
                            {
                                let is_met = device.separate.as_deref().is_some_and(|separate| {
                                    separate.count_draw(&device.ground, Recording::new(commands), Own::POINT)
                                });
                                to = if is_met { met::<Own, $($type),+> } else { next };
                            }
                            to(commands, $($argument),+);
                        }
                    }

                    /// For a device that is not the first one of its process.
                    #[inline(never)]
                    unsafe extern "system" fn counted<Own, $($type: Copy),+>(
                        commands: vk::CommandBuffer,
                        $($argument: $type),+
                    ) where
                        Own: Action<Next = unsafe extern "system" fn(vk::CommandBuffer, $($type),+)>,
                    {
                        let device = enter!(commands);
                        let Some(next) = Own::next(&device.ground.driver.fns) else { return };
                        if let Some(separate) = device.separate.as_deref() {
                            // SAFETY: a recording command buffer (the `-commandBuffer-recording` VUID of each action).
                            let recording = unsafe { Recording::new(commands) };
                            if separate.count_draw(&device.ground, recording, Own::POINT) {
                                separate.meet_draw(&device.ground, &device.pairs, recording, Own::POINT);
                            }
                        }
                        down!(next(commands, $($argument),+));
                    }

                    #[inline(never)]
                    unsafe extern "system" fn met<Own, $($type: Copy),+>(
                        commands: vk::CommandBuffer,
                        $($argument: $type),+
                    ) where
                        Own: Action<Next = unsafe extern "system" fn(vk::CommandBuffer, $($type),+)>,
                    {
                        let device = enter!(commands);
                        let Some(next) = Own::next(&device.ground.driver.fns) else { return };
                        if let Some(separate) = device.separate.as_deref() {
                            // SAFETY: a recording command buffer (the `-commandBuffer-recording` VUID of each action).
                            let recording = unsafe { Recording::new(commands) };
                            separate.meet_draw(&device.ground, &device.pairs, recording, Own::POINT);
                        }
                        down!(next(commands, $($argument),+));
                    }

                    straight::<Own, $($type),+>
                }

                fn pulsed<Own: Action<Next = Self>>() -> Self {
                    unsafe extern "system" fn pulsed<Own, $($type: Copy),+>(
                        commands: vk::CommandBuffer,
                        $($argument: $type),+
                    ) where
                        Own: Action<Next = unsafe extern "system" fn(vk::CommandBuffer, $($type),+)>,
                    {
                        // SAFETY: the application's own arguments; a recording command buffer (the `-commandBuffer-recording` VUID of
                        // each action).
                        unsafe {
                            hook::<Own>()(commands, $($argument),+);
                            count(commands, Own::POINT);
                        }
                    }

                    pulsed::<Own, $($type),+>
                }
            }
        )+
    };
}

hooked! {
    (a: A)
    (a: A, b: B)
    (a: A, b: B, c: C)
    (a: A, b: B, c: C, d: D)
    (a: A, b: B, c: C, d: D, e: E)
    (a: A, b: B, c: C, d: D, e: E, f: F)
    (a: A, b: B, c: C, d: D, e: E, f: F, g: G)
    (a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H, i: I, j: J, k: K, l: L, m: M, n: N)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use super::NAMES;
    use crate::commands::{Which, intercepted_on_devices};

    /// Commands that look as if they used or changed what is bound at a bind point that is followed, and why they do not.
    const OTHERS: &[(&str, &str)] = &[
        ("vkCmdSubpassShadingHUAWEI", "has a bind point of its own"),
        ("vkCmdDispatchGraphAMDX", "has a bind point of its own"),
        ("vkCmdDispatchGraphIndirectAMDX", "has a bind point of its own"),
        ("vkCmdDispatchGraphIndirectCountAMDX", "has a bind point of its own"),
        ("vkCmdDispatchDataGraphARM", "has a bind point of its own"),
        ("vkCmdCuLaunchKernelNVX", "has no pipeline"),
        ("vkCmdCudaLaunchKernelNV", "has no pipeline"),
        ("vkCmdBindDescriptorBuffersEXT", "only descriptor buffers have been bound by it, no sets"),
        ("vkCmdBindIndexBuffer", "binds no descriptors"),
        ("vkCmdBindIndexBuffer2", "binds no descriptors"),
        ("vkCmdBindIndexBuffer3KHR", "binds no descriptors"),
        ("vkCmdBindInvocationMaskHUAWEI", "binds no descriptors"),
        ("vkCmdBindShadingRateImageNV", "binds no descriptors"),
        ("vkCmdBindTileMemoryQCOM", "binds no descriptors"),
        ("vkCmdBindTransformFeedbackBuffersEXT", "binds no descriptors"),
        ("vkCmdBindTransformFeedbackBuffers2EXT", "binds no descriptors"),
        ("vkCmdBindVertexBuffers", "binds no descriptors"),
        ("vkCmdBindVertexBuffers2", "binds no descriptors"),
        ("vkCmdBindVertexBuffers3KHR", "binds no descriptors"),
        ("vkCmdPushConstants", "changes no descriptors, and layouts of the layer's own have the same ranges"),
        ("vkCmdPushConstants2", "changes no descriptors, and layouts of the layer's own have the same ranges"),
    ];

    /// Beginnings of names of commands that use or change what is bound.
    const KINDS: [&str; 14] = [
        "Draw",
        "Dispatch",
        "TraceRays",
        "SubpassShading",
        "CuLaunch",
        "CudaLaunch",
        "ExecuteGenerated",
        "PreprocessGenerated",
        "ExecuteCommands",
        "BeginTransformFeedback",
        "EndTransformFeedback",
        "Bind",
        "Push",
        "SetDescriptorBuffer",
    ];

    /// Names of commands in a text.
    fn commands(text: &str) -> BTreeSet<&str> {
        let is_part = |character: char| !(character.is_ascii_alphanumeric() || character == '_');
        let of_kind = |word: &&str| {
            let rest = word.strip_prefix("vkCmd");
            rest.is_some_and(|rest| KINDS.iter().any(|kind| rest.starts_with(kind)))
        };
        text.split(is_part).filter(of_kind).collect()
    }

    /// The installed header, or the registry that `VK_XML` names.
    fn registry() -> Option<String> {
        if let Some(path) = std::env::var_os("VK_XML") {
            return Some(std::fs::read_to_string(path).expect("the registry can be read"));
        }
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let source = "echo '#include <vulkan/vulkan_core.h>' | \"$0\" -E -x c -";
        let output = Command::new("sh").args(["-c", source, &compiler]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs a compiler")]
    fn every_command_that_uses_or_changes_what_is_bound_is_followed() {
        let text = registry().expect("Vulkan headers (Debian: libvulkan-dev)");
        let all = commands(&text);
        assert!(all.len() > 40, "{all:?}");
        let followed = intercepted_on_devices(Which {
            separate: true,
            shaders: true,
            buffers: true,
            buffer_views: true,
            frames: true,
            retuned: false,
            pulsed: false,
        });
        let is_followed = |name: &str| followed.iter().any(|other| other.to_bytes() == name.as_bytes());
        let spelled = |name: &&str| {
            // Aliases of vendors that the core's command stands for.
            let base = name.trim_end_matches("KHR").trim_end_matches("EXT");
            is_followed(name) || OTHERS.iter().any(|(other, _)| [*name, base].contains(other))
        };
        let left: Vec<_> = all.into_iter().filter(|name| !spelled(name)).collect();
        assert!(left.is_empty(), "neither followed nor known to matter nothing: {left:?}");
        assert!(OTHERS.iter().all(|(name, _)| !is_followed(name)));
        assert!(NAMES.iter().all(|name| is_followed(name.to_str().expect("a name"))));
    }
}
