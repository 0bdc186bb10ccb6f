//! Random uses of samplers: whatever fails on the way, each use reads the sampler that it wants, or its own and the reason is named.
//!
//! `PLAN_CASES` cases from `PLAN_SEED` on.

use std::collections::{HashMap, HashSet};

use fastrand::Rng;
use samplin_bind::plan::{Facts, Group, How, Links, Plan, Shared, Use, link_bit, plan};
use samplin_core::left::Left;

/// What lies behind a case.
#[derive(Debug)]
struct World {
    uses: Vec<Use>,
    wishes: HashSet<usize>,
    exempt: HashSet<usize>,
    /// Uses whose image lacks what a sampler needs.
    unsuited: HashSet<(usize, u64)>,
    exchanges: HashMap<(u32, u32), Result<How, Left>>,
    /// Sets of which no copy can be made, and links that cannot be split; found out on the way.
    uncopied: Vec<u32>,
    refused: u64,
}

impl Facts for World {
    fn is_wish(&self, of: usize) -> bool {
        self.wishes.contains(&of)
    }

    fn is_exempt(&self, of: usize) -> bool {
        self.exempt.contains(&of)
    }

    fn suits(&self, of: usize, other: usize) -> bool {
        !self.unsuited.contains(&(other, self.uses[of].wanted))
    }

    fn exchange(&self, set: u32, binding: u32) -> Result<How, Left> {
        if self.uncopied.contains(&set) { Err(Left::Memory) } else { self.exchanges[&(set, binding)] }
    }

    fn reason(&self, links: u64) -> Option<Left> {
        (self.refused & links != 0).then_some(Left::OpaqueOperand)
    }
}

fn world(rng: &mut Rng) -> World {
    let links: Vec<(usize, bool)> = (0..rng.usize(1..6)).map(|link| (link, rng.u8(..4) == 0)).collect();
    let far = rng.u8(..4) == 0;
    let mut uses = Vec::new();
    for _ in 0..rng.usize(1..10) {
        let (link, is_combined) = links[rng.usize(..links.len())];
        let sampler_at = (rng.u32(..2), rng.u32(..2), rng.u32(..2));
        let image_at = if is_combined { sampler_at } else { (sampler_at.0, 7, rng.u32(..2)) };
        let given = 1 + u64::from(sampler_at.0 * 4 + sampler_at.1 * 2 + sampler_at.2);
        let wanted = if rng.bool() { given } else { 100 + rng.u64(..3) };
        uses.push(Use {
            link: if far && rng.bool() { link + 64 } else { link },
            sampler_at,
            image_at,
            given,
            wanted,
            has_image: rng.u8(..8) != 0,
            loose: rng.u8(..16) == 0,
            divides: rng.u8(..16) == 0,
            compares: rng.u8(..16) == 0,
            fetches: rng.u8(..16) == 0,
        });
    }
    uses.sort_by_key(|used| used.sampler_at);
    let some = |rng: &mut Rng, one_in: usize| (0..uses.len()).filter(|_| rng.usize(..one_in) == 0).collect();
    let left = [Left::ImmutableSampler, Left::UpdateAfterBind, Left::TooLarge, Left::LayoutDestroyed];
    let exchange = |rng: &mut Rng| match rng.usize(..6) {
        0 | 1 => Err(left[rng.usize(..left.len())]),
        2 => Ok(How::Push),
        _ => Ok(How::Shadow),
    };
    let mut unsuited = Vec::new();
    for at in 0..uses.len() {
        if rng.bool() {
            unsuited.push((at, 100 + rng.u64(..3)));
        }
    }
    World {
        wishes: some(rng, 4),
        exempt: some(rng, 8),
        unsuited: unsuited.into_iter().collect(),
        exchanges: (0..4).map(|at| ((at / 2, at % 2), exchange(rng))).collect(),
        uncopied: Vec::new(),
        refused: 0,
        uses,
    }
}

/// What was decided at the end.
struct Done {
    split: u64,
    unhidden: Option<Left>,
    plan: Plan,
}

/// Plans until nothing is left to do, as the layer does: links are split or refused, copies fail, and so does the set of the layer's own.
fn run(rng: &mut Rng, world: &mut World, mut links: Links<'_>) -> Done {
    let may_fail = rng.u8(..2) == 0;
    for _ in 0..32 {
        links.refused = world.refused;
        let own = links;
        let done = plan(&world.uses, &own, world);
        assert_eq!(done, plan(&world.uses, &own, world));
        if done.join != 0 {
            assert_eq!(done.join & (links.refused | links.split), 0, "{done:?}");
            assert_eq!(links.unhidden, None);
            for link in (0..64).map(link_bit).filter(|link| done.join & link != 0) {
                if may_fail && rng.bool() { world.refused |= link } else { links.split |= link }
            }
            continue;
        }
        let copied = done.others.iter().map(|(set, _)| *set).find(|_| may_fail && rng.u8(..8) == 0);
        if let Some(set) = copied {
            world.uncopied.push(set);
            continue;
        }
        if links.split != 0 && links.unhidden.is_none() && may_fail && rng.u8(..8) == 0 {
            (links.unhidden, links.split) = (Some(Left::Memory), 0);
            continue;
        }
        return Done { split: links.split, unhidden: links.unhidden, plan: done };
    }
    panic!("no end: {world:?}");
}

