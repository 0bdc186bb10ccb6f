//! Between `VkSamplerCreateInfo` with its chain and [`SamplerState`].

use std::ffi::{CStr, c_void};

use ash::vk::{self, TaggedStructure};
use samplin_hot::recent::Words;

use crate::decide::{
    BlockMatchWindow, BorderMapping, CustomBorder, SamplerState, YcbcrConversion, fnv1a, is_custom, is_gl,
    is_int_border, is_valid_border,
};
use crate::pnext::{self, Base, Copied};

/// A sampler state as read from the application, with what the chain held beyond it.
#[derive(Clone, Debug)]
pub struct SamplerInfo {
    /// The state.
    pub state: SamplerState,
    /// `sType` of the first structure the layer does not understand. Such a sampler gets no variants, because a
    /// variant could not carry the structure.
    pub unknown: Option<i32>,
}

/// What a chain says of a sampler that may be shared: reduction mode, custom colour and format, mapping, name.
pub type Chained = [u64; 6];

/// The structures that are part of a [`SamplerState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainedState {
    Reduction,
    Ycbcr,
    CustomBorder,
    BorderMapping,
    CubicWeights,
    BlockMatch,
    OpaqueCapture,
    Name,
    Unknown,
}

fn kind(s_type: vk::StructureType) -> ChainedState {
    match s_type {
        vk::SamplerReductionModeCreateInfo::STRUCTURE_TYPE => ChainedState::Reduction,
        vk::SamplerYcbcrConversionInfo::STRUCTURE_TYPE => ChainedState::Ycbcr,
        vk::SamplerCustomBorderColorCreateInfoEXT::STRUCTURE_TYPE => ChainedState::CustomBorder,
        vk::SamplerBorderColorComponentMappingCreateInfoEXT::STRUCTURE_TYPE => ChainedState::BorderMapping,
        vk::SamplerCubicWeightsCreateInfoQCOM::STRUCTURE_TYPE => ChainedState::CubicWeights,
        vk::SamplerBlockMatchWindowCreateInfoQCOM::STRUCTURE_TYPE => ChainedState::BlockMatch,
        vk::OpaqueCaptureDescriptorDataCreateInfoEXT::STRUCTURE_TYPE => ChainedState::OpaqueCapture,
        vk::DebugUtilsObjectNameInfoEXT::STRUCTURE_TYPE => ChainedState::Name,
        _ => ChainedState::Unknown,
    }
}

