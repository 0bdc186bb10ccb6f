//! What derives from the table of settings and from `manifest/tables.json`.

use std::fmt::Write as _;
use std::path::Path;

use samplin_config::quirks::Known;
use samplin_config::settings::{DESCRIBED, Described, Form, Word, default_of};
use samplin_core::decide::Rule;
use samplin_core::quirk::Quirk;
use serde::Serialize;

use crate::{Failure, Outcome, read, root, views, write};

const USAGE: &str = "\
Derives from the table of settings (config/src/settings/table.rs) the settings of layer.json, the installable manifests, the sample
settings file, docs/reference/settings.md and what manifest/trace.schema.json says of them and of the rules (core/src/decide/rules.rs);
from manifest/tables.json the SQL views in docs/fleet; and from core/src/quirk.rs and manifest/quirks docs/reference/quirks.md.

    scripts/manifests           write them
    scripts/manifests --check   exit with 1 if one differs from what would be written

The manifests name the library without a folder, so that the dynamic linker finds it. The explicit one has no environment variables,
because loaders ignore them there. \"library_arch\" (file format 1.2.1) keeps a 32-bit loader from trying, and complaining about, the
64-bit library.";

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let is_check = match arguments {
        [] => false,
        ["--check"] => true,
        _ => return Err(Failure::Usage(USAGE)),
    };
    let root = root();
    let own = manifest(&read(&root.join("layer.json"))?)?;
    let [explicit, implicit] = installable(&own)?;
    let schema = schema(&read(&root.join("manifest/trace.schema.json"))?)?;
    let mut files = vec![
        ("layer.json".to_owned(), own),
        ("manifest/VkLayer_samplin.explicit.json".to_owned(), explicit),
        ("manifest/VkLayer_samplin.implicit.json".to_owned(), implicit),
        ("manifest/vk_layer_settings.txt".to_owned(), settings_file()),
        ("manifest/trace.schema.json".to_owned(), schema),
        ("docs/reference/settings.md".to_owned(), page()),
        ("docs/reference/quirks.md".to_owned(), quirks()),
    ];
    let views = views::views(&read(&root.join("manifest/tables.json"))?)?;
    files.extend(views.into_iter().map(|(name, text)| (format!("docs/fleet/{name}"), text)));
    let mut holds = true;
    for (name, text) in files {
        let path = root.join(&name);
        if !is_check {
            write(&path, &text)?;
        } else if !read(Path::new(&path)).is_ok_and(|written| written == text) {
            eprintln!("{name} does not follow from its source: run scripts/manifests");
            holds = false;
        }
    }
    Ok(holds)
}

/// Replaces what stands between two texts, of which there is one each.
fn splice(text: &str, [before, after]: [&str; 2], between: &str) -> Result<String, Failure> {
    let parts = text.split_once(before).and_then(|(head, rest)| Some((head, rest.split_once(after)?.1)));
    let (head, tail) = parts.ok_or_else(|| Failure::Input(format!("nothing is between {before:?} and {after:?}")))?;
    Ok([head, before, between, after, tail].concat())
}

/// A setting as Vulkan Configurator reads it.
#[derive(Serialize)]
struct Setting {
    key: &'static str,
    env: String,
    label: &'static str,
    description: &'static str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'static str>,
    default: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<Flag>,
}

#[derive(Serialize)]
struct Flag {
    key: &'static str,
    label: String,
    description: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}

fn setting(row: &Described) -> Setting {
    let flag = |word: &Word| {
        let (first, rest) = word.word.split_at(1);
        let label = first.to_ascii_uppercase() + rest;
        Flag { key: word.word, label, description: word.meaning(), status: word.status }
    };
    Setting {
        key: row.name,
        env: row.variable(),
        label: row.label,
        description: row.about(),
        r#type: match row.form {
            Form::Words(_) => "ENUM",
            Form::File(_) => "LOAD_FILE",
            Form::Path | Form::Text => "STRING",
        },
        filter: if let Form::File(names) = row.form { Some(names) } else { None },
        // Vulkan Configurator writes the default of a path as it is, and has no word for none.
        default: if let Form::File(_) | Form::Path = row.form { String::new() } else { default_of(row.name) },
        view: row.is_advanced.then_some("ADVANCED"),
        flags: row.words().iter().map(flag).collect(),
    }
}

/// JSON with four blanks for each level, on a level of its own.
fn json(value: &impl Serialize, level: usize) -> Result<String, Failure> {
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, format));
    written.map_err(|error| Failure::Input(error.to_string()))?;
    Ok(String::from_utf8_lossy(&out).replace('\n', &format!("\n{}", "    ".repeat(level))))
}

