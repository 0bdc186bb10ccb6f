//! Shaders that are rewritten as they come: which pointers go down, and that nothing of the layer's own is left.

use std::ptr;

use ash::vk::{self, GraphicsPipelineLibraryFlagsEXT as Part, Handle};

use samplin_testkit::assembly::{Assembly, Capability, Decoration, Op, StorageClass};

use crate::args;
use crate::driver::{Args, Kind, lock};
use crate::loader::*;
use crate::pages::Pages;
use samplin_compiler::assembled;

/// A compute shader that counts, or does not.
fn words(counts: bool) -> Vec<u32> {
    let mut m = Assembly::new(Stage::COMPUTE);
    let uint = m.ty(Op::TypeInt, &[32, 0]);
    let one = m.constant(Op::Constant, uint, &[1]);
    if counts {
        m.capability(Capability::AtomicStorage);
        let class = StorageClass::AtomicCounter;
        let none = m.constant(Op::Constant, uint, &[class as u32]);
        let pointer = m.pointer(class, uint);
        let counter = m.variable(pointer, class);
        m.decorate(counter, Decoration::Binding, &[0]);
        m.decorate(counter, Decoration::Offset, &[0]);
        m.value(Op::AtomicIIncrement, uint, &[counter, one, none]);
    }
    m.finish(0)
}

/// A device on which counters are allowed, of an instance with these settings.
fn device(settings: &[(&str, &str)]) -> Device {
    InstanceBuilder::new().traced("decisions").settings(settings).device()
}

/// A member of the first change of each shader.
fn first_changes(device: &Device, member: &str) -> Vec<String> {
    let firsts: Vec<_> = device.records("shader").iter().map(|record| record["changes"][0].clone()).collect();
    texts(&firsts, member)
}

/// With samplers that are followed and without.
const SEPARATE: [&str; 2] = ["resolve", "base"];

#[test]
fn modules_of_no_interest_go_down_by_the_applications_pointer() {
    for separate in SEPARATE {
        let device = device(&[("separate", separate), ("counters", "auto")]);
        for counts in [false, true] {
            let words = words(counts);
            let before = words.clone();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            device.driver.calls_of(c"vkCreateShaderModule");
            let module = create!(device.create_module(&info));
            args!(device, c"vkCreateShaderModule", Args::Create { info: went, allocator: with, .. });
            assert_eq!(went != ptr::from_ref(&info) as usize, counts, "{separate}");
            assert_eq!((with, &words), (allocator() as usize, &before), "{separate}");
            device.destroy_module(module);
        }
        let records = device.records("shader");
        assert_eq!(records.len(), 1, "{records:#?}");
    }
}

/// Without a setting that asks for anything the words go down as they came, with a line in front of that.
#[test]
fn counters_that_nobody_allows_are_told_and_go_down() {
    let device = device(&[]);
    let words = words(true);
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let module = create!(device.create_module(&info));
    assert!(device.took(c"vkCreateShaderModule", &info));
    let told = device.records("unresolved");
    assert_eq!((told.len(), &told[0]["what"]), (1, &"atomic-counters".into()), "{told:#?}");
    device.destroy_module(module);
}

/// A module in the chain of a stage gets one of the layer's for as long as the call takes; behind other structures it stays.
#[test]
fn modules_in_chains_of_stages_are_replaced_for_the_call() {
    for separate in SEPARATE {
        let device = device(&[("separate", separate), ("counters", "auto")]);
        let layout = device.pipeline_layout(&[device.layout(&[binding(0, Ty::STORAGE_BUFFER, 1)])]);
        for (counts, first) in [(false, true), (true, true), (true, false)] {
            let words = words(counts);
            let mut code = vk::ShaderModuleCreateInfo::default().code(&words);
            let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
            let mut stage =
                vk::PipelineShaderStageCreateInfo::default().stage(Stage::COMPUTE).name(c"main").push_next(&mut code);
            if !first {
                stage = stage.push_next(&mut size);
            }
            let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
            device.driver.calls();
            let pipeline = device.compute_with(&info);
            let replaced = counts && first;
            let calls = device.driver.calls();
            let [modules, pipelines] = [c"vkCreateShaderModule", c"vkCreateComputePipelines"]
                .map(|command| calls.iter().filter(|call| call.command == command).collect::<Vec<_>>());
            assert_eq!((modules.len(), pipelines.len()), (usize::from(replaced), 1), "{separate}");
            let Args::Create { info: went, .. } = pipelines[0].args else { panic!("{pipelines:?}") };
            assert_eq!(went != ptr::from_ref(&info) as usize, replaced, "{separate}");
            assert!(device.driver.live(Kind::Module).is_empty(), "{separate}: a module of the layer's is left");
            device.destroy_pipeline(pipeline);
        }
        let told = device.records("unresolved");
        assert_eq!((told.len(), &told[0]["what"]), (1, &"stage-chain".into()), "{told:#?}");
    }
}

