//! The rules file, `samplin.toml`: which samplers get which overrides.
//!
//! A file is a list of `[[rule]]` tables. Each has `when` (what it matches; absent matches everything) and `set` (what it wishes),
//! and may have `name`, `stop` (no later rule is looked at for a sampler that this one matched) and `guards_off`. A rule that
//! cannot be understood is left out with one problem that names file, line and column; the others stay in force.

use std::path::{Path, PathBuf};

use ash::vk;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::decide::{self, Bias, Compare, Guard, Guards, SamplerState, ViewTraits, Wish};
use crate::names;
use crate::settings::{Level, Problem};

/// Most rules that one file may hold: which of them match a sampler is kept as one bit each.
pub const MAX_RULES: usize = 64;

/// A pattern of `*` (any text) and `?` (any character), compared without regard to ASCII case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Whether the whole text fits.
    pub fn matches(&self, text: &str) -> bool {
        let pattern: Vec<char> = self.0.to_lowercase().chars().collect();
        let text: Vec<char> = text.to_lowercase().chars().collect();
        // Greedy with one point of return: the last `*` met.
        let (mut p, mut t, mut star) = (0, 0, None);
        while t < text.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(c) if *c == '?' || text.get(t) == Some(c) => {
                    p += 1;
                    t += 1;
                }
                _ => match star {
                    Some((at, from)) => {
                        star = Some((at, from + 1));
                        p = at + 1;
                        t = from + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern.iter().skip(p).all(|c| *c == '*')
    }
}

/// Class of a view, by what sampling it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Color,
    Depth,
    Stencil,
    Float,
    Integer,
    Srgb,
}

/// What a rule matches. Every member that is given must fit.
#[derive(Clone, Debug, Default)]
struct When {
    exe: Option<Glob>,
    app: Option<Glob>,
    engine: Option<Glob>,
    driver: Option<Glob>,
    fingerprints: Vec<u64>,
    mag_filter: Option<vk::Filter>,
    min_filter: Option<vk::Filter>,
    mipmap_mode: Option<vk::SamplerMipmapMode>,
    address_mode: Option<vk::SamplerAddressMode>,
    compare: Option<bool>,
    anisotropy: Option<bool>,
    unnormalized: Option<bool>,
    nth: Option<u64>,
    name: Option<Glob>,
    format: Option<Glob>,
    class: Option<Class>,
    min_levels: Option<u32>,
    max_levels: Option<u32>,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, or `rule N` by its place in the file.
    pub name: String,
    /// Line of its `[[rule]]`.
    pub line: u32,
    when: When,
    /// What it wishes.
    pub wish: Wish,
    /// Guards that it switches off.
    pub guards_off: Guards,
    stop: bool,
}

/// Who asks, as far as rules look at it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host<'a> {
    /// Name of the executable.
    pub exe: &'a str,
    /// Name of the application.
    pub app: &'a str,
    /// Name of the engine.
    pub engine: &'a str,
}

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// The file they came from.
    pub path: Option<PathBuf>,
}

/// Line and column, from 1, of a byte in a text.
fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Where a problem of a rule lies, and what it is.
struct Complaint(usize, String);

type Understood<T> = Result<T, Complaint>;
type Value<'a, 'i> = &'a Spanned<DeValue<'i>>;

fn complain<T>(value: Value<'_, '_>, message: impl Into<String>) -> Understood<T> {
    Err(Complaint(value.span().start, message.into()))
}

fn wrong_type<T>(key: &str, value: Value<'_, '_>, wanted: &str) -> Understood<T> {
    complain(value, format!("{key} must be {wanted}, not {}", article(value.get_ref().type_str())))
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

fn table<'a, 'i>(key: &str, value: Value<'a, 'i>) -> Understood<&'a DeTable<'i>> {
    match value.get_ref().as_table() {
        Some(table) => Ok(table),
        None => wrong_type(key, value, "a table"),
    }
}

fn text<'a>(key: &str, value: Value<'a, '_>) -> Understood<&'a str> {
    match value.get_ref().as_str() {
        Some(text) => Ok(text),
        None => wrong_type(key, value, "a string"),
    }
}

fn boolean(key: &str, value: Value<'_, '_>) -> Understood<bool> {
    match value.get_ref().as_bool() {
        Some(on) => Ok(on),
        None => wrong_type(key, value, "true or false"),
    }
}

fn float(key: &str, value: Value<'_, '_>) -> Understood<f32> {
    let literal = match value.get_ref() {
        DeValue::Float(float) => float.as_str().replace('_', ""),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().replace('_', ""),
        _ => return wrong_type(key, value, "a number"),
    };
    match literal.parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => complain(value, format!("{key} must be a finite number")),
    }
}

