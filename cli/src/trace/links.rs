//! What records say of links: an image and a sampler that only a shader joins.

use samplin_wire::record::{Descriptor, Draw, Link};

/// Words for `how`: what the pipeline was given another sampler by.
pub const HOWS: [(&str, &str); 6] = [
    ("shadow", "a copy of the descriptor set with the other sampler was bound in its place"),
    ("split", "the shader reads the other sampler from a set of the layer's, because the application's has other uses"),
    ("push", "the other sampler was pushed after the application's"),
    ("fetch", "the shader fetches texels and uses no sampler"),
    ("table", "the shader looks up which sampler suits what it indexes"),
    ("guess", "the other sampler was written when the set was, before a shader joined it with the image"),
];

/// What `how` means, in a sentence.
pub fn how(word: &str) -> Option<&'static str> {
    HOWS.iter().find(|(known, _)| *known == word).map(|(_, words)| *words)
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

/// A draw in one line: `frame 12, draw 7, "Shadow pass"`.
pub fn draw(of: &Draw) -> String {
    let label = of.label.as_ref().map(|label| format!(", \"{label}\"")).unwrap_or_default();
    format!("frame {}, draw {}{label}", of.frame, of.draw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_words_for_all_that_the_layer_does() {
        assert!(samplin_wire::record::HOWS.iter().all(|word| how(word).is_some()));
    }

    #[test]
    fn a_link_is_one_line() {
        let at = |binding, element| Descriptor { set: 1, binding, element };
        let stages = Some(vec!["vertex".to_owned(), "fragment".to_owned()]);
        let link = Link { image: at(2, Some(0)), sampler: at(3, Some(4)), uses: None, stages };
        assert_eq!(describe(&link), "vertex, fragment: image at set 1 binding 2, sampler at set 1 binding 3[4]");
        assert_eq!(descriptor(&at(5, None)), "set 1 binding 5");
    }

    #[test]
    fn a_draw_is_one_line() {
        let labelled = Draw { frame: 12, draw: 7, label: Some("Shadow pass".to_owned()) };
        assert_eq!(draw(&labelled), "frame 12, draw 7, \"Shadow pass\"");
        assert_eq!(draw(&Draw { label: None, ..labelled }), "frame 12, draw 7");
    }
}
