//! Modules that no pass can do anything about go down as they came, with a record that says why.

use std::ptr;

use ash::vk;
use samplin_compiler::assembled;
use samplin_compiler::bad::{self, Bad};

use crate::args;
use crate::driver::{Args, Config, Feature, FormatSupport};
use crate::loader::*;

/// A device that can do as little as the passes may have to make up for.
fn device(bad: &Bad) -> Device {
    device_with(bad, "emulate", [bad.reads, !bad.reads])
}

/// The same with a value of `storage`, and with what of reading and writing without a format is enabled.
fn device_with(bad: &Bad, storage: &str, [reads, writes]: [bool; 2]) -> Device {
    let stores = |driver: &mut Config| {
        (driver.api_version, driver.max_sample_mask_words) = (vk::API_VERSION_1_2, 1);
        driver.storage_buffers = bad::STORAGE_BUFFERS;
        for (format, optimal) in [
            (FILTERED, Feature::SAMPLED_IMAGE),
            (vk::Format::R32_SINT, Feature::SAMPLED_IMAGE),
            (INTEGERS, Feature::SAMPLED_IMAGE | Feature::STORAGE_IMAGE),
        ] {
            driver.formats.retain(|(other, _)| *other != format);
            driver.formats.push((format, FormatSupport { optimal, ..FormatSupport::default() }));
        }
    };
    let builder = InstanceBuilder::new().traced("decisions").driver(stores);
    let builder = builder.set("counters", bad.counters).set("storage", storage);
    let features = vk::PhysicalDeviceFeatures {
        shader_storage_image_read_without_format: reads.into(),
        shader_storage_image_write_without_format: writes.into(),
        ..Default::default()
    };
    let info = DeviceInfo { features, ..DeviceInfo::default() };
    builder.instance().device(&info)
}

#[test]
fn what_is_refused_goes_down_as_it_came() {
    for bad in bad::all() {
        let (words, device) = (assembled(&bad.text), device(&bad));
        let before = words.clone();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = create!(device.create_module(&info));
        args!(device, c"vkCreateShaderModule", Args::Create { info: went, .. });
        let what = format!("{} {}\n{}", bad.pass, bad.name, bad.text);
        assert!(went == ptr::from_ref(&info) as usize && words == before, "{what}");
        assert!(device.records("shader").is_empty(), "{what}");
        let told = device.records("unresolved");
        let named: Vec<_> = told.iter().map(|record| (record["pass"].as_str(), record["what"].as_str())).collect();
        assert!(named.contains(&(Some(bad.pass), Some(bad.name))), "{named:?}: {what}");
        assert!(named.iter().all(|(_, name)| *name == Some(bad.name)), "{named:?}: {what}");
        device.destroy_module(module);
    }
}

/// What is refused as a read without a format is legal with the feature: by the application's own pointer, with no word of it.
#[test]
fn legal_reads_without_a_format_go_down_as_they_came() {
    let all = bad::all();
    let reads = all.iter().filter(|bad| bad.name == "read-without-format" && bad.text.contains("2 Unknown"));
    let mut seen = 0;
    for bad in reads {
        // What is not written has to say so, where the module does not declare that it writes without a format
        // (VUID-RuntimeSpirv-OpTypeImage-06270).
        let text = bad.text.replacen("OpDecorate %a", "OpDecorate %a NonWritable\nOpDecorate %a", 1);
        for (storage, writes) in [("base", false), ("base", true), ("emulate", false), ("emulate", true)] {
            let (words, device) = (assembled(&text), device_with(bad, storage, [true, writes]));
            let before = words.clone();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = create!(device.create_module(&info));
            args!(device, c"vkCreateShaderModule", Args::Create { info: went, .. });
            let what = format!("storage={storage}, writes: {writes}\n{text}");
            assert!(went == ptr::from_ref(&info) as usize && words == before, "{what}");
            for event in ["shader", "unresolved"] {
                let told = device.records(event);
                assert!(told.is_empty(), "{told:#?}: {what}");
            }
            device.destroy_module(module);
            device.finish();
            seen += 1;
        }
    }
    assert_eq!(seen, 4, "shaders of `bad` that read without a format, by settings");
}
