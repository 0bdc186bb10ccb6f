//! The presets. Help, rules files and the player's page derive from this table.

use std::fmt::Write as _;

use crate::watch::rules::OFF;

/// A rule of a preset.
#[derive(Clone, Copy, Debug)]
pub struct PresetRule {
    /// What the trace calls it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub does: &'static str,
    /// What it leaves alone, in a sentence.
    pub spares: &'static str,
    /// The value of `when` as the file has it; empty if it matches everything.
    pub when: &'static str,
    /// The value of `set`.
    pub set: &'static str,
    /// Whether it is in force; else its lines are comments, because it needs something that only the player knows.
    pub is_on: bool,
}

/// A setting that no rule can express.
#[derive(Clone, Copy, Debug)]
pub struct PresetSetting {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: &'static str,
    /// What it does, in a sentence.
    pub does: &'static str,
}

/// Rules and settings under a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What the command line calls it.
    pub name: &'static str,
    /// What the player gets.
    pub about: &'static str,
    /// The settings.
    pub settings: &'static [PresetSetting],
    /// The rules, in the order of the file.
    pub rules: &'static [PresetRule],
}

const EMULATE: PresetSetting = PresetSetting {
    key: "unfilterable",
    value: "emulate",
    does: "Shaders smooth depth and float images that the device cannot filter.",
};

const DEMOTE: &str = "{ immutable = \"demote\" }";

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "sharp",
        about: "Textures stay sharp at a distance and at flat angles",
        settings: &[],
        rules: &[
            PresetRule {
                name: "sharp angles",
                does: "Reads up to 16 samples along the direction in which a texture is seen at a flat angle.",
                spares: "Guards: shadow maps, integers, rendered images, 1D images, and samplers without a LINEAR filter.",
                when: "{ class = \"color\", mip_levels = { min = 2 } }",
                set: "{ max_anisotropy = 16 }",
                is_on: true,
            },
            PresetRule {
                name: "sharp distance",
                does: "Reads mip levels as if each image were half a level closer. Values below -1 make textures shimmer.",
                spares: "Guards: shadow maps, integers and rendered images. Samplers that read one mip level at a time stay as they are.",
                when: "{ class = \"color\", mip_levels = { min = 2 }, min_filter = \"linear\", mipmap_mode = \"linear\" }",
                set: "{ mip_lod_bias = { add = -0.5 } }",
                is_on: true,
            },
            PresetRule {
                name: "sharp upscaling",
                does: "Off at first. For games that render small while something scales them up: write the size of your screen, and remove #off. It takes the place of the rule before.",
                spares: "The guards of \"sharp distance\", and already-biased: textures that the game makes sharper by itself.",
                when: "{ class = \"color\", mip_levels = { min = 2 }, min_filter = \"linear\", mipmap_mode = \"linear\" }",
                set: "{ mip_lod_bias = { output = \"2560x1440\" } }",
                is_on: false,
            },
        ],
    },
    Preset {
        name: "smooth-depth",
        about: "Shadows and fog have soft edges where the device cannot filter depth images",
        settings: &[EMULATE],
        rules: &[
            PresetRule {
                name: "smooth depth",
                does: "Lets shaders read another sampler where a smooth one is immutable and meets a depth image that the device cannot filter.",
                spares: "Pairs that the device can filter stay as they are.",
                when: "{ class = \"depth\", min_filter = \"linear\" }",
                set: DEMOTE,
                is_on: true,
            },
            PresetRule {
                name: "smooth depth, enlarged",
                does: "The same for samplers that smooth only what is enlarged.",
                spares: "Pairs that the device can filter stay as they are.",
                when: "{ class = \"depth\", mag_filter = \"linear\" }",
                set: DEMOTE,
                is_on: true,
            },
        ],
    },
    Preset {
        name: "retro",
        about: "Textures near the camera show their texels as blocks",
        settings: &[],
        rules: &[PresetRule {
            name: "retro blocks",
            does: "Reads the nearest texel of colour images where they are enlarged.",
            spares: "Guards: shadow maps, integers, rendered images and with them post-processing. Images with one mip level stay as they are: fonts, videos and lookup tables. Remove mip_levels to include them.",
            when: "{ class = \"color\", mip_levels = { min = 2 } }",
            set: "{ mag_filter = \"nearest\" }",
            is_on: true,
        }],
    },
    Preset {
        name: "safe",
        about: "Every repair that samplin has, and nothing else",
        settings: &[
            EMULATE,
            PresetSetting {
                key: "storage",
                value: "emulate",
                does: "Shaders encode and decode storage images whose format the device cannot store.",
            },
        ],
        rules: &[PresetRule {
            name: "safe immutable samplers",
            does: "Lets shaders read another sampler where an immutable one does not suit an image.",
            spares: "Legal pairs stay as they are.",
            when: "",
            set: DEMOTE,
            is_on: true,
        }],
    },
];

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The options of `samplin run` that its settings take, each with a space before it.
    pub fn options(&self) -> String {
        self.settings.iter().map(|setting| format!(" --set {}={}", setting.key, setting.value)).collect()
    }

    /// Its rules file.
    pub fn file(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# Preset {} of samplin: {}.", self.name, lower(self.about));
        text += "# This file is yours: change it, or remove rules. The reference is docs/reference/rules-file.md.\n#\n";
        let _ = writeln!(text, "#   samplin run --rules FILE{} -- PROGRAM", self.options());
        if !self.settings.is_empty() {
            text += "#\n# These settings belong to it. They are no rules, so the line above or the environment sets them:\n";
        }
        for setting in self.settings {
            let _ = writeln!(text, "#\n#   SAMPLIN_{}={}", setting.key.to_ascii_uppercase(), setting.value);
            text += &commented(&format!("  {}", setting.does));
        }
        for rule in self.rules {
            text += "\n";
            text += &commented(rule.does);
            text += &commented(rule.spares);
            let off = if rule.is_on { "" } else { OFF };
            let _ = writeln!(text, "{off}[[rule]]\n{off}name = \"{}\"", rule.name);
            if !rule.when.is_empty() {
                let _ = writeln!(text, "{off}when = {}", rule.when);
            }
            let _ = writeln!(text, "{off}set = {}", rule.set);
        }
        text
    }
}

