//! One `VkInstance`, found by its dispatch key or that of one of its physical devices.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use once_cell::sync::Lazy;
use samplin_hot::memory::Room;
use vk_layer_sys::PfnGetInstanceProcAddr;

use crate::advertised::Advertised;
use crate::dispatch::{self, InstanceFns};
use crate::memory;
use crate::overrides::Overrides;
use crate::settings::{Mode, Settings, Storage};
use crate::simulate::Simulation;
use crate::table::{HandleMap, lock};
use crate::trace::Trace;

static INSTANCES: Lazy<HandleMap<Instance>> = Lazy::new(HandleMap::new);

/// One `VkInstance`.
pub struct Instance {
    /// The instance.
    pub handle: vk::Instance,
    /// `vkGetInstanceProcAddr` of the layer below.
    pub next_gipa: PfnGetInstanceProcAddr,
    /// Commands of the layer below.
    pub fns: InstanceFns,
    /// The settings in force.
    pub settings: Settings,
    /// Where records go.
    pub trace: Arc<Trace>,
    /// `VkApplicationInfo::apiVersion`, at least 1.0.
    pub api_version: u32,
    /// `VK_KHR_get_physical_device_properties2` is enabled.
    pub properties2: bool,
    /// The device to simulate.
    pub simulation: Option<Arc<Simulation>>,
    /// The overrides of this application.
    pub overrides: Overrides,
    /// Names of executable, application and engine.
    pub host: [String; 3],
    /// What the application read of the storage images of physical devices.
    pub advertised: Mutex<Vec<(u64, Arc<Advertised>)>>,
}

impl Instance {
    /// Whether the application sees the simulated device.
    pub fn shows_simulation(&self) -> bool {
        self.settings.device_visible && self.simulation.is_some()
    }

    /// Whether the application sees other physical devices than there are.
    pub fn shows_others(&self) -> bool {
        self.shows_simulation() || self.advertises()
    }

    /// Whether the application reads that formats can be stored which shaders convert. Without version 1.1 views cannot say what they
    /// are used for.
    fn advertises(&self) -> bool {
        self.settings.storage == Storage::Advertise
            && self.settings.mode == Mode::Legalize
            && self.api_version >= vk::API_VERSION_1_1
    }

    /// What the application reads of the storage images of a physical device; none if it is what the driver says.
    ///
    /// # Safety
    ///
    /// `physical` is a valid physical device of the instance.
    pub unsafe fn advertised(&self, physical: vk::PhysicalDevice) -> Option<Arc<Advertised>> {
        if !self.advertises() {
            return None;
        }
        let find = || {
            let known =
                lock(&self.advertised).iter().find(|(of, _)| *of == physical.as_raw()).map(|(_, it)| it.clone());
            known.or_else(|| {
                let simulation = self.simulation.clone();
                // SAFETY: `physical` is of this instance, by this function's contract.
                let new = Arc::new(unsafe { Advertised::new(&self.settings, &self.fns, physical, simulation) }?);
                lock(&self.advertised).with_room().push((physical.as_raw(), Arc::clone(&new)));
                Some(new)
            })
        };
        // Without an answer of the layer's own there is the driver's.
        catch_unwind(AssertUnwindSafe(|| memory::inside(find))).unwrap_or(None)
    }

    /// Whether the layer only forwards.
    pub fn is_off(&self) -> bool {
        self.settings.mode == Mode::Off
    }

    /// Enters the instance.
    ///
    /// # Safety
    ///
    /// `self.handle` is valid.
    pub unsafe fn register(self: Arc<Self>) {
        // SAFETY: `self.handle` is a valid instance by this function's contract, so it starts with its dispatch key.
        INSTANCES.insert(unsafe { dispatch::key(self.handle) }, self);
    }

    /// The entry of an instance or of one of its physical devices.
    ///
    /// # Safety
    ///
    /// `of` is a valid instance or physical device, which also keeps the entry alive: an instance is destroyed under external
    /// synchronisation (vkDestroyInstance, "Host Synchronization").
    pub unsafe fn find<'a>(of: impl Handle) -> Option<&'a Self> {
        // SAFETY: `of` is valid, so it starts with its dispatch key, and its instance is not destroyed while the entry is used:
        // both by this function's contract.
        unsafe { INSTANCES.get(dispatch::key(of)) }
    }

    /// A share of the entry.
    ///
    /// # Safety
    ///
    /// As for [`Instance::find`].
    pub unsafe fn share(of: impl Handle) -> Option<Arc<Self>> {
        // SAFETY: `of` starts with its dispatch key and its instance is not destroyed before the entry is shared, as `find` asks.
        unsafe { INSTANCES.share(dispatch::key(of)) }
    }

    /// Forgets the instance with this dispatch key, before it is destroyed below.
    pub fn forget(key: u64) {
        INSTANCES.remove(key);
    }
}
