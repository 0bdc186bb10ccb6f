//! Every pointer that may be ignored: where it is, an address that nobody may read stands there, and comes back as null; where it is
//! needed, it comes back as a copy; where the specification does not decide, the pipeline is refused.

use std::ffi::c_void;

use ash::vk::{self, Handle};

use super::made::{BOTH, Made, keep, pointer, stage};
use super::{dangling, types};
use crate::kept::{Context, Facts, StateMember, Subpass};
use crate::pnext::{self, Base};
use samplin_core::left::Left;
use vk::DynamicState as Dynamic;
use vk::GraphicsPipelineLibraryFlagsEXT as Part;

type Info = vk::GraphicsPipelineCreateInfo<'static>;

/// What decides about pointers.
#[derive(Clone, Copy, Debug)]
enum When {
    /// These states are dynamic.
    Dynamic(&'static [Dynamic]),
    /// It never rasterizes.
    Discards,
    /// It has a render pass, whose subpass uses this.
    Subpass(Option<bool>, bool),
    /// It has a render pass that nobody knows.
    UnknownPass,
    /// Without a render pass it has these formats: colour, depth, stencil.
    Formats([vk::Format; 2], vk::Format, vk::Format),
    /// It says nothing of formats.
    NoFormats,
    /// It is a library of these parts.
    Parts(Part),
    /// Likewise, and linked of others.
    PartsOfLinked(Part),
    /// It is linked of others and has nothing of its own.
    Linked,
    /// It is a library, and does not say of what.
    Library,
    Mesh,
    /// It has vertex and fragment shaders only.
    NoTessellation,
    /// Number of samples.
    Samples(u32),
    /// A format of the platform's.
    External,
}

/// A create info, and all that it leads to.
struct Case {
    made: Box<Made>,
    info: Info,
    context: Context,
    library: Box<vk::GraphicsPipelineLibraryCreateInfoEXT<'static>>,
    linked: Box<vk::PipelineLibraryCreateInfoKHR<'static>>,
    external: Box<External>,
}

/// `VkExternalFormatANDROID`, which the bindings have for one platform only.
#[repr(C)]
struct External {
    base: Base,
    format: u64,
}

static LIBRARY: u64 = 0x41;

impl Case {
    fn new(when: &[When]) -> Self {
        let mut made = Box::new(Made::new());
        for when in when {
            match *when {
                When::Dynamic(states) => made.states.extend(states),
                When::Discards => made.rasterization.rasterizer_discard_enable = vk::TRUE,
                When::Formats(colors, depth, stencil) => {
                    made.formats = colors;
                    made.rendering.depth_attachment_format = depth;
                    made.rendering.stencil_attachment_format = stencil;
                }
                When::Mesh => {
                    made.stages =
                        vec![stage(vk::ShaderStageFlags::MESH_EXT, 21), stage(vk::ShaderStageFlags::FRAGMENT, 22)];
                }
                When::NoTessellation => {
                    let kept = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
                    made.stages.retain(|stage| stage.stage.intersects(kept));
                }
                When::Samples(count) => {
                    made.multisample.rasterization_samples = vk::SampleCountFlags::from_raw(count);
                }
                _ => {}
            }
        }
        let info = made.info();
        let s_type = vk::StructureType::EXTERNAL_FORMAT_ANDROID;
        let external = Box::new(External { base: Base { s_type, p_next: info.p_next }, format: 7 });
        let mut case = Self { made, info, context: BOTH, library: Box::default(), linked: Box::default(), external };
        for when in when {
            case.apply(*when);
        }
        case
    }

    fn apply(&mut self, when: When) {
        let pass = vk::RenderPass::from_raw(0x31);
        match when {
            When::Subpass(color, depth_stencil) => {
                self.info.render_pass = pass;
                self.context.subpass = Some(Subpass { colors: 2, color, depth_stencil });
            }
            When::UnknownPass => {
                self.info.render_pass = pass;
                self.context.subpass = None;
            }
            When::NoFormats => self.info.p_next = std::ptr::null(),
            When::Parts(parts) | When::PartsOfLinked(parts) => {
                self.library.flags = parts;
                self.library.p_next = self.info.p_next;
                self.info.p_next = pointer(&*self.library);
                self.info.flags |= vk::PipelineCreateFlags::LIBRARY_KHR;
                // Only the stages of the parts (VUID-VkGraphicsPipelineCreateInfo-pStages-06894, -06895).
                let fragment = vk::ShaderStageFlags::FRAGMENT;
                let (before, shaded) =
                    (parts.contains(Part::PRE_RASTERIZATION_SHADERS), parts.contains(Part::FRAGMENT_SHADER));
                self.made.stages.retain(|it| if it.stage == fragment { shaded } else { before });
                self.info.stage_count = self.made.stages.len() as u32;
                if matches!(when, When::PartsOfLinked(_)) {
                    self.apply(When::Linked);
                }
            }
            When::Linked => {
                self.linked.library_count = 1;
                self.linked.p_libraries = (&raw const LIBRARY).cast();
                self.linked.p_next = self.info.p_next;
                self.info.p_next = pointer(&*self.linked);
            }
            When::Library => self.info.flags |= vk::PipelineCreateFlags::LIBRARY_KHR,
            When::External => self.info.p_next = pointer(&*self.external),
            _ => {}
        }
    }

