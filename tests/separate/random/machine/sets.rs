//! Samplers, views and sets of a program: made, written, copied, and gone.

use super::*;

impl Program<'_, '_> {
    pub(super) fn make_view(&mut self, image: usize) {
        let number = self.views.len();
        self.views.push(Some(self.world.images[image].view(&ViewDesc::default())));
        self.objects.views.push((image, true));
        self.own_views[image] = number;
        log!(self, "view {number} of image {image}");
    }

    pub(super) fn make_sampler(&mut self, place: usize, random: &mut Rng) {
        let number = self.samplers.len();
        // The first one suits floats.
        let state = self.world.states[if place == 0 { 0 } else { random.usize(0..self.world.states.len()) }];
        self.samplers.push(Some(describe(state).create(self.world.context)));
        self.objects.samplers.push((state, true));
        self.own_samplers[place] = number;
        log!(self, "sampler {number}: {state:?}");
    }

    /// Whether what was recorded refers to something.
    pub(super) fn refers(objects: &Objects, uses: &BTreeSet<Object>, object: Object) -> bool {
        let holds = |used: &Object| match (*used, object) {
            (used, object) if used == object => true,
            (Object::Set(set), Object::View(view)) => {
                objects.sets[set].content.values().any(|found| found.view() == Some(view))
            }
            // Samplers of one state may have one in their place, which goes with the last of them.
            (Object::Set(set), Object::Sampler(sampler)) => {
                let is_like = |found: usize| {
                    found == sampler
                        || (!objects.samplers[found].1 && objects.samplers[found].0 == objects.samplers[sampler].0)
                };
                objects.sets[set].content.values().filter_map(|found| found.sampler()).any(is_like)
            }
            _ => false,
        };
        uses.iter().any(holds)
    }

    /// Whether something that is being recorded uses it.
    pub(super) fn is_busy(&self, object: Object) -> bool {
        let is_using = |recorder: &Recorder| {
            recorder.status == Status::Recording && Self::refers(&self.objects, &recorder.uses, object)
        };
        self.primaries.iter().chain(&self.secondary).any(is_using)
    }

    /// Whether nothing that is being recorded uses it. What was recorded with it can no more be submitted then.
    pub(super) fn give_up(&mut self, object: Object) -> bool {
        if self.is_busy(object) {
            return false;
        }
        for recorder in self.primaries.iter_mut().chain(&mut self.secondary) {
            if Self::refers(&self.objects, &recorder.uses, object) {
                recorder.status = Status::Idle;
            }
        }
        true
    }

    pub(super) fn remake_view(&mut self, random: &mut Rng) {
        let image = random.usize(0..2 * IMAGES);
        let old = self.own_views[image];
        if self.give_up(Object::View(old)) {
            log!(self, "view {old} is destroyed");
            self.views[old] = None;
            self.objects.views[old].1 = false;
            self.make_view(image);
        }
    }

    pub(super) fn remake_sampler(&mut self, random: &mut Rng) {
        let place = random.usize(0..SAMPLERS);
        let old = self.own_samplers[place];
        if self.give_up(Object::Sampler(old)) {
            log!(self, "sampler {old} is destroyed");
            self.samplers[old] = None;
            self.objects.samplers[old].1 = false;
            self.make_sampler(place, random);
        }
    }

    /// A descriptor for a binding.
    pub(super) fn descriptor(&self, definition: usize, slot: Slot, random: &mut Rng) -> Descriptor {
        let view = |random: &mut Rng, texel| {
            let images: Vec<_> = (0..2 * IMAGES).filter(|image| is_of(texel, *image)).collect();
            self.own_views[images[random.usize(0..images.len())]]
        };
        let sampler = |random: &mut Rng| {
            let sampler = self.own_samplers[random.usize(0..SAMPLERS)];
            // What is bound now cannot be mended where the image may be another one later.
            let State { mode, is_int, .. } = self.objects.samplers[sampler].0;
            let is_kept = DEFINITIONS[definition].is_late() && !DEFINITIONS[definition].has_late_samplers();
            let suits = !is_kept || !is_int || mode != Mode::Border;
            Descriptor::Sampler(if suits { sampler } else { self.own_samplers[0] })
        };
        match slot {
            Slot::Image(texel) => Descriptor::Image(view(random, texel)),
            Slot::Sampler => sampler(random),
            Slot::Pair(texel) => Descriptor::Pair(view(random, texel), self.own_samplers[random.usize(0..SAMPLERS)]),
            Slot::FixedPair => Descriptor::FixedPair(view(random, Texel::Float)),
            Slot::Fixed => unreachable!("nothing is written there"),
            Slot::Uniform => Descriptor::Buffer(random.u32(0..UNIFORMS) * STEP),
            Slot::UniformMoved => Descriptor::Buffer(random.u32(0..UNIFORMS / 2) * STEP),
            Slot::Results => Descriptor::Buffer(random.u32(0..2) * RESULTS as u32),
            Slot::ResultsMoved => Descriptor::Buffer(0),
        }
    }

