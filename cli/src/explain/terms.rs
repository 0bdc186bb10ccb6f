//! Words of records, findings and messages that are no rule, no name of what is left and no setting.

use samplin_core::ability::ADDED;
use serde::Serialize;

use crate::output::capital;
use crate::trace::links;

/// The schema of a trace describes its events.
const SCHEMA: &str = include_str!("../../../manifest/trace.schema.json");

/// What texts of the member `lost` begin with.
const LOSSES: &[(&str, &str)] = &[
    ("nothing", "The change loses nothing, or only what the rest of the text says."),
    ("smoothing", "The nearest texel is shown; neighbours are no longer blended."),
    (
        "blending between mip levels",
        "One mip level is read in place of a blend of two, so an edge shows where levels meet.",
    ),
    ("footprint minimum or maximum", "The sampler returns one texel in place of the minimum or maximum of several."),
    ("cubic kernel", "LINEAR takes the place of CUBIC where the format allows it, else NEAREST."),
    ("cubic weights", "CUBIC has the weights of Catmull-Rom, which is what there is without the feature."),
    ("range clamp", "What CUBIC returns may lie outside the range of the texels that it reads."),
    ("anisotropic quality", "Surfaces seen at a slant are more blurred: fewer samples are taken along them, or one."),
    ("comparison", "The shader gets the value of the texel in place of the result of a comparison."),
    (
        "plain sampling is undefined by today's specification",
        "The sampler compares now; what a shader reads through it without a comparison is undefined.",
    ),
    ("bias", "There is no LOD bias."),
    ("part of the bias", "The LOD bias is the limit of the device."),
    ("LOD range", "minLod and maxLod are 0, as the flag demands."),
    ("levels other than the first", "Only the first mip level is read."),
    ("mipmap mode", "The mipmap mode is NEAREST, as the flag demands."),
    ("one filter", "minFilter and magFilter have to be equal, so one of them is changed."),
    (
        "luma filter",
        "The filter of the sampler is that of the conversion's chroma, because the format offers no other.",
    ),
    ("chroma smoothing", "The nearest chroma sample is read, because the format does not filter chroma."),
    ("half a texel of chroma position", "Chroma is read half a texel beside where the image has it."),
    ("explicit reconstruction", "The driver may reconstruct chroma as it likes."),
    ("address mode", "The address mode is another one, which the view allows."),
    ("addressing", "The address modes are CLAMP_TO_EDGE, which Y′CbCr samplers have to have."),
    ("wrapping", "Coordinates are clamped to the edge or border; the texture no longer repeats."),
    ("clamping beyond one mirrored copy", "MIRRORED_REPEAT goes on mirroring where the coordinate is beyond one copy."),
    ("coordinates in texels", "Coordinates are normalized, which Y′CbCr samplers have to have."),
    ("the border", "Where the border was to be seen there is something else, which the record says under `to`."),
    ("border colour", "The border has a predefined colour."),
    ("exact border colour", "The border has the predefined colour that is nearest to the custom one."),
    (
        "half of the border's influence",
        "The border blends over a whole texel and not over half of one, unless a shader saturates coordinates.",
    ),
    (
        "what the format cannot hold of the colour",
        "The border colour is rounded and clamped to what the format can hold.",
    ),
    ("values outside the format's range", "The border colour is clamped to the range of the format."),
    ("values outside the view format's range", "The border colour is clamped to the range of the view's format."),
    ("seams between cube faces", "Cube maps are filtered across faces, though the application asked for seams."),
    (
        "seam",
        "A shader filters in place of the sampler, on a cube face by face, so the texels beside edges are approximate.",
    ),
    (
        "trilinear-offset",
        "GL_CLAMP or GL_MIRROR_CLAMP_EXT blends two mip levels, and one shift of the coordinates suits the nearer level only.",
    ),
    ("capture and replay", "The sampler cannot be captured and replayed in a descriptor buffer."),
    ("subsampled images", "The sampler is no longer one for subsampled images."),
    ("window size", "The window of block matching is that of the device's limit."),
    (
        "compression of the image",
        "The driver may not compress an image whose views have other formats, which costs bandwidth.",
    ),
    (
        "shading per sample",
        "The shader runs once a pixel and not once a sample, so edges inside of textures are not smoothed.",
    ),
    (
        "the other aspect",
        "A descriptor shows one aspect of a view that has depth and stencil; the other one needs a view of its own.",
    ),
    (
        "the override",
        "A rule of the rules file asked for it, and a guard held it back because it would break an effect.",
    ),
    ("what the application asked for", "A rule of the rules file overrides it."),
    ("what this driver happened to show", "The result was undefined: each driver and version may show another."),
];

