//! Descriptor heaps: what reaches the driver of samplers and views that are described, and of samplers that shaders embed.

use std::ptr;

use ash::vk;
use samplin_compiler::{Language, compile};
use samplin_testkit::heap::{embedding, mapping, pushed};
use vk_layer_sys::*;

use crate::args;
use crate::driver::{Args, Chained, Config, lock};
use crate::loader::*;
use crate::pages::Guarded;

const HEAP: &std::ffi::CStr = EXT_DESCRIPTOR_HEAP_NAME;

fn device_with(builder: InstanceBuilder) -> Device {
    let extensions = vec![
        HEAP,
        ash::ext::custom_border_color::NAME,
        ash::ext::shader_object::NAME,
        ash::khr::ray_tracing_pipeline::NAME,
        ash::khr::deferred_host_operations::NAME,
        c"VK_KHR_pipeline_binary",
    ];
    let mut custom = any_border();
    builder.instance().device(&DeviceInfo { extensions, chain: (&raw mut custom).cast(), ..Default::default() })
}

fn device() -> Device {
    device_with(InstanceBuilder::new().traced("decisions"))
}

/// What a heap describes: a view in a layout, and a resource of a type.
fn described(view: &vk::ImageViewCreateInfo<'_>, layout: vk::ImageLayout) -> ImageDescriptorInfoEXT {
    let s_type = ImageDescriptorInfoEXT::STRUCTURE_TYPE;
    ImageDescriptorInfoEXT { s_type, p_next: ptr::null(), p_view: ptr::from_ref(view).cast(), layout }
}

fn resource(ty: Ty, data: ResourceDescriptorDataEXT) -> ResourceDescriptorInfoEXT {
    ResourceDescriptorInfoEXT { s_type: ResourceDescriptorInfoEXT::STRUCTURE_TYPE, p_next: ptr::null(), ty, data }
}

/// Writes resources, which the driver of these tests does not.
fn describe(device: &Device, resources: &[ResourceDescriptorInfoEXT]) {
    let ranges = vec![HostAddressRangeEXT { address: ptr::null_mut(), size: 0 }; resources.len()];
    device.driver.calls();
    assert_eq!(
        call!(device.write_resources(device.raw, resources.len() as u32, resources.as_ptr(), ranges.as_ptr())),
        SUCCESS
    );
}

