//! A few writes of one combined image sampler each, which is how most applications fill a set: one loop finds out which of them may
//! conflict, and no other looks at them or counts them again.

use std::mem::MaybeUninit;

use ash::vk::{DescriptorImageInfo, WriteDescriptorSet};

use super::looks::{Stop, kind_of};
use super::{LayoutOf, WRITES};
use crate::counters::Path;
use crate::device::ground::Ground;
use crate::device::resolve::Pairs;

impl Pairs {
    /// Hands a few writes of single combined image samplers to `down`, or a copy with legal pairs, and counts them. Others may stand between
    /// them, of which nothing is to be looked at. False, and nothing is done, if it is not that simple: there are more writes or others, or
    /// descriptors are stored to through other views, or a set may have immutable samplers.
    ///
    /// # Safety
    ///
    /// `count` valid writes to sets, in which `Hot::pass_each` has stopped there. If no layout has immutable samplers it need not be told
    /// (`BESIDE`) to look for them.
    #[inline(always)]
    pub unsafe fn forward_few<'a, const BESIDE: bool>(
        &self,
        ground: &Ground,
        count: u32,
        writes: *const WriteDescriptorSet<'a>,
        stop: Stop,
        path: Path,
        down: impl FnOnce(*const WriteDescriptorSet<'a>),
    ) -> bool {
        let (count, first) = (count as usize, stop.at() as usize);
        if count > WRITES || first >= count || ground.hot.exchanges_views() {
            return false;
        }
        let (single, plain) = (ground.hot.single(), ground.hot.plain());
        // Those before the first may not conflict; a bit for each from there on.
        let (mut left, mut seen, mut ordinary) = (0_u64, stop.seen(), None);
        for at in (first..count).rev() {
            // SAFETY: the index is below the number of valid writes.
            let write = unsafe { writes.add(at) };
            // SAFETY: one of the valid writes.
            let kind = unsafe { kind_of(write) };
            left <<= 1;
            if kind == single {
                seen += 1;
                if BESIDE {
                    // SAFETY: one of the valid writes, which are to sets.
                    let (set, write) = unsafe { ((*write).dst_set, &*write) };
                    // SAFETY: the same one.
                    if ordinary != Some(set) && unsafe { ground.hot.has_layout(write, LayoutOf::DstSet) } {
                        return false;
                    }
                    ordinary = Some(set);
                }
                // SAFETY: one of the valid writes, and one descriptor of a combined image sampler, as its kind says.
                left |= u64::from(unsafe { ground.hot.may_conflict(write) });
            } else if kind < plain {
                return false;
            }
        }
        if left == 0 {
            ground.hot.counters.add(path, seen, 0);
            down(writes);
            return true;
        }
        let mut copies = [const { MaybeUninit::<WriteDescriptorSet<'a>>::uninit() }; WRITES];
        let mut infos = [const { MaybeUninit::<DescriptorImageInfo>::uninit() }; WRITES];
        let copies = copies.as_mut_ptr().cast::<WriteDescriptorSet<'a>>();
        // SAFETY: there is room for as many, which was asked above.
        unsafe { copies.copy_from_nonoverlapping(writes, count) };
        let look = ground.hot.gate.look();
        let mut rewritten = 0;
        for info in &mut infos {
            if left == 0 {
                break;
            }
            let at = first + left.trailing_zeros() as usize;
            left &= left - 1;
            // SAFETY: bits are those of single combined image samplers among the writes.
            let given = unsafe { *(*writes.add(at)).p_image_info };
            let sampler = look.choice(given.sampler, given.image_view, &mut |pair| self.resolve(ground, pair, path));
            rewritten += u64::from(sampler != given.sampler);
            // Also where it is the same, because a branch costs more.
            let info = info.write(DescriptorImageInfo { sampler, ..given });
            // SAFETY: all writes are copied.
            unsafe { (*copies.add(at)).p_image_info = info };
        }
        ground.hot.counters.add(path, seen, rewritten);
        down(if rewritten > 0 { copies } else { writes });
        true
    }
}
