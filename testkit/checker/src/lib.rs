//! A second opinion on legality, written from the Vulkan specification and not from the code under test.
//!
//! [`violations`] names every rule that a sampler, alone or with a view, breaks. It repairs nothing, knows no order of
//! steps and shares no helper with `samplin_core::decide`; what it needs to know of a format it reads off the format's
//! name ([`formats`]), so that neither side can hide a slip of the other. Each condition stands beside the valid-usage id
//! or the chapter and heading that it was read from; [`citations`] gives them, and a property holds them against those
//! that the layer gives. The short ids (A-1, B-50) are only names, by which results can be compared.
//!
//! A statement is evaluated as it reads, on the members that it names. What the statements leave open is read so:
//!
//! * *Unknown is innocent.* Format features that are not known count as present, a format that is not in the table of
//!   names has no numeric class, a block-match limit of zero is no limit.
//! * *What cannot be sampled has no filter.* Where a view's format lacks `SAMPLED_IMAGE`, which is a breach of its own, nothing is said of
//!   the features that filters need on top of it.
//! * *NaN breaks every comparison*, so a NaN bias breaks A-2, a NaN LOD A-4, a NaN anisotropy A-6.
//! * *Poison is of the border's texels.* Statements under Image Operations > Instruction/Format/Sampler/Image View
//!   Validation that speak of a border colour are evaluated where an address mode reaches the border; those about its
//!   kind also elsewhere with `border=strict`. Statements with a valid-usage id hold wherever they say.
//! * *Comparable is left*, a departure: B-30 speaks of every view, and is judged only on those that cannot be compared. Programs read
//!   their shadow maps through comparing samplers with plain instructions as well, and drivers show them the depth.
//! * *Colours are compared*, a departure: "Depth Compare Operation" compares only "if the image view has a depth/stencil format". Of other
//!   formats the format feature alone is asked (VUID-vkCmdDraw-None-06479), and a shader compares colours as it would depths (B-31).
//! * *What a shader divides is judged without it*: of S-5 only what instructions exclude is judged; what the sampler or the view breaks is
//!   judged as, B-40 and B-41, which must have gone from the result.
//! * *Poison is one of two colours*, a departure that `border=strict` ends: the letter forbids opaque black and custom colours under any
//!   mapping that the device is not told of, whatever the colour. Drivers show such a colour with the mapping or without it, so B-52 and
//!   B-53 are judged only where these two differ and a predefined colour comes nearer than the second, and B-65 where none does.
//!   Infinities count as the largest float there, NaN as next to 0.

mod blits;
mod borders;
mod creation;
pub mod draw;
pub mod formats;
mod modules;
mod pairs;
mod pipelines;
pub mod replay;
mod words;

pub use blits::{blit_violations, conversion_violations};
pub use borders::border_texels;
pub use creation::representable;
pub use modules::{ModuleDevice, module_violations};
pub use pipelines::{Multisample, multisample_violations};
use words::{BORDER, NEAREST};

use ash::vk;
use samplin_core::decide::{
    BorderMapping, CustomBorder, DeviceCaps, Policy, SamplerState, ViewTraits, YcbcrConversion,
};
use std::collections::BTreeSet;

/// Rows that no other sampler can mend: another view, shader or device could (reject class `fix-view`).
pub const VIEW_ONLY: [&str; 7] = ["B-33", "B-35", "B-40", "B-41", "B-65", "B-66", "B-78"];

/// Whether the sampler's descriptor data was captured and may be replayed, which ties it to its exact state.
///
/// Descriptor Sets > Capture and Replay of descriptor data: it is made again from the same state or not at all, so no rule
/// but [`VIEW_ONLY`] applies.
pub fn replays(state: &SamplerState, caps: &DeviceCaps) -> bool {
    state.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT)
        && caps.descriptor_buffer_capture_replay
}

/// What a judgement is made of: the broken rules in the order of evaluation, each once, and on request every citation.
#[derive(Default)]
struct Judge {
    broken: Vec<&'static str>,
    cited: Option<BTreeSet<(&'static str, &'static str)>>,
}

impl Judge {
    /// One condition: the rule's short name, where the specification states it, and whether the statement is broken.
    fn check(&mut self, id: &'static str, source: &'static str, illegal: bool) {
        if let Some(cited) = &mut self.cited {
            cited.insert((id, source));
        }
        if illegal && !self.broken.contains(&id) {
            self.broken.push(id);
        }
    }

    fn pair(
        &mut self,
        state: &SamplerState,
        view: Option<&ViewTraits>,
        dynamic: bool,
        caps: &DeviceCaps,
        policy: &Policy,
    ) {
        let exempt = state.ycbcr.is_some() || view.is_some_and(|view| view.ycbcr);
        if !replays(state, caps) {
            self.section_a(state, caps);
            self.anisotropy_without_linear(state, policy);
            self.sampler_only_of_section_b(state, dynamic && !exempt, caps);
            if let Some(view) = view
                && !exempt
            {
                self.filtering(state, view, caps);
                self.comparison(state, view, policy);
                self.borders(state, view, caps, policy);
            }
        }
        if let Some(view) = view
            && !exempt
        {
            self.view_only(state, view, dynamic);
        }
    }
}

/// Names of the rules that the sampler breaks, each once.
///
/// With a view, the rules about pairs are judged too; `dynamic` tells whether the pair is a dynamic combined image
/// sampler. Pairs with a Y′CbCr conversion on either side are exempt from them: the sampler is immutable and both sides
/// carry the same conversion (VUID-VkWriteDescriptorSet-descriptorType-02738), so there is no pair to mend.
pub fn violations(
    state: &SamplerState,
    view: Option<&ViewTraits>,
    dynamic: bool,
    caps: &DeviceCaps,
    policy: &Policy,
) -> Vec<&'static str> {
    let mut judge = Judge::default();
    judge.pair(state, view, dynamic, caps, policy);
    judge.broken
}

/// Where each condition about samplers was read: pairs of a rule's name and a valid-usage id or a chapter and heading.
pub fn citations() -> BTreeSet<(&'static str, &'static str)> {
    let mut judge = Judge { cited: Some(BTreeSet::new()), ..Judge::default() };
    // A state that holds every structure, so that no condition is skipped for want of one.
    let conversion =
        YcbcrConversion { handle: 0, chroma_filter: NEAREST, separate_reconstruction: true, fingerprint: 0 };
    let custom = CustomBorder { color: [0; 4], format: vk::Format::UNDEFINED };
    let bordered = SamplerState {
        address_mode: [BORDER; 3],
        border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
        custom_border: Some(custom),
        ..SamplerState::default()
    };
    let mapping = BorderMapping { components: [vk::ComponentSwizzle::IDENTITY; 4], srgb: false };
    let view = ViewTraits::new_2d(vk::Format::R8_UNORM, vk::FormatFeatureFlags2::SAMPLED_IMAGE);
    for state in [
        bordered,
        SamplerState { border_mapping: Some(mapping), ..bordered },
        SamplerState { ycbcr: Some(conversion), ..SamplerState::default() },
    ] {
        judge.pair(&state, Some(&view), true, &DeviceCaps::default(), &Policy::default());
    }
    judge.cited.unwrap_or_default()
}

/// The list of [`violations`] without the rows that no sampler can mend.
pub fn fixable(broken: &[&'static str]) -> Vec<&'static str> {
    broken.iter().copied().filter(|id| !VIEW_ONLY.contains(id)).collect()
}