#[test]
fn shader_objects_are_rewritten_in_a_copy() {
    let device = device(&[("counters", "auto")]);
    for counts in [false, true] {
        let words = [words(false), words(counts)];
        let bytes = words.each_ref().map(|words| bytes_of(words));
        let infos = bytes.each_ref().map(|bytes| shader_info(Stage::COMPUTE, bytes));
        let mut shaders = [vk::ShaderEXT::null(); 2];
        device.driver.calls_of(c"vkCreateShadersEXT");
        let out = shaders.as_mut_ptr();
        assert_eq!(call!(device.create_shaders(device.raw, 2, infos.as_ptr(), allocator(), out)), SUCCESS);
        assert_eq!(!device.took(c"vkCreateShadersEXT", infos.as_ptr()), counts);
        let own = bytes.each_ref().map(|bytes| bytes.as_ptr().cast());
        assert_eq!(infos.map(|info| info.p_code), own, "the application's are as before");
        shaders.iter().for_each(|shader| device.destroy_shader(*shader));
    }
}

/// Multisample states that the rules ignore may dangle; legal ones go down by the application's own pointer.
#[test]
fn multisample_states_are_read_where_they_count() {
    let device = device(&[]);
    let layout = device.pipeline_layout(&[]);
    let pages = Pages::new(1);
    let dangling: *const vk::PipelineMultisampleStateCreateInfo<'_> = pages.start().cast();
    let discards = vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true);
    let plain = vk::PipelineRasterizationStateCreateInfo::default();
    let state = |least| vk::PipelineMultisampleStateCreateInfo::default().min_sample_shading(least);
    let states = [state(0.5), state(2.0)];
    let library = vk::GraphicsPipelineLibraryCreateInfoEXT::default();
    let chain = ptr::from_ref(&library).cast();
    for (raster, state, chain, differs) in [
        (&discards, dangling, ptr::null(), false),
        (&plain, dangling, chain, false),
        (&plain, ptr::null(), ptr::null(), false),
        (&plain, ptr::from_ref(&states[0]), ptr::null(), false),
        (&plain, ptr::from_ref(&states[1]), ptr::null(), true),
    ] {
        let mut info = vk::GraphicsPipelineCreateInfo::default().layout(layout).rasterization_state(raster);
        (info.p_multisample_state, info.p_next) = (state, chain);
        device.driver.calls_of(c"vkCreateGraphicsPipelines");
        let pipeline = device.graphics_with(&info);
        assert_eq!(!device.took(c"vkCreateGraphicsPipelines", &info), differs);
        assert_ne!(pipeline.as_raw(), 0);
        device.destroy_pipeline(pipeline);
    }
    assert_eq!(states[1].min_sample_shading, 2.0, "the application's is as before");
    let records = device.records("shader");
    assert_eq!((records.len(), &records[0]["changes"][0]["catalog"]), (1, &"J-3".into()), "{records:#?}");
}

