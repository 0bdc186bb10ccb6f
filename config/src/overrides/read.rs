//! From the tables of a rules file to overrides: every key with its type, its words and what is wrong with it.

use ash::vk;
use samplin_core::decide::{self, Bias, Compare, Exempt, Guard, Guards, ShadingWish, Wish};
use samplin_core::names;
use samplin_core::quirk::Quirk;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Class, Glob, Override, Rendered, Scale, ScaleBy, When};
use crate::settings::nearest;

/// Line and column, from 1, of a byte in a text.
pub(super) fn position(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Where a problem of an override lies, and what it is.
pub(super) struct Complaint(pub(super) usize, pub(super) String);

pub(super) type Understood<T> = Result<T, Complaint>;
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

/// What Vulkan's enumerants of a key have in front of the words that stand for them here.
fn prefixes(key: &str) -> &'static [&'static str] {
    match key {
        "mag_filter" | "min_filter" => &["VK_FILTER_"],
        "mipmap_mode" => &["VK_SAMPLER_MIPMAP_MODE_"],
        "address_mode" => &["VK_SAMPLER_ADDRESS_MODE_"],
        "border" => &["VK_BORDER_COLOR_FLOAT_", "VK_BORDER_COLOR_INT_"],
        "compare" => &["VK_COMPARE_OP_"],
        _ => &[],
    }
}

/// Enumerants that end with the tag of an extension, less their prefix.
const TAGGED: [(&str, &str); 3] =
    [("CUBIC_EXT", "cubic"), ("CUBIC_IMG", "cubic"), ("MIRROR_CLAMP_TO_EDGE_KHR", "mirror_clamp_to_edge")];

/// One of a list of words, which Vulkan's own enumerant may stand for.
fn word<T: Copy>(key: &str, value: Value<'_, '_>, words: &[(&str, T)]) -> Understood<T> {
    let given = text(key, value)?;
    let bare = prefixes(key).iter().find_map(|prefix| given.strip_prefix(prefix)).unwrap_or(given);
    let bare = TAGGED.into_iter().find(|(tagged, _)| *tagged == bare).map_or(bare, |(_, word)| word);
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(bare));
    found.map(|(_, meaning)| *meaning).map_or_else(
        || {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let near = nearest(bare, &known).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            complain(value, format!("{key} cannot be \"{given}\"; it is one of {}{near}", known.join(", ")))
        },
        Ok,
    )
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
pub(super) fn unknown<T>(at: usize, key: &str, of: &str, known: &[&str]) -> Understood<T> {
    let hint = nearest(key, known)
        .map_or_else(|| format!("; {of} knows {}", known.join(", ")), |near| format!("; did you mean {near}?"));
    Err(Complaint(at, format!("{of} has no key {key}{hint}")))
}

/// Takes the result of one key; a mistake is noted and the other keys are read all the same.
fn note<T>(result: Understood<T>, complaints: &mut Vec<Complaint>) -> Option<T> {
    result.map_err(|complaint| complaints.push(complaint)).ok()
}