/// Writes samplers; what arrived at the driver.
fn write(device: &Device, infos: &[vk::SamplerCreateInfo<'_>]) -> (usize, Vec<vk::SamplerCreateInfo<'static>>) {
    let mut bytes = vec![[0_u8; 32]; infos.len()];
    let ranges: Vec<_> =
        bytes.iter_mut().map(|own| HostAddressRangeEXT { address: own.as_mut_ptr().cast(), size: 32 }).collect();
    device.driver.calls();
    assert_eq!(call!(device.write_samplers(device.raw, infos.len() as u32, infos.as_ptr(), ranges.as_ptr())), SUCCESS);
    assert!(bytes.iter().all(|own| own[0] == 0xab), "the driver wrote the application's own ranges");
    match device.driver.calls_of(c"vkWriteSamplerDescriptorsEXT").remove(0) {
        Args::HeapSamplers { at, infos } => (at, infos.into_iter().map(|info| info.value).collect()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn legal_samplers_are_written_by_the_applications_own_pointer() {
    let device = device();
    let infos = [linear_info(), vk::SamplerCreateInfo::default(), linear_info()];
    assert_eq!(write(&device, &infos).0, infos.as_ptr() as usize);
    let records = device.records("sampler");
    assert!(records.is_empty(), "{records:#?}");
}

#[test]
fn only_what_breaks_a_rule_is_another_sampler() {
    let device = device();
    let wrong = vk::SamplerCreateInfo { mip_lod_bias: 1e9, ..linear_info() };
    let mut memory = Guarded::new();
    let reduction = memory.value(
        vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::WEIGHTED_AVERAGE),
    );
    let chained = vk::SamplerCreateInfo { p_next: reduction.cast(), ..wrong };
    let infos = [linear_info(), wrong, chained, wrong];
    let before = format!("{infos:?}");
    let (at, got) = write(&device, &infos);
    assert_ne!(at, infos.as_ptr() as usize);
    assert_eq!(format!("{infos:?}"), before, "the application's are as they were");
    let biases: Vec<_> = got.iter().map(|info| info.mip_lod_bias).collect();
    assert_eq!(biases, [0.0, 4.0, 4.0, 4.0]);
    assert_eq!(format!("{:?}", got[1]), format!("{:?}", got[3]), "equal ones stay equal");
    assert_eq!(got[2].p_next, reduction.cast(), "the chain is the application's");
    let records = device.records("sampler");
    assert_eq!(records.len(), 1, "{records:#?}");
    assert_eq!((&records[0]["path"], &records[0]["sampler"]), (&"heap_write".into(), &"0x0".into()));
    // It is no sampler of the application's limit.
    drop(device);
}

#[test]
fn registered_colours_count_and_stay_what_they_are() {
    let device = device();
    let color = vk::SamplerCustomBorderColorCreateInfoEXT::default()
        .format(FILTERED)
        .custom_border_color(vk::ClearColorValue { float32: [7.0, 0.5, 0.0, 1.0] });
    let mut indices = [0; 3];
    for index in &mut indices {
        assert_eq!(call!(device.register(device.raw, &color, 0, index)), SUCCESS);
    }
    // What fails has no place.
    device.driver.fail(c"vkRegisterCustomBorderColorEXT", [vk::Result::ERROR_TOO_MANY_OBJECTS]);
    assert_ne!(call!(device.register(device.raw, &color, 0, &mut 0)), SUCCESS);
    let chain = |index: u32| SamplerCustomBorderColorIndexCreateInfoEXT {
        s_type: SamplerCustomBorderColorIndexCreateInfoEXT::STRUCTURE_TYPE,
        p_next: (&raw const color).cast(),
        index,
    };
    let bordered = |p_next| vk::SamplerCreateInfo {
        p_next,
        border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
        address_mode_u: vk::SamplerAddressMode::CLAMP_TO_BORDER,
        ..linear_info()
    };
    let (own, beyond) = (chain(indices[2]), chain(u32::MAX));
    let infos = [&own, &beyond].map(|index| bordered(ptr::from_ref(index).cast()));
    // Its value is what was registered, in or out of range.
    let (_, got) = write(&device, &infos);
    assert_eq!(got[0].border_color, vk::BorderColor::FLOAT_CUSTOM_EXT);
    assert_eq!(got[0].p_next, infos[0].p_next);
    assert_ne!(got[1].border_color, vk::BorderColor::FLOAT_CUSTOM_EXT, "there is no such index");
    call!(device.unregister(device.raw, indices[0]));
    let instance = device.instance.clone();
    device.finish();
    let summary = instance.records("summary").remove(0);
    assert_eq!(summary["census"]["limits"]["maxCustomBorderColorSamplers"]["asked"], 3);
    assert_eq!(summary["census"]["heaps"]["samplers"], 2);
}

/// `texture` of integers through a combined descriptor, and the same apart.
fn words(is_combined: bool) -> Vec<u32> {
    let declared = if is_combined {
        "layout(set = 0, binding = 0) uniform usampler2D pair;\n#define IMAGE pair\n"
    } else {
        "layout(set = 0, binding = 0) uniform utexture2D image;\nlayout(set = 0, binding = 1) uniform sampler own;\n#define IMAGE usampler2D(image, own)\n"
    };
    let source = format!(
        "#version 450\nlayout(local_size_x = 1) in;\n{declared}\nlayout(set = 0, binding = 2) buffer Output {{ uint word; }};\n\
         void main() {{ word = textureLod(IMAGE, vec2(0.5), 0.0).r; }}\n"
    );
    compile(Language::Glsl("vulkan1.2"), "comp", &source)
}

/// `texture` of floats through a combined descriptor.
fn float_words() -> Vec<u32> {
    let source = "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) uniform sampler2D pair;\n\
                  layout(set = 0, binding = 2) buffer Output { float word; };\n\
                  void main() { word = textureLod(pair, vec2(0.5), 0.0).r; }\n";
    compile(Language::Glsl("vulkan1.2"), "comp", source)
}

/// Every source that has a sampler, with this one.
fn sources(sampler: *const vk::SamplerCreateInfo<'static>) -> Vec<DescriptorSetAndBindingMappingEXT> {
    type Source = DescriptorMappingSourceEXT;
    // SAFETY: `p_embedded_sampler` is null or valid, and zero is a value of everything else.
    let zeroed = || unsafe { std::mem::zeroed::<DescriptorMappingSourceDataEXT>() };
    let with =
        |source: Source, set: fn(&mut DescriptorMappingSourceDataEXT) -> &mut *const vk::SamplerCreateInfo<'static>| {
            let mut out = DescriptorSetAndBindingMappingEXT { source, source_data: zeroed(), ..mapping(0, 0) };
            *set(&mut out.source_data) = sampler;
            out
        };
    // SAFETY: each is the member of its source, which is set.
    unsafe {
        vec![
            with(Source::CONSTANT_OFFSET, |data| &mut data.constant_offset.p_embedded_sampler),
            with(Source::PUSH_INDEX, |data| &mut data.push_index.p_embedded_sampler),
            with(Source::INDIRECT_INDEX, |data| &mut data.indirect_index.p_embedded_sampler),
            with(Source::INDIRECT_INDEX_ARRAY, |data| &mut data.indirect_index_array.p_embedded_sampler),
            with(Source::SHADER_RECORD_INDEX, |data| &mut data.shader_record_index.p_embedded_sampler),
        ]
    }
}

fn mapped(mappings: &[DescriptorSetAndBindingMappingEXT]) -> ShaderDescriptorSetAndBindingMappingInfoEXT {
    ShaderDescriptorSetAndBindingMappingInfoEXT {
        s_type: ShaderDescriptorSetAndBindingMappingInfoEXT::STRUCTURE_TYPE,
        p_next: ptr::null(),
        mapping_count: mappings.len() as u32,
        p_mappings: mappings.as_ptr(),
    }
}

/// Flags of a pipeline that reads heaps.
fn in_heaps(more: vk::PipelineCreateFlags2KHR) -> vk::PipelineCreateFlags2CreateInfoKHR<'static> {
    let heap = vk::PipelineCreateFlags2KHR::from_raw(PIPELINE_CREATE_2_DESCRIPTOR_HEAP);
    vk::PipelineCreateFlags2CreateInfoKHR::default().flags(heap | more)
}

/// How a shader comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    Pipeline,
    /// Its words are in the stage's chain, before the mappings.
    Chained,
    Object,
    /// Graphics, whole and as a library of one part.
    Whole,
    Library,
    Rays,
    Deferred,
}

