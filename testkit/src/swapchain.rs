//! Swapchains, of surfaces without a window or of an X server without a screen.

use std::ffi::{c_char, c_int, c_void};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use ash::vk;
use libloading::{Library, Symbol};

use crate::Context;
use crate::image::{FIRST, barrier, turned};
use crate::skip::Skip;

/// An X server of its own, with one connection.
struct XServer {
    process: Child,
    library: Library,
    connection: *mut c_void,
    root: u32,
}

/// `xcb_screen_iterator_t`.
#[repr(C)]
struct Screens {
    /// Begins with the window of the whole screen.
    data: *const u32,
    rem: c_int,
    index: c_int,
}

impl XServer {
    fn new([width, height]: [u32; 2]) -> Result<Self, Skip> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", &format!("{width}x{height}x24")]);
        command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
        let mut process = command.spawn().map_err(|error| Skip(format!("Xvfb: {error}")))?;
        let mut number = String::new();
        let out = process.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut number).expect("Xvfb says its number");
        let connected = Self::connect(&format!(":{}\0", number.trim()));
        match connected {
            Ok((library, connection, root)) => Ok(Self { process, library, connection, root }),
            Err(error) => {
                let _ = process.kill().and_then(|()| process.wait());
                Err(Skip(error))
            }
        }
    }

    fn connect(name: &str) -> Result<(Library, *mut c_void, u32), String> {
        type Connect = unsafe extern "C" fn(*const c_char, *mut c_int) -> *mut c_void;
        type HasError = unsafe extern "C" fn(*mut c_void) -> c_int;
        type Setup = unsafe extern "C" fn(*mut c_void) -> *const c_void;
        type Roots = unsafe extern "C" fn(*const c_void) -> Screens;
        // SAFETY: libxcb has no initialisers that do anything; the types are those of xcb/xcb.h and xproto.h.
        unsafe {
            let library = Library::new("libxcb.so.1").map_err(|error| error.to_string())?;
            let of = |error: libloading::Error| error.to_string();
            let connect: Symbol<'_, Connect> = library.get(b"xcb_connect\0").map_err(of)?;
            let has_error: Symbol<'_, HasError> = library.get(b"xcb_connection_has_error\0").map_err(of)?;
            let setup: Symbol<'_, Setup> = library.get(b"xcb_get_setup\0").map_err(of)?;
            let roots: Symbol<'_, Roots> = library.get(b"xcb_setup_roots_iterator\0").map_err(of)?;
            let connection = connect(name.as_ptr().cast(), std::ptr::null_mut());
            if has_error(connection) != 0 {
                return Err("no connection to Xvfb".to_owned());
            }
            let root = *roots(setup(connection)).data;
            Ok((library, connection, root))
        }
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        type Disconnect = unsafe extern "C" fn(*mut c_void);
        // SAFETY: the connection is not used any more; the type is that of xcb/xcb.h.
        unsafe {
            if let Ok(disconnect) = self.library.get::<Disconnect>(b"xcb_disconnect\0") {
                disconnect(self.connection);
            }
        }
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// A swapchain and its surface, destroyed together.
pub struct Swapchain<'c> {
    context: &'c Context,
    surfaces: ash::khr::surface::Instance,
    chains: ash::khr::swapchain::Device,
    surface: vk::SurfaceKHR,
    chain: vk::SwapchainKHR,
    /// Its images.
    pub images: Vec<vk::Image>,
    extent: [u32; 2],
    _server: Option<XServer>,
}

impl<'c> Swapchain<'c> {
    /// One of this width and height, where the context was built with [`windows`](crate::ContextBuilder::windows).
    pub fn new(context: &'c Context, extent: [u32; 2]) -> Result<Self, Skip> {
        Self::of(context, extent, None, vk::ImageUsageFlags::TRANSFER_DST)
    }