    pub(super) fn offsets(definition: &Definition, random: &mut Rng) -> Vec<u32> {
        let moved = definition.entries.iter().filter(|entry| entry.slot.is_moved());
        let offset = |entry: &Entry| match entry.slot {
            Slot::ResultsMoved => random.u32(0..2) * RESULTS as u32 * 4,
            _ => random.u32(0..UNIFORMS / 2) * STEP * 4,
        };
        moved.map(offset).collect()
    }

    pub(super) fn image_info(&self, descriptor: Descriptor) -> vk::DescriptorImageInfo {
        let view = |view: usize| self.views[view].as_ref().expect("it is alive").handle();
        let sampler = |sampler: usize| self.samplers[sampler].as_ref().expect("it is alive").handle();
        vk::DescriptorImageInfo {
            sampler: descriptor.sampler().map_or(vk::Sampler::null(), sampler),
            image_view: descriptor.view().map_or(vk::ImageView::null(), view),
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        }
    }

    pub(super) fn buffer_info(&self, slot: Slot, descriptor: Descriptor) -> vk::DescriptorBufferInfo {
        let Descriptor::Buffer(words) = descriptor else { return vk::DescriptorBufferInfo::default() };
        let (buffer, range) = match slot.is_results() {
            true => (self.world.results.handle(), RESULTS * 4),
            false => (self.world.uniforms.handle(), STEP as usize * 4),
        };
        vk::DescriptorBufferInfo { buffer, offset: u64::from(words) * 4, range: range as u64 }
    }

