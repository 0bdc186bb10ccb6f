//! The table of illegal samplers and pairs, each with what validation says, what samplin does, and its legal twin.

use crate::scene::Scene;
use ash::vk;
use samplin_testkit::{Capability, SamplerDesc};
use std::fmt;

/// What the validation layer says of the illegal state when samplin is not there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Oracle {
    /// Exactly these, by suffix; alternatives of older and newer layers are separated by `|`.
    Reports(&'static [&'static str]),
    /// Nothing, although the state is wrong; why.
    Blind(&'static str),
    /// These, or nothing in older layers; why.
    Newer(&'static [&'static str], &'static str),
}

/// Where a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// At `vkCreateSampler`.
    Sampler,
    /// When the sampler meets the view.
    Pair,
}

impl Event {
    /// Name of the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sampler => "sampler",
            Self::Pair => "pair",
        }
    }
}

/// An expected change of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    rule: &'static str,
    catalog: &'static str,
    vuid: &'static str,
    field: &'static str,
    from: String,
    to: String,
}

impl PartialEq<Expected> for samplin_testkit::trace::Change {
    fn eq(&self, expected: &Expected) -> bool {
        let vuid = if expected.vuid.is_empty() { self.vuid.is_empty() } else { self.vuid.ends_with(expected.vuid) };
        vuid && (self.rule.as_str(), self.catalog.as_str(), self.field.as_str())
            == (expected.rule, expected.catalog, expected.field)
            && (&self.from, &self.to) == (&expected.from, &expected.to)
            && !self.because.is_empty()
    }
}

/// A change of `field` by a catalogue row.
pub(crate) fn change(
    (rule, catalog, vuid): (&'static str, &'static str, &'static str),
    field: &'static str,
    from: impl fmt::Display,
    to: impl fmt::Display,
) -> Expected {
    Expected { rule, catalog, vuid, field, from: from.to_string(), to: to.to_string() }
}

/// One row.
pub(crate) struct Case {
    /// Name of the test.
    pub(crate) name: &'static str,
    /// What is sampled.
    pub(crate) scene: Scene,
    /// What the application asks for.
    pub(crate) illegal: SamplerDesc,
    /// What it must get.
    pub(crate) legal: SamplerDesc,
    /// What validation says without samplin.
    pub(crate) oracle: Oracle,
    /// Where the change shows.
    pub(crate) event: Event,
    /// The changes, in order.
    pub(crate) changes: Vec<Expected>,
    /// The legal neighbour.
    pub(crate) twin: (Scene, SamplerDesc),
    /// Abilities that the case needs.
    pub(crate) needs: Vec<Capability>,
    /// Abilities that are left off.
    pub(crate) without: Vec<Capability>,
    /// Format features without which the pair is illegal.
    pub(crate) lacks: vk::FormatFeatureFlags,
}

const RGBA8: Scene = Scene::colour(vk::Format::R8G8B8A8_UNORM);

impl Case {
    /// An illegal sampler, made legal when it is created. The twin is the legal state.
    fn sampler(name: &'static str, illegal: SamplerDesc, legal: SamplerDesc, vuid: &'static [&'static str]) -> Self {
        Self {
            name,
            scene: if legal.unnormalized { RGBA8.flat() } else { RGBA8 },
            twin: (if legal.unnormalized { RGBA8.flat() } else { RGBA8 }, legal.clone()),
            illegal,
            legal,
            oracle: Oracle::Reports(vuid),
            event: Event::Sampler,
            changes: Vec::new(),
            needs: Vec::new(),
            without: Vec::new(),
            lacks: vk::FormatFeatureFlags::empty(),
        }
    }

    /// A legal sampler that does not go with the view. The twin is the same sampler with a colour view.
    fn pair(
        name: &'static str,
        scene: Scene,
        illegal: SamplerDesc,
        legal: SamplerDesc,
        vuid: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            scene,
            twin: (RGBA8, illegal.clone()),
            illegal,
            legal,
            oracle: Oracle::Reports(vuid),
            event: Event::Pair,
            changes: Vec::new(),
            needs: Vec::new(),
            without: Vec::new(),
            lacks: vk::FormatFeatureFlags::empty(),
        }
    }

    fn changes(mut self, changes: impl IntoIterator<Item = Expected>) -> Self {
        self.changes.extend(changes);
        self
    }

    fn lacking(mut self, features: vk::FormatFeatureFlags) -> Self {
        self.lacks |= features;
        self
    }
}

const LINEAR: &str = "VK_FILTER_LINEAR";
const NEAREST: &str = "VK_FILTER_NEAREST";
const LINEAR_MIP: &str = "VK_SAMPLER_MIPMAP_MODE_LINEAR";
const NEAREST_MIP: &str = "VK_SAMPLER_MIPMAP_MODE_NEAREST";

const FILTER: &[&str] = &["magFilter-04553"];
const MIPMAP: &[&str] = &["mipmapMode-04770"];

type Row = (&'static str, &'static str, &'static str);
const B1: Row = ("linear-filter", "B-1", "magFilter-04553");
const B2: Row = ("linear-mipmap", "B-2", "mipmapMode-04770");
const B16: Row = ("linear-filter", "B-16", "magFilter-04553");

fn demote(row: Row) -> [Expected; 2] {
    ["magFilter", "minFilter"].map(|field| change(row, field, LINEAR, NEAREST))
}

fn demote_mip(row: Row) -> Expected {
    change(row, "mipmapMode", LINEAR_MIP, NEAREST_MIP)
}

/// Every case.
pub(crate) fn all() -> Vec<Case> {
    let linear = SamplerDesc::linear;
    let nearest = SamplerDesc::nearest;
    let filterable = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
    let mag = || SamplerDesc { mag_filter: vk::Filter::LINEAR, ..nearest() };
    vec![
        Case::pair("linear-r32-uint", Scene::colour(vk::Format::R32_UINT), linear(), nearest(), FILTER)
            .changes(demote(B16)),
        Case::pair("mag-linear-r8-sint", Scene::colour(vk::Format::R8_SINT), mag(), nearest(), FILTER)
            .changes([change(B16, "magFilter", LINEAR, NEAREST)]),
        Case::pair("linear-d32", Scene::depth(vk::Format::D32_SFLOAT), linear(), nearest(), FILTER)
            .changes(demote(B1))
            .lacking(filterable),
        Case::pair(
            "mip-linear-d16",
            Scene::depth(vk::Format::D16_UNORM),
            SamplerDesc { mipmap_mode: vk::SamplerMipmapMode::LINEAR, ..nearest() },
            nearest(),
            MIPMAP,
        )
        .changes([demote_mip(B2)])
        .lacking(filterable),
        Case::sampler("lod-range", nearest().lod(2.0, 0.6), nearest().lod(0.6, 2.0), &["maxLod-01973"]).changes([
            change(("lod-range", "A-4", "maxLod-01973"), "minLod", "2.0", "0.6000000238418579"),
            change(("lod-range", "A-4", "maxLod-01973"), "maxLod", "0.6000000238418579", "2.0"),
        ]),
    ]
}