    /// Where a pointer stands.
    fn slot(&mut self, member: StateMember) -> *mut *const c_void {
        let (made, info) = (&mut *self.made, &mut self.info);
        match member {
            StateMember::Stages => (&raw mut info.p_stages).cast(),
            StateMember::VertexInput => (&raw mut info.p_vertex_input_state).cast(),
            StateMember::InputAssembly => (&raw mut info.p_input_assembly_state).cast(),
            StateMember::Tessellation => (&raw mut info.p_tessellation_state).cast(),
            StateMember::Viewport => (&raw mut info.p_viewport_state).cast(),
            StateMember::Viewports => (&raw mut made.viewport.p_viewports).cast(),
            StateMember::Scissors => (&raw mut made.viewport.p_scissors).cast(),
            StateMember::Rasterization => (&raw mut info.p_rasterization_state).cast(),
            StateMember::Multisample => (&raw mut info.p_multisample_state).cast(),
            StateMember::SampleMask => (&raw mut made.multisample.p_sample_mask).cast(),
            StateMember::DepthStencil => (&raw mut info.p_depth_stencil_state).cast(),
            StateMember::ColorBlend => (&raw mut info.p_color_blend_state).cast(),
            StateMember::BlendAttachments => (&raw mut made.blend.p_attachments).cast(),
            StateMember::Dynamic => (&raw mut info.p_dynamic_state).cast(),
            StateMember::ColorFormats => (&raw mut made.rendering.p_color_attachment_formats).cast(),
        }
    }

    fn set(&mut self, member: StateMember, to: *const c_void) {
        let slot = self.slot(member);
        // SAFETY: a pointer of the case.
        unsafe { *slot = to };
    }

    /// What comes back in place of a pointer.
    fn back(&self, member: StateMember) -> Result<*const c_void, Left> {
        let kept = keep(&self.info, self.context)?;
        let (layout, pass) = (self.info.layout, kept.render_pass());
        // SAFETY: what is handed out lives as long as the call.
        Ok(kept.with_create_info(layout, pass, |stage| stage.module, |info| unsafe { found(info, member) }))
    }
}

/// # Safety
///
/// `info` is valid.
unsafe fn found(info: &vk::GraphicsPipelineCreateInfo<'_>, member: StateMember) -> *const c_void {
    let none = std::ptr::null();
    // SAFETY: null or valid, by this function's contract.
    unsafe {
        let (viewport, multisample) = (info.p_viewport_state.as_ref(), info.p_multisample_state.as_ref());
        let blend = info.p_color_blend_state.as_ref();
        match member {
            StateMember::Stages => info.p_stages.cast(),
            StateMember::VertexInput => info.p_vertex_input_state.cast(),
            StateMember::InputAssembly => info.p_input_assembly_state.cast(),
            StateMember::Tessellation => info.p_tessellation_state.cast(),
            StateMember::Viewport => info.p_viewport_state.cast(),
            StateMember::Viewports => viewport.map_or(none, |it| it.p_viewports.cast()),
            StateMember::Scissors => viewport.map_or(none, |it| it.p_scissors.cast()),
            StateMember::Rasterization => info.p_rasterization_state.cast(),
            StateMember::Multisample => info.p_multisample_state.cast(),
            StateMember::SampleMask => multisample.map_or(none, |it| it.p_sample_mask.cast()),
            StateMember::DepthStencil => info.p_depth_stencil_state.cast(),
            StateMember::ColorBlend => info.p_color_blend_state.cast(),
            StateMember::BlendAttachments => blend.map_or(none, |it| it.p_attachments.cast()),
            StateMember::Dynamic => info.p_dynamic_state.cast(),
            StateMember::ColorFormats => {
                let node = pnext::find::<vk::PipelineRenderingCreateInfo<'_>>(info.p_next);
                node.map_or(none, |it| it.p_color_attachment_formats.cast())
            }
        }
    }
}

const NOTHING: vk::Format = vk::Format::UNDEFINED;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
const STENCIL: vk::Format = vk::Format::S8_UINT;
const COLORS: [vk::Format; 2] = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT];
const VERTICES: Part = Part::VERTEX_INPUT_INTERFACE;
const BEFORE: Part = Part::PRE_RASTERIZATION_SHADERS;
const SHADER: Part = Part::FRAGMENT_SHADER;
const OUTPUT: Part = Part::FRAGMENT_OUTPUT_INTERFACE;
const SHADERS: Part = Part::from_raw(BEFORE.as_raw() | SHADER.as_raw());
const FRAGMENTS: Part = Part::from_raw(SHADER.as_raw() | OUTPUT.as_raw());
const RASTERIZED: Part = Part::from_raw(BEFORE.as_raw() | FRAGMENTS.as_raw());
const ALL: [StateMember; 15] = [
    StateMember::Stages,
    StateMember::VertexInput,
    StateMember::InputAssembly,
    StateMember::Tessellation,
    StateMember::Viewport,
    StateMember::Viewports,
    StateMember::Scissors,
    StateMember::Rasterization,
    StateMember::Multisample,
    StateMember::SampleMask,
    StateMember::DepthStencil,
    StateMember::ColorBlend,
    StateMember::BlendAttachments,
    StateMember::Dynamic,
    StateMember::ColorFormats,
];
const BLENDING: [Dynamic; 3] =
    [Dynamic::COLOR_BLEND_ENABLE_EXT, Dynamic::COLOR_BLEND_EQUATION_EXT, Dynamic::COLOR_WRITE_MASK_EXT];