    /// Calls with a write for each run of elements.
    pub(super) fn with_writes<R>(
        &self,
        set: vk::DescriptorSet,
        definition: usize,
        writes: &Content,
        call: impl FnOnce(&[vk::WriteDescriptorSet<'_>]) -> R,
    ) -> R {
        let slot = |key: &Key| DEFINITIONS[definition].entry(key.0).slot;
        let mut runs: Vec<Vec<Key>> = Vec::new();
        for key in writes.keys() {
            match runs.last_mut().map(|run| (run[run.len() - 1], run)) {
                Some((last, run)) if last == (key.0, key.1.wrapping_sub(1)) => run.push(*key),
                _ => runs.push(vec![*key]),
            }
        }
        let infos: Vec<(Vec<_>, Vec<_>)> = runs
            .iter()
            .map(|run| {
                let images = run.iter().map(|key| self.image_info(writes[key])).collect();
                (images, run.iter().map(|key| self.buffer_info(slot(key), writes[key])).collect())
            })
            .collect();
        let write = |(run, (images, buffers)): (&Vec<Key>, &'_ (Vec<_>, Vec<_>))| {
            let mut write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(run[0].0)
                .dst_array_element(run[0].1)
                .descriptor_type(descriptor_type(slot(&run[0])));
            write.descriptor_count = run.len() as u32;
            (write.p_image_info, write.p_buffer_info) = (images.as_ptr(), buffers.as_ptr());
            write
        };
        let raw: Vec<_> = runs.iter().zip(&infos).map(write).collect();
        call(&raw)
    }

    /// Descriptors for each binding or, mostly, for some.
    pub(super) fn content(&self, definition: usize, is_whole: bool, random: &mut Rng) -> Content {
        let mut content = Content::new();
        for (key, entry) in writable(definition) {
            let is_hole = entry.is_partial && random.u8(0..3) == 0;
            if (is_whole && !is_hole) || random.u8(0..2) == 0 {
                content.insert(key, self.descriptor(definition, entry.slot, random));
            }
        }
        content
    }

    /// Data for the entries of a template, and the content that they write.
    pub(super) fn template_data(&self, definition: usize, is_part: bool, random: &mut Rng) -> (Vec<u64>, Content) {
        use ash::vk::Handle as _;
        let (mut words, mut content) = (Vec::new(), Content::new());
        for entry in template_entries(definition, is_part) {
            let slot = DEFINITIONS[definition].entry(entry.dst_binding).slot;
            for element in 0..entry.descriptor_count {
                let descriptor = self.descriptor(definition, slot, random);
                let image = self.image_info(descriptor);
                let buffer = self.buffer_info(slot, descriptor);
                words.extend(match descriptor {
                    Descriptor::Buffer(_) => [buffer.buffer.as_raw(), buffer.offset, buffer.range],
                    _ => [image.sampler.as_raw(), image.image_view.as_raw(), image.image_layout.as_raw() as u64],
                });
                content.insert((entry.dst_binding, element), descriptor);
            }
        }
        assert_eq!(words.len() * 8 % DATA, 0);
        (words, content)
    }

    /// A new set of this definition, mostly filled.
    pub(super) fn allocate(&mut self, definition: usize, random: &mut Rng) -> Option<usize> {
        let is_late = DEFINITIONS[definition].is_late();
        let pool = if is_late { POOLS - 1 } else { random.usize(0..POOLS - 1) };
        let is_here = |set: &&Set| set.is_alive && set.pool == pool && set.definition == definition;
        if self.objects.sets.iter().filter(is_here).count() == SETS || DEFINITIONS[definition].is_pushed {
            return None;
        }
        // What is written when it is read needs its layout.
        let which = random.usize(0..if is_late { 2 } else { 3 });
        let layout = &self.world.set_layouts[definition].as_ref()?[which];
        let number = self.sets.len();
        self.sets.push(self.pools[pool].allocate(layout));
        log!(self, "set {number} of {}, pool {pool}, layout {which}", DEFINITIONS[definition].name);
        let content = Content::new();
        let set = Set { definition, content, pool, layout: which, is_alive: true, is_frozen: false };
        self.objects.sets.push(set);
        let is_whole = random.u8(0..8) > 0;
        self.write(number, is_whole, random);
        Some(number)
    }

    /// Updates a set by writes, all at once or one by one, or by a template.
    pub(super) fn write(&mut self, set: usize, is_whole: bool, random: &mut Rng) {
        let (definition, handle) = (self.objects.sets[set].definition, self.sets[set]);
        if is_whole && random.u8(0..3) == 0 {
            return self.write_by_template(set, false, random);
        }
        let content = self.content(definition, is_whole, random);
        if content.is_empty() || !self.may_write(set, &content) {
            return;
        }
        log!(self, "update set {set}: {content:?}");
        let one_by_one = content.iter().map(|(key, descriptor)| Content::from([(*key, *descriptor)])).collect();
        let calls: Vec<Content> = if random.bool() { vec![content.clone()] } else { one_by_one };
        for content in calls {
            self.with_writes(handle, definition, &content, |writes| update(self.world.context, writes, &[], &[]));
        }
        self.objects.sets[set].content.extend(content);
    }

    pub(super) fn write_by_template(&mut self, set: usize, is_part: bool, random: &mut Rng) {
        let definition = self.objects.sets[set].definition;
        let (data, content) = self.template_data(definition, is_part, random);
        if !self.may_write(set, &content) {
            return;
        }
        log!(self, "update set {set} by a template: {content:?}");
        let template = &self.world.templates[definition].as_ref().expect("sets have one")[usize::from(is_part)];
        let device = self.world.context.device();
        // SAFETY: as for writes; the data has a record for each descriptor of the entries.
        unsafe {
            device.update_descriptor_set_with_template(self.sets[set], template.handle(), data.as_ptr().cast());
        }
        self.objects.sets[set].content.extend(content);
    }

    /// Whether a set may be written now. What is updated after a bind may be written at any time.
    pub(super) fn may_write(&mut self, set: usize, content: &Content) -> bool {
        let Set { definition, is_frozen, .. } = self.objects.sets[set];
        let definition = &DEFINITIONS[definition];
        if is_frozen {
            return false;
        }
        content.keys().all(|key| definition.entry(key.0).is_late) || self.give_up(Object::Set(set))
    }

    pub(super) fn live_sets(&self) -> Vec<usize> {
        (0..self.sets.len()).filter(|set| self.objects.sets[*set].is_alive).collect()
    }

    /// Sets that may be changed now.
    pub(super) fn idle_sets(&self) -> Vec<usize> {
        self.live_sets().into_iter().filter(|set| !self.is_busy(Object::Set(*set))).collect()
    }

    pub(super) fn update(&mut self, random: &mut Rng) {
        let is_late = |set: &usize| DEFINITIONS[self.objects.sets[*set].definition].is_late();
        let late: Vec<_> = self.live_sets().into_iter().filter(is_late).collect();
        let sets = if random.u8(0..4) == 0 && !late.is_empty() { late } else { self.idle_sets() };
        let Some(set) = random.choice(sets) else { return };
        let definition = self.objects.sets[set].definition;
        let late: Vec<_> = writable(definition).filter(|(_, entry)| entry.is_late).collect();
        if random.u8(0..4) == 0 {
            return self.write_by_template(set, random.bool(), random);
        }
        if late.is_empty() || random.bool() {
            return self.write(set, random.u8(0..4) == 0, random);
        }
        let write = late.iter().map(|(key, entry)| (*key, self.descriptor(definition, entry.slot, random)));
        let content = write.collect();
        self.write_late(set, content);
    }

    /// Copies descriptors from one set to another, or to the same.
    pub(super) fn copy(&mut self, random: &mut Rng) {
        let Some(to) = random.choice(self.idle_sets()) else { return };
        let is_like = |set: &usize| self.objects.sets[*set].definition == self.objects.sets[to].definition;
        let live = self.live_sets();
        let like: Vec<_> = live.iter().copied().filter(is_like).collect();
        let sources = if random.bool() { like } else { live };
        let from = random.choice(sources).expect("there is one");
        let [source, target] = [from, to].map(|set| self.objects.sets[set].definition);
        let is_frozen = [from, to].iter().any(|set| self.objects.sets[*set].is_frozen);
        if is_frozen || DEFINITIONS[source].is_late() != DEFINITIONS[target].is_late() {
            return;
        }
        let is_plain = |entry: &Entry| !matches!(entry.slot, Slot::Fixed | Slot::FixedPair);
        let mut choices = Vec::new();
        for (key, entry) in writable(source).filter(|(_, entry)| is_plain(entry)) {
            // After a copy out of a PARTIALLY_BOUND binding the validation layer (1.4.364) goes on with the view that was there before.
            let may_be = |own: &Entry| own.slot == entry.slot && (own.is_partial || !entry.is_partial);
            let same = writable(target).filter(|(other, own)| may_be(own) && (from, key) != (to, *other));
            choices.extend(same.map(|(other, _)| (key, other)));
        }
        let content = self.objects.sets[from].content.clone();
        let fits = |(key, _): &(Key, Key)| content.get(key).is_some_and(|found| self.objects.is_alive(*found));
        let mut choices: Vec<_> = choices.into_iter().filter(fits).collect();
        random.shuffle(&mut choices);
        choices.truncate(random.usize(1..4));
        // No place is copied to twice, and none is copied from that is copied to.
        let mut places = BTreeMap::new();
        for (key, other) in choices {
            if from != to || (!places.contains_key(&key) && !places.values().any(|(found, _)| *found == other)) {
                places.insert(other, (key, content[&key]));
            }
        }
        let copied: Content = places.iter().map(|(other, (_, descriptor))| (*other, *descriptor)).collect();
        if places.is_empty() || !self.may_write(to, &copied) {
            return;
        }
        log!(self, "copy from set {from} to set {to}: {places:?}");
        let handles = [self.sets[from], self.sets[to]];
        let copy = |(other, (key, _)): (&Key, &(Key, Descriptor))| {
            let copy = vk::CopyDescriptorSet::default().src_set(handles[0]).src_binding(key.0).src_array_element(key.1);
            copy.dst_set(handles[1]).dst_binding(other.0).dst_array_element(other.1).descriptor_count(1)
        };
        let copies: Vec<_> = places.iter().map(copy).collect();
        update(self.world.context, &[], &copies, &[]);
        self.objects.sets[to].content.extend(copied);
    }

    pub(super) fn free(&mut self, random: &mut Rng) {
        let Some(set) = random.choice(self.idle_sets()).filter(|set| self.give_up(Object::Set(*set))) else { return };
        log!(self, "free set {set}");
        self.pools[self.objects.sets[set].pool].free(&[self.sets[set]]);
        self.objects.sets[set].is_alive = false;
    }

    pub(super) fn reset(&mut self, random: &mut Rng) {
        let pool = random.usize(0..self.pools.len());
        let sets = || self.live_sets().into_iter().filter(|set| self.objects.sets[*set].pool == pool);
        let of: Vec<_> = sets().collect();
        if of.is_empty() || !of.iter().all(|set| self.give_up(Object::Set(*set))) {
            return;
        }
        log!(self, "reset pool {pool}");
        self.pools[pool].reset();
        of.into_iter().for_each(|set| self.objects.sets[set].is_alive = false);
    }
}