/// Makes a shader with these mappings, and returns what arrived of its embedded samplers and the call's result.
fn make(
    device: &Device,
    made: Made,
    words: &[u32],
    (own, mappings): (&vk::SamplerCreateInfo<'_>, &[DescriptorSetAndBindingMappingEXT]),
) -> Vec<(u32, vk::SamplerCreateInfo<'static>)> {
    let own = ptr::from_ref(own);
    lock(&device.driver.embedded).clear();
    let info = mapped(mappings);
    let p_next: *const std::ffi::c_void = (&raw const info).cast();
    let module = device.module(words);
    let mut pipeline = vk::Pipeline::null();
    match made {
        Made::Pipeline | Made::Chained => {
            let mut flags = in_heaps(vk::PipelineCreateFlags2KHR::empty());
            let chained = vk::ShaderModuleCreateInfo { p_next, ..Default::default() }.code(words);
            let stage = match made {
                Made::Chained => vk::PipelineShaderStageCreateInfo {
                    p_next: (&raw const chained).cast(),
                    ..stage(Stage::COMPUTE, vk::ShaderModule::null())
                },
                _ => vk::PipelineShaderStageCreateInfo { p_next, ..stage(Stage::COMPUTE, module) },
            };
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).push_next(&mut flags);
            pipeline = device.compute_with(&info);
        }
        Made::Object => {
            let info = vk::ShaderCreateInfoEXT {
                p_next,
                flags: vk::ShaderCreateFlagsEXT::from_raw(SHADER_CREATE_DESCRIPTOR_HEAP),
                stage: Stage::COMPUTE,
                code_type: vk::ShaderCodeTypeEXT::SPIRV,
                code_size: size_of_val(words),
                p_code: words.as_ptr().cast(),
                p_name: c"main".as_ptr(),
                ..Default::default()
            };
            device.destroy_shader(create!(device.create_shaders(1, &info)));
        }
        Made::Whole | Made::Library => {
            let mut part = vk::GraphicsPipelineLibraryCreateInfoEXT::default()
                .flags(vk::GraphicsPipelineLibraryFlagsEXT::PRE_RASTERIZATION_SHADERS);
            let library = if made == Made::Library { vk::PipelineCreateFlags2KHR::LIBRARY } else { Default::default() };
            let mut flags = in_heaps(library);
            // A second stage, which embeds nothing, stays as it is.
            let stages = [
                stage(Stage::VERTEX, module),
                vk::PipelineShaderStageCreateInfo { p_next, ..stage(Stage::COMPUTE, module) },
            ];
            let raster = vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true);
            let mut info = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .rasterization_state(&raster)
                .push_next(&mut flags);
            if made == Made::Library {
                info = info.push_next(&mut part);
            }
            pipeline = device.graphics_with(&info);
        }
        Made::Rays | Made::Deferred => {
            let stages = [vk::PipelineShaderStageCreateInfo { p_next, ..stage(Stage::COMPUTE, module) }];
            let info = vk::RayTracingPipelineCreateInfoKHR::default().stages(&stages);
            let operation = if made == Made::Deferred { 0x77 } else { 0 };
            let result = call!(device.create_ray_tracing_pipelines(
                device.raw,
                vk::Handle::from_raw(operation),
                vk::PipelineCache::null(),
                1,
                &info,
                allocator(),
                &mut pipeline
            ));
            // What has to be another sampler is not deferred: it would have to outlive the call.
            let deferred = vk::Result::OPERATION_DEFERRED_KHR;
            assert!(result == SUCCESS || made == Made::Deferred, "{result:?}");
            if result == deferred {
                assert_eq!(call!(device.join(device.raw, vk::Handle::from_raw(operation))), SUCCESS);
            }
            let is_own = lock(&device.driver.embedded).iter().all(|one| one.info.at == own as usize);
            assert_eq!(result == deferred, made == Made::Deferred && is_own, "{result:?}");
        }
    }
    if pipeline != vk::Pipeline::null() {
        device.destroy_pipeline(pipeline);
    }
    device.destroy_module(module);
    std::mem::take(&mut *lock(&device.driver.embedded)).into_iter().map(|one| (one.at.1, one.info.value)).collect()
}