fn count(key: &str, value: Value<'_, '_>) -> Understood<u64> {
    let number = match value.get_ref() {
        DeValue::Integer(integer) => u64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok(),
        _ => return wrong_type(key, value, "a whole number"),
    };
    number.map_or_else(|| complain(value, format!("{key} must be a whole number of 0 or more")), Ok)
}

fn glob(key: &str, value: Value<'_, '_>) -> Understood<Glob> {
    Ok(Glob(text(key, value)?.to_owned()))
}

/// One of a list of words.
fn word<T: Copy>(key: &str, value: Value<'_, '_>, words: &[(&str, T)]) -> Understood<T> {
    let given = text(key, value)?;
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(given));
    match found {
        Some((_, meaning)) => Ok(*meaning),
        None => {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            complain(value, format!("{key} cannot be \"{given}\"; it is one of {}", known.join(", ")))
        }
    }
}

const FILTERS: &[(&str, vk::Filter)] =
    &[("nearest", vk::Filter::NEAREST), ("linear", vk::Filter::LINEAR), ("cubic", vk::Filter::CUBIC_EXT)];

const MIPMAP_MODES: &[(&str, vk::SamplerMipmapMode)] =
    &[("nearest", vk::SamplerMipmapMode::NEAREST), ("linear", vk::SamplerMipmapMode::LINEAR)];

const ADDRESS_MODES: &[(&str, vk::SamplerAddressMode)] = &[
    ("repeat", vk::SamplerAddressMode::REPEAT),
    ("mirrored_repeat", vk::SamplerAddressMode::MIRRORED_REPEAT),
    ("clamp_to_edge", vk::SamplerAddressMode::CLAMP_TO_EDGE),
    ("clamp_to_border", vk::SamplerAddressMode::CLAMP_TO_BORDER),
    ("mirror_clamp_to_edge", vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE),
    ("gl_clamp", decide::GL_CLAMP),
    ("gl_mirror_clamp", decide::GL_MIRROR_CLAMP),
];

const BORDERS: &[(&str, vk::BorderColor)] = &[
    ("transparent_black", vk::BorderColor::FLOAT_TRANSPARENT_BLACK),
    ("opaque_black", vk::BorderColor::FLOAT_OPAQUE_BLACK),
    ("opaque_white", vk::BorderColor::FLOAT_OPAQUE_WHITE),
];

const COMPARES: &[(&str, Compare)] = &[
    ("off", Compare::Off),
    ("never", Compare::Op(vk::CompareOp::NEVER)),
    ("less", Compare::Op(vk::CompareOp::LESS)),
    ("equal", Compare::Op(vk::CompareOp::EQUAL)),
    ("less_or_equal", Compare::Op(vk::CompareOp::LESS_OR_EQUAL)),
    ("greater", Compare::Op(vk::CompareOp::GREATER)),
    ("not_equal", Compare::Op(vk::CompareOp::NOT_EQUAL)),
    ("greater_or_equal", Compare::Op(vk::CompareOp::GREATER_OR_EQUAL)),
    ("always", Compare::Op(vk::CompareOp::ALWAYS)),
];

const CLASSES: &[(&str, Class)] = &[
    ("color", Class::Color),
    ("depth", Class::Depth),
    ("stencil", Class::Stencil),
    ("float", Class::Float),
    ("integer", Class::Integer),
    ("srgb", Class::Srgb),
];

