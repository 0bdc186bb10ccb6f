//! What records say of links: an image and a sampler that only a shader joins.

use samplin_wire::record::{Descriptor, Link};

/// Words for `how`: what the pipeline was given another sampler by.
const HOWS: [(&str, &str); 5] = [
    ("shadow", "a copy of the descriptor set with the other sampler was bound in its place"),
    ("split", "the shader reads the other sampler from a set of the layer's, because the application's has other uses"),
    ("push", "the other sampler was pushed after the application's"),
    ("fetch", "the shader fetches texels and uses no sampler"),
    ("guess", "the other sampler was written when the set was, before a shader joined it with the image"),
];

/// What to do about each thing that keeps a link from being repaired.
const LEFT: [(&str, &str); 27] = [
    ("shared-sampler", "give the image a sampler of its own"),
    ("immutable-sampler", "write the sampler into the set, or make the immutable one NEAREST"),
    ("update-after-bind", "write the set before it is bound, or give the image a sampler that suits it"),
    ("layout-destroyed", "keep the set layout for as long as its sets are in use"),
    ("bindless", "give the array of samplers a length of 64 at most, or the images samplers that suit them"),
    ("too-large", "use bindings of 256 descriptors at most, or give the image a sampler that suits it"),
    ("pipeline-chain", "a newer samplin may know the structure; else give the image a sampler that suits it"),
    ("pipeline-library", "link the pipeline of whole shaders, or give the image a sampler that suits it"),
    ("hidden-spirv", "hand the driver SPIR-V, not an identifier or a binary of it"),
    ("ray-tracing-handles", "give the image a sampler of its own, or all images of the sampler formats that it suits"),
    ("transform-feedback", "bind the set before transform feedback begins"),
    ("malformed-spirv", "spirv-val says what is wrong with the module"),
    ("opaque-operand", "let the shader name its image and its sampler, not choose between several"),
    ("vendor-instruction", "sample with the instructions of SPIR-V or of a KHR or EXT extension"),
    ("cube", "nothing in the program: cubes are sampled with NEAREST there"),
    ("coordinate-type", "let the shader sample with coordinates of 32-bit floats"),
    ("image-operands", "a newer samplin may rewrite the instruction; else clamp the coordinate in the shader"),
    ("too-many-clones", "pass images and samplers by reference, or give each a function of its own"),
    ("no-free-set", "leave one of the device's maxBoundDescriptorSets free"),
    ("began-before", "begin the command buffer after the views exist that conflict"),
    ("push-set-above", "push descriptors to a number below all sets of the pipeline layouts that are used with them"),
    ("sampler-limit", "leave the stage room for one more sampler"),
    ("learned", "run it again with the setting learned, or let resolve_memory and split_compile allow more"),
    ("too-many-links", "give the shader fewer images and samplers, or the image a sampler that suits it"),
    ("descriptor-buffer", "put images and samplers into descriptor sets, or give the images samplers that suit them"),
    ("generated-commands", "give the images of pipelines that the device chooses samplers that suit them"),
    ("memory", "nothing in the program: the host or the device has no memory left"),
];

fn words(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == word).map(|(_, words)| *words)
}

/// What `how` means, in a sentence.
pub fn how(word: &str) -> Option<&'static str> {
    words(&HOWS, word)
}

/// What to do about a link that was left for the reason of this name.
pub fn remedy(what: &str) -> Option<&'static str> {
    words(&LEFT, what)
}

/// `set 0 binding 3`, and its element if that is not the first.
pub fn descriptor(of: &Descriptor) -> String {
    let element = of.element.filter(|element| *element > 0).map(|element| format!("[{element}]")).unwrap_or_default();
    format!("set {} binding {}{element}", of.set, of.binding)
}

/// The stages, with commas.
pub fn stages(link: &Link) -> String {
    link.stages.as_ref().map(|stages| stages.join(", ")).unwrap_or_default()
}

/// A link in one line.
pub fn describe(link: &Link) -> String {
    format!("{}: image at {}, sampler at {}", stages(link), descriptor(&link.image), descriptor(&link.sampler))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_words_for_all_that_the_layer_says() {
        assert!(samplin_wire::record::HOWS.iter().all(|word| how(word).is_some()));
        let told = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/device/separate/told.rs");
        let told = std::fs::read_to_string(told).unwrap();
        let arms: Vec<&str> = told
            .lines()
            .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" => ").map(|(name, _)| name))
            .collect();
        assert!(arms.len() > 8 && arms.contains(&"shared-sampler"), "{arms:?}");
        let silent: Vec<_> = arms.iter().filter(|name| remedy(name).is_none()).collect();
        assert!(silent.is_empty(), "{silent:?}");
        assert_eq!(remedy("descriptor-heap"), None);
    }

    #[test]
    fn a_link_is_one_line() {
        let at = |binding, element| Descriptor { set: 1, binding, element };
        let stages = Some(vec!["vertex".to_owned(), "fragment".to_owned()]);
        let link = Link { image: at(2, Some(0)), sampler: at(3, Some(4)), uses: None, stages };
        assert_eq!(describe(&link), "vertex, fragment: image at set 1 binding 2, sampler at set 1 binding 3[4]");
        assert_eq!(descriptor(&at(5, None)), "set 1 binding 5");
    }
}