/// Keys are asked for what would go down.
#[test]
fn keys_are_of_what_goes_down() {
    let device = device(&[("counters", "auto")]);
    let layout = device.pipeline_layout(&[]);
    let mut key = [0_u64; 8];
    let mut ask = |first: *const std::ffi::c_void| {
        let info =
            vk_layer_sys::PipelineCreateInfoKHR { s_type: vk::StructureType::from_raw(1_000_483_007), p_next: first };
        device.driver.calls_of(c"vkGetPipelineKeyKHR");
        assert_eq!(call!(device.get_pipeline_key(device.raw, &info, key.as_mut_ptr().cast())), SUCCESS);
        args!(device, c"vkGetPipelineKeyKHR", Args::Other(went));
        (went[0] == ptr::from_ref(&info) as u64, went[1] == first as u64)
    };
    for counts in [false, true] {
        let words = words(counts);
        let mut code = vk::ShaderModuleCreateInfo::default().code(&words);
        let stage =
            vk::PipelineShaderStageCreateInfo::default().stage(Stage::COMPUTE).name(c"main").push_next(&mut code);
        let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
        assert_eq!(ask(ptr::from_ref(&info).cast()), (!counts, !counts));
    }
    for least in [0.5, 2.0] {
        let state = vk::PipelineMultisampleStateCreateInfo::default().min_sample_shading(least);
        let info = vk::GraphicsPipelineCreateInfo::default().layout(layout).multisample_state(&state);
        assert_eq!(ask(ptr::from_ref(&info).cast()), (least == 0.5, least == 0.5));
    }
    // What it does not know it hands down, and so it does nothing at all.
    let other = vk::BufferViewCreateInfo::default();
    assert_eq!(ask(ptr::from_ref(&other).cast()), (true, true));
    assert_eq!(call!(device.get_pipeline_key(device.raw, ptr::null(), key.as_mut_ptr().cast())), SUCCESS);
    assert!(device.driver.live(Kind::Module).is_empty(), "a module of the layer's is left");
}

