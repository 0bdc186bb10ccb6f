//! Next-layer function pointers, loaded by name, each optional.
//!
//! `ash`'s own tables panic on a missing command; here a missing one is `None`, because a device without an extension has
//! none and a layer must live with that.

use std::ffi::CStr;

use ash::vk;

use crate::commands::commands;

macro_rules! structure {
    ($(#[$doc:meta])* $name:ident: $($field:ident: $type:ty, $($command:literal)+;)+) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        #[expect(missing_docs, reason = "each field is the command of that name")]
        pub struct $name { $(pub $field: Option<$type>,)+ }

        impl $name {
            /// Asks `resolve` for every command, by each of its names until one answers: a device of an older core
            /// version knows only the extension's spelling, a newer one without the extension only the core's.
            pub fn load(mut resolve: impl FnMut(&CStr) -> vk::PFN_vkVoidFunction) -> Self {
                Self {
                    $($field: {
                        let found = None$(.or_else(|| resolve($command)))+;
                        // SAFETY: the loader interface guarantees that the pointer returned for a name has that
                        // command's signature; both spellings of an alias have the same one.
                        found.map(|f| unsafe { std::mem::transmute::<unsafe extern "system" fn(), $type>(f) })
                    },)+
                }
            }
        }
    };
}

macro_rules! structures {
    (
        own { $($own:tt)+ }
        followed { $($followed:tt)+ }
        retuned { $($retuned:tt)+ }
        pulsed { $($pulsed:tt)+ }
        actions { $($a_field:ident: $a_type:ty, $a_needed:literal, $($a_name:literal),+ => $a_point:ident;)+ }
        Instance { $($i_field:ident: $i_type:ty, $i_needed:literal, $($i_name:literal),+ $(=> $i_hook:path)?;)+ }
        Physical { $($p_field:ident: $p_type:ty, $p_needed:literal, $($p_name:literal),+ $(=> $p_hook:path)?;)+ }
        Device { $($d_field:ident: $d_type:ty, $d_needed:literal, $($d_name:literal),+ $(=> $d_hook:path)?;)+ }
        Shaders { $($m_field:ident: $m_type:ty, $m_needed:literal, $($m_name:literal),+ $(=> $m_hook:path)?;)+ }
        Buffers { $($b_field:ident: $b_type:ty, $b_needed:literal, $($b_name:literal),+ $(=> $b_hook:path)?;)+ }
        BufferViews { $($v_field:ident: $v_type:ty, $v_needed:literal, $($v_name:literal),+ $(=> $v_hook:path)?;)+ }
        Frames { $($q_field:ident: $q_type:ty, $q_needed:literal, $($q_name:literal),+ $(=> $q_hook:path)?;)+ }
        Separate { $($s_field:ident: $s_type:ty, $s_needed:literal, $($s_name:literal),+ $(=> $s_hook:path)?;)+ }
    ) => {
        structure! {
            /// Commands that are called with an instance or a physical device.
            InstanceFns:
            $($i_field: $i_type, $($i_name)+;)+
            $($p_field: $p_type, $($p_name)+;)+
        }

        impl InstanceFns {
            /// The commands that may be used with a physical device of version 1.0: those of version 1.1 go, unless they were
            /// resolved as the commands of VK_KHR_get_physical_device_properties2.
            pub fn for_version_1_0(mut self) -> Self {
                $(if $i_needed == "1.1" { self.$i_field = None; })+
                $(if $p_needed == "1.1" { self.$p_field = None; })+
                self
            }
        }

        structure! {
            /// Commands that are called with a device or a command buffer.
            DeviceFns:
            $($d_field: $d_type, $($d_name)+;)+
            $($m_field: $m_type, $($m_name)+;)+
            $($b_field: $b_type, $($b_name)+;)+
            $($v_field: $v_type, $($v_name)+;)+
            $($q_field: $q_type, $($q_name)+;)+
            $($s_field: $s_type, $($s_name)+;)+
            $($a_field: $a_type, $($a_name)+;)+
        }
    };
}

commands!(structures);

/// The dispatch key of a dispatchable handle: its first pointer-sized word. An instance and its physical devices share
/// one, as do a device, its queues and its command buffers (Loader and Layer Interface, "Dispatch key").
///
/// # Safety
///
/// `handle` is a valid dispatchable handle (VUID-…-parameter of the command it was passed to).
#[inline]
pub unsafe fn key(handle: impl vk::Handle) -> u64 {
    // SAFETY: the loader requires every dispatchable object to start with its dispatch pointer.
    unsafe { *(handle.as_raw() as usize as *const usize) as u64 }
}
