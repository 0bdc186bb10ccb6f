//! Commands that are followed for the sake of samplers and images which only a shader joins (`separate=resolve`): pipelines
//! in [`pipeline`], ray tracing pipelines in [`rays`], shader objects in [`shader_objects`], command buffers in [`command_buffers`], draws and
//! their likes in [`actions`], descriptors from memory in [`buffers`], commands that the device generates in [`generated`], labels in [`labels`], and in [`sets`] what other hooks do with descriptors, with a look before. With
//! `separate=base` none of these is ever called.

pub mod actions;
pub mod buffers;
pub mod command_buffers;
pub mod generated;
pub mod labels;
pub mod pipeline;
pub mod rays;
pub mod sets;
pub mod shader_objects;