/// An identifier is that of the words which go down when the module is made.
#[test]
fn identifiers_are_of_what_goes_down() {
    let device = device(&[("counters", "auto")]);
    let seen = device.sees(|call| {
        let at = match (call.command.to_str(), &call.args) {
            (Ok("vkCreateShaderModule"), Args::Create { info, .. }) => *info,
            (Ok("vkGetShaderModuleCreateInfoIdentifierEXT"), Args::Other(went)) => went[0] as usize,
            _ => return None,
        };
        // SAFETY: the create info of a call that is under way, whose words are as many as it says.
        let went = unsafe {
            let info = &*(at as *const vk::ShaderModuleCreateInfo<'_>);
            std::slice::from_raw_parts(info.p_code, info.code_size / 4).to_vec()
        };
        Some(went)
    });
    for counts in [false, true] {
        let words = words(counts);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let mut identifier = vk::ShaderModuleIdentifierEXT::default();
        device.driver.calls();
        call!(device.get_identifier(device.raw, &info, &mut identifier));
        args!(device, c"vkGetShaderModuleCreateInfoIdentifierEXT", Args::Other(went));
        assert_eq!(went[0] == ptr::from_ref(&info) as u64, !counts, "the application's own pointer");
        let module = create!(device.create_module(&info));
        let seen = std::mem::take(&mut *lock(&seen));
        let [identified, made] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!(identified, made);
        assert_eq!(*made == words, !counts);
        device.destroy_module(module);
    }
}

/// The state of a part of a pipeline library is repaired as that of a whole pipeline is, in each part that has one and in no other: parts
/// that agree still do. No rule gives it another shader.
#[test]
fn parts_of_libraries_get_a_legal_state() {
    let pages = Pages::new(1);
    let dangling: *const vk::PipelineMultisampleStateCreateInfo<'_> = pages.start().cast();
    let raster: *const vk::PipelineRasterizationStateCreateInfo<'_> = pages.start().cast();
    let given =
        |least| vk::PipelineMultisampleStateCreateInfo::default().sample_shading_enable(true).min_sample_shading(least);
    let (legal, nan) = (given(0.5), given(f32::NAN));
    for (feature, state, enabled) in [(true, &nan, true), (true, &legal, true), (false, &legal, false)] {
        let builder = InstanceBuilder::new().traced("decisions");
        let device = builder.device_with(|info| info.features.sample_rate_shading = feature.into());
        let layout = device.pipeline_layout(&[]);
        let seen = device.sees(|call| {
            let (Ok("vkCreateGraphicsPipelines"), Args::Create { info, .. }) = (call.command.to_str(), &call.args)
            else {
                return None;
            };
            // SAFETY: the create info of a call that is under way; its state is none that dangles where it has that flag.
            let state = unsafe {
                let info = &*(*info as *const vk::GraphicsPipelineCreateInfo<'_>);
                let part = &*info.p_next.cast::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>();
                let has = part.flags.intersects(Part::FRAGMENT_SHADER | Part::FRAGMENT_OUTPUT_INTERFACE);
                has.then(|| *info.p_multisample_state)
            };
            state.map(|it| (it.sample_shading_enable, it.min_sample_shading.to_bits()))
        });
        let differs = feature != enabled || state.min_sample_shading.is_nan() || !feature;
        for (flags, state) in [
            (Part::FRAGMENT_SHADER, ptr::from_ref(state)),
            (Part::FRAGMENT_OUTPUT_INTERFACE, ptr::from_ref(state)),
            (Part::VERTEX_INPUT_INTERFACE, dangling),
            (Part::PRE_RASTERIZATION_SHADERS, dangling),
        ] {
            let part = library_of(flags);
            let mut info = vk::GraphicsPipelineCreateInfo::default().layout(layout);
            (info.p_multisample_state, info.p_next) = (state, ptr::from_ref(&part).cast());
            // Of the parts here only this one has it.
            let own = vk::PipelineRasterizationStateCreateInfo::default();
            info.p_rasterization_state = if flags == Part::PRE_RASTERIZATION_SHADERS { &raw const own } else { raster };
            device.driver.calls_of(c"vkCreateGraphicsPipelines");
            let pipeline = device.graphics_with(&info);
            assert_eq!(!device.took(c"vkCreateGraphicsPipelines", &info), differs && state != dangling, "{flags:?}");
            device.destroy_pipeline(pipeline);
        }
        let seen = std::mem::take(&mut *lock(&seen));
        assert_eq!((seen.len(), seen[0]), (2, seen[1]), "both parts have the same");
        let least = if state.min_sample_shading.is_nan() { 0.0 } else { 0.5_f32 };
        assert_eq!(seen[0], (enabled.into(), if enabled { least } else { f32::from_bits(seen[0].1) }.to_bits()));
        let told = first_changes(&device, "catalog");
        // What both parts have in common is told once.
        let expected = match (feature, differs) {
            (true, true) => vec!["J-3"],
            (false, _) => vec!["J-2"],
            _ => vec![],
        };
        assert_eq!(told, expected);
    }
}

/// A fragment shader with one input and one output.
fn fragment() -> Vec<u32> {
    let mut m = Assembly::new(Stage::FRAGMENT);
    let float = m.ty(Op::TypeFloat, &[32]);
    let vec4 = m.ty(Op::TypeVector, &[float, 4]);
    let [from, to] = [StorageClass::Input, StorageClass::Output].map(|class| {
        let pointer = m.pointer(class, vec4);
        let variable = m.variable(pointer, class);
        m.decorate(variable, Decoration::Location, &[0]);
        variable
    });
    let value = m.value(Op::Load, vec4, &[from]);
    m.act(Op::Store, &[to, value]);
    m.finish(0)
}

/// A rule about pipelines gives them another fragment shader, for the call; where that cannot be made the state is all it gives. A
/// library stays, and is not read where it may dangle.
#[test]
fn rules_about_pipelines_make_modules_for_the_call() {
    let folder = samplin_testkit::Folder::new();
    let path = folder.join("samplin.toml");
    let text = "[[rule]]\nwhen = { samples = { min = 2 } }\nset = { sample_shading = 1.0 }\n";
    std::fs::write(&path, text).expect("writes a file");
    for separate in SEPARATE {
        let config = path.to_str().expect("UTF-8");
        let builder = InstanceBuilder::new().traced("decisions").set("separate", separate).set("config", config);
        let device = builder.device_with(|info| info.features.sample_rate_shading = 1);
        let (words, layout) = (fragment(), device.pipeline_layout(&[]));
        let module = device.module(&words);
        let stages = [stage(Stage::FRAGMENT, module)];
        let (one, four) = (sampled(vk::SampleCountFlags::TYPE_1), sampled(vk::SampleCountFlags::TYPE_4));
        let library = library_of(Part::FRAGMENT_SHADER);
        let output = library_of(Part::FRAGMENT_OUTPUT_INTERFACE);
        let chain =
            |node: &vk::GraphicsPipelineLibraryCreateInfoEXT<'_>| ptr::from_ref(node).cast::<std::ffi::c_void>();
        // Samples, what is chained, whether the call for a module fails; whether there is another create info and a module.
        for (state, chained, fails, differs, makes) in [
            (&one, ptr::null(), false, false, false),
            (&four, ptr::null(), false, true, true),
            (&four, ptr::null(), true, true, true),
            (&four, chain(&library), false, false, false),
            (&four, chain(&output), false, false, false),
        ] {
            let mut info =
                vk::GraphicsPipelineCreateInfo::default().layout(layout).stages(&stages).multisample_state(state);
            info.p_next = chained;
            if fails {
                device.driver.fail(c"vkCreateShaderModule", [vk::Result::ERROR_OUT_OF_HOST_MEMORY]);
            }
            device.driver.calls();
            let pipeline = device.graphics_with(&info);
            let calls = device.driver.calls();
            let modules = calls.iter().filter(|call| call.command == c"vkCreateShaderModule").count();
            let went = calls.iter().find(|call| call.command == c"vkCreateGraphicsPipelines").expect("the call");
            let Args::Create { info: went, .. } = went.args else { panic!("{went:?}") };
            assert_eq!((went != ptr::from_ref(&info) as usize, modules), (differs, usize::from(makes)), "{separate}");
            assert_eq!(device.driver.live(Kind::Module).len(), 1, "{separate}: only the application's is left");
            device.destroy_pipeline(pipeline);
        }
        assert_eq!(four.sample_shading_enable, 0, "the application's is as before");
        device.destroy_module(module);
        let held = first_changes(&device, "because");
        assert_eq!(held.len(), 2, "{held:?}");
        assert!(held[0] == "a rule asks for it" && held[1].ends_with("(guard library)"), "{held:?}");
    }
}

/// What drivers here do not have holds a rule back as well: fragments that wait for each other, and the shading rate. A rule that switches
/// the guard off is followed.
#[test]
fn guards_look_at_what_the_shader_does() {
    let of = |capability: &str, extension: &str, inputs: &str, mode: &str, body: &str| {
        let (decorations, variable) = match inputs {
            "" => ("", ""),
            _ => (
                "OpDecorate %rate BuiltIn ShadingRateKHR\nOpDecorate %rate Flat\n",
                "%rate = OpVariable %pointer Input\n",
            ),
        };
        assembled(&format!(
            "OpCapability Shader\nOpCapability {capability}\nOpExtension \"{extension}\"\nOpMemoryModel Logical GLSL450\n\
             OpEntryPoint Fragment %main \"main\" %in {inputs}\nOpExecutionMode %main OriginUpperLeft\n{mode}\n{decorations}\
             OpDecorate %in Location 0\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n\
             %pointer = OpTypePointer Input %int\n%pf = OpTypePointer Input %float\n%in = OpVariable %pf Input\n{variable}\
             %main = OpFunction %void None %ft\n%label = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
        ))
    };
    let interlock = of(
        "FragmentShaderPixelInterlockEXT",
        "SPV_EXT_fragment_shader_interlock",
        "",
        "OpExecutionMode %main PixelInterlockOrderedEXT",
        "OpBeginInvocationInterlockEXT\nOpEndInvocationInterlockEXT",
    );
    let rate = of("FragmentShadingRateKHR", "SPV_KHR_fragment_shading_rate", "%rate", "", "");
    let folder = samplin_testkit::Folder::new();
    for (words, guard) in [(interlock, "interlock"), (rate, "shading-rate")] {
        for off in ["", guard] {
            let path = folder.join("samplin.toml");
            let off_list = if off.is_empty() { String::new() } else { format!("guards_off = [\"{off}\"]\n") };
            std::fs::write(&path, format!("[[rule]]\nset = {{ sample_shading = 1.0 }}\n{off_list}"))
                .expect("writes a file");
            let builder = InstanceBuilder::new().traced("decisions").set("config", path.to_str().expect("UTF-8"));
            let device = builder.device_with(|info| info.features.sample_rate_shading = 1);
            let layout = device.pipeline_layout(&[]);
            let module = device.module(&words);
            let stages = [stage(Stage::FRAGMENT, module)];
            let state = sampled(vk::SampleCountFlags::TYPE_4);
            let info =
                vk::GraphicsPipelineCreateInfo::default().layout(layout).stages(&stages).multisample_state(&state);
            device.driver.calls_of(c"vkCreateGraphicsPipelines");
            let pipeline = device.graphics_with(&info);
            args!(device, c"vkCreateGraphicsPipelines", Args::Create { info: went, .. });
            let records = device.records("shader");
            let because = records[0]["changes"][0]["because"].as_str().expect("a reason");
            assert_eq!(went == ptr::from_ref(&info) as usize, off.is_empty(), "{records:#?}");
            assert_eq!(because.ends_with(&format!("(guard {guard})")), off.is_empty(), "{because}");
            device.destroy_pipeline(pipeline);
            device.destroy_module(module);
        }
    }
}

/// A fragment shader that reads the number of its sample; `number` tells modules apart.
fn of_a_sample(number: u32) -> Vec<u32> {
    let mut m = Assembly::new(Stage::FRAGMENT);
    m.capability(Capability::SampleRateShading);
    let int = m.ty(Op::TypeInt, &[32, 1]);
    let [from, to] = [StorageClass::Input, StorageClass::Output].map(|class| {
        let pointer = m.pointer(class, int);
        m.variable(pointer, class)
    });
    m.decorate(from, Decoration::BuiltIn, &[18]);
    m.decorate(from, Decoration::Flat, &[]);
    m.decorate(to, Decoration::Location, &[0]);
    let value = m.value(Op::Load, int, &[from]);
    m.act(Op::Store, &[to, value]);
    m.finish(number)
}

/// Of a shader that does without sample shading, a pipeline says what is lost, by the one fact that matters; where that is not known it
/// is named.
#[test]
fn what_is_lost_without_samples_depends_on_the_pipeline() {
    for separate in SEPARATE {
        // The mock has no sample shading.
        let device = device(&[("separate", separate)]);
        let layout = device.pipeline_layout(&[]);
        let (one, four) = (sampled(vk::SampleCountFlags::TYPE_1), sampled(vk::SampleCountFlags::TYPE_4));
        let many = [vk::DynamicState::RASTERIZATION_SAMPLES_EXT];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&many);
        let none = vk::PipelineDynamicStateCreateInfo::default();
        let library = library_of(Part::FRAGMENT_SHADER);
        let in_library = ptr::from_ref(&library).cast::<std::ffi::c_void>();
        for (number, (state, dynamic, chained, known)) in [
            (ptr::from_ref(&one), &none, ptr::null(), Some(true)),
            (ptr::from_ref(&four), &none, ptr::null(), Some(false)),
            (ptr::from_ref(&one), &dynamic, ptr::null(), None),
            (ptr::null(), &none, in_library, None),
            (ptr::from_ref(&four), &none, in_library, Some(false)),
        ]
        .into_iter()
        .enumerate()
        {
            let words = of_a_sample(number as u32);
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = create!(device.create_module(&info));
            assert!(!device.took(c"vkCreateShaderModule", &info), "lowered");
            let stages = [stage(Stage::FRAGMENT, module)];
            let mut info =
                vk::GraphicsPipelineCreateInfo::default().layout(layout).stages(&stages).dynamic_state(dynamic);
            (info.p_multisample_state, info.p_next) = (state, chained);
            let before = device.records("unresolved").len();
            device.driver.calls_of(c"vkCreateGraphicsPipelines");
            let pipeline = device.graphics_with(&info);
            assert!(device.took(c"vkCreateGraphicsPipelines", &info), "the pipeline is as the application's");
            let records = device.records("shader");
            let last = records.last().expect("a record");
            let left = device.records("unresolved");
            let told = left.get(before).map(|record| record["what"].clone());
            match known {
                Some(single) => {
                    assert_eq!((&last["tier"], &last["key"]["single"]), (&"pipeline".into(), &single.into()));
                    assert_eq!(told, None);
                }
                None => assert_eq!((&last["tier"], told), (&"module".into(), Some("sample-count".into())), "{left:#?}"),
            }
            device.destroy_pipeline(pipeline);
            device.destroy_module(module);
        }
        // Shader objects never know.
        let words = of_a_sample(9);
        let bytes = bytes_of(&words);
        let info = shader_info(Stage::FRAGMENT, &bytes);
        let before = device.records("unresolved").len();
        let shader = create!(device.create_shaders(1, &info));
        assert_eq!(device.records("unresolved")[before]["what"], "sample-count");
        device.destroy_shader(shader);
    }
}
