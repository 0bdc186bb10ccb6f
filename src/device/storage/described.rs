//! Views that descriptors of heaps describe.

use ash::vk;

use super::ViewCopy;
use crate::pnext::Copied;

/// A create info of a view that reaches the driver in place of the application's. It lives as long as this and the application's chain.
pub struct HeapView {
    info: Box<vk::ImageViewCreateInfo<'static>>,
    _usage: Option<Box<vk::ImageViewUsageCreateInfo<'static>>>,
    _chain: Vec<Copied>,
}

impl HeapView {
    /// A view that lasts, with this chain.
    fn with(info: &vk::ImageViewCreateInfo<'_>, p_next: *const std::ffi::c_void) -> vk::ImageViewCreateInfo<'static> {
        vk::ImageViewCreateInfo {
            p_next,
            flags: info.flags,
            image: info.image,
            view_type: info.view_type,
            format: info.format,
            components: info.components,
            subresource_range: info.subresource_range,
            ..Default::default()
        }
    }

    /// The application's view with one of its aspects.
    pub fn of_aspect(info: &vk::ImageViewCreateInfo<'_>, aspect: vk::ImageAspectFlags) -> Self {
        let mut info = Self::with(info, info.p_next);
        info.subresource_range.aspect_mask = aspect;
        Self { info: Box::new(info), _usage: None, _chain: Vec::new() }
    }

    /// The application's view with a usage that its format has.
    pub fn narrowed(info: &vk::ImageViewCreateInfo<'_>, usage: vk::ImageUsageFlags) -> Self {
        let usage = usage_of(usage, info.p_next);
        let info = Self::with(info, (&raw const *usage).cast());
        Self { info: Box::new(info), _usage: Some(usage), _chain: Vec::new() }
    }

    /// The create info.
    pub fn info(&self) -> *const vk::ImageViewCreateInfo<'static> {
        &raw const *self.info
    }
}

fn usage_of(usage: vk::ImageUsageFlags, p_next: *const std::ffi::c_void) -> Box<vk::ImageViewUsageCreateInfo<'static>> {
    Box::new(vk::ImageViewUsageCreateInfo { p_next, usage, ..Default::default() })
}

impl ViewCopy {
    /// What a heap holds: what shaders store through, or what they read otherwise.
    pub fn described(mut self, info: &vk::ImageViewCreateInfo<'_>, stores: bool) -> HeapView {
        let chain = self.chain.iter_mut().rev().fold(self.rest, |next, node| node.link(next));
        let (format, usage) =
            if stores { (self.alias_format, vk::ImageUsageFlags::STORAGE) } else { (self.format, self.usage) };
        let usage = usage_of(usage, chain);
        let info = HeapView::with(info, (&raw const *usage).cast());
        HeapView { info: Box::new(vk::ImageViewCreateInfo { format, ..info }), _usage: Some(usage), _chain: self.chain }
    }
}
