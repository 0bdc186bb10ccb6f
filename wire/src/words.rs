//! What predictions need of storage images, as words: numbers in an order, which take little to write.

use ash::vk::{self, FormatFeatureFlags2 as Feature};
use samplin_core::features::Tiling;
use samplin_core::storage::StorableFormats;

/// Features that are not known.
const UNKNOWN: u64 = u64::MAX;
const TILINGS: [Tiling; 3] = [Tiling::Optimal, Tiling::Linear, Tiling::Modifier];

/// The word of features.
pub fn features(features: Option<Feature>) -> u64 {
    features.map_or(UNKNOWN, Feature::as_raw)
}

fn read_features(word: u64) -> Option<Feature> {
    (word != UNKNOWN).then_some(Feature::from_raw(word))
}

/// What a device can do with the formats of storage images and of storage texel buffers, as bits by the numbers of image formats.
pub fn stored([images, buffers]: [StorableFormats; 2]) -> Vec<u64> {
    [images.there, images.stored, buffers.there, buffers.stored].to_vec()
}

/// The way back.
pub fn read_stored(words: &[u64]) -> Option<[StorableFormats; 2]> {
    let [there, stored, buffers_there, buffers_stored] = *words else { return None };
    Some([StorableFormats { there, stored }, StorableFormats { there: buffers_there, stored: buffers_stored }])
}

/// What decisions look at in an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageClass {
    /// How it is laid out.
    pub tiling: Tiling,
    /// The create flags that it was asked for with.
    pub flags: u64,
    /// The usage that it was asked for with.
    pub usage: u64,
    /// Features of its format.
    pub features: Option<Feature>,
    /// The formats that its views may have, with their features, if it has a list of them.
    pub views: Option<Vec<(vk::Format, Option<Feature>)>>,
}

impl ImageClass {
    /// Tiling, flags, usage and features of the image, whether there is a list, and format and features of each on it.
    #[inline(never)]
    pub fn write(
        tiling: Tiling,
        flags: u64,
        usage: u64,
        formats: Option<&[vk::Format]>,
        own: vk::Format,
        of: &dyn Fn(vk::Format) -> Option<Feature>,
    ) -> Vec<u64> {
        let tiling = TILINGS.iter().position(|one| *one == tiling).unwrap_or(0) as u64;
        let mut words = [tiling, flags, usage, features(of(own)), formats.is_some().into()].to_vec();
        for format in formats.unwrap_or_default() {
            words.extend([format.as_raw() as u64, features(of(*format))]);
        }
        words
    }

    /// The way back.
    pub fn read(words: &[u64]) -> Option<Self> {
        let (&[tiling, flags, usage, features, listed], views) = words.split_first_chunk()?;
        let view = |[format, features]: &[u64; 2]| {
            Some((vk::Format::from_raw(i32::try_from(*format).ok()?), read_features(*features)))
        };
        let (views, rest) = views.as_chunks();
        let views = views.iter().map(view).collect::<Option<Vec<_>>>()?;
        let tiling = *TILINGS.get(usize::try_from(tiling).ok()?)?;
        let views = (listed != 0).then_some(views);
        rest.is_empty().then_some(Self { tiling, flags, usage, features: read_features(features), views })
    }
}

/// What decisions look at in the usage of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageClass {
    /// The handle of the image.
    pub image: u64,
    /// Features of the view's format.
    pub features: Option<Feature>,
    /// The usage that the view inherits.
    pub inherited: u64,
    /// The usage that its chain states.
    pub stated: Option<u64>,
}

impl UsageClass {
    /// Image, features and inherited usage, and the stated one if there is one.
    pub fn write(image: u64, of: Option<Feature>, inherited: u64, stated: Option<u64>) -> Vec<u64> {
        let mut words = [image, features(of), inherited].to_vec();
        words.extend(stated);
        words
    }

    /// The way back.
    pub fn read(words: &[u64]) -> Option<Self> {
        let (&[image, features, inherited], stated) = words.split_first_chunk()?;
        let stated = match *stated {
            [] => None,
            [stated] => Some(stated),
            _ => return None,
        };
        Some(Self { image, features: read_features(features), inherited, stated })
    }
}