/// Reads a create info. `conversion` resolves the handle of a chained Y′CbCr conversion.
///
/// # Safety
///
/// `info` is the valid argument of `vkCreateSampler` (VUID-vkCreateSampler-pCreateInfo-parameter).
pub unsafe fn read(
    info: &vk::SamplerCreateInfo<'_>,
    conversion: impl FnOnce(vk::SamplerYcbcrConversion) -> YcbcrConversion,
) -> SamplerInfo {
    if info.p_next.is_null() {
        return SamplerInfo { state: SamplerState::from(info), unknown: None };
    }
    macro_rules! chained {
        ($type:ident) => {
            // SAFETY: a valid create info's chain holds whole structures of known type, all read-only.
            unsafe { pnext::find::<vk::$type<'_>>(info.p_next) }
        };
    }
    let state = SamplerState {
        reduction_mode: chained!(SamplerReductionModeCreateInfo).map(|node| node.reduction_mode),
        ycbcr: chained!(SamplerYcbcrConversionInfo).map(|node| conversion(node.conversion)),
        custom_border: chained!(SamplerCustomBorderColorCreateInfoEXT).map(|node| CustomBorder {
            // SAFETY: every bit pattern of the union is a valid [u32; 4].
            color: unsafe { node.custom_border_color.uint32 },
            format: node.format,
        }),
        border_mapping: chained!(SamplerBorderColorComponentMappingCreateInfoEXT).map(|node| BorderMapping {
            components: [node.components.r, node.components.g, node.components.b, node.components.a],
            srgb: node.srgb != 0,
        }),
        cubic_weights: chained!(SamplerCubicWeightsCreateInfoQCOM).map(|node| node.cubic_weights.as_raw()),
        block_match: chained!(SamplerBlockMatchWindowCreateInfoQCOM).map(|node| BlockMatchWindow {
            extent: [node.window_extent.width, node.window_extent.height],
            compare_mode: node.window_compare_mode.as_raw(),
        }),
        opaque_capture: chained!(OpaqueCaptureDescriptorDataCreateInfoEXT).is_some(),
        ..SamplerState::from(info)
    };
    // SAFETY: `info` is valid by this function's contract, and so is its chain.
    let unknown = unsafe { pnext::chain(info.p_next) }
        // SAFETY: at least the base of `node` can be read, as of all that `pnext::chain` yields.
        .map(|node| unsafe { (*node).s_type })
        .find(|s_type| kind(*s_type) == ChainedState::Unknown)
        .map(vk::StructureType::as_raw);
    SamplerInfo { state, unknown }
}

/// Calls `f` with a create info of `state`.
///
/// `original` is the create info that the state was derived from, if it is still alive: structures that `state` does not
/// cover (and those after the last edited one) are kept from it. A structure of unknown size that stands before an edited one
/// cannot be kept without writing to the application's memory; it is left out, and `f`'s second argument is its `sType`.
///
/// # Safety
///
/// `original`, if given, is a valid create info whose chain is alive during the call.
pub unsafe fn with_create_info<R>(
    state: &SamplerState,
    original: Option<(&vk::SamplerCreateInfo<'_>, &SamplerState)>,
    f: impl FnOnce(&vk::SamplerCreateInfo<'_>, Option<i32>) -> R,
) -> R {
    let mut tail: *const c_void = std::ptr::null();
    let mut kept = [false; ChainedState::Unknown as usize + 1];
    let mut dropped = None;
    let mut copies = Vec::new();
    if let Some((info, before)) = original {
        // SAFETY: the caller promises a live, valid chain.
        let nodes: Vec<*const Base> = unsafe { pnext::chain(info.p_next) }.collect();
        // SAFETY: the nodes come from `pnext::chain`, so at least the base of each can be read.
        let kinds: Vec<ChainedState> = nodes.iter().map(|node| kind(unsafe { (**node).s_type })).collect();
        let edited = |kind: &ChainedState| match kind {
            ChainedState::Reduction => state.reduction_mode != before.reduction_mode,
            ChainedState::CustomBorder => {
                state.custom_border != before.custom_border
                    || is_custom(state.border_color) != is_custom(before.border_color)
            }
            ChainedState::BorderMapping => state.border_mapping != before.border_mapping,
            ChainedState::CubicWeights => state.cubic_weights != before.cubic_weights,
            ChainedState::BlockMatch => state.block_match != before.block_match,
            ChainedState::OpaqueCapture => state.opaque_capture != before.opaque_capture,
            ChainedState::Ycbcr | ChainedState::Name | ChainedState::Unknown => false,
        };
        let split = kinds.iter().rposition(edited).map_or(0, |last| last + 1);
        tail = nodes.get(split).map_or(std::ptr::null(), |node| node.cast());
        for kind in kinds.iter().skip(split) {
            if let Some(slot) = kept.get_mut(*kind as usize) {
                *slot = true;
            }
        }
        for (node, kind) in nodes.iter().zip(&kinds).take(split) {
            // The others are made anew from `state`.
            let keeps = match kind {
                ChainedState::Name | ChainedState::Unknown => true,
                ChainedState::OpaqueCapture => state.opaque_capture,
                _ => false,
            };
            if keeps {
                // SAFETY: a node of the chain of a valid `VkSamplerCreateInfo`.
                match unsafe { Copied::new(*node) } {
                    Some(copy) => copies.push(copy),
                    // SAFETY: the node comes from the list that `pnext::chain` gave, so at least its base can be read.
                    None => dropped = dropped.or(Some(unsafe { (**node).s_type.as_raw() })),
                }
            }
        }
    }
    let fresh = |kind: ChainedState| !kept.get(kind as usize).copied().unwrap_or(false);

    let mut info = vk::SamplerCreateInfo { p_next: tail, ..SamplerState::create_info(state) };

    macro_rules! link {
        ($node:expr) => {{
            let node = $node;
            node.p_next = info.p_next;
            info.p_next = std::ptr::from_ref(node).cast();
        }};
    }
    let mut reduction = vk::SamplerReductionModeCreateInfo::default();
    if let (Some(mode), true) = (state.reduction_mode, fresh(ChainedState::Reduction)) {
        reduction.reduction_mode = mode;
        link!(&mut reduction);
    }
    let mut ycbcr = vk::SamplerYcbcrConversionInfo::default();
    if let (Some(conversion), true) = (state.ycbcr, fresh(ChainedState::Ycbcr)) {
        ycbcr.conversion = vk::Handle::from_raw(conversion.handle);
        link!(&mut ycbcr);
    }
    let mut border = vk::SamplerCustomBorderColorCreateInfoEXT::default();
    if let (Some(custom), true, true) =
        (state.custom_border, is_custom(state.border_color), fresh(ChainedState::CustomBorder))
    {
        border.custom_border_color = vk::ClearColorValue { uint32: custom.color };
        border.format = custom.format;
        link!(&mut border);
    }
    let mut mapping = vk::SamplerBorderColorComponentMappingCreateInfoEXT::default();
    if let (Some(BorderMapping { components: [r, g, b, a], srgb }), true) =
        (state.border_mapping, fresh(ChainedState::BorderMapping))
    {
        mapping.components = vk::ComponentMapping { r, g, b, a };
        mapping.srgb = u32::from(srgb);
        link!(&mut mapping);
    }
    let mut weights = vk::SamplerCubicWeightsCreateInfoQCOM::default();
    if let (Some(raw), true) = (state.cubic_weights, fresh(ChainedState::CubicWeights)) {
        weights.cubic_weights = vk::CubicFilterWeightsQCOM::from_raw(raw);
        link!(&mut weights);
    }
    let mut window = vk::SamplerBlockMatchWindowCreateInfoQCOM::default();
    if let (Some(block), true) = (state.block_match, fresh(ChainedState::BlockMatch)) {
        window.window_extent = vk::Extent2D { width: block.extent[0], height: block.extent[1] };
        window.window_compare_mode = vk::BlockMatchWindowCompareModeQCOM::from_raw(block.compare_mode);
        link!(&mut window);
    }
    info.p_next = copies.iter_mut().rev().fold(info.p_next, |next, copy| copy.link(next));
    f(&info, dropped)
}

/// A create info that can be pointed to for as long as it is kept, and as what it was made of is.
pub struct Owned {
    info: Box<vk::SamplerCreateInfo<'static>>,
    _chain: Vec<Copied>,
}

impl Owned {
    /// One of a state, where [`with_create_info`] makes it of `original`; its second result is what that leaves out.
    ///
    /// # Safety
    ///
    /// `original` is a valid create info, and its chain is alive for as long as the result is used.
    pub unsafe fn new(
        state: &SamplerState,
        original: (&vk::SamplerCreateInfo<'_>, &SamplerState),
    ) -> (Self, Option<i32>) {
        // SAFETY: a valid chain by this function's contract.
        let given: Vec<*const Base> = unsafe { pnext::chain(original.0.p_next) }.collect();
        // SAFETY: `original` is valid and alive, by this function's contract.
        unsafe {
            with_create_info(state, Some(original), |info, left_out| {
                let (mut chain, mut rest) = (Vec::new(), std::ptr::null());
                for node in pnext::chain(info.p_next) {
                    if given.contains(&node) {
                        rest = node.cast();
                        break;
                    }
                    // Those that were made are of types whose size is known, and so is that of each copy of another one.
                    chain.extend(Copied::new(node));
                }
                let p_next = chain.iter_mut().rev().fold(rest, |next, copy: &mut Copied| copy.link(next));
                let plain = from_words(
                    &words(&vk::SamplerCreateInfo { p_next: std::ptr::null(), ..*info }).unwrap_or_default(),
                );
                (Self { info: Box::new(vk::SamplerCreateInfo { p_next, ..plain }), _chain: chain }, left_out)
            })
        }
    }

    /// The create info.
    pub fn info(&self) -> &vk::SamplerCreateInfo<'static> {
        &self.info
    }
}

/// A create info without a chain as plain words. [`from_words`] is the reverse.
pub fn words(info: &vk::SamplerCreateInfo<'_>) -> Option<Words> {
    if !info.p_next.is_null() {
        return None;
    }
    let two = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
    let raw = |value: i32| value as u32;
    Some([
        two(info.flags.as_raw(), raw(info.mag_filter.as_raw())),
        two(raw(info.min_filter.as_raw()), raw(info.mipmap_mode.as_raw())),
        two(raw(info.address_mode_u.as_raw()), raw(info.address_mode_v.as_raw())),
        two(raw(info.address_mode_w.as_raw()), info.mip_lod_bias.to_bits()),
        two(info.anisotropy_enable, info.max_anisotropy.to_bits()),
        two(info.compare_enable, raw(info.compare_op.as_raw())),
        two(info.min_lod.to_bits(), info.max_lod.to_bits()),
        two(raw(info.border_color.as_raw()), info.unnormalized_coordinates),
    ])
}

/// What a chain adds to the words of a sampler, if it only says how texels are reduced, which border there is, and a name: equal ones ask
/// for the same. `None` if anything else is chained, or one of these twice.
///
/// # Safety
///
/// As for [`read`].
#[inline(never)]
pub unsafe fn chained_words(info: &vk::SamplerCreateInfo<'_>) -> Option<Chained> {
    let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let (mut words, mut seen) = (Chained::default(), 0_u8);
    // SAFETY: `info` is valid by this function's contract, and so is its chain: structures of a known type are whole.
    unsafe {
        for node in pnext::chain(info.p_next) {
            let kind = kind((*node).s_type);
            if seen & 1 << kind as u8 != 0 {
                return None;
            }
            seen |= 1 << kind as u8;
            match kind {
                ChainedState::Reduction => {
                    let mode = (*node.cast::<vk::SamplerReductionModeCreateInfo<'_>>()).reduction_mode;
                    words[0] = u64::from(mode.as_raw() as u32) + 1;
                }
                ChainedState::CustomBorder if is_custom(info.border_color) => {
                    let node = &*node.cast::<vk::SamplerCustomBorderColorCreateInfoEXT<'_>>();
                    let [r, g, b, a] = node.custom_border_color.uint32;
                    (words[1], words[2]) = (two(r, g), two(b, a));
                    words[3] = two(node.format.as_raw() as u32, 1);
                }
                // It is ignored.
                ChainedState::CustomBorder => {}
                ChainedState::BorderMapping => {
                    let node = &*node.cast::<vk::SamplerBorderColorComponentMappingCreateInfoEXT<'_>>();
                    let vk::ComponentMapping { r, g, b, a } = node.components;
                    let of = |swizzle: vk::ComponentSwizzle| swizzle.as_raw() as u32 as u64;
                    let mapping =
                        [r, g, b, a].map(of).iter().try_fold(0, |all, one| (*one < 16).then_some(all << 4 | one))?;
                    words[4] = mapping << 2 | u64::from(node.srgb != 0) << 1 | 1;
                }
                ChainedState::Name => {
                    let name = (*node.cast::<vk::DebugUtilsObjectNameInfoEXT<'_>>()).p_object_name;
                    if !name.is_null() {
                        words[5] = fnv1a(CStr::from_ptr(name).to_bytes().iter().copied()) | 1;
                    }
                }
                _ => return None,
            }
        }
    }
    (seen != 0).then_some(words)
}

/// The words of a state that nothing is chained for. [`state_of`] is the reverse.
#[inline(never)]
pub fn words_of(state: &SamplerState) -> Option<Words> {
    let SamplerState { reduction_mode: None, ycbcr: None, custom_border: None, border_mapping: None, .. } = state
    else {
        return None;
    };
    let is_chained = state.cubic_weights.is_some() || state.block_match.is_some() || state.opaque_capture;
    if is_chained { None } else { words(&SamplerState::create_info(state)) }
}

/// The same for all words of samplers that behave the same, as a [key](SamplerState::key) of their states; the only difference is whether a
/// border colour that nobody reads is one, which `border=strict` asks.
#[inline(never)]
pub fn key_of(words: &Words) -> Words {
    const LOW: u64 = u32::MAX as u64;
    let [flags, min, uv, w, anisotropy, compare, lods, border] = *words;
    // Neither has a sign then.
    let low_float = |word: u64| if (word as u32) << 1 == 0 { word & !LOW } else { word };
    let high_float = |word: u64| if word >> 32 << 33 == 0 { word & LOW } else { word };
    let modes = [uv as u32, (uv >> 32) as u32, w as u32].map(|raw| vk::SamplerAddressMode::from_raw(raw as i32));
    let color = vk::BorderColor::from_raw(border as i32);
    let reads = |mode: &vk::SamplerAddressMode| *mode == vk::SamplerAddressMode::CLAMP_TO_BORDER || is_gl(*mode);
    let shown = if is_custom(color) || modes.iter().any(reads) {
        color
    } else if is_int_border(color) {
        vk::BorderColor::INT_TRANSPARENT_BLACK
    } else {
        vk::BorderColor::FLOAT_TRANSPARENT_BLACK
    };
    let (is_unnormalized, is_odd) = (border >> 32 != 0, !is_valid_border(color));
    let switched = |word: u64| if word as u32 == 0 { 0 } else { word & !LOW | 1 };
    [
        flags,
        min,
        uv,
        high_float(w),
        high_float(switched(anisotropy)),
        switched(compare),
        low_float(high_float(lods)),
        u64::from(shown.as_raw() as u32) | u64::from(is_unnormalized) << 32 | u64::from(is_odd) << 33,
    ]
}

/// [`key_of`] the words of a state that behaves as one that nothing is chained for.
pub fn plain_key(state: &SamplerState) -> Option<Words> {
    let normalized = SamplerState { border_color: state.border_color, ..state.normalized() };
    words_of(&normalized).map(|words| key_of(&words))
}

/// The state that [`words_of`] made these of.
pub fn state_of(words: &Words) -> SamplerState {
    SamplerState::from(&from_words(words))
}

/// The create info that [`words`] made these of.
pub fn from_words(words: &Words) -> vk::SamplerCreateInfo<'static> {
    let halves = |word: u64| (word as u32, (word >> 32) as u32);
    let [
        (flags, mag),
        (min, mipmap),
        (u, v),
        (w, bias),
        (anisotropy, degree),
        (compare, op),
        (low, high),
        (border, raw),
    ] = words.map(halves);
    vk::SamplerCreateInfo {
        flags: vk::SamplerCreateFlags::from_raw(flags),
        mag_filter: vk::Filter::from_raw(mag as i32),
        min_filter: vk::Filter::from_raw(min as i32),
        mipmap_mode: vk::SamplerMipmapMode::from_raw(mipmap as i32),
        address_mode_u: vk::SamplerAddressMode::from_raw(u as i32),
        address_mode_v: vk::SamplerAddressMode::from_raw(v as i32),
        address_mode_w: vk::SamplerAddressMode::from_raw(w as i32),
        mip_lod_bias: f32::from_bits(bias),
        anisotropy_enable: anisotropy,
        max_anisotropy: f32::from_bits(degree),
        compare_enable: compare,
        compare_op: vk::CompareOp::from_raw(op as i32),
        min_lod: f32::from_bits(low),
        max_lod: f32::from_bits(high),
        border_color: vk::BorderColor::from_raw(border as i32),
        unnormalized_coordinates: raw,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(_: vk::SamplerYcbcrConversion) -> YcbcrConversion {
        YcbcrConversion { handle: 7, chroma_filter: vk::Filter::LINEAR, separate_reconstruction: true, fingerprint: 1 }
    }

    fn types(info: &vk::SamplerCreateInfo<'_>) -> Vec<i32> {
        // SAFETY: the chains of these tests are made of live locals.
        unsafe { pnext::chain(info.p_next) }.map(|node| unsafe { (*node).s_type.as_raw() }).collect()
    }

    #[test]
    fn words_have_equal_keys_where_their_states_do() {
        let modes = [0, 2, 3, 4, crate::decide::GL_CLAMP.as_raw()].map(vk::SamplerAddressMode::from_raw);
        let numbers = [0.0, -0.0, 1.5, f32::NAN];
        let colors = [0, 1, 2, 3, 9, vk::BorderColor::INT_CUSTOM_EXT.as_raw()].map(vk::BorderColor::from_raw);
        let mut states = Vec::new();
        for mode in modes {
            for axis in 0..3 {
                for border_color in colors {
                    let mut state = SamplerState { border_color, ..SamplerState::default() };
                    state.address_mode[axis] = mode;
                    states.push(state);
                }
            }
        }
        for number in numbers {
            for on in [false, true] {
                let plain = SamplerState { anisotropy_enable: on, compare_enable: on, ..SamplerState::default() };
                states.push(SamplerState { max_anisotropy: number, unnormalized_coordinates: on, ..plain });
                states.push(SamplerState { mip_lod_bias: number, compare_op: vk::CompareOp::LESS, ..plain });
                states.push(SamplerState { min_lod: number, mag_filter: vk::Filter::LINEAR, ..plain });
                states.push(SamplerState { max_lod: number, min_filter: vk::Filter::CUBIC_EXT, ..plain });
            }
        }
        let key = |state: &SamplerState| key_of(&words_of(state).unwrap());
        for a in &states {
            // What behaves as none is none.
            let chained = SamplerState { reduction_mode: Some(vk::SamplerReductionMode::WEIGHTED_AVERAGE), ..*a };
            assert_eq!((words_of(&chained), plain_key(&chained)), (None, Some(key(a))));
            let minmax = SamplerState { reduction_mode: Some(vk::SamplerReductionMode::MIN), ..*a };
            assert_eq!(plain_key(&minmax), None);
            for b in &states {
                let is_odd = |state: &SamplerState| !is_valid_border(state.border_color);
                assert_eq!(key(a) == key(b), a.key() == b.key() && is_odd(a) == is_odd(b), "{a:?} {b:?}");
            }
        }
        let mut info =
            SamplerState::create_info(&SamplerState { compare_enable: true, anisotropy_enable: true, ..states[0] });
        let one = key_of(&words(&info).unwrap());
        (info.compare_enable, info.anisotropy_enable) = (2, 3);
        assert_eq!(key_of(&words(&info).unwrap()), one, "anything but zero is on");
    }

    #[test]
    fn a_state_round_trips_through_its_create_info() {
        let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
        let mut border = vk::SamplerCustomBorderColorCreateInfoEXT::default()
            .custom_border_color(vk::ClearColorValue { uint32: [1, 2, 3, 4] })
            .format(vk::Format::R8G8B8A8_UINT);
        let info = vk::SamplerCreateInfo::default()
            .border_color(vk::BorderColor::INT_CUSTOM_EXT)
            .mip_lod_bias(-0.5)
            .push_next(&mut reduction)
            .push_next(&mut border);
        // SAFETY: `info` and its chain are live locals.
        let read_once = unsafe { read(&info, plain) };
        assert_eq!(read_once.unknown, None);
        // SAFETY: a state without a chain of its own; what is built of it lives during the call.
        let key = unsafe {
            with_create_info(&read_once.state, None, |rebuilt, dropped| {
                assert_eq!(dropped, None);
                read(rebuilt, plain).state.key()
            })
        };
        assert_eq!(key, read_once.state.key());
    }

    #[test]
    fn unknown_structures_survive_an_edit_unless_one_behind_them_changes() {
        let unknown_type = 0x7fff_0001;
        let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
        let unknown = Base { s_type: vk::StructureType::from_raw(unknown_type), p_next: std::ptr::null() };
        reduction.p_next = (&raw const unknown).cast();
        let info = vk::SamplerCreateInfo { p_next: (&raw const reduction).cast(), ..Default::default() };
        // SAFETY: `info` and its chain of two are locals that live to the end of the test.
        let given = unsafe { read(&info, plain) };
        assert_eq!(given.unknown, Some(unknown_type));
        let mut changed = given.state;
        changed.reduction_mode = None;
        // SAFETY: the same chain, which nothing has changed.
        unsafe {
            with_create_info(&changed, Some((&info, &given.state)), |out, dropped| {
                assert_eq!(dropped, None);
                assert_eq!(types(out), [unknown_type]);
            });
        }
        // The other order: the unknown node stands before the edited one.
        let behind = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
        let unknown = Base { s_type: vk::StructureType::from_raw(unknown_type), p_next: (&raw const behind).cast() };
        let info = vk::SamplerCreateInfo { p_next: (&raw const unknown).cast(), ..Default::default() };
        // SAFETY: `info` and its chain in the other order, locals that live to the end of the test.
        unsafe {
            with_create_info(&changed, Some((&info, &given.state)), |out, dropped| {
                assert_eq!(dropped, Some(unknown_type));
                assert!(types(out).is_empty());
            });
            // An edit that concerns no structure keeps the whole chain.
            let mut filtered = given.state;
            filtered.mag_filter = vk::Filter::LINEAR;
            with_create_info(&filtered, Some((&info, &given.state)), |out, dropped| {
                assert_eq!(dropped, None);
                assert_eq!(out.p_next, info.p_next);
            });
        }
    }
}