/// When a pointer is ignored, and when it is needed beside when nothing is said.
#[rustfmt::skip]
fn table(member: StateMember) -> (&'static [&'static [When]], &'static [&'static [When]]) {
    use When as W;
    match member {
        StateMember::Stages => (
            &[&[W::Parts(VERTICES)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library]],
            &[&[W::Parts(BEFORE)], &[W::Parts(SHADER)]],
        ),
        StateMember::VertexInput => (
            &[&[W::Parts(BEFORE)], &[W::Parts(SHADER)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library], &[W::Mesh],
                &[W::Dynamic(&[Dynamic::VERTEX_INPUT_EXT])]],
            &[&[W::Parts(VERTICES)], &[W::Discards]],
        ),
        StateMember::InputAssembly => (
            &[&[W::Parts(BEFORE)], &[W::Parts(SHADER)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library], &[W::Mesh]],
            &[&[W::Parts(VERTICES)], &[W::Dynamic(&[Dynamic::PRIMITIVE_TOPOLOGY])], &[W::Discards]],
        ),
        StateMember::Tessellation => (
            &[&[W::Parts(VERTICES)], &[W::Parts(SHADER)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library], &[W::Mesh],
                &[W::NoTessellation],
                &[W::Dynamic(&[Dynamic::PATCH_CONTROL_POINTS_EXT, Dynamic::TESSELLATION_DOMAIN_ORIGIN_EXT])]],
            &[&[W::Parts(BEFORE)], &[W::Dynamic(&[Dynamic::PATCH_CONTROL_POINTS_EXT])], &[W::Discards]],
        ),
        StateMember::Viewport => (
            &[&[W::Parts(VERTICES)], &[W::Parts(SHADER)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library], &[W::Discards]],
            &[&[W::Parts(BEFORE)], &[W::Discards, W::Dynamic(&[Dynamic::RASTERIZER_DISCARD_ENABLE])],
                &[W::Dynamic(&[Dynamic::VIEWPORT_WITH_COUNT, Dynamic::SCISSOR_WITH_COUNT])]],
        ),
        StateMember::Viewports => (
            &[&[W::Dynamic(&[Dynamic::VIEWPORT])], &[W::Dynamic(&[Dynamic::VIEWPORT_WITH_COUNT])]],
            &[&[W::Dynamic(&[Dynamic::SCISSOR])]],
        ),
        StateMember::Scissors => (
            &[&[W::Dynamic(&[Dynamic::SCISSOR])], &[W::Dynamic(&[Dynamic::SCISSOR_WITH_COUNT])]],
            &[&[W::Dynamic(&[Dynamic::VIEWPORT])]],
        ),
        StateMember::Rasterization => (
            &[&[W::Parts(VERTICES)], &[W::Parts(SHADER)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library]],
            &[&[W::Parts(BEFORE)], &[W::Discards]],
        ),
        StateMember::Multisample => (
            &[&[W::Parts(VERTICES)], &[W::Parts(BEFORE)], &[W::Linked], &[W::Library], &[W::Discards],
                &[W::Discards, W::Parts(RASTERIZED)]],
            &[&[W::Parts(SHADER)], &[W::Parts(OUTPUT)], &[W::Subpass(Some(false), false)],
                &[W::Discards, W::Dynamic(&[Dynamic::RASTERIZER_DISCARD_ENABLE])]],
        ),
        StateMember::SampleMask => (
            &[&[W::Dynamic(&[Dynamic::SAMPLE_MASK_EXT])]],
            &[&[W::Samples(1)], &[W::Samples(32), W::Dynamic(&[Dynamic::RASTERIZATION_SAMPLES_EXT])]],
        ),
        StateMember::DepthStencil => (
            &[&[W::Parts(VERTICES)], &[W::Parts(BEFORE)], &[W::Parts(OUTPUT)], &[W::Linked], &[W::Library], &[W::Discards],
                &[W::Subpass(Some(true), false)], &[W::Formats(COLORS, NOTHING, NOTHING)],
                &[W::NoFormats], &[W::Formats(COLORS, NOTHING, NOTHING), W::Parts(FRAGMENTS)]],
            &[&[W::Subpass(Some(false), true)], &[W::Formats(COLORS, DEPTH, NOTHING)], &[W::Formats(COLORS, NOTHING, STENCIL)],
                &[W::Formats(COLORS, NOTHING, NOTHING), W::Parts(SHADER)]],
        ),
        StateMember::ColorBlend => (
            &[&[W::Parts(VERTICES)], &[W::Parts(BEFORE)], &[W::Parts(SHADER)], &[W::Linked], &[W::Library], &[W::Discards],
                &[W::Subpass(Some(false), true)], &[W::NoFormats]],
            &[&[W::Parts(OUTPUT)], &[W::Subpass(Some(true), false)], &[W::Formats([NOTHING, COLORS[1]], NOTHING, NOTHING)]],
        ),
        StateMember::BlendAttachments => (&[&[W::Dynamic(&BLENDING)]], &[&[W::Dynamic(&[Dynamic::COLOR_BLEND_ENABLE_EXT, Dynamic::COLOR_BLEND_EQUATION_EXT])]]),
        StateMember::Dynamic => (&[], &[&[W::Linked], &[W::Library], &[W::Discards], &[W::Parts(VERTICES)]]),
        StateMember::ColorFormats => (
            &[&[W::Parts(BEFORE)], &[W::Parts(SHADER)], &[W::Discards], &[W::Subpass(Some(true), true)],
                &[W::UnknownPass, W::Dynamic(&BLENDING), W::Discards]],
            &[&[W::Parts(OUTPUT)], &[W::Discards, W::Dynamic(&[Dynamic::RASTERIZER_DISCARD_ENABLE])]],
        ),
    }
}