const ALL: [Made; 7] =
    [Made::Pipeline, Made::Chained, Made::Object, Made::Whole, Made::Library, Made::Rays, Made::Deferred];

#[test]
fn embedded_samplers_become_what_the_shader_can_read() {
    let device = device();
    let own = linear_info();
    for made in ALL {
        for is_combined in [true, false] {
            for source in sources(&own) {
                let sampler = DescriptorSetAndBindingMappingEXT { first_binding: u32::from(!is_combined), ..source };
                let image = mapping(0, 0);
                let mappings = if is_combined { vec![sampler, pushed(2)] } else { vec![image, sampler, pushed(2)] };
                let before = format!("{own:?}");
                let got = make(&device, made, &words(is_combined), (&own, &mappings));
                let [(binding, down)] = got.as_slice() else { panic!("{got:?}") };
                assert_eq!(*binding, sampler.first_binding);
                let filters = (down.mag_filter, down.min_filter, down.mipmap_mode);
                assert_eq!(filters, Default::default(), "{made:?} {is_combined} {:?}", source.source);
                assert_eq!(down.address_mode_u, own.address_mode_u);
                assert_eq!(format!("{own:?}"), before);
            }
        }
    }
    let records = device.records("sampler");
    assert_eq!(records.len(), 1, "equal ones are told once: {records:#?}");
    assert_eq!(records[0]["path"], "embedded");
    assert_eq!(lock(&device.driver.errors).clone(), Vec::<String>::new());
}