fn check(world: &World, links: &Links<'_>, done: &Done) {
    let loose = world.uses.iter().filter(|used| used.loose).fold(0, |all, used| all | used.bit());
    let group_of = |at: usize| done.plan.groups.iter().find(|group| group.uses.contains(&at));
    assert_eq!(done.plan.groups.iter().map(|group| group.uses.len()).sum::<usize>(), world.uses.len());
    for (at, used) in world.uses.iter().enumerate() {
        let Group { uses, how, met } = group_of(at).unwrap();
        assert!(world.uses[uses.clone()].iter().all(|other| other.sampler_at == used.sampler_at));
        let (set, binding, element) = used.sampler_at;
        let other = done.plan.others.iter().find(|(at, (b, e, _))| (*at, *b, *e) == (set, binding, element));
        if let Some((_, (_, _, sampler))) = other {
            let own: Vec<_> = world.uses[uses.clone()].iter().filter(|used| used.reads(done.split)).collect();
            assert!(own.iter().all(|used| !used.loose && used.image_at != used.sampler_at), "{used:?}");
            assert!(own.iter().any(|used| used.wanted == *sampler), "{used:?}");
            assert_eq!((links.blind, links.blocked.contains(&(set, binding))), (None, false));
            assert_eq!(how.ok(), world.exchanges[&(set, binding)].ok());
        }
        if !used.has_image || used.fetches {
            continue;
        }
        let read = match other {
            _ if done.split & used.bit() != 0 => used.wanted,
            Some((_, (_, _, sampler))) => *sampler,
            None => used.given,
        };
        match *met {
            _ if read == used.wanted => {}
            Some(of) if read != used.given => {
                assert_eq!(read, world.uses[of].wanted);
                assert!(world.suits(of, at) && links.shared == Shared::Meet && !world.wishes.contains(&of));
            }
            // What needs another sampler and keeps its own is named, and it could not be split.
            _ => {
                assert!(how.is_err() && read == used.given, "{used:?} reads {read}: {how:?}");
                let may_split = used.bit() & !world.refused & !loose != 0 && done.unhidden.is_none();
                let keeps = links.shared == Shared::Keep && *how == Err(Left::SharedSampler);
                assert!(!may_split || keeps, "{used:?}: {how:?}");
            }
        }
    }
    // What is legal keeps its pipeline: a link is split for a use of its own that changes, or for a wish that most of the others have.
    let is_asked = |link: u64| {
        let own = || world.uses.iter().enumerate().filter(move |(_, used)| used.bit() == link);
        let is_wished = |used: &Use| {
            let same = |(at, other): (usize, &Use)| other.sampler_at == used.sampler_at && world.wishes.contains(&at);
            world.uses.iter().enumerate().any(same)
        };
        own().any(|(_, used)| used.changes() || used.divides || is_wished(used))
    };
    for link in (0..64).map(link_bit).filter(|link| done.split & link != 0) {
        assert!(links.forced || is_asked(link), "{link:#x}");
    }
}

#[test]
fn each_use_reads_what_it_wants_or_its_own_by_name() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let (cases, first) = (number("PLAN_CASES", 20_000), number("PLAN_SEED", 1));
    let mut seen = [0_u64; 6];
    for seed in first..first + cases {
        let mut rng = Rng::with_seed(seed);
        let mut world = world(&mut rng);
        let blocked = [(rng.u32(..2), rng.u32(..2))];
        let links = Links {
            blind: (rng.u8(..16) == 0).then_some(Left::OpaqueOperand),
            blocked: if rng.u8(..8) == 0 { &blocked } else { &[] },
            shared: [Shared::Split, Shared::Split, Shared::Meet, Shared::Keep][rng.usize(..4)],
            forced: rng.u8(..16) == 0,
            ..Links::default()
        };
        let done = run(&mut rng, &mut world, links);
        check(&world, &links, &done);
        let is_met = done.plan.groups.iter().any(|group| group.met.is_some());
        let is_left = done.plan.groups.iter().any(|group| group.how.is_err());
        let facts = [
            done.split != 0,
            !done.plan.others.is_empty(),
            is_met,
            is_left,
            world.refused != 0,
            !world.uncopied.is_empty(),
        ];
        seen.iter_mut().zip(facts).for_each(|(seen, is)| *seen += u64::from(is));
    }
    // Nothing that is checked is rare.
    assert!(seen.iter().all(|seen| *seen > cases / 200), "{seen:?}");
}