/// Ids that documents and records name and no rule has: what samplin does itself obeys them, or it names what does not.
const OBEYED: [(&str, &str); 5] = [
    (
        "VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358",
        "A set is bound with a pipeline layout that has the set's own layout at its number, or one that is defined alike, with the same immutable samplers (`immutable-layout`).",
    ),
    (
        "VUID-vkCmdDraw-None-08600",
        "A set that shaders read is bound with a pipeline layout that is defined as the pipeline's up to that set, with the same immutable samplers (`immutable-layout`).",
    ),
    (
        "VUID-vkCmdDraw-None-08608",
        "No `vkCmdSet*` may set what the bound pipeline has static; samplin binds a second pipeline instead of the application's at draws only.",
    ),
    (
        "VUID-VkCopyDescriptorSet-srcSet-01920",
        "A set from a pool with UPDATE_AFTER_BIND may be copied to a set from such a pool only; samplin copies sets into pools of the same kind.",
    ),
    (
        "VUID-VkDescriptorSetAllocateInfo-pSetLayouts-03044",
        "A layout with UPDATE_AFTER_BIND_POOL needs a pool with UPDATE_AFTER_BIND; samplin's own pools for such layouts have it.",
    ),
];

/// A word of records.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Term {
    /// The word.
    pub name: String,
    /// Where it stands.
    pub of: &'static str,
    /// What it means, as a sentence.
    pub meaning: String,
}

/// All of them.
pub(crate) fn all() -> Vec<Term> {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let events = schema.pointer("/properties/event/enum").and_then(|names| names.as_array()).cloned();
    let events = events.unwrap_or_default().into_iter().filter_map(|name| {
        let name = name.as_str()?.to_owned();
        let meaning = schema.pointer(&format!("/$defs/{name}/description"))?.as_str()?.to_owned();
        Some(Term { name, of: "event of a trace", meaning })
    });
    let hows = links::HOWS.iter().map(|(name, meaning)| Term {
        name: (*name).to_owned(),
        of: "how a pipeline was given a sampler",
        meaning: sentence(meaning),
    });
    let losses = LOSSES.iter().map(|(name, meaning)| fixed("lost", name, meaning));
    let obeyed = OBEYED.iter().map(|(name, meaning)| fixed("valid usage", name, meaning));
    let added = ADDED.iter().map(|(name, why)| Term {
        name: (*name).to_owned(),
        of: "augmented",
        meaning: format!("With it {why}. The setting augment adds it if the device has it and a repair can use it."),
    });
    events.chain(hows).chain(losses).chain(obeyed).chain(added).collect()
}

fn fixed(of: &'static str, name: &str, meaning: &str) -> Term {
    Term { name: (*name).to_owned(), of, meaning: (*meaning).to_owned() }
}

/// The word of [`LOSSES`] that a text of `lost` begins with: of several, the longest.
pub(super) fn loss(text: &str) -> Option<&'static str> {
    let begins = |name: &&str| {
        text.strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '-'))
    };
    LOSSES.iter().map(|(name, _)| *name).filter(begins).max_by_key(|name| name.len())
}

/// A text with a capital and a full stop.
fn sentence(text: &str) -> String {
    format!("{}.", capital(text))
}
