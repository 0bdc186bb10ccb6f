//! The rules file of a watched program: what it switches off, and switching that on and off.

use std::path::PathBuf;

use samplin_config::overrides::Overrides;
use samplin_platform as platform;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::files;
use crate::trace::record::short;

/// What stands before the lines of a rule that is switched off in the file.
pub(crate) const OFF: &str = "#off ";

/// A repair that a rule of the file switches off: all that are given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// The rules whose repair it is; none for all.
    pub rules: Vec<String>,
    /// The format of the view, without what all formats have in front.
    pub format: Option<String>,
    /// The fingerprint of the sampler.
    pub fingerprint: Option<String>,
}

impl Switch {
    fn name(&self) -> String {
        let what = if self.rules.is_empty() { "all repairs".to_owned() } else { self.rules.join(" and ") };
        let of = self.fingerprint.as_ref().map(|fingerprint| format!(" of {fingerprint}")).unwrap_or_default();
        let on = self.format.as_ref().map(|format| format!(" on {format}")).unwrap_or_default();
        format!("{what} off{of}{on}")
    }

    fn table(&self) -> Table {
        let text = |text: &String| Value::from(text.as_str());
        let mut when = InlineTable::new();
        match self.rules.as_slice() {
            [] => {}
            [one] => drop(when.insert("rule", text(one))),
            several => drop(when.insert("rule", Value::Array(several.iter().map(String::as_str).collect()))),
        }
        for (key, value) in [("fingerprint", &self.fingerprint), ("format", &self.format)] {
            value.iter().for_each(|value| drop(when.insert(key, text(value))));
        }
        let mut table = Table::new();
        table.insert("name", Item::Value(Value::from(self.name())));
        table.insert("when", Item::Value(Value::InlineTable(when)));
        table.insert("set", Item::Value(Value::InlineTable([("repair", "off")].into_iter().collect())));
        table
    }

    /// What a rule of the file switches off; nothing if it does something else, or asks for what a switch cannot say.
    fn of(table: &dyn toml_edit::TableLike) -> Option<Self> {
        let set = table.get("set")?.as_table_like()?;
        (set.get("repair")?.as_str()? == "off").then_some(())?;
        let mut switch = Self::default();
        for (key, value) in table.get("when").and_then(Item::as_table_like).into_iter().flat_map(|when| when.iter()) {
            match key {
                "rule" => {
                    let list = value
                        .as_array()
                        .map(|list| list.iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect());
                    switch.rules = list.or_else(|| Some(vec![value.as_str()?.to_owned()]))?;
                }
                "format" => switch.format = Some(short(value.as_str()?).to_owned()),
                "fingerprint" => switch.fingerprint = Some(value.as_str()?.to_owned()),
                _ => return None,
            }
        }
        Some(switch)
    }

    /// Whether it switches off what is asked for; what is not given must not be asked for.
    fn covers(&self, rule: &str, format: Option<&str>, fingerprint: Option<&str>) -> bool {
        let is = |own: &Option<String>, asked: Option<&str>| own.is_none() || own.as_deref() == asked.map(short);
        (self.rules.is_empty() || self.rules.iter().any(|own| own == rule))
            && is(&self.format, format)
            && is(&self.fingerprint, fingerprint)
    }
}

/// A rule as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its first line, from 1.
    pub line: usize,
    /// Its name, if it has one.
    pub name: String,
    /// Whether it is in force.
    pub is_on: bool,
    /// Its keys but for the name, in one line.
    pub text: String,
}

/// A rules file and what is in it.
#[derive(Debug, Default)]
pub struct RulesFile {
    /// Where it is, which may be nothing yet.
    pub path: PathBuf,
    /// Its rules.
    pub entries: Vec<Entry>,
    switches: Vec<Switch>,
    text: String,
}

