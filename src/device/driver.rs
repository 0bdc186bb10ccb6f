//! The layer below: its commands, and what a device can do.

use std::sync::Arc;

use ash::vk;
use samplin_core::quirk::Quirks;
use vk_layer_sys::PfnGetDeviceProcAddr;

use crate::caps::{Enabled, Formats};
use crate::decide::{ConflictBits, DeviceCaps};
use crate::dispatch::{DeviceFns, InstanceFns};
use crate::instance::Instance;

/// What rooms call down through, and ask what is there.
#[repr(C)]
pub struct Driver {
    /// The device.
    pub handle: vk::Device,
    /// Its instance.
    pub instance: Arc<Instance>,
    /// `vkGetDeviceProcAddr` of the layer below.
    pub next_gdpa: PfnGetDeviceProcAddr,
    /// Commands of the layer below that take the physical device.
    pub instance_fns: InstanceFns,
    /// Commands of the layer below.
    pub fns: DeviceFns,
    /// Features enabled, extensions enabled, limits.
    pub caps: DeviceCaps,
    /// Names behind `caps`, for the trace.
    pub enabled: Enabled,
    /// Format features.
    pub formats: Formats,
    /// What the driver is known to do where Vulkan leaves it open.
    pub quirks: Quirks,
}

impl Driver {
    /// Bits that can matter on this device at all: without subsampled images nothing is missed for not being subsampled.
    pub(super) fn relevant(&self, bits: ConflictBits) -> ConflictBits {
        let ignored =
            if self.enabled.subsampled { 0 } else { ConflictBits::SUBSAMPLED.0 | ConflictBits::NOT_SUBSAMPLED.0 };
        ConflictBits(bits.0 & !ignored)
    }
}
