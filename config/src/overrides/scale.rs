//! LOD biases that follow the scale at which an application renders.

use samplin_core::decide::Bias;

use super::{Override, Overrides};

/// Biases that follow what is rendered are multiples of this, so that a window which changes its size leaves few samplers behind.
const STEP: f32 = 1.0 / 64.0;

/// Steps of a scale that is observed, in parts of a mip level.
const LEVEL: f32 = 1.0 / 8.0;

/// What an application is known to render.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Width and height of the newest swapchain.
    pub swapchain: Option<[u32; 2]>,
    /// Width and height of what it scales up to that, where that was observed.
    pub observed: Option<[u32; 2]>,
}

/// What a scale is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleBy {
    /// The height of the newest swapchain, of an output with this width and height.
    Output([u32; 2]),
    /// Always this one.
    Fixed(f32),
    /// The height that is observed, to that of the newest swapchain.
    Auto,
}

/// A scale that a LOD bias follows: strength · log2(scale) + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// What it is taken from.
    pub by: ScaleBy,
    /// Added, in mip levels.
    pub offset: f32,
    /// How much of it counts.
    pub strength: f32,
}

impl Scale {
    /// Rendered height to the height of the output; none while that is not known.
    pub fn ratio(&self, rendered: Rendered) -> Option<f32> {
        match self.by {
            ScaleBy::Fixed(scale) => Some(scale),
            ScaleBy::Output([_, output]) => rendered.swapchain.map(|[_, height]| height.max(1) as f32 / output as f32),
            ScaleBy::Auto => {
                let [[_, own], [_, all]] = [rendered.observed?, rendered.swapchain?];
                let levels = (own.max(1) as f32 / all.max(1) as f32).log2();
                Some(((levels / LEVEL).round() * LEVEL).exp2())
            }
        }
    }

    /// The bias, in mip levels.
    pub fn bias(&self, rendered: Rendered) -> Option<f32> {
        let exact = self.strength.mul_add(self.ratio(rendered)?.log2(), self.offset);
        Some(if self.follows() { (exact / STEP).round() * STEP } else { exact })
    }

    /// Whether it is another one when something else is rendered.
    pub fn follows(&self) -> bool {
        matches!(self.by, ScaleBy::Output(_) | ScaleBy::Auto)
    }
}

impl Overrides {
    /// The overrides whose LOD bias follows a scale.
    pub fn scaled(&self) -> impl Iterator<Item = (&Override, Scale)> {
        self.iter().filter_map(|one| Some((one, one.scale?)))
    }

    /// Whether any override follows what is rendered.
    pub fn follow_render(&self) -> bool {
        self.scaled().any(|(_, scale)| scale.follows())
    }

    /// Whether any override follows what is observed of render passes.
    pub fn follow_passes(&self) -> bool {
        self.scaled().any(|(_, scale)| scale.by == ScaleBy::Auto)
    }

    /// The same overrides where this is rendered.
    #[must_use]
    pub fn rendered(&self, rendered: Rendered) -> Self {
        let mut own = self.clone();
        for one in &mut own.list {
            if let Some(scale) = one.scale {
                one.wish.mip_lod_bias = Some(Bias::Scale(scale.bias(rendered)));
            }
        }
        own
    }
}