/// An unknown key, with the nearest known one.
fn unknown<T>(at: usize, key: &str, of: &str, known: &[&str]) -> Understood<T> {
    let hint = known
        .iter()
        .map(|candidate| (distance(key, candidate), candidate))
        .min()
        .filter(|(distance, _)| *distance <= 2 && *distance < key.chars().count())
        .map_or_else(|| format!("; {of} knows {}", known.join(", ")), |(_, near)| format!("; did you mean {near}?"));
    Err(Complaint(at, format!("{of} has no key {key}{hint}")))
}

/// Edit distance of two short words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut before = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, cb) in b.iter().enumerate() {
            let (left, above) = (row.get(j).copied().unwrap_or(0), row.get(j + 1).copied().unwrap_or(0));
            let best = (before + usize::from(ca != *cb)).min(left + 1).min(above + 1);
            before = above;
            if let Some(slot) = row.get_mut(j + 1) {
                *slot = best;
            }
        }
    }
    row.last().copied().unwrap_or(0)
}

const WHEN_KEYS: &[&str] = &[
    "exe",
    "app",
    "engine",
    "driver",
    "fingerprint",
    "mag_filter",
    "min_filter",
    "mipmap_mode",
    "address_mode",
    "compare",
    "anisotropy",
    "unnormalized",
    "nth",
    "name",
    "format",
    "class",
    "mip_levels",
];

fn when(value: Value<'_, '_>) -> Understood<When> {
    let mut out = When::default();
    for (key, value) in table("when", value)? {
        let name: &str = key.get_ref();
        match name {
            "exe" => out.exe = Some(glob(name, value)?),
            "app" => out.app = Some(glob(name, value)?),
            "engine" => out.engine = Some(glob(name, value)?),
            "driver" => out.driver = Some(glob(name, value)?),
            "fingerprint" => out.fingerprints = fingerprints(value)?,
            "mag_filter" => out.mag_filter = Some(word(name, value, FILTERS)?),
            "min_filter" => out.min_filter = Some(word(name, value, FILTERS)?),
            "mipmap_mode" => out.mipmap_mode = Some(word(name, value, MIPMAP_MODES)?),
            "address_mode" => out.address_mode = Some(word(name, value, ADDRESS_MODES)?),
            "compare" => out.compare = Some(boolean(name, value)?),
            "anisotropy" => out.anisotropy = Some(boolean(name, value)?),
            "unnormalized" => out.unnormalized = Some(boolean(name, value)?),
            "nth" => out.nth = Some(count(name, value)?),
            "name" => out.name = Some(glob(name, value)?),
            "format" => out.format = Some(glob(name, value)?),
            "class" => out.class = Some(word(name, value, CLASSES)?),
            "mip_levels" => (out.min_levels, out.max_levels) = levels(value)?,
            _ => return unknown(key.span().start, name, "when", WHEN_KEYS),
        }
    }
    Ok(out)
}

fn fingerprints(value: Value<'_, '_>) -> Understood<Vec<u64>> {
    let one = |value: Value<'_, '_>| {
        let given = text("fingerprint", value)?;
        match u64::from_str_radix(given.trim_start_matches("0x"), 16) {
            Ok(number) if (1..=18).contains(&given.len()) => Ok(number),
            _ => {
                complain(value, format!("\"{given}\" is no fingerprint; it has 16 hexadecimal digits, as in the trace"))
            }
        }
    };
    match value.get_ref() {
        DeValue::Array(list) => list.iter().map(one).collect(),
        _ => Ok(vec![one(value)?]),
    }
}

fn levels(value: Value<'_, '_>) -> Understood<(Option<u32>, Option<u32>)> {
    let number = |key: &str, value: Value<'_, '_>| Ok(Some(u32::try_from(count(key, value)?).unwrap_or(u32::MAX)));
    if let DeValue::Table(bounds) = value.get_ref() {
        let mut out = (None, None);
        for (key, value) in bounds {
            let name: &str = key.get_ref();
            match name {
                "min" => out.0 = number("mip_levels.min", value)?,
                "max" => out.1 = number("mip_levels.max", value)?,
                _ => return unknown(key.span().start, name, "mip_levels", &["min", "max"]),
            }
        }
        if let (Some(min), Some(max)) = out
            && min > max
        {
            return complain(value, "mip_levels.min is greater than mip_levels.max, which nothing matches");
        }
        return Ok(out);
    }
    let exactly = number("mip_levels", value)?;
    Ok((exactly, exactly))
}

