//! Headless Vulkan harness of samplin's tests, gallery and benches.
//!
//! It goes through the real loader, so a layer under test sees what any application would send it. Start at
//! [`Context::builder`]; then [`Image`], [`SamplerDesc`], [`descriptor`] for the ways a pair gets bound, [`shader`] for
//! sampling it, [`mod@reference`] for what the result should be, and [`trace`] for what the layer wrote down.
//!
//! Failures of the harness itself panic with a message: it only runs in tests and tools.

pub mod again;
pub mod assembly;
pub mod capability;
pub mod context;
pub mod descriptor;
pub mod folder;
mod garbage;
pub mod heap;
pub mod held;
pub mod image;
pub mod job;
pub mod large;
pub mod layer;
pub mod lookup;
pub mod path;
pub mod reference;
pub mod resident;
pub mod sampler;
pub mod scene;
pub mod separate;
pub mod shader;
pub mod skip;
pub mod stored;
pub mod subpass;
pub mod swapchain;
pub mod texel;
pub mod texture;
pub mod trace;
pub mod upscaled;
pub mod way;

pub use capability::Capability;
pub use context::{Context, ContextBuilder, ContextError, Message, MessageLog};
pub use descriptor::Pair;
pub use folder::Folder;
pub use held::{Held, Slot};
pub use image::{BlitApi, Buffer, Image, ImageDesc, View, ViewDesc};
pub use path::{Path, sample, sample_via};
pub use sampler::{BorderValue, Sampler, SamplerDesc};
pub use shader::{Mapping, Painter, Probe, ResultKind, SamplePoint, Shape};
pub use skip::skip;
pub use subpass::Subpass;
pub use texel::{NumericKind, Value};
pub use texture::Texture;
pub use trace::Trace;
