//! What storage images and shaders come to: usages of views and images, formats that are lowered or relaxed, samples and counters.
//!
//! Views and images are decided from what their records say. Shaders are not in a trace, but what the passes would make of each on devices
//! that can do less is (`could`): which of that happens follows from what the predicted device lacks. What no capability file tells
//! (whether samples are shaded, how many words a mask has) is as it was recorded.

use std::collections::HashMap;

use ash::vk::{self, FormatFeatureFlags2 as Feature};
use samplin_core::decide::{self, Change as Decided, Context, DeviceCaps, Rule, ViewUsage};
use samplin_core::features::Tiling;
use samplin_core::left::{Cause, Explained, Left};
use samplin_core::names::{self, Spirv};
use samplin_core::storage::{self, StorableFormats, lowers};
use samplin_wire::read;
use serde_json::{Map, Value, json};

use super::{Prediction, text};

type Usage = vk::ImageUsageFlags;
type Flags = vk::ImageCreateFlags;

/// What a process does about storage images on its device.
#[derive(Debug, Default)]
pub(super) struct Storage {
    /// The setting.
    emulates: bool,
    /// The formats that shaders do without, of images and of texel buffers.
    lowered: [u64; 2],
    /// What integers of images can be stored.
    stored: u64,
    /// Images by handle.
    images: HashMap<u64, Image>,
}

/// What is kept of an image for its views.
#[derive(Clone, Copy, Debug)]
struct Image {
    format: vk::Format,
    tiling: Tiling,
    /// Its create flags as they reach the driver.
    flags: u64,
    reachable: u64,
    aliased: bool,
}

const STORAGE: u64 = Usage::STORAGE.as_raw() as u64;
const ATTACHMENTS: u64 = (Usage::COLOR_ATTACHMENT.as_raw()
    | Usage::DEPTH_STENCIL_ATTACHMENT.as_raw()
    | Usage::INPUT_ATTACHMENT.as_raw()) as u64;

impl Storage {
    /// That of a process whose device could do what its record says.
    pub(super) fn new(prediction: &Prediction, device: &Value, emulates: bool) -> Self {
        let there = |needed, buffer: bool| {
            let features = |format| prediction.simulation.reported().features(format);
            StorableFormats::of(
                &mut |format| if buffer { features(format).buffer } else { features(format).optimal },
                needed,
            )
        };
        let there = [there(Feature::STORAGE_IMAGE, false), there(Feature::STORAGE_TEXEL_BUFFER, true)];
        let here = read::stored(device).filter(|_| !prediction.alone);
        let known = here.map_or(there, |[images, buffers]| [images.both(there[0]), buffers.both(there[1])]);
        let lowered = if emulates { known.map(StorableFormats::lowered) } else { [0; 2] };
        Self { emulates, lowered, stored: known[0].stored, images: HashMap::new() }
    }

    /// Whether the format of integers that stands in for a format can be stored.
    fn stores_alias_of(&self, format: vk::Format) -> bool {
        storage::stand_in(format).is_some_and(|number| self.stored >> number & 1 != 0)
    }
}

fn is_any(flags: u64, of: Flags) -> bool {
    flags & u64::from(of.as_raw()) != 0
}