const SET_KEYS: &[&str] = &[
    "max_anisotropy",
    "mip_lod_bias",
    "min_lod",
    "max_lod",
    "mag_filter",
    "min_filter",
    "mipmap_mode",
    "address_mode",
    "compare",
    "border",
];

fn set(value: Value<'_, '_>) -> Understood<Wish> {
    let mut out = Wish::default();
    let given = table("set", value)?;
    if given.is_empty() {
        return complain(value, format!("set is empty; it knows {}", SET_KEYS.join(", ")));
    }
    for (key, value) in given {
        let name: &str = key.get_ref();
        match name {
            "max_anisotropy" => {
                let degree = float(name, value)?;
                if degree < 1.0 {
                    return complain(value, "max_anisotropy must be 1 (off) or more");
                }
                out.max_anisotropy = Some(degree);
            }
            "mip_lod_bias" => out.mip_lod_bias = Some(bias(value)?),
            "min_lod" => out.min_lod = Some(float(name, value)?),
            "max_lod" => out.max_lod = Some(float(name, value)?),
            "mag_filter" => out.mag_filter = Some(word(name, value, FILTERS)?),
            "min_filter" => out.min_filter = Some(word(name, value, FILTERS)?),
            "mipmap_mode" => out.mipmap_mode = Some(word(name, value, MIPMAP_MODES)?),
            "address_mode" => out.address_mode = address_modes(value)?,
            "compare" => out.compare = Some(word(name, value, COMPARES)?),
            "border" => out.border_color = Some(word(name, value, BORDERS)?),
            _ => return unknown(key.span().start, name, "set", SET_KEYS),
        }
    }
    if let (Some(min), Some(max)) = (out.min_lod, out.max_lod)
        && min > max
    {
        return complain(value, "min_lod is greater than max_lod");
    }
    Ok(out)
}

fn bias(value: Value<'_, '_>) -> Understood<Bias> {
    let DeValue::Table(how) = value.get_ref() else { return Ok(Bias::Set(float("mip_lod_bias", value)?)) };
    let mut out = None;
    for (key, value) in how {
        let name: &str = key.get_ref();
        let next = match name {
            "add" => Bias::Add(float("mip_lod_bias.add", value)?),
            "set" => Bias::Set(float("mip_lod_bias.set", value)?),
            _ => return unknown(key.span().start, name, "mip_lod_bias", &["add", "set"]),
        };
        if out.replace(next).is_some() {
            return complain(value, "mip_lod_bias has both add and set; say one");
        }
    }
    out.map_or_else(|| complain(value, "mip_lod_bias needs add or set"), Ok)
}

fn address_modes(value: Value<'_, '_>) -> Understood<[Option<vk::SamplerAddressMode>; 3]> {
    let DeValue::Table(axes) = value.get_ref() else {
        return Ok([Some(word("address_mode", value, ADDRESS_MODES)?); 3]);
    };
    let mut out = [None; 3];
    for (key, value) in axes {
        let name: &str = key.get_ref();
        let axis = match name {
            "u" => 0,
            "v" => 1,
            "w" => 2,
            _ => return unknown(key.span().start, name, "address_mode", &["u", "v", "w"]),
        };
        if let Some(slot) = out.get_mut(axis) {
            *slot = Some(word("address_mode", value, ADDRESS_MODES)?);
        }
    }
    Ok(out)
}

fn guards(value: Value<'_, '_>) -> Understood<Guards> {
    let Some(list) = value.get_ref().as_array() else { return wrong_type("guards_off", value, "an array") };
    let words: Vec<(&str, Guard)> = Guard::ALL.iter().map(|guard| (guard.name(), *guard)).collect();
    let mut out = Guards::NONE;
    for item in list.iter() {
        out.insert(word("guards_off", item, &words)?);
    }
    Ok(out)
}

const RULE_KEYS: &[&str] = &["name", "when", "set", "guards_off", "stop"];

