//! What stands in for views: those that shaders store through, and those that show one aspect of two.

use ash::vk::{self, Handle};

use super::aspects::Aspects;
use super::ground::Ground;
use super::storage::Storage;

/// What stands in for views of a device.
pub struct StandIns {
    /// Storage images whose format the device cannot store.
    pub storage: Storage,
    /// Views that descriptors show one aspect of.
    pub aspects: Aspects,
}

impl StandIns {
    /// Forgets a view.
    #[inline(always)]
    pub fn forget_view(&self, ground: &Ground, view: vk::ImageView) {
        // At once, even if the device is passed through: this cannot panic.
        ground.hot.gate.remove_view(view.as_raw());
        if self.storage.has_stand_ins() || self.aspects.any() || ground.journal.has_names() {
            self.forget_more_of_view(ground, view);
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_more_of_view(&self, ground: &Ground, view: vk::ImageView) {
        self.storage.forget_alias(&ground.hot, &ground.driver, view);
        self.aspects.forget_aspects(&ground.hot, &ground.driver, view);
        ground.guard(|| ground.journal.forget_name(vk::ObjectType::IMAGE_VIEW, view.as_raw()), || ());
    }
}