/// layer.json.
fn manifest(text: &str) -> Result<String, Failure> {
    let settings: Vec<Setting> = DESCRIBED.iter().map(setting).collect();
    let list = json(&settings, 3)?;
    let inside = list.trim_start_matches('[').trim_end().trim_end_matches(']').trim_end();
    splice(text, ["\n            \"settings\": [", "\n            ]\n"], inside)
}

/// The explicit and the implicit manifest.
fn installable(own: &str) -> Result<[String; 2], Failure> {
    let implicit = splice(own, ["\"file_format_version\": \"", "\""], "1.2.1")?;
    let library = "libVkLayer_samplin.so\",\n        \"library_arch\": \"64";
    let implicit = splice(&implicit, ["\"library_path\": \"", "\""], library)?;
    let mut explicit = implicit.clone();
    for name in ["enable_environment", "disable_environment"] {
        let [before, after] = [format!("        \"{name}\": {{"), "        },\n".to_owned()];
        explicit = splice(&explicit, [&before, &after], "")?.replace(&(before + &after), "");
    }
    Ok([explicit, implicit])
}

/// manifest/trace.schema.json: the names of rules, and the settings of a `layer` record. None is required, because older layers have
/// fewer.
fn schema(text: &str) -> Result<String, Failure> {
    let [mut members, mut example] = [String::new(), String::new()];
    for (at, row) in DESCRIBED.iter().enumerate() {
        let end = if at + 1 < DESCRIBED.len() { ",\n" } else { "\n" };
        let words: Vec<_> = row.words().iter().map(|word| format!("\"{}\"", word.word)).collect();
        let words = if words.is_empty() { String::new() } else { format!(", \"enum\": [{}]", words.join(", ")) };
        let indent = " ".repeat(24);
        let _ = write!(
            members,
            "{indent}\"{}\": {{\n{indent}    \"type\": \"object\",\n{indent}    \"properties\": {{\n\
             {indent}        \"value\": {{\"type\": \"string\"{words}}},\n\
             {indent}        \"source\": {{\"$ref\": \"#/$defs/source\"}}\n{indent}    }},\n\
             {indent}    \"required\": [\"value\", \"source\"],\n{indent}    \"additionalProperties\": false\n{indent}}}{end}",
            row.name
        );
        let value = default_of(row.name);
        let _ = write!(example, "{indent}\"{}\": {{\"value\": \"{value}\", \"source\": \"default\"}}{end}", row.name);
    }
    let head = "\"description\": \"The settings in effect, and where each came from.\",\n                    \"properties\": {\n";
    let text = splice(
        text,
        [head, "                    },\n                    \"additionalProperties\": false\n"],
        &members,
    )?;
    let rules: Vec<_> = Rule::ALL.iter().map(|rule| format!("                \"{}\"", rule.name())).collect();
    let head = "\"description\": \"The name of a family of rules; a stable interface.\",\n            \"enum\": [\n";
    let text = splice(&text, [head, "\n            ]"], &rules.join(",\n"))?;
    splice(
        &text,
        [
            "                    \"settings\": {\n                        \"mode\": {\"value\"",
            "\n                    }\n",
        ],
        example.trim_start_matches(' ').trim_start_matches("\"mode\": {\"value\"").trim_end(),
    )
}

/// The words of a setting with what they mean, the default first.
fn choices(row: &Described) -> Vec<(&'static str, &'static str)> {
    let mut words: Vec<_> = row.words().iter().map(|word| (word.word, word.meaning())).collect();
    words.sort_by_key(|(word, _)| *word != default_of(row.name));
    words
}