/// The file that a program reads, by the value of its setting `config` and by its name.
pub fn path_of(config: Option<&str>, exe: &str) -> Option<PathBuf> {
    match config.filter(|config| !config.is_empty() && !config.eq_ignore_ascii_case("auto")) {
        Some(path) => Some(platform::home_path(path)),
        None => {
            let folder = platform::config_folder()?.join("samplin");
            let [own, shared] = [format!("{exe}.toml"), "samplin.toml".to_owned()].map(|name| folder.join(name));
            Some(if !own.is_file() && shared.is_file() { shared } else { own })
        }
    }
}

impl RulesFile {
    /// Reads a file; one that is not there has no rules.
    pub fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        Self::of(path, text)
    }

    fn of(path: PathBuf, text: String) -> Self {
        let document = text.parse::<DocumentMut>().unwrap_or_default();
        let switches = tables(&document).iter().filter_map(|table| Switch::of(*table)).collect();
        Self { path, entries: entries(&text), switches, text }
    }

    /// Reads it again if it was changed; whether it was.
    pub fn refresh(&mut self) -> bool {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let is_news = text != self.text;
        if is_news {
            *self = Self::of(std::mem::take(&mut self.path), text);
        }
        is_news
    }

    /// Whether it switches a repair off.
    pub fn is_off(&self, rule: &str, format: Option<&str>, fingerprint: Option<&str>) -> bool {
        self.switches.iter().any(|switch| switch.covers(rule, format, fingerprint))
    }

    /// Switches a repair off, or on again. Says what it did.
    ///
    /// # Errors
    ///
    /// When the file is no rules file, does not allow it, or cannot be written.
    pub fn toggle(&mut self, switch: &Switch) -> Result<String, String> {
        self.refresh();
        let mut document = self.text.parse::<DocumentMut>().map_err(|error| first_line(&error.to_string()))?;
        let is_own = |table: &dyn toml_edit::TableLike| Switch::of(table).as_ref() == Some(switch);
        let was_off = self.switches.contains(switch);
        if was_off {
            remove(&mut document, is_own)?;
        } else {
            add(&mut document, switch.table())?;
        }
        self.write(document.to_string())?;
        let (what, is) = (switch.name(), if was_off { "removed from" } else { "written to" });
        Ok(format!("rule \"{what}\" {is} {}", self.path.display()))
    }

    /// Switches a rule of the file off by turning its lines into comments, or on again.
    ///
    /// # Errors
    ///
    /// When it is not there any more, would be wrong, or the file cannot be written.
    pub fn toggle_entry(&mut self, name: &str, line: usize) -> Result<String, String> {
        self.refresh();
        let found = self.entries.iter().find(|entry| entry.line == line && entry.name == name);
        let entry = found.ok_or("the file was changed meanwhile")?.clone();
        let end = self.entries.iter().map(|entry| entry.line).find(|next| *next > line).unwrap_or(usize::MAX);
        let change = |(number, text): (usize, &str)| match number + 1 {
            number if number < line || number >= end => text.to_owned(),
            _ if entry.is_on && !text.trim().is_empty() && !text.starts_with('#') => format!("{OFF}{text}"),
            _ if entry.is_on => text.to_owned(),
            _ => text.strip_prefix(OFF).unwrap_or(text).to_owned(),
        };
        let text: Vec<String> = self.text.split('\n').enumerate().map(change).collect();
        self.write(text.join("\n"))?;
        let is = if entry.is_on { "off: its lines are comments now" } else { "on" };
        Ok(format!("rule \"{name}\" is {is}"))
    }

    fn write(&mut self, text: String) -> Result<(), String> {
        let count = |text: &str| Overrides::parse(&self.path, text).1;
        let (before, after) = (count(&self.text), count(&text));
        if let Some(problem) =
            after.iter().find(|problem| !before.contains(problem)).filter(|_| after.len() > before.len())
        {
            return Err(problem.message.clone());
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        files::write_output(&self.path, text.as_bytes()).map_err(|failure| failure.message)?;
        *self = Self::of(std::mem::take(&mut self.path), text);
        Ok(())
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The rules of a document, as tables or inline.
fn tables(document: &DocumentMut) -> Vec<&dyn toml_edit::TableLike> {
    let tables = document.get("rule").and_then(Item::as_array_of_tables).into_iter().flatten();
    tables.map(|table| table as &dyn toml_edit::TableLike).collect()
}

fn list(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, String> {
    let item = document.entry("rule").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    item.as_array_of_tables_mut()
        .ok_or_else(|| "the rules are no [[rule]] tables, which alone can be added to".to_owned())
}

fn add(document: &mut DocumentMut, mut table: Table) -> Result<(), String> {
    // What follows the last rule are comments, which stay before the new one.
    let after = document.trailing().as_str().unwrap_or_default().to_owned();
    let gap = if document.is_empty() && after.is_empty() { "" } else { "\n" };
    table.decor_mut().set_prefix(format!("{after}{gap}"));
    list(document)?.push(table);
    document.set_trailing("");
    Ok(())
}

fn remove(document: &mut DocumentMut, is_own: impl Fn(&dyn toml_edit::TableLike) -> bool) -> Result<(), String> {
    let tables = list(document)?;
    let Some(index) = tables.iter().position(|table| is_own(table)) else { return Ok(()) };
    let prefix = tables.get(index).and_then(|table| table.decor().prefix()).and_then(|prefix| prefix.as_str());
    let comments = prefix.unwrap_or_default().strip_suffix('\n').unwrap_or_default().to_owned();
    tables.remove(index);
    let joined = |after: Option<&str>| format!("{comments}{}", after.unwrap_or_default());
    // The comments before it may be about something else.
    if let Some(next) = tables.get_mut(index) {
        let prefix = joined(next.decor().prefix().and_then(|prefix| prefix.as_str()));
        next.decor_mut().set_prefix(prefix);
        return Ok(());
    }
    if tables.is_empty() {
        document.remove("rule");
    }
    let trailing = joined(document.trailing().as_str());
    document.set_trailing(trailing);
    Ok(())
}

/// The rules in a text, also those that are switched off by [`OFF`].
fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (is_on, content) = line.strip_prefix(OFF).map_or((true, line), |content| (false, content));
        let content = content.trim();
        if content == "[[rule]]" || content.starts_with("[[rule]] #") {
            let name = format!("rule {}", entries.len() + 1);
            entries.push(Entry { line: index + 1, name, is_on, text: String::new() });
        } else if let Some(entry) = entries.last_mut().filter(|_| !content.is_empty() && !content.starts_with('#')) {
            let name = Some(content)
                .filter(|content| content.starts_with("name"))
                .and_then(|content| Some(content.parse::<DocumentMut>().ok()?.get("name")?.as_str()?.to_owned()));
            match name {
                Some(name) => entry.name = name,
                None => entry.text += &format!("{}{content}", if entry.text.is_empty() { "" } else { ", " }),
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use samplin_testkit::Folder;

    use super::*;

    const OWN: &str =
        "# My rules.\n\n# Sharper.\n[[rule]]\nname = \"sharp\" # good\nset = { max_anisotropy = 16 }\n\n# The end.\n";

    fn switch() -> Switch {
        Switch { rules: vec!["linear-filter".to_owned()], ..Switch::default() }
    }

    fn file(folder: &Folder, text: &str) -> RulesFile {
        folder.write("rules.toml", text);
        RulesFile::read(folder.join("rules.toml"))
    }

    fn sound(file: &RulesFile) -> String {
        let text = std::fs::read_to_string(&file.path).unwrap();
        let (_, problems) = Overrides::parse(&file.path, &text);
        assert!(problems.is_empty(), "{problems:?}\n{text}");
        text
    }

    #[test]
    fn a_repair_is_switched_off_and_on_and_comments_stay() {
        let folder = Folder::new();
        for text in [OWN, "", "# Only a comment.\n", include_str!("../../../manifest/samplin.toml")] {
            let mut file = file(&folder, text);
            assert!(!file.is_off("linear-filter", None, None));
            assert!(file.toggle(&switch()).unwrap().contains("\"linear-filter off\" written to"));
            let written = sound(&file);
            assert!(written.starts_with(text), "{written}");
            assert!(written.ends_with(
                "[[rule]]\nname = \"linear-filter off\"\nwhen = { rule = \"linear-filter\" }\nset = { repair = \"off\" }\n"
            ));
            assert!(
                file.is_off("linear-filter", Some("VK_FORMAT_D32_SFLOAT"), None)
                    && !file.is_off("anisotropy", None, None)
            );
            file.toggle(&switch()).unwrap();
            assert_eq!(sound(&file), text);
        }
    }

    #[test]
    fn a_pair_is_switched_off_by_itself() {
        let folder = Folder::new();
        let mut file = file(&folder, OWN);
        let pair = Switch {
            rules: vec!["linear-filter".to_owned(), "anisotropy".to_owned()],
            format: Some("D32_SFLOAT".to_owned()),
            fingerprint: Some("00f00ba4deadbeef".to_owned()),
        };
        file.toggle(&pair).unwrap();
        file.toggle(&switch()).unwrap();
        let is_off = |file: &RulesFile, format, fingerprint| file.is_off("anisotropy", format, fingerprint);
        let (format, fingerprint) = (Some("VK_FORMAT_D32_SFLOAT"), Some("00f00ba4deadbeef"));
        assert!(is_off(&file, format, fingerprint));
        assert!(!is_off(&file, None, None) && !is_off(&file, Some("VK_FORMAT_D16_UNORM"), fingerprint));
        // The first of two goes, and the other stays.
        file.toggle(&pair).unwrap();
        let text = sound(&file);
        assert!(
            text.starts_with(OWN) && text.contains("\"linear-filter off\"") && !is_off(&file, format, fingerprint),
            "{text}"
        );
    }

    #[test]
    fn a_rule_of_the_file_becomes_comments_and_a_rule_again() {
        let folder = Folder::new();
        let mut file = file(&folder, OWN);
        let sharp =
            Entry { line: 4, name: "sharp".to_owned(), is_on: true, text: "set = { max_anisotropy = 16 }".to_owned() };
        assert_eq!(file.entries, std::slice::from_ref(&sharp));
        file.toggle_entry("sharp", 4).unwrap();
        let off = sound(&file);
        assert!(off.contains("\n#off [[rule]]\n#off name = \"sharp\" # good\n#off set"), "{off}");
        assert_eq!(file.entries, [Entry { is_on: false, ..sharp }]);
        // A switch that is written meanwhile leaves it as it is.
        file.toggle(&switch()).unwrap();
        assert!(sound(&file).starts_with(&off));
        file.toggle(&switch()).unwrap();
        file.toggle_entry("sharp", 4).unwrap();
        assert_eq!(sound(&file), OWN);
        assert!(file.toggle_entry("sharp", 5).is_err());
    }

    #[test]
    fn what_would_be_wrong_is_not_written() {
        let folder = Folder::new();
        let full = "[[rule]]\nset = { max_anisotropy = 2 }\n".repeat(64);
        let mut file_of = file(&folder, &full);
        assert!(file_of.toggle(&switch()).unwrap_err().contains("64"));
        assert_eq!(std::fs::read_to_string(&file_of.path).unwrap(), full);
        assert!(file(&folder, "[[rule").toggle(&switch()).is_err());
        assert!(file(&folder, "rule = [{ set = { max_anisotropy = 2 } }]\n").toggle(&switch()).is_err());
    }

    #[test]
    fn the_file_is_the_one_that_the_program_reads() {
        assert_eq!(path_of(Some("/a/rules.toml"), "game"), Some(PathBuf::from("/a/rules.toml")));
        let automatic = path_of(Some("auto"), "no-such-game");
        assert!(
            automatic.is_none_or(
                |path| path.ends_with("samplin/no-such-game.toml") || path.ends_with("samplin/samplin.toml")
            )
        );
    }
}
