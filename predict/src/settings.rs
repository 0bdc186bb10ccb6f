//! What the recording layer was set to, as far as decisions depend on it.

use samplin_core::decide::{DeviceCaps, Policy};
use samplin_wire::read;
use serde_json::Value;

use super::Prediction;
use super::alive::Alive;

impl Prediction {
    /// Whether the layer of a process ran with this setting.
    pub(super) fn is_set(&self, process: u32, key: &str, value: &str) -> bool {
        self.layers.get(&process).and_then(|layer| read::setting(layer, key)) == Some(value)
    }

    /// Whether the layer made shaders saturate coordinates for the address modes of OpenGL, and filter.
    pub(super) fn rewrites(&self, process: u32) -> (bool, bool) {
        let is = |key: &str, value: &str| self.is_set(process, key, value);
        let rewrites = is("separate", "resolve") && is("mode", "legalize");
        (rewrites, rewrites && is("unfilterable", "emulate"))
    }

    /// How many samplers a driver had to have at once, of those that were asked for: one of each state where they are shared.
    pub(super) fn samplers_at_once(&self, process: u32, alive: &Alive) -> u32 {
        let shares = |value| self.is_set(process, "samplers", value) && self.is_set(process, "mode", "legalize");
        if shares("share") || shares("auto") { alive.samplers.min(alive.states) } else { alive.samplers }
    }

    /// What decisions depend on, on the other device with these abilities.
    pub(super) fn policy(&self, process: u32, caps: &DeviceCaps) -> Policy {
        // Who set it is followed. What was a default of the recording device is none of another one by itself.
        let has_default = self.layers.get(&process).is_none_or(|layer| {
            !read::settings(layer).any(|setting| setting.name == "aniso_nearest" && setting.source != "default")
        });
        let smooths = self.simulation.quirks().defaults().any(|default| default == ("aniso_nearest", "off"));
        let is_off = self.is_set(process, "aniso_nearest", "off");
        let flat_nearest = if has_default && (self.alone || smooths) { smooths } else { is_off };
        policy(self.layers.get(&process), caps, flat_nearest)
    }
}

/// What decisions depend on, by the settings of a layer's record.
pub fn policy(layer: Option<&Value>, caps: &DeviceCaps, flat_nearest: bool) -> Policy {
    let is = |key: &str, value: &str| layer.and_then(|layer| read::setting(layer, key)) == Some(value);
    let saturates = is("separate", "resolve") && is("mode", "legalize");
    let emulates = saturates && is("unfilterable", "emulate");
    Policy {
        strict_border: is("border", "strict"),
        depth_compare: is("depth_linear", "compare"),
        gl_clamp_min: is("gl_clamp_rule", "min"),
        saturates: saturates && caps.gl_address_modes,
        emulates,
        divides: saturates && (is("unnormalized", "exact") || is("unnormalized", "always")),
        // Wherever shaders are rewritten, as they are for the address modes of OpenGL.
        compares: saturates,
        flat_nearest,
    }
}
