//! The shaders of the rows of binds.

use super::SETS;

/// A module of a stage; a fragment shader reads both images of each set through its sampler.
pub(super) fn shader(is_fragment: bool) -> Vec<u32> {
    let op = |to: &mut Vec<u32>, code: u32, operands: &[u32]| {
        to.push(((operands.len() as u32 + 1) << 16) | code);
        to.extend_from_slice(operands);
    };
    let [main, void, function, float, vec2, vec4, image, sampler, pair, image_at, sampler_at] =
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let [zero, coordinates, label] = [12, 13, 14];
    let mut bound = 15;
    let mut id = || {
        bound += 1;
        bound
    };
    let (mut decorations, mut types, mut body) = (Vec::new(), Vec::new(), Vec::new());
    op(&mut types, 19, &[void]);
    op(&mut types, 33, &[function, void]);
    if is_fragment {
        op(&mut types, 22, &[float, 32]);
        op(&mut types, 23, &[vec2, float, 2]);
        op(&mut types, 23, &[vec4, float, 4]);
        op(&mut types, 25, &[image, float, 1, 0, 0, 0, 1, 0]);
        op(&mut types, 26, &[sampler]);
        op(&mut types, 27, &[pair, image]);
        op(&mut types, 32, &[image_at, 0, image]);
        op(&mut types, 32, &[sampler_at, 0, sampler]);
        op(&mut types, 43, &[float, zero, 0]);
        op(&mut types, 44, &[vec2, coordinates, zero, zero]);
        for set in 0..SETS {
            let mut loaded = [0; 3];
            for (binding, loaded) in loaded.iter_mut().enumerate() {
                let (pointer, ty) = if binding == 2 { (sampler_at, sampler) } else { (image_at, image) };
                let variable = id();
                op(&mut types, 59, &[pointer, variable, 0]);
                op(&mut decorations, 71, &[variable, 34, set]);
                op(&mut decorations, 71, &[variable, 33, binding as u32]);
                *loaded = id();
                op(&mut body, 61, &[ty, *loaded, variable]);
            }
            for image in 0..2 {
                let (joined, texel) = (id(), id());
                op(&mut body, 86, &[pair, joined, loaded[image], loaded[2]]);
                op(&mut body, 88, &[vec4, texel, joined, coordinates, 2, zero]);
            }
        }
    }
    let mut words = vec![0x0723_0203, 0x0001_0000, 0, bound + 1, 0];
    op(&mut words, 17, &[1]);
    op(&mut words, 14, &[0, 1]);
    op(&mut words, 15, &[if is_fragment { 4 } else { 0 }, main, u32::from_le_bytes(*b"main"), 0]);
    if is_fragment {
        op(&mut words, 16, &[main, 7]);
    }
    words.extend(decorations);
    words.extend(types);
    op(&mut words, 54, &[void, main, 0, function]);
    op(&mut words, 248, &[label]);
    words.extend(body);
    op(&mut words, 253, &[]);
    op(&mut words, 56, &[]);
    words
}