impl Prediction {
    pub(super) fn image(&mut self, process: u32, value: &Value) {
        let Some((caps, format, class)) = self.described(process, "image", value, read::image_class(value)) else {
            return;
        };
        let of = |one, recorded| self.features(one, recorded, class.tiling);
        let own = of(format, class.features);
        let listed: Option<Vec<(vk::Format, Option<Feature>)>> =
            class.views.map(|views| views.into_iter().map(|(one, recorded)| (one, of(one, recorded))).collect());
        let Some(host) = self.hosts.get_mut(&process) else { return };
        let mut image =
            Image { format, tiling: class.tiling, flags: class.flags, reachable: class.usage, aliased: false };
        let asked = ImageRequest { flags: class.flags, usage: class.usage, own, listed: listed.as_deref() };
        let change = asked.change(&mut image, &host.storage, &caps);
        let handle = text(value, "image").and_then(|handle| u64::from_str_radix(handle.strip_prefix("0x")?, 16).ok());
        if let Some(handle) = handle {
            host.storage.images.insert(handle, image);
        }
        let flags = Flags::from_raw(class.flags as u32);
        let why = storage::unstored(format, flags, Usage::from_raw(class.usage as u32), own);
        let why = why.filter(|_| change.is_none());
        self.images += 1;
        let context = Context { source: Some(format), tiling: class.tiling, ..Context::new(&caps) };
        self.push_of(value, change.as_slice(), &context, None);
        if let Some(why) = why {
            self.left(value, why, Rule::StorageFormat, json!({ "format": names::format(format) }));
        }
    }

    pub(super) fn view(&mut self, process: u32, value: &Value) {
        // Which aspect descriptors show of a view with two is the same on every device.
        if value.get("path").is_some() {
            if self.first("view", value.to_string()) {
                self.records.push(value.clone());
            }
            return;
        }
        let Some((caps, format, class)) = self.described(process, "view", value, read::usage_class(value)) else {
            return;
        };
        let Some(host) = self.hosts.get(&process) else { return };
        // Of a swapchain there is no record, and its images have no list.
        let known = host.storage.images.get(&class.image).copied();
        let image = known.unwrap_or(Image {
            format,
            tiling: Tiling::Optimal,
            flags: 0,
            reachable: class.inherited,
            aliased: false,
        });
        let lowers = lowers(host.storage.lowered[0], format);
        self.images += 1;
        let context = Context { source: Some(format), tiling: image.tiling, ..Context::new(&caps) };
        let usage = class.stated.unwrap_or(class.inherited);
        let Some(features) = self.features(format, class.features, image.tiling) else {
            return self.push_of(value, &[], &context, None);
        };
        let left = decide::usage_beside_storage(usage, features);
        if let (true, true, true, Some(alias)) = (lowers, image.aliased, usage & STORAGE != 0, storage::alias(format))
            && !(caps.imageless_framebuffer && left & ATTACHMENTS != 0)
        {
            let change = decide::stored_elsewhere(format, alias, usage, left);
            return self.push_of(value, &[change], &context, Some(alias));
        }
        let gone = decide::unsupported_usage(usage, features);
        let asked = ViewUsage {
            features,
            inherited: class.inherited,
            of_image: image.reachable,
            can_state_usage: caps.view_usage,
            imageless: caps.imageless_framebuffer,
        };
        let is_looked_at =
            gone != 0 && known.is_none_or(|image| decide::may_lack_usage(image.flags, format == image.format));
        match decide::view_usage(&asked) {
            _ if !is_looked_at => self.push_of(value, &[], &context, None),
            Ok((_, changes)) if class.stated.is_none() => {
                let changes: Vec<Decided> = changes.iter().copied().collect();
                self.push_of(value, &changes, &context, None);
            }
            kept => {
                let why = kept.err().filter(|_| class.stated.is_none()).unwrap_or(Cause::StatedUsage);
                let about = json!({ "format": names::format(format), "usage": names::image_usage(gone) });
                self.push_of(value, &[], &context, None);
                self.left(value, why, Rule::ViewUsage, about);
            }
        }
    }