fn rule(number: usize, line: u32, value: Value<'_, '_>) -> Understood<Rule> {
    let given = table("rule", value)?;
    let mut out = Rule {
        name: format!("rule {}", number + 1),
        line,
        when: When::default(),
        wish: Wish::default(),
        guards_off: Guards::NONE,
        stop: false,
    };
    let mut has_set = false;
    for (key, value) in given {
        let name: &str = key.get_ref();
        match name {
            "name" => text(name, value)?.clone_into(&mut out.name),
            "when" => out.when = when(value)?,
            "set" => {
                out.wish = set(value)?;
                has_set = true;
            }
            "guards_off" => out.guards_off = guards(value)?,
            "stop" => out.stop = boolean(name, value)?,
            _ => return unknown(key.span().start, name, "a rule", RULE_KEYS),
        }
    }
    if !has_set && !out.stop {
        return complain(value, "the rule has no set and no stop, so it does nothing");
    }
    Ok(out)
}

/// The rules file of the user for an executable: its own, else the general one.
fn automatic(exe: &str) -> Option<PathBuf> {
    let folder = crate::platform::config_folder()?.join("samplin");
    let own = (!exe.contains('/')).then(|| folder.join(format!("{exe}.toml")));
    own.into_iter().chain([folder.join("samplin.toml")]).find(|path| crate::platform::is_file(path))
}

impl Rules {
    /// Finds and reads the rules file: the one that the setting names, else the user's for this executable.
    pub fn find(setting: Option<&str>, exe: &str) -> (Self, Vec<Problem>) {
        match setting.map(crate::platform::home_path).or_else(|| automatic(exe)) {
            Some(path) => Self::load(&path),
            None => (Self::default(), Vec::new()),
        }
    }