/// The same with a small first letter, for the middle of a sentence.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// A text as comments of at most 100 characters, whose lines begin as the text does.
fn commented(text: &str) -> String {
    let indent: String = text.chars().take_while(|character| *character == ' ').collect();
    let mut lines = vec![format!("# {indent}")];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.chars().count() + word.chars().count() >= 100) {
            lines.push(format!("# {indent}"));
        }
        lines.last_mut().into_iter().for_each(|line| *line += &format!("{word} "));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use samplin_config::overrides::Overrides;
    use samplin_config::settings;

    use super::*;

    #[test]
    fn each_file_is_without_problems_and_switches_no_guard_off() {
        for preset in PRESETS {
            let text = preset.file();
            let (overrides, problems) = Overrides::parse(Path::new("preset.toml"), &text);
            assert!(problems.is_empty(), "{}: {problems:?}\n{text}", preset.name);
            let names: Vec<&str> = overrides.iter().map(|one| one.name.as_str()).collect();
            let on = preset.rules.iter().filter(|rule| rule.is_on);
            assert_eq!(names, on.map(|rule| rule.name).collect::<Vec<_>>());
            let (all, problems) = Overrides::parse(Path::new("preset.toml"), &text.replace(OFF, ""));
            assert!(problems.is_empty() && all.iter().count() == preset.rules.len(), "{problems:?}");
            assert!(!text.contains("guards_off") && overrides.iter().all(|one| one.guards_off == Default::default()));
            assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
        }
    }

    #[test]
    fn each_setting_is_one_and_not_the_default() {
        for setting in PRESETS.iter().flat_map(|preset| preset.settings) {
            let loaded = settings::load(&[(setting.key.to_owned(), setting.value.to_owned())]);
            assert!(loaded.problems.iter().all(|problem| problem.key != setting.key), "{setting:?}");
            let default = settings::load(&[]);
            let value =
                |of: &settings::Loaded| of.sources.iter().find(|one| one.0 == setting.key).map(|one| one.1.clone());
            assert_ne!(value(&loaded), value(&default), "{setting:?}");
        }
    }

    #[test]
    fn comments_are_wrapped_and_indented() {
        assert_eq!(commented("a b"), "# a b\n");
        let long = commented(&format!("  {}", "word ".repeat(40)));
        assert!(
            long.lines().count() == 3 && long.lines().all(|line| line.starts_with("#   word") && line.len() <= 100)
        );
    }
}