    /// The same of a format, for this as well as for colours.
    pub fn of(
        context: &'c Context,
        extent: [u32; 2],
        format: Option<vk::Format>,
        usage: vk::ImageUsageFlags,
    ) -> Result<Self, Skip> {
        let (entry, instance, physical) = (context.entry(), context.instance(), context.physical_device());
        let server = match (context.has_surfaces(), context.has_windows()) {
            (false, false) => return Err(Skip("there are no swapchains".to_owned())),
            (true, _) => None,
            (false, true) => Some(XServer::new(extent)?),
        };
        let surfaces = ash::khr::surface::Instance::new(entry, instance);
        let chains = ash::khr::swapchain::Device::new(instance, context.device());
        // SAFETY: the extension of the one that is called is enabled; connection and window live as long as the surface.
        let surface = unsafe {
            match &server {
                None => ash::ext::headless_surface::Instance::new(entry, instance)
                    .create_headless_surface(&Default::default(), None),
                Some(server) => {
                    let info = vk::XcbSurfaceCreateInfoKHR::default().connection(server.connection).window(server.root);
                    ash::khr::xcb_surface::Instance::new(entry, instance).create_xcb_surface(&info, None)
                }
            }
        };
        let surface = surface.expect("a surface");
        let mut made = Self {
            context,
            surfaces,
            chains,
            surface,
            chain: vk::SwapchainKHR::null(),
            images: Vec::new(),
            extent,
            _server: server,
        };
        // SAFETY: surface and physical device are of one instance, and there is one queue family.
        let (able, formats, shows) = unsafe {
            (
                made.surfaces.get_physical_device_surface_capabilities(physical, surface).expect("capabilities"),
                made.surfaces.get_physical_device_surface_formats(physical, surface).expect("formats"),
                made.surfaces.get_physical_device_surface_support(physical, context.queue_family(), surface),
            )
        };
        if shows != Ok(true) {
            return Err(Skip(format!("{} presents nothing", context.device_name())));
        }
        let found = formats.iter().find(|own| format.is_none_or(|format| own.format == format));
        let Some(format) = found.filter(|_| able.supported_usage_flags.contains(usage)) else {
            return Err(Skip(format!("{} has no such surface: {formats:?}, {able:?}", context.device_name())));
        };
        let [width, height] = extent;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(able.min_image_count.max(2))
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(vk::Extent2D { width, height })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | usage)
            .pre_transform(able.current_transform)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        // SAFETY: its members are what the surface has.
        made.chain = unsafe { made.chains.create_swapchain(&info, None) }.expect("a swapchain");
        // Validation 1.3.239 forgets which images are acquired when they are asked for.
        // SAFETY: the swapchain was just created.
        made.images = unsafe { made.chains.get_swapchain_images(made.chain) }.expect("its images");
        Ok(made)
    }

    /// Presents an image of this width and height in the layout GENERAL, scaled to the swapchain.
    pub fn show(&self, (source, extent): (vk::Image, [u32; 2])) {
        use vk::ImageLayout as L;
        let device = self.context.device();
        let corner = |[width, height]: [u32; 2]| {
            [vk::Offset3D::default(), vk::Offset3D { x: width as i32, y: height as i32, z: 1 }]
        };
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let region = vk::ImageBlit::default().src_subresource(layers).dst_subresource(layers);
        let region = region.src_offsets(corner(extent)).dst_offsets(corner(self.extent));
        // SAFETY: the objects are the caller's and this swapchain's, and each step waits for the one before.
        unsafe {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).expect("vkCreateFence");
            let next = self.chains.acquire_next_image(self.chain, u64::MAX, vk::Semaphore::null(), fence);
            let (index, _) = next.expect("vkAcquireNextImageKHR");
            device.wait_for_fences(&[fence], true, u64::MAX).expect("vkWaitForFences");
            device.destroy_fence(fence, None);
            let image = self.images[index as usize];
            self.context.submit(|commands| {
                let to = |old, new| barrier(device, commands, &[turned(image, FIRST, [old, new])]);
                to(L::UNDEFINED, L::TRANSFER_DST_OPTIMAL);
                let filter = vk::Filter::NEAREST;
                device.cmd_blit_image(commands, source, L::GENERAL, image, L::TRANSFER_DST_OPTIMAL, &[region], filter);
                to(L::TRANSFER_DST_OPTIMAL, L::PRESENT_SRC_KHR);
            });
            let (chains, indices) = ([self.chain], [index]);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&indices);
            self.chains.queue_present(self.context.queue(), &info).expect("vkQueuePresentKHR");
        }
    }
}

impl Drop for Swapchain<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody else uses the device's queue.
        let _ = unsafe { self.context.device().device_wait_idle() };
        // SAFETY: nothing is pending, and the swapchain goes before its surface.
        unsafe {
            self.chains.destroy_swapchain(self.chain, None);
            self.surfaces.destroy_surface(self.surface, None);
        }
    }
}