#[test]
fn what_is_ignored_is_not_read_and_what_is_needed_is_copied() {
    for member in ALL {
        let (ignored, needed) = table(member);
        for when in ignored {
            let mut case = Case::new(when);
            case.set(member, dangling());
            assert_eq!(case.back(member), Ok(std::ptr::null()), "{member:?} with {when:?}");
        }
        for when in needed.iter().copied().chain([&[][..]]) {
            let mut case = Case::new(when);
            let slot = case.slot(member);
            // SAFETY: a pointer of the case.
            let given = unsafe { *slot };
            let back = case.back(member).unwrap_or_else(|why| panic!("{member:?} with {when:?}: {why:?}"));
            assert!(!back.is_null() && back != given, "{member:?} with {when:?}");
        }
    }
}

/// Everything that one condition has ignored may dangle at once.
#[test]
fn all_that_is_ignored_may_dangle_together() {
    let conditions: Vec<&[When]> = ALL.into_iter().flat_map(|member| table(member).0.iter().copied()).collect();
    for when in conditions {
        let mut case = Case::new(when);
        // SAFETY: valid so far.
        let facts = unsafe { Facts::of(&case.info, case.context) };
        let ignored: Vec<StateMember> = ALL.into_iter().filter(|member| facts.leads(*member) == Ok(false)).collect();
        for member in &ignored {
            case.set(*member, dangling());
        }
        for member in ignored {
            assert_eq!(case.back(member), Ok(std::ptr::null()), "{member:?} with {when:?}");
        }
    }
}

