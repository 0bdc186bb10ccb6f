//! What becomes of each use of a sampler.
//!
//! Uses that read one descriptor share its sampler. Where the images need different ones a link can be split, so that it reads a sampler
//! of its own, or the sampler of the descriptor is exchanged for all that read it. The answer depends on values alone.

use std::ops::Range;

use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};

use crate::push::Other;

/// A descriptor: set number, binding, element.
pub type At = (u32, u32, u32);

/// Most links of a pipeline that can be split: bits of a word.
pub const LINKS: usize = 64;

/// The bit of a link, by its position; 0 of one that cannot be split.
pub const fn link_bit(link: usize) -> u64 {
    if link < LINKS { 1 << link } else { 0 }
}

/// One use of a sampler: a link with one of the descriptors that it may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// The link, by its position.
    pub link: usize,
    /// The descriptor of the sampler.
    pub sampler_at: At,
    /// That of the image; the same one in a descriptor that holds both.
    pub image_at: At,
    /// The application's sampler there.
    pub given: u64,
    /// The sampler that the image needs.
    pub wanted: u64,
    /// There is an image to read.
    pub has_image: bool,
    /// Image or sampler may be another one after the bind.
    pub loose: bool,
    /// The shader divides the coordinates, for a sampler of the link's own.
    pub divides: bool,
    /// The shader compares where it is given another sampler.
    pub compares: bool,
    /// The shader fetches texels and reads no sampler.
    pub fetches: bool,
}

impl Use {
    /// The link's bit.
    pub const fn bit(&self) -> u64 {
        link_bit(self.link)
    }

    /// Whether it needs another sampler.
    pub const fn changes(&self) -> bool {
        self.wanted != self.given
    }

    /// Whether it reads the sampler of its descriptor. `split`: links that read samplers of their own.
    pub const fn reads(&self, split: u64) -> bool {
        self.has_image && !self.fetches && split & self.bit() == 0
    }

    const fn is_combined(&self) -> bool {
        self.image_at.0 == self.sampler_at.0
            && self.image_at.1 == self.sampler_at.1
            && self.image_at.2 == self.sampler_at.2
    }
}

/// How a link is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A copy of the set is bound, with another sampler.
    Shadow,
    /// The sampler is pushed again.
    Push,
    /// The shader reads another sampler, from a set of the layer's own.
    Split,
    /// The shader fetches texels, and reads no sampler.
    Fetch,
    /// The shader looks up which sampler suits what it indexes.
    Table,
}

impl How {
    /// Its name in the trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shadow => "shadow",
            Self::Push => "push",
            Self::Split => "split",
            Self::Fetch => "fetch",
            Self::Table => "table",
        }
    }
}

/// What to do where images of one sampler need different ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shared {
    /// Links are split.
    #[default]
    Split,
    /// All get the one that suits all, if there is one; else links are split.
    Meet,
    /// The application's sampler stays.
    Keep,
}

/// What is known of a pipeline's links, and of what was tried before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Links<'a> {
    /// Links that are split.
    pub split: u64,
    /// Links that cannot be.
    pub refused: u64,
    /// Why no link can read a sampler of its own, if none can.
    pub unhidden: Option<Left>,
    /// Why not all links are known, so that no sampler of a set is exchanged.
    pub blind: Option<Left>,
    /// Set number and binding of samplers that are read in ways which are not known.
    pub blocked: &'a [(u32, u32)],
    /// What to do where images need different samplers.
    pub shared: Shared,
    /// Every link that can be split is.
    pub forced: bool,
}

/// What lies behind uses, by their positions.
pub trait Facts {
    /// Whether the user's wishes ask for the sampler, and no rule does.
    fn is_wish(&self, of: usize) -> bool;

    /// Whether the user switched off what the use needs, so that it keeps its sampler whatever others get.
    fn is_exempt(&self, of: usize) -> bool;

    /// Whether the sampler that one wants suits the image of another.
    fn suits(&self, of: usize, other: usize) -> bool;

    /// Whether the sampler of a binding may be exchanged for all that read it.
    fn exchange(&self, set: u32, binding: u32) -> Result<How, Left>;

    /// Why one of these links cannot be split, if one cannot.
    fn reason(&self, links: u64) -> Option<Left>;
}

/// What becomes of the uses of one sampler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their positions.
    pub uses: Range<usize>,
    /// How those are repaired that read the sampler of the descriptor, or why they are not.
    pub how: Result<How, Left>,
    /// The use whose sampler serves them all, if they disagree.
    pub met: Option<usize>,
}

/// What becomes of all uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Links to split first. Then the rest is planned anew.
    pub join: u64,
    /// Set numbers, and what is exchanged there.
    pub others: Vec<(u32, Other)>,
    /// The uses of each sampler, in their order.
    pub groups: Vec<Group>,
}