/// A name of a format, or a pattern that some name matches.
fn format(value: Value<'_, '_>) -> Understood<Glob> {
    let glob = glob("format", value)?;
    let mut names = names::formats();
    let is_pattern = glob.0.contains(['*', '?']);
    if names.any(|format| glob.matches_format(format)) {
        return Ok(glob);
    }
    if is_pattern {
        return complain(value, format!("no format matches \"{}\"", glob.0));
    }
    let names: Vec<String> = names::formats().map(names::format).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = nearest(&glob.0, &names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    complain(value, format!("there is no format \"{}\"{near}", glob.0))
}

const WHEN_KEYS: &[&str] = &[
    "exe",
    "app",
    "engine",
    "driver",
    "quirk",
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
    "samples",
    "blended",
    "rule",
];

fn when(value: Value<'_, '_>, complaints: &mut Vec<Complaint>) -> When {
    let mut out = When::default();
    for (key, value) in note(table("when", value), complaints).into_iter().flatten() {
        let name: &str = key.get_ref();
        let mut read = || -> Understood<()> {
            match name {
                "exe" => out.exe = Some(glob(name, value)?),
                "app" => out.app = Some(glob(name, value)?),
                "engine" => out.engine = Some(glob(name, value)?),
                "driver" => out.driver = Some(glob(name, value)?),
                "quirk" => out.quirk = Some(quirk(value)?),
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
                "format" => out.format = Some(format(value)?),
                "class" => out.class = Some(word(name, value, CLASSES)?),
                "mip_levels" => (out.min_levels, out.max_levels) = range(name, value)?,
                "samples" => (out.min_samples, out.max_samples) = range(name, value)?,
                "blended" => out.blended = Some(boolean(name, value)?),
                "rule" => out.repairs = Some(repairs(value)?),
                _ => return unknown(key.span().start, name, "when", WHEN_KEYS),
            }
            Ok(())
        };
        let read = read();
        note(read, complaints);
    }
    out
}

/// A quirk by its name.
fn quirk(value: Value<'_, '_>) -> Understood<Quirk> {
    let words: Vec<(&str, Quirk)> = Quirk::all().map(|quirk| (quirk.name(), quirk)).collect();
    word("quirk", value, &words)
}

/// Repairs by the names of their rules or by their ids.
fn repairs(value: Value<'_, '_>) -> Understood<Exempt> {
    let one = |value: Value<'_, '_>| {
        let given = text("rule", value)?;
        Exempt::named(given).map_or_else(
            || complain(value, format!("rule cannot be \"{given}\"; it is one of {}", Exempt::names().join(", "))),
            Ok,
        )
    };
    let DeValue::Array(list) = value.get_ref() else { return one(value) };
    list.iter().try_fold(Exempt::NONE, |all, value| Ok(all.union(one(value)?)))
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

/// A number, or bounds of it.
fn range(of: &str, value: Value<'_, '_>) -> Understood<(Option<u32>, Option<u32>)> {
    let number = |key: &str, value: Value<'_, '_>| Ok(Some(u32::try_from(count(key, value)?).unwrap_or(u32::MAX)));
    if let DeValue::Table(bounds) = value.get_ref() {
        let mut out = (None, None);
        for (key, value) in bounds {
            let name: &str = key.get_ref();
            match name {
                "min" => out.0 = number(&format!("{of}.min"), value)?,
                "max" => out.1 = number(&format!("{of}.max"), value)?,
                _ => return unknown(key.span().start, name, of, &["min", "max"]),
            }
        }
        if let (Some(min), Some(max)) = out
            && min > max
        {
            return complain(value, format!("{of}.min is greater than {of}.max, which nothing matches"));
        }
        return Ok(out);
    }
    let exactly = number(of, value)?;
    Ok((exactly, exactly))
}

const BIAS_KEYS: &[&str] = &["add", "set", "output", "scale", "offset", "strength"];

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
    "immutable",
    "sample_shading",
    "repair",
];

#[derive(Default)]
struct Set {
    wish: Wish,
    scale: Option<Scale>,
    shading: Option<ShadingWish>,
    demotes: bool,
    repair_off: bool,
}

fn set(value: Value<'_, '_>, complaints: &mut Vec<Complaint>) -> Set {
    let mut all = Set::default();
    let Some(given) = note(table("set", value), complaints) else { return all };
    if given.is_empty() {
        complaints.push(Complaint(value.span().start, format!("set is empty; it knows {}", SET_KEYS.join(", "))));
    }
    for (key, value) in given {
        let read = set_one(key, value, &mut all);
        note(read, complaints);
    }
    if let (Some(min), Some(max)) = (all.wish.min_lod, all.wish.max_lod)
        && min > max
    {
        complaints.push(Complaint(value.span().start, "min_lod is greater than max_lod".to_owned()));
    }
    all
}

fn set_one(key: &Spanned<DeString<'_>>, value: Value<'_, '_>, all: &mut Set) -> Understood<()> {
    let out = &mut all.wish;
    let name: &str = key.get_ref();
    match name {
        "max_anisotropy" => {
            let degree = float(name, value)?;
            if degree < 1.0 {
                return complain(value, "max_anisotropy must be 1 (off) or more");
            }
            out.max_anisotropy = Some(degree);
        }
        "mip_lod_bias" => {
            let (bias, scale) = bias(value)?;
            (out.mip_lod_bias, all.scale) = (Some(bias), scale);
        }
        "min_lod" => out.min_lod = Some(float(name, value)?),
        "max_lod" => out.max_lod = Some(float(name, value)?),
        "mag_filter" => out.mag_filter = Some(word(name, value, FILTERS)?),
        "min_filter" => out.min_filter = Some(word(name, value, FILTERS)?),
        "mipmap_mode" => out.mipmap_mode = Some(word(name, value, MIPMAP_MODES)?),
        "address_mode" => out.address_mode = address_modes(value)?,
        "compare" => out.compare = Some(word(name, value, COMPARES)?),
        "border" => out.border_color = Some(word(name, value, BORDERS)?),
        "immutable" => all.demotes = word(name, value, &[("demote", 1)])? == 1,
        "sample_shading" => all.shading = Some(sample_shading(value)?),
        "repair" => all.repair_off = word(name, value, &[("off", true)])?,
        _ => return unknown(key.span().start, name, "set", SET_KEYS),
    }
    Ok(())
}

fn sample_shading(value: Value<'_, '_>) -> Understood<ShadingWish> {
    if value.get_ref().as_str().is_some() {
        return word("sample_shading", value, &[("off", ShadingWish::Off)]);
    }
    let least = float("sample_shading", value)?;
    if !(least > 0.0 && least <= 1.0) {
        return complain(value, "sample_shading must be \"off\", or a fraction of the samples above 0 and up to 1");
    }
    Ok(ShadingWish::Least(least))
}

/// Whether a rule is about pipelines, by what it matches and sets; none if it may be about both. It must not be about samplers as well.
fn is_of_pipelines(parts: [Option<Value<'_, '_>>; 2]) -> Understood<Option<bool>> {
    let mut before = None;
    for (key, _) in parts.into_iter().flatten().filter_map(|part| part.get_ref().as_table()).flatten() {
        let name: &str = key.get_ref();
        if matches!(name, "exe" | "app" | "engine" | "driver" | "quirk") {
            continue;
        }
        let of_pipelines = matches!(name, "samples" | "blended" | "sample_shading");
        match before.replace((of_pipelines, name)) {
            Some((other, first)) if other != of_pipelines => {
                let (pipelines, samplers) = if of_pipelines { (name, first) } else { (first, name) };
                let message = format!("{pipelines} is about pipelines and {samplers} about samplers; write two rules");
                return Err(Complaint(key.span().start, message));
            }
            _ => {}
        }
    }
    Ok(before.map(|(of_pipelines, _)| of_pipelines))
}

/// A bias, and the scale that it follows if it follows one.
fn bias(value: Value<'_, '_>) -> Understood<(Bias, Option<Scale>)> {
    let DeValue::Table(how) = value.get_ref() else { return Ok((Bias::Set(float("mip_lod_bias", value)?), None)) };
    let (mut out, mut factors) = (None, [None; 2]);
    for (key, value) in how {
        let name: &str = key.get_ref();
        let next = match name {
            "add" => Ok(Bias::Add(float("mip_lod_bias.add", value)?)),
            "set" => Ok(Bias::Set(float("mip_lod_bias.set", value)?)),
            "output" => Err(ScaleBy::Output(output(value)?)),
            "scale" => Err(scale(value)?),
            "offset" | "strength" => {
                let [offset, strength] = &mut factors;
                let own = if name == "offset" { offset } else { strength };
                *own = Some((float(&format!("mip_lod_bias.{name}"), value)?, key.span().start));
                continue;
            }
            _ => return unknown(key.span().start, name, "mip_lod_bias", BIAS_KEYS),
        };
        if out.replace(next).is_some() {
            return complain(value, "mip_lod_bias has more than one of add, set, output and scale; say one");
        }
    }
    let [offset, strength] = factors;
    match (out, offset.or(strength)) {
        (None, _) => complain(value, "mip_lod_bias needs add, set, output or scale"),
        (Some(Ok(_)), Some((_, at))) => Err(Complaint(at, "offset and strength go with output or scale".to_owned())),
        (Some(Ok(bias)), None) => Ok((bias, None)),
        (Some(Err(by)), _) => {
            let [offset, strength] =
                [(offset, 0.0), (strength, 1.0)].map(|(own, default)| own.map_or(default, |own| own.0));
            let scale = Scale { by, offset, strength };
            Ok((Bias::Scale(scale.bias(Rendered::default())), Some(scale)))
        }
    }
}

/// Width and height, as in "2560x1440".
fn output(value: Value<'_, '_>) -> Understood<[u32; 2]> {
    let given = text("mip_lod_bias.output", value)?;
    let number = |text: &str| text.trim().parse().ok().filter(|number| (1..=65536).contains(number));
    match given.split_once('x').map(|(width, height)| (number(width), number(height))) {
        Some((Some(width), Some(height))) => Ok([width, height]),
        _ => complain(
            value,
            format!("mip_lod_bias.output cannot be \"{given}\"; it is width and height, as in \"2560x1440\""),
        ),
    }
}

/// A number, or "auto".
fn scale(value: Value<'_, '_>) -> Understood<ScaleBy> {
    if let DeValue::String(word) = value.get_ref() {
        return match &**word {
            "auto" => Ok(ScaleBy::Auto),
            _ => complain(value, format!("mip_lod_bias.scale cannot be \"{word}\"; it is a number or \"auto\"")),
        };
    }
    let scale = float("mip_lod_bias.scale", value)?;
    if scale > 0.0 && scale <= 8.0 {
        Ok(ScaleBy::Fixed(scale))
    } else {
        complain(
            value,
            "mip_lod_bias.scale must be above 0 and up to 8; 0.67 where two thirds of the height are rendered",
        )
    }
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

const KEYS: &[&str] = &["name", "when", "set", "guards_off", "stop", "apply"];

/// What a rule may be applied to where no view is known.
const APPLY: [(&str, bool); 2] = [("pair", false), ("sampler", true)];

/// One rule, or all that is wrong with it, in the order in which it is written.
pub(super) fn one(number: usize, line: u32, value: Value<'_, '_>) -> Result<Override, Vec<Complaint>> {
    let given = table("rule", value).map_err(|complaint| vec![complaint])?;
    let mut complaints = Vec::new();
    let of_pipelines = note(is_of_pipelines(["when", "set"].map(|part| given.get(part))), &mut complaints).flatten();
    let mut out = Override {
        name: format!("rule {}", number + 1),
        line,
        when: When::default(),
        wish: Wish::default(),
        scale: None,
        shading: None,
        demotes: false,
        of_pipelines,
        guards_off: Guards::NONE,
        exempt: Exempt::NONE,
        stop: false,
        alone: false,
    };
    let mut applied = None;
    let (mut has_set, mut repair_off) = (false, false);
    for (key, value) in given {
        let name: &str = key.get_ref();
        match name {
            "name" => {
                if let Some(name) = note(text(name, value), &mut complaints) {
                    name.clone_into(&mut out.name);
                }
            }
            "when" => out.when = when(value, &mut complaints),
            "set" => {
                let set = set(value, &mut complaints);
                (out.wish, out.scale, out.shading) = (set.wish, set.scale, set.shading);
                (out.demotes, repair_off) = (set.demotes, set.repair_off);
                has_set = true;
            }
            "guards_off" => out.guards_off = note(guards(value), &mut complaints).unwrap_or(Guards::NONE),
            "apply" => {
                applied = Some(value.span().start);
                out.alone = note(word(name, value, &APPLY), &mut complaints).unwrap_or_default();
            }
            "stop" => out.stop = note(boolean(name, value), &mut complaints).unwrap_or_default(),
            _ => _ = note(unknown::<()>(key.span().start, name, "a rule", KEYS), &mut complaints),
        }
    }
    if let Some(at) = applied.filter(|_| out.alone && (out.when.asks_for_view() || of_pipelines == Some(true))) {
        let message =
            "apply = \"sampler\" is for rules about samplers alone, and this one asks for a view or a pipeline";
        complaints.push(Complaint(at, message.to_owned()));
    }
    let at = value.span().start;
    // A key that was meant to be one of these is complained of already.
    if complaints.is_empty() && !has_set && !out.stop {
        complaints.push(Complaint(at, "the rule has no set and no stop, so it does nothing".to_owned()));
    }
    match out.when.repairs {
        repairs if repair_off => out.exempt = repairs.unwrap_or_else(Exempt::all),
        Some(_) if complaints.is_empty() => {
            let message = "when.rule says which repairs are switched off, but set has no repair = \"off\"";
            complaints.push(Complaint(at, message.to_owned()));
        }
        _ => {}
    }
    complaints.sort_by_key(|Complaint(at, _)| *at);
    if complaints.is_empty() { Ok(out) } else { Err(complaints) }
}