/// Lines of at most 120 characters, each behind `# `, and those behind the first below its text.
fn comment(text: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), format!("# {indent}"));
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > 120 {
            out += &line;
            out.push('\n');
            line = format!("# {}", " ".repeat(indent.len()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    out + &line + "\n"
}

const SETTINGS_HEAD: &str = "\
# Settings of the Vulkan layer VK_LAYER_SAMPLIN_sampling.
#
# Copy this file to the application's working directory, or anywhere and name it in VK_LAYER_SETTINGS_PATH. Each setting is at
# its default; remove the # to change it. The environment wins over this file (SAMPLIN_MODE over samplin.mode), and this file
# over VK_EXT_layer_settings. A mistake never stops the application: samplin records it and uses the default.
";

/// manifest/vk_layer_settings.txt.
fn settings_file() -> String {
    let mut out = SETTINGS_HEAD.to_owned();
    for row in &DESCRIBED {
        out.push('\n');
        out += &comment(row.about(), "");
        let words = choices(row);
        let width = words.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
        for (word, meaning) in words {
            out += &comment(meaning, &format!("  {word:width$}  "));
        }
        let _ = writeln!(out, "#samplin.{} = {}", row.name, default_of(row.name));
    }
    out
}

const PAGE_HEAD: &str = "\
# Settings

Set a key as `SAMPLIN_KEY` in the environment, as `samplin.key = value` in `vk_layer_settings.txt`, or through
`VK_EXT_layer_settings`. The environment wins over the file, the file over the application. `samplin settings` prints the values
that are in force and where they come from. A wrong value, an unknown key or an unreadable file is one `settings` record with
file and line, and the default is used. Nothing stops the application. This page is generated from `config/src/settings/table.rs`.

| key | default | about |
|---|---|---|
";

/// docs/reference/settings.md.
fn page() -> String {
    let mut out = PAGE_HEAD.to_owned();
    for row in &DESCRIBED {
        let about = row.about().split(". ").next().unwrap_or_default().trim_end_matches('.');
        let _ = writeln!(out, "| [`{0}`](#{0}) | `{1}` | {about}. |", row.name, default_of(row.name));
    }
    for row in &DESCRIBED {
        let default = default_of(row.name);
        // A sentence a line.
        let _ = writeln!(out, "\n## {}\n\n{}", row.name, row.about().replace(". ", ".\n"));
        let words = choices(row);
        if words.is_empty() {
            let _ = writeln!(out, "\nDefault: `{default}`");
            continue;
        }
        out += "\n| value | means |\n|---|---|\n";
        for (word, meaning) in words {
            let mark = if word == default { " (default)" } else { "" };
            let _ = writeln!(out, "| `{word}`{mark} | {meaning} |");
        }
    }
    out
}

const QUIRKS_HEAD: &str = "\
# Quirks

What drivers do where Vulkan leaves the result open, or against it. Each quirk has a probe in `samplin prove`, and each driver below was
measured with it. A rule of a rules file asks for one with `when = { quirk = \"…\" }`, and `samplin caps` shows those of a device.
samplin knows the running driver by its `driverID`, its version and its build. A simulated device has the quirks that its capability file names,
and no others. This page is generated from `core/src/quirk.rs` and `manifest/quirks/`.

";

/// docs/reference/quirks.md.
fn quirks() -> String {
    let known: Vec<Known> = Known::all().collect();
    let mut out = QUIRKS_HEAD.to_owned();
    let _ = writeln!(out, "| quirk | the driver | measured on |\n|---|---|---|");
    for quirk in Quirk::all() {
        let has = |known: &&Known| known.quirks.iter().any(|(of, _)| *of == quirk);
        let files: Vec<&str> = known.iter().filter(has).map(|known| known.file).collect();
        let files = if files.is_empty() { "none of these".to_owned() } else { files.join(", ") };
        let _ = writeln!(out, "| `{}` | {} | {files} |", quirk.name(), quirk.means());
    }
    for known in &known {
        let _ =
            writeln!(out, "\n## {}\n\nMeasured with `{}` on {}.\n", known.file, known.measured_with, known.measured_on);
        let _ = writeln!(out, "| quirk | observed |\n|---|---|");
        for (quirk, observed) in &known.quirks {
            let _ = writeln!(out, "| `{}` | {observed} |", quirk.name());
        }
    }
    out += "\n`samplin prove --quirks FILE` measures another driver. Put the file into `manifest/quirks/` and name it in `config/src/quirks.rs`.\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use samplin_config::settings;
    use serde_json::Value;

    #[test]
    fn everything_follows_from_its_source() {
        assert!(run(&["--check"]).is_ok_and(|holds| holds));
    }

    /// What Vulkan Configurator writes is what the layer takes.
    #[test]
    fn the_layer_takes_what_the_manifest_says() {
        let manifest: Value = serde_json::from_str(&read(&root().join("layer.json")).ok().unwrap()).unwrap();
        let described = manifest["layer"]["features"]["settings"].as_array().unwrap();
        assert_eq!(described.len(), DESCRIBED.len());
        for setting in described {
            let text = |name: &str| setting[name].as_str().unwrap().to_owned();
            let load = |value: String| settings::load(&[(text("key"), value)]);
            let default = load(text("default"));
            assert_eq!((default.problems, default.settings), (Vec::new(), settings::Settings::default()), "{setting}");
            for flag in setting["flags"].as_array().into_iter().flatten() {
                assert_eq!(load(flag["key"].as_str().unwrap().to_owned()).problems, [], "{setting}");
            }
        }
    }

    #[test]
    fn a_text_is_replaced_between_two_others_only() {
        assert_eq!(splice("a(b)c(d)", ["(", ")"], "x").ok().unwrap(), "a(x)c(d)");
        assert!(splice("a)b(", ["(", ")"], "x").is_err());
        assert!(installable("{}").is_err() && schema("{}").is_err() && manifest("{}").is_err());
    }

    #[test]
    fn comments_are_wrapped_below_their_text() {
        let words = "word ".repeat(40);
        let text = comment(&words, "  key  ");
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        assert!(
            text.starts_with("#   key  word") && text.lines().nth(1).unwrap().starts_with("#        word"),
            "{text}"
        );
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
    }
}
