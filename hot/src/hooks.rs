//! The hooks that engines call tens of thousands of times a frame, and the record of a device that they find.
//!
//! Each has the same shape: find the device, look through the descriptors, count, and jump to the next layer with the
//! application's own arguments. Everything else is behind a jump at the end that hands over all arguments (to an `extern` function,
//! because one that could unwind would not be jumped to), so that the usual way needs no stack. What only the rest of the layer
//! knows (templates of odd shape, pairs without a choice, what is written down) goes to the functions in [`Rest`].

mod devices;
mod immutable;
mod push;
mod record;
mod template;
mod writes;

pub use devices::{get, insert, remove};
pub use push::{cmd_push_descriptor_set, forward_push};
pub use record::{Hot, Next, Rest, Run, Template};
pub use template::update_descriptor_set_with_template;
pub use writes::update_descriptor_sets;