    /// A record of what a pass could make of a shader, or any other as it was recorded.
    pub(super) fn shader(&mut self, process: u32, value: &Value) {
        let Some(host) = self.hosts.get(&process) else { return };
        let pass = text(value, "pass").unwrap_or_default();
        let Some(could) = text(value, "could") else {
            // What counters and masks come to no capability file tells, and neither of what pipelines ask for. What else was done to
            // modules is decided from what could be.
            if ["atomic_counters", "sample_mask", "multisample_state"].contains(&pass) {
                self.records.push(value.clone());
            }
            return;
        };
        let happens = Happens { caps: host.caps, emulates: host.storage.emulates, lowered: host.storage.lowered };
        if !self.first("shader", value.to_string()) {
            return;
        }
        let module = value.get("module");
        if self.first("module", module.map(Value::to_string).unwrap_or_default()) {
            self.modules += 1;
        }
        if !happens.asks(could) {
            return;
        }
        let all = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
        // The trace does not say for which formats a module would be left.
        for name in all("left").filter_map(Value::as_str).filter(|_| !["images", "buffers"].contains(&could)) {
            let Some(left) = Left::of(name) else {
                self.misunderstood("shader");
                continue;
            };
            let rule = match left {
                Left::ImageEscapes | Left::ImageAtomics => Rule::StorageFormat,
                _ if could == "samples" => Rule::SampleShading,
                _ => Rule::StorageAccess,
            };
            let about = json!({ "module": module, "pass": pass });
            self.left(value, left, rule, about);
        }
        let mut changes: Vec<Value> = all("would").filter(|change| happens.is_made(could, change)).cloned().collect();
        if changes.is_empty() {
            return;
        }
        // One record a pass, as the layer writes it: images come before texel buffers.
        let is_same = |last: &&mut Value| last.get("module") == module && text(last, "pass") == Some(pass);
        if let Some(Value::Array(before)) =
            self.records.last_mut().filter(is_same).and_then(|last| last.get_mut("changes"))
        {
            before.append(&mut changes);
            return;
        }
        let mut members = value.as_object().cloned().unwrap_or_default();
        for key in ["could", "would", "left"] {
            members.remove(key);
        }
        members.insert("changes".into(), changes.into());
        self.records.push(Value::Object(members));
    }

    /// What a record of an image or a view is decided from; none of one that was seen before. One that holds too little is left out, and
    /// counted if something was changed.
    fn described<C>(
        &mut self,
        process: u32,
        what: &'static str,
        value: &Value,
        class: Option<C>,
    ) -> Option<(DeviceCaps, vk::Format, C)> {
        let caps = self.hosts.get(&process)?.caps;
        let (Some(format), Some(class)) = (read::format_of(value), class) else {
            let changed = value.get("changes").and_then(Value::as_array).is_some_and(|changes| !changes.is_empty());
            if changed {
                self.misunderstood(what);
            }
            return None;
        };
        self.first(what, value.to_string()).then_some((caps, format, class))
    }

    fn push_of(&mut self, value: &Value, changes: &[Decided], context: &Context<'_>, alias: Option<vk::Format>) {
        self.push(value, changes, context, |members| {
            members.remove("alias_format");
            if let Some(alias) = alias {
                members.insert("alias_format".into(), names::format(alias).into());
            }
        });
    }

    /// Something that is left, said once.
    fn left(&mut self, value: &Value, of: impl Into<Explained>, rule: Rule, about: Value) {
        let Explained { what, why } = of.into();
        let what = what.name();
        if !self.first("unresolved", format!("{what} {why} {about}")) {
            return;
        }
        let mut members = about.as_object().cloned().unwrap_or_else(Map::new);
        for key in ["seq", "t_ns", "pid", "tid"] {
            members.insert(key.into(), value.get(key).cloned().unwrap_or_default());
        }
        members.insert("event".into(), "unresolved".into());
        members.insert("what".into(), what.into());
        members.insert("why".into(), (*why).into());
        members.insert("rule".into(), rule.name().into());
        self.records.push(Value::Object(members));
    }
}

/// What an image is asked for with.
struct ImageRequest<'a> {
    flags: u64,
    usage: u64,
    own: Option<Feature>,
    listed: Option<&'a [(vk::Format, Option<Feature>)]>,
}