#[test]
fn legal_embedded_samplers_are_the_applications_own() {
    let device = device();
    let own = vk::SamplerCreateInfo::default();
    for made in ALL {
        let mappings = [embedding(0, 0, &own), pushed(2)];
        lock(&device.driver.embedded).clear();
        let got = make(&device, made, &words(true), (&own, &mappings));
        assert_eq!(got.len(), 1);
    }
    assert_eq!(device.records("sampler").len(), 0);
}

/// Keys are asked for what is embedded.
#[test]
fn keys_are_of_what_is_embedded() {
    let device = device();
    let module = device.module(&words(true));
    for (own, is_legal) in [(vk::SamplerCreateInfo::default(), true), (linear_info(), false)] {
        let mappings = [embedding(0, 0, &own), pushed(2)];
        let mapped = mapped(&mappings);
        let mut flags = in_heaps(vk::PipelineCreateFlags2KHR::empty());
        let p_next = (&raw const mapped).cast();
        let stage = vk::PipelineShaderStageCreateInfo { p_next, ..stage(Stage::COMPUTE, module) };
        let first = vk::ComputePipelineCreateInfo::default().stage(stage).push_next(&mut flags);
        let first: *const std::ffi::c_void = (&raw const first).cast();
        let info = PipelineCreateInfoKHR { s_type: vk::StructureType::from_raw(1_000_483_007), p_next: first };
        let mut key = [0_u64; 8];
        device.driver.calls();
        assert_eq!(call!(device.get_pipeline_key(device.raw, &info, key.as_mut_ptr().cast())), SUCCESS);
        args!(device, c"vkGetPipelineKeyKHR", Args::Other(went));
        assert_eq!(went[1] == first as u64, is_legal, "{own:?}");
    }
    device.destroy_module(module);
}

/// What is not known of the shader is not judged; rules without a view hold.
#[test]
fn without_the_shaders_type_only_creation_rules_hold() {
    let device = device_with(InstanceBuilder::new().set("separate", "base"));
    let own = vk::SamplerCreateInfo { mip_lod_bias: 1e9, ..linear_info() };
    let mappings = [embedding(0, 0, &own), pushed(2)];
    let got = make(&device, Made::Pipeline, &words(true), (&own, &mappings));
    assert_eq!((got[0].1.mip_lod_bias, got[0].1.mag_filter), (4.0, Filter::LINEAR));
    // The words of a shader object are there in any case.
    let got = make(&device, Made::Object, &words(true), (&own, &mappings));
    assert_eq!((got[0].1.mip_lod_bias, got[0].1.mag_filter), (4.0, Filter::NEAREST));
}

/// One sampler for images of two types stays what it is, and is named if it suits one of them alone.
#[test]
fn an_embedded_sampler_of_several_types_is_named() {
    let source = "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) uniform utexture2D integers;\n\
                  layout(set = 0, binding = 3) uniform texture2D floats;\nlayout(set = 0, binding = 1) uniform sampler own;\n\
                  layout(set = 0, binding = 2) buffer Output { float word; };\n\
                  void main() { word = textureLod(usampler2D(integers, own), vec2(0.5), 0.0).r\n\
                  + textureLod(sampler2D(floats, own), vec2(0.5), 0.0).r; }\n";
    let words = compile(Language::Glsl("vulkan1.2"), "comp", source);
    for (own, named) in [(linear_info(), 1), (vk::SamplerCreateInfo::default(), 0)] {
        let device = device();
        let mappings = [mapping(0, 0), embedding(1, 0, &own), pushed(2), mapping(3, 0)];
        for _ in 0..2 {
            let got = make(&device, Made::Pipeline, &words, (&own, &mappings));
            assert_eq!(got[0].1.mag_filter, own.mag_filter);
        }
        let left = device.records("unresolved");
        assert_eq!(left.len(), named, "{left:#?}");
        for record in left {
            assert_eq!((&record["what"], &record["rule"]), (&"embedded-sampler".into(), &"linear-filter".into()));
        }
    }
}

