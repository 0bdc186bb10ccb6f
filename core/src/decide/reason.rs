//! Why a change was made and what it loses, in words.

use alloc::{borrow::ToOwned, format, string::String};

use ash::vk;

use super::lost::Repairer;
use super::rules::lost_here;
use super::{Catalog, Change, DeviceCaps, Value, ViewTraits};
use crate::features::Tiling;
use crate::names;

/// What a change was decided against, for the wording of its reason.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The device.
    pub caps: &'a DeviceCaps,
    /// The view, if one took part.
    pub view: Option<&'a ViewTraits>,
    /// Format of a blit's source image.
    pub source: Option<vk::Format>,
    /// Tiling whose features were looked at.
    pub tiling: Tiling,
    /// Shaders are made to saturate coordinates (`Decision::saturate`).
    pub saturates: bool,
    /// Shaders are made to filter (`Decision::emulate`).
    pub emulates: bool,
    /// Shaders are made to divide coordinates in texels.
    pub divides: bool,
    /// The sampler that was asked for is LINEAR between levels.
    pub trilinear: bool,
    /// Magnification and minification are LINEAR, by the sampler of the pair or by the shader.
    pub linear: [bool; 2],
    /// All that the shader does with the pair is gather, which reads four texels whatever the filter is.
    pub gathers: bool,
    /// The view stands for all that a shader may read by what it declares.
    pub of_shader: bool,
}

impl<'a> Context<'a> {
    /// The device, and nothing else.
    pub fn new(caps: &'a DeviceCaps) -> Self {
        Self {
            caps,
            view: None,
            source: None,
            tiling: Tiling::Optimal,
            saturates: false,
            emulates: false,
            divides: false,
            trilinear: false,
            linear: [false; 2],
            gathers: false,
            of_shader: false,
        }
    }

    pub(super) fn format(&self) -> String {
        if self.of_shader {
            return "the image that the shader declares".to_owned();
        }
        self.view.map(|view| view.format).or(self.source).map_or_else(String::new, names::format)
    }

    pub(super) fn lacks(&self, bit: &str) -> String {
        if self.of_shader {
            return format!("the shader declares an image of integers, and no format of integers has {bit}");
        }
        format!("{} lacks {bit} ({})", self.format(), self.tiling.name())
    }

    pub(super) fn is_cube(&self) -> bool {
        self.view.is_some_and(|view| view.dimensions() == super::Dimensions::Cube)
    }
}

/// What the specification leaves undefined may look like anything.
const UNDEFINED: &str = "what this driver happened to show";

/// Whether the application's value was no value at all, so that nothing was asked for.
fn is_garbage(change: &Change) -> bool {
    match (change.catalog, change.from) {
        (Catalog::A1Mag | Catalog::A1Min, from) => from != Value::Filter(vk::Filter::CUBIC_EXT),
        (Catalog::A2 | Catalog::A3 | Catalog::A4 | Catalog::A6, Value::Float(value)) => value.is_nan(),
        _ => false,
    }
}

/// What is lost.
pub fn lost(change: &Change, context: &Context<'_>) -> &'static str {
    if is_garbage(change) { UNDEFINED } else { lost_here(change, context).words }
}

/// Who gives the application what it asked for.
pub fn repairer(change: &Change, context: &Context<'_>) -> Repairer {
    if is_garbage(change) { Repairer::Sampler } else { lost_here(change, context).repairer }
}