impl ImageRequest<'_> {
    /// What changes of it, as the layer decides where the driver has such an image; the rest of what its views depend on goes to `image`.
    fn change(&self, image: &mut Image, storage: &Storage, caps: &DeviceCaps) -> Option<Decided> {
        let is_listed = |format| self.listed.is_none_or(|all| all.iter().any(|(one, _)| *one == format));
        let lowers = |format| lowers(storage.lowered[0], format);
        let alias = storage::alias(image.format).filter(|_| storage.stores_alias_of(image.format));
        let wanted = lowers(image.format)
            || is_any(self.flags, Flags::MUTABLE_FORMAT)
                && self.listed.is_some_and(|all| all.iter().any(|(one, _)| lowers(*one)));
        let imageless = caps.imageless_framebuffer && self.usage & ATTACHMENTS != 0;
        let can_change = caps.view_usage && image.tiling != Tiling::Modifier && !imageless;
        let sparse = is_any(self.flags, Flags::SPARSE_BINDING | Flags::SPARSE_RESIDENCY);
        let own_flags = Flags::from_raw(self.flags as u32);
        let flags = storage::flags_with_alias(own_flags, self.own.unwrap_or_default());
        if let (Some(alias), true, true) = (alias, wanted, self.usage & STORAGE != 0) {
            let is_as_it_is = flags == own_flags && (self.listed.is_none() || is_listed(alias));
            image.aliased = is_as_it_is || can_change && !sparse;
            if image.aliased && !is_as_it_is {
                image.flags = flags.as_raw().into();
                return Some(decide::viewed_as_integers(self.flags, image.flags));
            }
        }
        let features = || self.listed.into_iter().flatten().filter_map(|(_, features)| *features);
        let wider = match self.own.filter(|_| can_change && self.listed.is_some()) {
            Some(own) => decide::image_flags(self.flags, self.usage, own, features()),
            None => None,
        };
        image.flags = wider.map_or(self.flags, |(flags, _)| flags);
        if let Some(own) = self.own.filter(|_| !image.aliased) {
            let mut all = features();
            let listed = self.listed.map(|_| &mut all as &mut dyn Iterator<Item = Feature>);
            image.reachable = decide::reachable_usage(self.usage, image.flags, own, listed);
        }
        wider.map(|(_, change)| change)
    }
}

/// Which of the outcomes of a record there are on the predicted device.
struct Happens {
    caps: DeviceCaps,
    emulates: bool,
    lowered: [u64; 2],
}

impl Happens {
    /// Whether the device asks for it.
    fn asks(&self, outcome: &str) -> bool {
        let (read, write) = (self.caps.storage_read_without_format, self.caps.storage_write_without_format);
        match outcome {
            "access" => !(self.caps.format_feature_flags2 || read && write),
            "relaxed" => self.emulates && read && write,
            "relaxed_to_read" => self.emulates && read && !write,
            "relaxed_to_write" => self.emulates && !read && write,
            "images" => self.lowered[0] != 0,
            "buffers" => self.lowered[1] != 0,
            "samples" => !self.caps.sample_rate_shading,
            _ => false,
        }
    }

    /// Whether this change of it is made.
    fn is_made(&self, outcome: &str, change: &Value) -> bool {
        let (read, write) = (self.caps.storage_read_without_format, self.caps.storage_write_without_format);
        let of = |key: &str| text(change, key).unwrap_or_default();
        let lowered = |formats: u64| {
            let named = |number: &u32| names::spirv(Spirv::ImageFormat, *number) == of("from");
            (0..64).find(named).is_some_and(|number| formats >> number & 1 != 0)
        };
        match outcome {
            "access" => match (of("from"), of("to")) {
                ("StorageImageReadWithoutFormat", _) | (_, "NonReadable") => !read,
                _ => !write,
            },
            "images" => lowered(self.lowered[0]),
            "buffers" => lowered(self.lowered[1]),
            _ => true,
        }
    }
}