/// Plans the repair of all uses, which come in the order of their samplers' descriptors.
pub fn plan(uses: &[Use], links: &Links<'_>, facts: &impl Facts) -> Plan {
    // What may be another descriptor after the bind reads none of the layer's own.
    let loose = uses.iter().filter(|used| used.loose).fold(0, |all, used| all | used.bit());
    let links = &Links { refused: links.refused | loose, ..*links };
    let mut plan = Plan::default();
    let mut start = 0;
    for group in uses.chunk_by(|one, two| one.sampler_at == two.sampler_at) {
        let group = start..start + group.len();
        start = group.end;
        plan.group(&Planned { uses, links, facts }, group);
    }
    if links.unhidden.is_none() {
        let divided = uses.iter().filter(|used| used.divides).fold(0, |all, used| all | used.bit());
        plan.join |= divided & !links.refused & !links.split;
    }
    plan
}

struct Planned<'a, F> {
    uses: &'a [Use],
    links: &'a Links<'a>,
    facts: &'a F,
}

impl Plan {
    fn group<F: Facts>(&mut self, by: &Planned<'_, F>, group: Range<usize>) {
        let Planned { uses, links, facts } = *by;
        let own = memory::collect(group.clone().filter(|at| uses[*at].reads(links.split)));
        let own = &own[..];
        let changes = |used: &Use| used.changes() || links.forced && !used.is_combined();
        let asks = own.iter().map(|at| &uses[*at]).filter(|used| changes(used) && !used.loose);
        let asks = asks.fold(0, |all, used| all | used.bit());
        let forced = links.forced && links.unhidden.is_none() && asks & !links.refused != 0;
        let first = own.iter().copied().find(|at| uses[*at].changes() || forced);
        let Some(first) = first.map(|at| uses[at]) else {
            return self.groups.with_room().push(Group { uses: group, how: Ok(How::Split), met: None });
        };
        let agree = own.iter().all(|at| uses[*at].wanted == first.wanted);
        let meets = !agree && !forced && links.shared == Shared::Meet && own.iter().all(|at| !uses[*at].compares);
        let met = if meets { by.meet(own) } else { None };
        let common = match met {
            Some(at) => Some(uses[at].wanted),
            None if agree => Some(first.wanted),
            None => by.most_wished(own),
        };
        let agree = agree || met.is_some();
        let rest = || own.iter().map(|at| &uses[*at]).filter(|used| Some(used.wanted) != common);
        let splits = links.unhidden.is_none() && links.shared != Shared::Keep;
        let may_part = agree || splits && rest().all(|used| used.bit() & !links.refused != 0);
        let (set, binding, element) = first.sampler_at;
        let exchange = match links.blind {
            _ if forced => Err(Left::SharedSampler),
            Some(why) => Err(why),
            None if links.blocked.contains(&(set, binding)) => Err(Left::Bindless),
            None if own.iter().any(|at| uses[*at].loose) => Err(Left::UpdateAfterBind),
            // There is no sampler to exchange beside the image.
            None if own.iter().any(|at| uses[*at].is_combined()) => Err(Left::ImmutableSampler),
            None if common.is_none() || !may_part => Err(Left::SharedSampler),
            None => facts.exchange(set, binding),
        };
        match exchange {
            // They read samplers of their own from then on.
            Ok(_) if !agree => self.join |= rest().fold(0, |all, used| all | used.bit()),
            Ok(how) => {
                self.others.with_room().push((set, (binding, element, common.unwrap_or(first.wanted))));
                self.groups.with_room().push(Group { uses: group, how: Ok(how), met });
            }
            Err(left) => {
                let keeps = left == Left::SharedSampler && links.shared == Shared::Keep;
                let is_parted = matches!(left, Left::SharedSampler | Left::ImmutableSampler);
                let is_beyond = |used: &Use| changes(used) && !used.loose && used.bit() == 0;
                let left = match links.unhidden.filter(|_| asks != 0).or_else(|| facts.reason(asks)) {
                    _ if keeps => left,
                    Some(why) => why,
                    None if is_parted && own.iter().any(|at| is_beyond(&uses[*at])) => Left::TooManyLinks,
                    None => left,
                };
                self.join |= if links.unhidden.is_some() || keeps { 0 } else { asks & !links.refused };
                self.groups.with_room().push(Group { uses: group, how: Err(left), met: None });
            }
        }
    }
}

impl<F: Facts> Planned<'_, F> {
    /// The first use whose sampler suits the images of all.
    fn meet(&self, own: &[usize]) -> Option<usize> {
        if own.iter().any(|at| self.facts.is_exempt(*at)) {
            return None;
        }
        let may = |at: &&usize| self.uses[**at].changes() && !self.facts.is_wish(**at);
        own.iter().filter(may).copied().find(|at| own.iter().all(|other| self.facts.suits(*at, *other)))
    }

    /// The sampler that most uses want, if that is another one because of wishes: they are about most of what a sampler meets, and are held
    /// back from little.
    fn most_wished(&self, own: &[usize]) -> Option<u64> {
        if !own.iter().any(|at| self.uses[*at].changes() && self.facts.is_wish(*at)) {
            return None;
        }
        let count = |sampler| own.iter().filter(|at| self.uses[**at].wanted == sampler).count();
        let most = own.iter().map(|at| &self.uses[*at]).max_by_key(|used| (count(used.wanted), !used.changes()))?;
        Some(most.wanted).filter(|_| most.changes())
    }
}