/// An image in a heap that an embedded sampler may meet, whichever of the two comes first.
#[test]
fn embedded_samplers_are_named_with_formats_of_heaps() {
    let words = float_words();
    let own = linear_info();
    for is_first in [true, false] {
        let device = device();
        let put = || {
            // The last is of integers, which the shader does not read.
            for format in [FILTERED, DEPTH, INTEGERS] {
                let info = view_info(device.image(format), format);
                let described = described(&info, vk::ImageLayout::GENERAL);
                describe(&device, &[resource(IMAGE, ResourceDescriptorDataEXT { p_image: &described })]);
            }
        };
        if is_first {
            put();
        }
        make(&device, Made::Pipeline, &words, (&own, &[embedding(0, 0, &own), pushed(2)]));
        if !is_first {
            put();
            put();
        }
        let left = device.records("unresolved");
        let [record] = left.as_slice() else { panic!("{left:#?}") };
        assert_eq!((&record["what"], &record["format"]), (&"embedded-sampler".into(), &"VK_FORMAT_D32_SFLOAT".into()));
    }
}

/// A sampler at another binding is not that of the link.
#[test]
fn a_mapping_is_for_its_own_set_binding_and_kind() {
    let device = device();
    let own = linear_info();
    let other_set = DescriptorSetAndBindingMappingEXT { descriptor_set: 1, ..embedding(0, 0, &own) };
    let other_binding = DescriptorSetAndBindingMappingEXT { first_binding: 3, ..embedding(0, 0, &own) };
    let other_kind =
        DescriptorSetAndBindingMappingEXT { resource_mask: SPIRV_RESOURCE_SAMPLER, ..embedding(0, 0, &own) };
    for mapping in [other_set, other_binding, other_kind] {
        let got = make(&device, Made::Pipeline, &words(true), (&own, &[mapping, pushed(2)]));
        assert_eq!(got[0].1.mag_filter, Filter::LINEAR);
    }
    let right = DescriptorSetAndBindingMappingEXT {
        resource_mask: SPIRV_RESOURCE_COMBINED_SAMPLED_IMAGE,
        ..embedding(0, 0, &own)
    };
    let got = make(&device, Made::Pipeline, &words(true), (&own, &[right, pushed(2)]));
    assert_eq!(got[0].1.mag_filter, Filter::NEAREST);
}

/// What a shader embeds has no custom border colour.
#[test]
fn an_embedded_custom_border_becomes_the_nearest_predefined_one() {
    let device = device();
    let color = vk::SamplerCustomBorderColorCreateInfoEXT::default()
        .format(INTEGERS)
        .custom_border_color(vk::ClearColorValue { uint32: [1; 4] });
    let own = vk::SamplerCreateInfo {
        p_next: (&raw const color).cast(),
        border_color: vk::BorderColor::INT_CUSTOM_EXT,
        address_mode_u: vk::SamplerAddressMode::CLAMP_TO_BORDER,
        ..Default::default()
    };
    let got = make(&device, Made::Pipeline, &words(true), (&own, &[embedding(0, 0, &own), pushed(2)]));
    assert_eq!(got[0].1.border_color, vk::BorderColor::INT_OPAQUE_WHITE);
    let records = device.records("sampler");
    assert_eq!(records[0]["changes"][0]["catalog"], "A-37", "{records:#?}");
}

/// Samplers that shaders embed take places of `maxSamplerAllocationCount`, of which variants have an eighth.
#[test]
fn variants_leave_the_places_of_embedded_samplers() {
    for (places, is_repaired) in [(0, true), (2976, true), (2977, false)] {
        let device = device_with(InstanceBuilder::new().driver(|driver| driver.embedded_places = places));
        let (sampler, view) = (device.linear(), device.view(INTEGERS));
        assert_eq!(written(&device, sampler, view) != sampler, is_repaired, "{places}");
    }
}

