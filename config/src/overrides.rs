//! The rules file, `samplin.toml`: which samplers get which overrides.
//!
//! A file is a list of `[[rule]]` tables. Each has `when` (what it matches; absent matches everything) and `set` (what it wishes),
//! and may have `name`, `stop` (no later override is looked at for a sampler that this one matched), `guards_off` and `apply` (whether it
//! also holds for samplers of which no view is known). An override that
//! cannot be understood is left out with one problem that names file, line and column; the others stay in force.

mod read;
mod scale;

use std::path::{Path, PathBuf};

use ash::vk;
use toml::de::DeTable;

use self::read::{Complaint, position, unknown};
pub use self::scale::{Rendered, Scale, ScaleBy};

use crate::settings::{Level, Problem};
use samplin_core::decide::{self, Exempt, Guards, SamplerState, ShadingWish, ViewTraits, Wish};
use samplin_core::names;
use samplin_core::outcome::{self, Off};
use samplin_core::quirk::{Quirk, Quirks};

/// Most overrides that one file may hold: which of them match a sampler is kept as one bit each.
pub const MAX_OVERRIDES: usize = 64;

/// A pattern of `*` (any text) and `?` (any character), compared without regard to ASCII case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    pub(crate) fn new(pattern: String) -> Self {
        Self(pattern)
    }

    /// Whether the name of a format fits, with or without what all of them have in front.
    fn matches_format(&self, format: vk::Format) -> bool {
        let name = names::format(format);
        self.matches(&name) || self.matches(name.trim_start_matches("VK_FORMAT_"))
    }

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

/// What an override matches. Every member that is given must fit.
#[derive(Clone, Debug, Default, PartialEq)]
struct When {
    exe: Option<Glob>,
    app: Option<Glob>,
    engine: Option<Glob>,
    driver: Option<Glob>,
    quirk: Option<Quirk>,
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
    min_samples: Option<u32>,
    max_samples: Option<u32>,
    blended: Option<bool>,
    /// The repairs that it is about; all if none is named.
    repairs: Option<Exempt>,
}

/// One `[[rule]]` of a rules file: what its user wishes for the samplers and views that it names. A rule of the catalogue is another thing.
#[derive(Clone, Debug)]
pub struct Override {
    /// Its name, or `rule N` by its number in the file.
    pub name: String,
    /// Line of its `[[rule]]`.
    pub line: u32,
    when: When,
    /// What it wishes of samplers.
    pub wish: Wish,
    /// The scale that its LOD bias follows.
    pub scale: Option<Scale>,
    /// What it wishes of pipelines.
    pub shading: Option<ShadingWish>,
    /// Whether immutable samplers that it names are exchanged as others are.
    pub demotes: bool,
    /// Whether it is about pipelines or about samplers; one that only stops may be about both.
    of_pipelines: Option<bool>,
    /// Guards that it switches off.
    pub guards_off: Guards,
    /// Repairs that it switches off.
    pub exempt: Exempt,
    stop: bool,
    /// Whether it holds for samplers of which no view is known.
    alone: bool,
}

/// Who asks, as far as overrides look at it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host<'a> {
    /// Name of the executable.
    pub exe: &'a str,
    /// Name of the application.
    pub app: &'a str,
    /// Name of the engine.
    pub engine: &'a str,
}

/// The overrides in force.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    list: Vec<Override>,
    /// The file they came from.
    pub path: Option<PathBuf>,
}

/// The rules file of the user for an executable: its own, else the general one.
fn automatic(exe: &str) -> Option<PathBuf> {
    let folder = samplin_platform::config_folder()?.join("samplin");
    let own = (!exe.contains('/')).then(|| folder.join(format!("{exe}.toml")));
    own.into_iter().chain([folder.join("samplin.toml")]).find(|path| samplin_platform::is_file(path))
}