    /// Reads rules from the text of a file. Never fails: what is wrong is among the problems.
    pub fn parse(path: &Path, content: &str) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut problem = |at: usize, message: String| {
            let (line, column) = place(content, at);
            problems.push(Problem {
                level: Level::Error,
                key: "config".into(),
                file: Some(path.to_string_lossy().into_owned()),
                line: Some(line),
                column: Some(column),
                message,
            });
        };
        let (file, errors) = DeTable::parse_recoverable(content);
        let broken: Vec<usize> = errors.iter().map(|e| e.span().map_or(0, |span| span.start)).collect();
        for (error, at) in errors.iter().zip(&broken) {
            problem(*at, error.message().replace('\n', "; "));
        }
        let mut rules: Vec<Rule> = Vec::new();
        for (key, value) in file.get_ref() {
            let name: &str = key.get_ref();
            if name != "rule" {
                if let Err(Complaint(at, message)) = unknown::<()>(key.span().start, name, "the file", &["rule"]) {
                    problem(at, message);
                }
                continue;
            }
            let Some(list) = value.get_ref().as_array() else {
                problem(value.span().start, "rule must be a list of tables: write [[rule]] with two brackets".into());
                continue;
            };
            for (number, item) in list.iter().enumerate() {
                let span = item.span();
                // What follows a syntax error inside a rule may belong anywhere, so such a rule is not applied.
                let end = list.get(number + 1).map_or(content.len(), |next| next.span().start);
                if broken.iter().any(|at| (span.start..end).contains(at)) {
                    continue;
                }
                if rules.len() == MAX_RULES {
                    problem(
                        span.start,
                        format!("there are more than {MAX_RULES} rules; this one and later ones are left out"),
                    );
                    break;
                }
                match rule(number, place(content, span.start).0, item) {
                    Ok(rule) => rules.push(rule),
                    Err(Complaint(at, message)) => problem(at, message),
                }
            }
        }
        (Self { rules, path: Some(path.to_path_buf()) }, problems)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> (Self, Vec<Problem>) {
        match crate::platform::read_text(path) {
            Ok(content) => Self::parse(path, &content),
            Err(error) => {
                let problem = Problem {
                    level: Level::Error,
                    key: "config".into(),
                    file: Some(path.to_string_lossy().into_owned()),
                    line: None,
                    column: None,
                    message: format!("the rules file cannot be read: {error}"),
                };
                (Self::default(), vec![problem])
            }
        }
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules in order.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The rules that this process can ever match, whatever the device.
    #[must_use]
    pub fn for_host(&self, host: &Host<'_>) -> Self {
        let fits = |pattern: &Option<Glob>, text: &str| pattern.as_ref().is_none_or(|glob| glob.matches(text));
        let rules = self.rules.iter().filter(|rule| {
            fits(&rule.when.exe, host.exe) && fits(&rule.when.app, host.app) && fits(&rule.when.engine, host.engine)
        });
        Self { rules: rules.cloned().collect(), path: self.path.clone() }
    }

    /// The rules among these that a device of this name can match.
    #[must_use]
    pub fn for_driver(&self, driver: &str) -> Self {
        let fits = |rule: &&Rule| rule.when.driver.as_ref().is_none_or(|glob| glob.matches(driver));
        Self { rules: self.rules.iter().filter(fits).cloned().collect(), path: self.path.clone() }
    }

    /// Whether any rule can switch anisotropy on.
    pub fn want_anisotropy(&self) -> bool {
        self.rules.iter().any(|rule| rule.wish.max_anisotropy.is_some_and(|degree| degree > 1.0))
    }

    /// Whether any rule uses an address mode of OpenGL.
    pub fn use_gl(&self) -> bool {
        self.rules.iter().any(|rule| rule.wish.uses_gl())
    }

    /// Whether any rule looks at the number of mip levels.
    pub fn use_levels(&self) -> bool {
        self.rules.iter().any(|rule| rule.when.min_levels.is_some() || rule.when.max_levels.is_some())
    }

    /// Whether any rule looks at debug names.
    pub fn use_names(&self) -> bool {
        self.rules.iter().any(|rule| rule.when.name.is_some())
    }

    /// One bit for each rule whose conditions on the sampler fit: its state, its fingerprint, that it is the `nth` created (from
    /// 1), and its debug name.
    pub fn match_sampler(&self, state: &SamplerState, fingerprint: u64, nth: u64, name: Option<&str>) -> u64 {
        let mut bits = 0;
        for (index, rule) in self.rules.iter().enumerate() {
            let when = &rule.when;
            let fits = (when.fingerprints.is_empty() || when.fingerprints.contains(&fingerprint))
                && when.mag_filter.is_none_or(|filter| filter == state.mag_filter)
                && when.min_filter.is_none_or(|filter| filter == state.min_filter)
                && when.mipmap_mode.is_none_or(|mode| mode == state.mipmap_mode)
                && when.address_mode.is_none_or(|mode| state.address_mode.contains(&mode))
                && when.compare.is_none_or(|on| on == state.compare_enable)
                && when.anisotropy.is_none_or(|on| on == state.anisotropy_enable)
                && when.unnormalized.is_none_or(|on| on == state.unnormalized_coordinates)
                && when.nth.is_none_or(|wanted| wanted == nth)
                && when.name.as_ref().is_none_or(|glob| name.is_some_and(|name| glob.matches(name)));
            if fits {
                bits |= 1 << index;
            }
        }
        bits
    }

    /// One bit for each rule that looks at names and that a sampler of this name fits. Rules that also look at the order of
    /// creation are not among them: that is not known any more.
    pub fn match_name(&self, state: &SamplerState, fingerprint: u64, name: &str) -> u64 {
        let all = self.match_sampler(state, fingerprint, 0, Some(name));
        let by_name = |(index, rule): (usize, &Rule)| if rule.when.name.is_some() { 1 << index } else { 0 };
        all & self.rules.iter().enumerate().map(by_name).sum::<u64>()
    }

    /// The rules among `bits` that fit the view, in order, up to the first that stops.
    pub fn for_view<'a>(&'a self, bits: u64, view: &'a ViewTraits) -> impl Iterator<Item = &'a Rule> {
        let mut stopped = false;
        self.rules
            .iter()
            .enumerate()
            .filter(move |(index, rule)| bits >> index & 1 == 1 && rule.when.fits_view(view))
            .map(|(_, rule)| rule)
            .take_while(move |rule| {
                let before = stopped;
                stopped |= rule.stop;
                !before
            })
    }
}

impl When {
    fn fits_view(&self, view: &ViewTraits) -> bool {
        let class = |class: Class| match class {
            Class::Color => view.aspect == decide::Aspect::Color,
            Class::Depth => view.aspect == decide::Aspect::Depth,
            Class::Stencil => view.aspect == decide::Aspect::Stencil,
            Class::Float => !view.is_integer(),
            Class::Integer => view.is_integer(),
            Class::Srgb => crate::format::is_srgb(view.format),
        };
        self.format.as_ref().is_none_or(|glob| {
            let name = names::format(view.format);
            glob.matches(&name) || glob.matches(name.trim_start_matches("VK_FORMAT_"))
        }) && self.class.is_none_or(class)
            && self.min_levels.is_none_or(|min| view.levels >= min)
            && self.max_levels.is_none_or(|max| view.levels <= max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Rules, Vec<String>) {
        let (rules, problems) = Rules::parse(Path::new("t.toml"), text);
        let shown = problems
            .iter()
            .map(|p| format!("{}:{}: {}", p.line.unwrap_or_default(), p.column.unwrap_or_default(), p.message));
        (rules, shown.collect())
    }

    #[test]
    fn a_whole_rule_is_understood() {
        let (rules, problems) = parse(
            r#"
            [[rule]]
            name = "sharp"
            when = { exe = "game*", mip_levels = { min = 2 }, class = "color", fingerprint = ["00ff", "0123456789abcdef"] }
            set = { max_anisotropy = 16, mip_lod_bias = { add = -0.5 }, address_mode = { u = "gl_clamp" } }
            guards_off = ["attachment"]
            stop = true
            "#,
        );
        assert_eq!(problems, Vec::<String>::new());
        let rule = rules.iter().next().unwrap();
        assert_eq!((rule.name.as_str(), rule.line), ("sharp", 2));
        assert_eq!(rule.wish.max_anisotropy, Some(16.0));
        assert_eq!(rule.wish.mip_lod_bias, Some(Bias::Add(-0.5)));
        assert!(rule.guards_off.contains(Guard::Attachment) && !rule.guards_off.contains(Guard::Compare));
        assert!(rules.use_gl() && rules.use_levels() && rules.want_anisotropy() && !rules.use_names());
    }

    #[test]
    fn a_bad_rule_does_not_take_the_others_along() {
        let (rules, problems) = parse(
            "[[rule]]\nset = { mag_filter = \"nearest\" }\n[[rule]]\nset = { mag_fliter = \"nearest\" }\n[[rule]]\nset = { min_filter = \"linear\" }\n",
        );
        assert_eq!(problems, ["4:9: set has no key mag_fliter; did you mean mag_filter?"]);
        assert_eq!(rules.iter().count(), 2);
    }

    #[test]
    fn a_syntax_error_leaves_the_rules_around_it() {
        let (rules, problems) = parse(
            "[[rule]]\nset = { mag_filter = \"nearest\" }\n[[rule]]\nset = { mag_filter = \n[[rule]]\nset = { min_filter = \"linear\" }\n",
        );
        assert!(!problems.is_empty());
        assert!(rules.iter().any(|rule| rule.wish.mag_filter == Some(vk::Filter::NEAREST)), "{problems:?}");
    }

    #[test]
    fn globs() {
        let fits = |pattern: &str, text| Glob(pattern.into()).matches(text);
        assert!(fits("game*", "Game.exe") && fits("*", "") && fits("a?c*e", "abcde") && fits("*.exe", "x.y.exe"));
        assert!(!fits("game", "game2") && !fits("a?c", "ac") && !fits("", "x"));
    }

    #[test]
    fn stop_ends_the_search() {
        let (rules, problems) = parse(
            "[[rule]]\nstop = true\nwhen = { class = \"integer\" }\n[[rule]]\nset = { mag_filter = \"nearest\" }\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        let state = SamplerState::default();
        let bits = rules.match_sampler(&state, state.fingerprint(), 1, None);
        assert_eq!(bits, 0b11);
        let float = ViewTraits::new_2d(vk::Format::R8_UNORM, vk::FormatFeatureFlags2::empty());
        let int = ViewTraits::new_2d(vk::Format::R8_UINT, vk::FormatFeatureFlags2::empty());
        assert_eq!(rules.for_view(bits, &float).count(), 1);
        assert_eq!(rules.for_view(bits, &int).filter(|rule| rule.wish != Wish::default()).count(), 0);
    }
}
