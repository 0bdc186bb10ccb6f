//! A program that does something wrong as often as it is told, with no messenger of its own: for `samplin run --validate`.
//!
//!     samplin run --validate -- target/debug/examples/faulty 3

use std::process::ExitCode;

use ash::vk;

fn main() -> ExitCode {
    let count: u32 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
    match faults(count) {
        Ok(()) => {
            println!("{count} faults");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("faulty: {why}");
            ExitCode::from(4)
        }
    }
}

/// Creates this many buffers without a size.
fn faults(count: u32) -> Result<(), Box<dyn std::error::Error>> {
    // SAFETY: the loader is the system's, and is kept loaded by the entry for as long as its functions are called.
    let entry = unsafe { ash::Entry::load() }?;
    let instance_info = vk::InstanceCreateInfo::default();
    // SAFETY: the create info names nothing.
    let instance = unsafe { entry.create_instance(&instance_info, None) }?;
    // SAFETY: the instance was just created.
    let devices = unsafe { instance.enumerate_physical_devices() }?;
    let physical = *devices.first().ok_or("there is no device")?;
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let device_info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: every device has a first queue family with a queue.
    let device = unsafe { instance.create_device(physical, &device_info, None) }?;
    for _ in 0..count {
        let info = vk::BufferCreateInfo::default().usage(vk::BufferUsageFlags::TRANSFER_SRC);
        // SAFETY: nothing holds that the size is not 0, which validation reports and these software drivers survive.
        if let Ok(buffer) = unsafe { device.create_buffer(&info, None) } {
            // SAFETY: nobody uses it.
            unsafe { device.destroy_buffer(buffer, None) };
        }
    }
    // SAFETY: nothing of them is left.
    unsafe {
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    Ok(())
}