/// Every rules file that some executable of this user gets without asking for one.
pub fn automatic_files() -> Vec<PathBuf> {
    let Some(folder) = samplin_platform::config_folder().map(|folder| folder.join("samplin")) else {
        return Vec::new();
    };
    let mut files = samplin_platform::list(&folder);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

impl Overrides {
    /// Finds and reads the rules file: the one that the setting names, else the user's for this executable.
    pub fn find(setting: Option<&str>, exe: &str) -> (Self, Vec<Problem>) {
        match Self::path_of(setting, exe) {
            Some(path) => Self::load(&path),
            None => (Self::default(), Vec::new()),
        }
    }

    /// The file that [`Overrides::find`] reads, which may come to be another one.
    pub fn path_of(setting: Option<&str>, exe: &str) -> Option<PathBuf> {
        setting.map(samplin_platform::home_path).or_else(|| automatic(exe))
    }

    /// Reads overrides from the text of a file. Never fails: what is wrong is among the problems.
    pub fn parse(path: &Path, content: &str) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut problem = |at: usize, message: String| {
            let (line, column) = position(content, at);
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
        let mut overrides: Vec<Override> = Vec::new();
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
                // What follows a syntax error inside an override may belong anywhere, so such an override is not applied.
                let end = list.get(number + 1).map_or(content.len(), |next| next.span().start);
                if broken.iter().any(|at| (span.start..end).contains(at)) {
                    continue;
                }
                if overrides.len() == MAX_OVERRIDES {
                    problem(
                        span.start,
                        format!("there are more than {MAX_OVERRIDES} rules; this one and later ones are left out"),
                    );
                    break;
                }
                match read::one(number, position(content, span.start).0, item) {
                    Ok(one) => overrides.push(one),
                    Err(complaints) => complaints.into_iter().for_each(|Complaint(at, message)| problem(at, message)),
                }
            }
        }
        // Keys of a table come sorted by name.
        problems.sort_by_key(|problem| (problem.line, problem.column));
        (Self { list: overrides, path: Some(path.to_path_buf()) }, problems)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> (Self, Vec<Problem>) {
        match samplin_platform::read_text(path) {
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

    /// Whether there is no override.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether any override is about samplers.
    pub fn use_samplers(&self) -> bool {
        self.list.iter().any(|one| one.of_pipelines == Some(false))
    }

    /// Whether any override is about pipelines.
    pub fn use_pipelines(&self) -> bool {
        self.list.iter().any(|one| one.of_pipelines == Some(true))
    }

    /// Whether these do the same as others.
    pub fn do_the_same(&self, others: &Self) -> bool {
        self.list.len() == others.list.len()
            && self.list.iter().zip(&others.list).all(|(one, other)| one.is_like(other))
    }

    /// The names of those that others do not have so.
    pub fn news<'a>(&'a self, others: &'a Self) -> impl Iterator<Item = &'a str> {
        self.iter().filter(|one| !others.iter().any(|other| one.is_like(other))).map(|one| one.name.as_str())
    }

    /// What matches a sampler that is there when overrides change: the bits that [`Overrides::match_sampler`] would have, and whether that
    /// is another thing than the `bits` of `before`. By order of creation and by name match what did so before.
    pub fn match_again(&self, before: &Self, bits: u64, state: &SamplerState, fingerprint: u64) -> (u64, bool) {
        let own = |list: &Self, bits: u64| -> Vec<Override> {
            list.list
                .iter()
                .enumerate()
                .filter(|(index, _)| bits >> index & 1 == 1)
                .map(|(_, one)| one.clone())
                .collect()
        };
        let old = own(before, bits);
        let mut now = self.match_sampler(state, fingerprint, 0, None);
        for (index, one) in self.list.iter().enumerate() {
            if (one.when.nth.is_some() || one.when.name.is_some()) && old.iter().any(|other| other.when == one.when) {
                now |= 1 << index;
            }
        }
        let new = own(self, now);
        (now, new.len() != old.len() || !new.iter().zip(&old).all(|(one, other)| one.is_like(other)))
    }

    /// Whether both ask for the same of pipelines, as far as their names and what they set tell.
    pub fn same_for_pipelines(&self, other: &Self) -> bool {
        let of = |one: &Override| Some((one.name.clone(), one.shading?));
        self.iter().filter_map(of).eq(other.iter().filter_map(of))
    }

    /// The overrides in order.
    pub fn iter(&self) -> impl Iterator<Item = &Override> {
        self.list.iter()
    }

    /// The overrides that this process can ever match, whatever the device.
    #[must_use]
    pub fn for_host(&self, host: &Host<'_>) -> Self {
        let fits = |pattern: &Option<Glob>, text: &str| pattern.as_ref().is_none_or(|glob| glob.matches(text));
        let overrides = self.list.iter().filter(|one| {
            fits(&one.when.exe, host.exe) && fits(&one.when.app, host.app) && fits(&one.when.engine, host.engine)
        });
        Self { list: overrides.cloned().collect(), path: self.path.clone() }
    }

    /// Whether any override looks at quirks.
    pub fn use_quirks(&self) -> bool {
        self.list.iter().any(|one| one.when.quirk.is_some())
    }

    /// The overrides among these that a device of this name and with these quirks can match.
    #[must_use]
    pub fn for_device(&self, name: &str, quirks: Quirks) -> Self {
        let fits = |one: &&Override| {
            let when = &one.when;
            when.driver.as_ref().is_none_or(|glob| glob.matches(name))
                && when.quirk.is_none_or(|quirk| quirks.has(quirk))
        };
        Self { list: self.list.iter().filter(fits).cloned().collect(), path: self.path.clone() }
    }

    /// Whether any override can switch anisotropy on.
    pub fn want_anisotropy(&self) -> bool {
        self.list.iter().any(|one| one.wish.max_anisotropy.is_some_and(|degree| degree > 1.0))
    }

    /// Whether any override uses an address mode of OpenGL.
    pub fn use_gl(&self) -> bool {
        self.list.iter().any(|one| one.wish.uses_gl())
    }

    /// Whether any override among these bits demotes immutable samplers: with this view, or with some view.
    pub fn demote(&self, bits: u64, view: Option<&ViewTraits>) -> bool {
        for (index, one) in self.list.iter().enumerate() {
            if bits >> index & 1 == 0 || !view.is_none_or(|view| one.when.fits_view(view)) {
                continue;
            }
            if one.demotes || one.stop && view.is_some() {
                return one.demotes;
            }
        }
        false
    }

    /// The overrides among these bits that switch repairs off, up to the first that stops: for a view; or whatever the view is and
    /// whatever the name, which a sampler has not when it is created.
    pub fn exempting<'a>(&'a self, bits: u64, view: Option<&'a ViewTraits>) -> impl Iterator<Item = &'a Override> {
        let fits = move |one: &Override| match view {
            Some(view) => one.when.fits_view(view),
            None => !one.when.asks_for_view() && one.when.name.is_none(),
        };
        self.those(move |index, one| bits >> index & 1 == 1 && fits(one)).filter(|one| !one.exempt.is_empty())
    }

    /// What is switched off for a sampler of these bits: when it was created, and with a view.
    pub fn off(&self, bits: u64, view: Option<&ViewTraits>) -> Off {
        if bits == 0 {
            return Off::NONE;
        }
        let all = |view| self.exempting(bits, view).fold(Exempt::NONE, |all, one| all.union(one.exempt));
        Off { created: all(None), pair: view.map_or(Exempt::NONE, |view| all(Some(view))) }
    }

    /// The overrides that switch off what is repaired without a sampler, of a format: of blits and conversions.
    pub fn exempting_format<'a>(&'a self, of: &'a ViewTraits) -> impl Iterator<Item = &'a Override> {
        let fits = move |one: &Override| {
            let asks_for_levels = one.when.min_levels.is_some() || one.when.max_levels.is_some();
            !one.when.asks_for_sampler() && !asks_for_levels && one.when.fits_view(of)
        };
        self.those(move |_, one| one.of_pipelines != Some(true) && fits(one)).filter(|one| !one.exempt.is_empty())
    }

    /// Whether any override looks at the number of mip levels.
    pub fn use_levels(&self) -> bool {
        self.list.iter().any(|one| one.when.min_levels.is_some() || one.when.max_levels.is_some())
    }

    /// Whether any override looks at debug names.
    pub fn use_names(&self) -> bool {
        self.list.iter().any(|one| one.when.name.is_some())
    }

    /// One bit for each override whose conditions on the sampler fit: its state, its fingerprint, that it is the `nth` created (from
    /// 1), and its debug name.
    pub fn match_sampler(&self, state: &SamplerState, fingerprint: u64, nth: u64, name: Option<&str>) -> u64 {
        let mut bits = 0;
        for (index, one) in self.list.iter().enumerate() {
            let when = &one.when;
            let fits = one.of_pipelines != Some(true)
                && (when.fingerprints.is_empty() || when.fingerprints.contains(&fingerprint))
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

    /// One bit for each override that looks at names and that a sampler of this name fits. Overrides that also look at the order of
    /// creation are not among them: that is not known any more.
    pub fn match_name(&self, state: &SamplerState, fingerprint: u64, name: &str) -> u64 {
        let all = self.match_sampler(state, fingerprint, 0, Some(name));
        let by_name = |(index, one): (usize, &Override)| if one.when.name.is_some() { 1 << index } else { 0 };
        all & self.list.iter().enumerate().map(by_name).sum::<u64>()
    }

    /// The overrides among `bits` that fit the view, in order, up to the first that stops.
    pub fn for_view<'a>(&'a self, bits: u64, view: &'a ViewTraits) -> impl Iterator<Item = &'a Override> {
        self.those(move |index, one| bits >> index & 1 == 1 && one.when.fits_view(view)).filter(|one| one.wishes())
    }

    /// The overrides among `bits` that hold where no view is known, in order, up to the first that stops.
    pub fn alone(&self, bits: u64) -> impl Iterator<Item = &Override> {
        self.those(move |index, one| bits >> index & 1 == 1 && one.alone).filter(|one| one.wishes())
    }

    /// The overrides that fit a pipeline, in order, up to the first that stops: so many samples, and whether what it draws is blended with
    /// what is there. What is not known before something is drawn fits no condition on it.
    pub fn for_pipeline(&self, samples: Option<u32>, blended: Option<bool>) -> impl Iterator<Item = &Override> {
        let within = move |least: Option<u32>, most: Option<u32>| {
            least.is_none_or(|least| samples.is_some_and(|samples| samples >= least))
                && most.is_none_or(|most| samples.is_some_and(|samples| samples <= most))
        };
        self.those(move |_, one| {
            let when = &one.when;
            let blends = when.blended.is_none_or(|wanted| blended == Some(wanted));
            one.of_pipelines != Some(false) && blends && within(when.min_samples, when.max_samples)
        })
    }

    fn those(&self, fits: impl Fn(usize, &Override) -> bool) -> impl Iterator<Item = &Override> {
        let mut stopped = false;
        self.list.iter().enumerate().filter(move |(index, one)| fits(*index, one)).map(|(_, one)| one).take_while(
            move |one| {
                let before = stopped;
                stopped |= one.stop;
                !before
            },
        )
    }
}

impl Override {
    /// Whether another one does the same, whatever it is called.
    fn is_like(&self, other: &Self) -> bool {
        let Self {
            name: _,
            line: _,
            when,
            wish,
            scale: _,
            shading,
            demotes,
            of_pipelines,
            guards_off,
            exempt,
            stop,
            alone,
        } = self;
        let own = (when, wish, shading, demotes, of_pipelines);
        own == (&other.when, &other.wish, &other.shading, &other.demotes, &other.of_pipelines)
            && (guards_off, exempt, stop, alone) == (&other.guards_off, &other.exempt, &other.stop, &other.alone)
    }

    /// Whether it has more to say than which repairs are switched off.
    fn wishes(&self) -> bool {
        self.exempt.is_empty() || self.wish != Wish::default()
    }

    /// What outcomes look at.
    pub fn wished(&self) -> outcome::Wished<'_> {
        outcome::Wished { name: &self.name, wish: &self.wish, guards_off: self.guards_off }
    }
}

impl When {
    /// Whether it matches some views and not others.
    fn asks_for_view(&self) -> bool {
        let Self { format, class, min_levels, max_levels, .. } = self;
        format.is_some() || class.is_some() || min_levels.is_some() || max_levels.is_some()
    }

    /// Whether it looks at the sampler.
    fn asks_for_sampler(&self) -> bool {
        let modes = self.mag_filter.is_some() || self.min_filter.is_some() || self.mipmap_mode.is_some();
        let flags = [self.compare, self.anisotropy, self.unnormalized].iter().any(Option::is_some);
        let which = !self.fingerprints.is_empty() || self.nth.is_some() || self.name.is_some();
        modes || flags || which || self.address_mode.is_some()
    }

    #[inline(never)]
    fn fits_view(&self, view: &ViewTraits) -> bool {
        let class = |class: Class| match class {
            Class::Color => view.aspect == decide::Aspect::Color,
            Class::Depth => view.aspect == decide::Aspect::Depth,
            Class::Stencil => view.aspect == decide::Aspect::Stencil,
            Class::Float => !view.is_integer(),
            Class::Integer => view.is_integer(),
            Class::Srgb => samplin_core::format::is_srgb(view.format),
        };
        self.format.as_ref().is_none_or(|glob| glob.matches_format(view.format))
            && self.class.is_none_or(class)
            && self.min_levels.is_none_or(|min| view.levels >= min)
            && self.max_levels.is_none_or(|max| view.levels <= max)
    }
}

#[cfg(test)]
mod tests;
