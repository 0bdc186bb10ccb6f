//! Says for each Vulkan device of this machine which samplers of a program it does not honour, and what to create instead.

use std::error::Error;

use ash::vk;
use samplin_core::{Device, Features, FormatFeatures, FormatProperties, Limits, Sampler, View};

/// The formats of the program.
const FORMATS: [vk::Format; 3] = [vk::Format::R8G8B8A8_SRGB, vk::Format::R32_SFLOAT, vk::Format::D32_SFLOAT];

/// What a device reports, and what the program enables on it.
fn describe(instance: &ash::Instance, physical: vk::PhysicalDevice) -> (String, Device) {
    // SAFETY: the physical device belongs to the instance, here and below.
    let properties = unsafe { instance.get_physical_device_properties(physical) };
    // SAFETY: as above.
    let supported = unsafe { instance.get_physical_device_features(physical) };
    // What the program passes to vkCreateDevice.
    let enabled = vk::PhysicalDeviceFeatures { sampler_anisotropy: supported.sampler_anisotropy, ..Default::default() };
    let extensions = ["VK_KHR_swapchain"];

    let formats: FormatProperties = FORMATS
        .into_iter()
        .map(|format| {
            // SAFETY: as above.
            let properties = unsafe { instance.get_physical_device_format_properties(physical, format) };
            (format, FormatFeatures::of_32_bits(format, &properties))
        })
        .collect();
    let features = Features::default().with(&enabled).with_extensions(extensions);
    let name = properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned());
    (name.unwrap_or_default(), Device::from(&formats, &Limits::from(&properties.limits), &features))
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: loads the system's Vulkan loader, whose initialisers are trusted like those of every Vulkan program.
    let entry = unsafe { ash::Entry::load() }?;
    // SAFETY: the create info is complete.
    let instance = unsafe { entry.create_instance(&vk::InstanceCreateInfo::default(), None) }?;
    // SAFETY: the instance is alive.
    for physical in unsafe { instance.enumerate_physical_devices() }? {
        let (name, device) = describe(&instance, physical);
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .anisotropy_enable(true)
            .max_anisotropy(16.0);
        for format in FORMATS {
            let outcome = device.decide(&Sampler::from(&info), &View::new_2d(format));
            // What to pass to vkCreateSampler for descriptors with a view of this format.
            let instead: vk::SamplerCreateInfo<'_> = outcome.state.create_info();
            println!("{name}: {format:?}: {:?}", instead.mag_filter);
            for change in &outcome.changes {
                println!("  {change}; lost: {}", change.lost);
            }
        }
    }
    // SAFETY: nothing made from the instance is alive.
    unsafe { instance.destroy_instance(None) };
    Ok(())
}