#[test]
fn where_the_specification_does_not_decide_nothing_is_followed() {
    use When as W;
    let cases: &[(StateMember, &[When], Left)] = &[
        (StateMember::ColorBlend, &[W::UnknownPass], Left::PipelineChain),
        (StateMember::DepthStencil, &[W::UnknownPass], Left::PipelineChain),
        (StateMember::ColorBlend, &[W::Subpass(None, true)], Left::PipelineChain),
        (StateMember::ColorBlend, &[W::Formats([NOTHING; 2], DEPTH, NOTHING), W::External], Left::PipelineChain),
        (
            StateMember::SampleMask,
            &[W::Samples(0), W::Dynamic(&[Dynamic::RASTERIZATION_SAMPLES_EXT])],
            Left::PipelineChain,
        ),
        (
            StateMember::SampleMask,
            &[W::Samples(64), W::Dynamic(&[Dynamic::RASTERIZATION_SAMPLES_EXT])],
            Left::PipelineChain,
        ),
        (StateMember::VertexInput, &[W::PartsOfLinked(VERTICES)], Left::PipelineLibrary),
        (StateMember::InputAssembly, &[W::PartsOfLinked(VERTICES)], Left::PipelineLibrary),
        (StateMember::Multisample, &[W::PartsOfLinked(OUTPUT)], Left::PipelineLibrary),
        (StateMember::ColorBlend, &[W::PartsOfLinked(OUTPUT)], Left::PipelineLibrary),
        (StateMember::ColorFormats, &[W::PartsOfLinked(OUTPUT)], Left::PipelineLibrary),
        (StateMember::DepthStencil, &[W::PartsOfLinked(SHADER)], Left::PipelineLibrary),
        (StateMember::DepthStencil, &[W::PartsOfLinked(SHADERS)], Left::PipelineLibrary),
    ];
    for (member, when, why) in cases {
        let mut case = Case::new(when);
        let others = ALL.into_iter().filter(|other| other != member);
        // Only one of them, and what it belongs to.
        let parent = match member {
            StateMember::SampleMask => Some(StateMember::Multisample),
            _ => None,
        };
        for other in others.filter(|other| Some(*other) != parent) {
            // SAFETY: valid so far.
            if unsafe { Facts::of(&case.info, case.context) }.leads(other).is_err() {
                case.set(other, std::ptr::null());
            }
        }
        case.set(*member, dangling());
        assert_eq!(case.back(*member), Err(*why), "{member:?} with {when:?}");
        case.set(*member, std::ptr::null());
        assert_eq!(case.back(*member), Ok(std::ptr::null()), "{member:?} with {when:?} and nothing there");
    }
}

/// Where colour attachments are there and none is used, a driver of an older version may still look for a blend state.
#[test]
fn unused_color_attachments_get_a_blend_state_that_writes_nothing() {
    let mut case = Case::new(&[When::Formats([NOTHING; 2], DEPTH, NOTHING)]);
    case.set(StateMember::ColorBlend, dangling());
    let kept = keep(&case.info, case.context).unwrap();
    kept.with_create_info(
        case.info.layout,
        case.info.render_pass,
        |stage| stage.module,
        // SAFETY: what is handed out lives as long as the call.
        |info| unsafe {
            let state = &*info.p_color_blend_state;
            assert_eq!((state.attachment_count, types(state.p_next).len()), (2, 0));
            let attachments = std::slice::from_raw_parts(state.p_attachments, 2);
            assert!(attachments.iter().all(|it| it.color_write_mask.is_empty() && it.blend_enable == vk::FALSE));
        },
    );
    let mut case = Case::new(&[When::Formats([NOTHING; 2], DEPTH, NOTHING)]);
    case.made.rendering.color_attachment_count = 0;
    case.set(StateMember::ColorBlend, dangling());
    assert_eq!(case.back(StateMember::ColorBlend), Ok(std::ptr::null()), "there are none");
}

#[test]
fn immutable_samplers_are_of_bindings_with_samplers() {
    use vk::DescriptorType as T;
    for (kind, count, takes) in [
        (T::SAMPLER, 1, true),
        (T::COMBINED_IMAGE_SAMPLER, 2, true),
        (T::SAMPLER, 0, false),
        (T::SAMPLED_IMAGE, 1, false),
        (T::STORAGE_BUFFER, 1, false),
        (T::INLINE_UNIFORM_BLOCK, 16, false),
        (T::MUTABLE_EXT, 1, false),
    ] {
        let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(kind).descriptor_count(count);
        assert_eq!(crate::kept::takes_samplers(&binding), takes, "{kind:?}, {count}");
    }
}