/// A view that inherits a usage which its format cannot have, and formats that are not stored.
#[test]
fn views_are_described_with_a_usage_that_their_format_has() {
    let device = device();
    let info = view_info(device.image(FILTERED), FILTERED);
    let described = described(&info, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
    let of = |ty, p_image| resource(ty, ResourceDescriptorDataEXT { p_image });
    // Null descriptors, and types of which the layer knows nothing, are no views.
    let resources = [
        of(IMAGE, &raw const described),
        of(IMAGE, ptr::null()),
        of(Ty::STORAGE_TEXEL_BUFFER, ptr::null()),
        of(Ty::from_raw(1_000_999_000), dangling_handle() as *const _),
    ];
    describe(&device, &resources);
    args!(device, c"vkWriteResourceDescriptorsEXT", Args::HeapResources { at, views, .. });
    assert_eq!(at, resources.as_ptr() as usize, "the application's own pointer");
    assert_eq!(views[0].as_ref().map(|view| view.at), Some(&raw const info as usize));
}

/// With `storage=emulate` shaders store integers through a view that a heap describes, and read others as the application has them.
#[test]
fn storage_views_are_described_as_the_integers_that_are_stored() {
    let (own, integers) = (FILTERED, INTEGERS);
    let stores = |driver: &mut Config| {
        driver.of_format(INTEGERS).optimal |= vk::FormatFeatureFlags2::STORAGE_IMAGE;
    };
    for setting in ["emulate", "base"] {
        let device = device_with(InstanceBuilder::new().traced("decisions").set("storage", setting).driver(stores));
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
        let info = view_info(device.image_with(&image_info(own).usage(usage)), own);
        let described = described(&info, vk::ImageLayout::GENERAL);
        let texels = TexelBufferDescriptorInfoEXT {
            s_type: TexelBufferDescriptorInfoEXT::STRUCTURE_TYPE,
            p_next: ptr::null(),
            format: own,
            address_range: DeviceAddressRangeKHR { address: 0x1000, size: 256 },
        };
        let p_image = ResourceDescriptorDataEXT { p_image: &described };
        let all = [
            resource(Ty::STORAGE_IMAGE, p_image),
            resource(IMAGE, p_image),
            resource(Ty::STORAGE_TEXEL_BUFFER, ResourceDescriptorDataEXT { p_texel_buffer: &texels }),
        ];
        describe(&device, &all);
        args!(device, c"vkWriteResourceDescriptorsEXT", Args::HeapResources { at, views, .. });
        if setting == "base" {
            assert_eq!(at, all.as_ptr() as usize);
            continue;
        }
        let [stored, read] = [0, 1].map(|number| views[number].clone().expect("a view"));
        let used = |view: &Chained<vk::ImageViewCreateInfo<'static>>| {
            view.find::<vk::ImageViewUsageCreateInfo<'static>>().map(|usage| usage.usage)
        };
        assert_eq!((stored.value.format, used(&stored)), (integers, Some(vk::ImageUsageFlags::STORAGE)));
        assert_eq!((read.value.format, used(&read)), (own, Some(vk::ImageUsageFlags::SAMPLED)));
    }
}

/// Without a view only those guards hold a rule back that ask for none, or that the shader answers.
#[test]
fn rules_that_say_so_hold_for_what_has_no_view() {
    let folder = samplin_testkit::Folder::new();
    let path = folder.join("rules.toml");
    std::fs::write(&path, "[[rule]]\napply = \"sampler\"\nset = { max_anisotropy = 8 }\n").expect("a rules file");
    let path = path.to_str().expect("UTF-8");
    let device = device_with(InstanceBuilder::new().traced("decisions").set("config", path));
    let (_, got) = write(&device, &[linear_info(), vk::SamplerCreateInfo::default()]);
    assert_eq!(got.iter().map(|info| info.anisotropy_enable).collect::<Vec<_>>(), [1, 0], "NEAREST is held back");
    let own = linear_info();
    // Integers are held back, and lose LINEAR.
    let mappings = [embedding(0, 0, &own), pushed(2)];
    let got = make(&device, Made::Pipeline, &words(true), (&own, &mappings));
    assert_eq!((got[0].1.anisotropy_enable, got[0].1.mag_filter), (0, Filter::NEAREST));
    let floats = float_words();
    let got = make(&device, Made::Pipeline, &floats, (&own, &mappings));
    assert_eq!((got[0].1.anisotropy_enable, got[0].1.max_anisotropy), (1, 8.0), "its levels are not known");
}
