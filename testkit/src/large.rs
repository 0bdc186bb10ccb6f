//! Large traces, made up from the shapes of real ones.

use std::io::{self, Write};

/// Formats that pairs are about; the first ones cannot be filtered.
const FORMATS: [&str; 12] = [
    "VK_FORMAT_D32_SFLOAT",
    "VK_FORMAT_D16_UNORM",
    "VK_FORMAT_R32_UINT",
    "VK_FORMAT_R8G8B8A8_SINT",
    "VK_FORMAT_R8G8B8A8_UNORM",
    "VK_FORMAT_R8G8B8A8_SRGB",
    "VK_FORMAT_B8G8R8A8_SRGB",
    "VK_FORMAT_BC7_SRGB_BLOCK",
    "VK_FORMAT_BC5_UNORM_BLOCK",
    "VK_FORMAT_R16G16B16A16_SFLOAT",
    "VK_FORMAT_R11G11B10_UFLOAT_PACK32",
    "VK_FORMAT_R16_UNORM",
];

fn change(out: &mut Vec<u8>, field: &str, format: &str) -> io::Result<()> {
    write!(
        out,
        r#"{{"because":"{format} lacks SAMPLED_IMAGE_FILTER_LINEAR (optimal tiling)","catalog":"B-1","field":"{field}","from":"VK_FILTER_LINEAR","lost":"smoothing","rule":"linear-filter","to":"VK_FILTER_NEAREST","vuid":"VUID-vkCmdDraw-magFilter-04553"}}"#
    )
}

/// Writes about `bytes` bytes of a trace of the level all: a layer and a device, then samplers and pairs of which one in four
/// is changed. Returns the number of records and of changes.
pub fn trace(into: &mut dyn Write, bytes: u64) -> io::Result<(u64, u64)> {
    let head = include_str!("../../cli/tests/data/all.jsonl").lines().take(2);
    let mut written = 0_u64;
    let (mut records, mut changes) = (0_u64, 0_u64);
    let mut line: Vec<u8> = Vec::new();
    for text in head {
        writeln!(into, "{text}")?;
        written += text.len() as u64 + 1;
        records += 1;
    }
    // A fixed sequence, the same on every machine.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    while written < bytes {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        line.clear();
        let (sampler, view) = (random % 4096, (random >> 12) % 65_536);
        let format = FORMATS[(random >> 28) as usize % FORMATS.len()];
        let fingerprint = (sampler % 300).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        write!(line, r#"{{"seq":{records},"t_ns":{},"pid":4711,"tid":4712,"event":"#, records * 1_731)?;
        if random >> 60 == 0 {
            write!(
                line,
                r#""sampler","changes":[],"fingerprint":"{fingerprint:016x}","name":null,"sampler":"0x{:x}","state":{{"addressModeU":"VK_SAMPLER_ADDRESS_MODE_REPEAT","addressModeV":"VK_SAMPLER_ADDRESS_MODE_REPEAT","addressModeW":"VK_SAMPLER_ADDRESS_MODE_REPEAT","anisotropyEnable":false,"compareEnable":false,"magFilter":"VK_FILTER_LINEAR","maxLod":1000.0,"minFilter":"VK_FILTER_LINEAR","minLod":0.0,"mipLodBias":0.0,"mipmapMode":"VK_SAMPLER_MIPMAP_MODE_LINEAR","unnormalizedCoordinates":false}}}}"#,
                0x5600_0000_0000_u64 + sampler * 64
            )?;
        } else {
            let is_changed = FORMATS.iter().take(3).any(|unfilterable| *unfilterable == format);
            write!(
                line,
                r#""pair","sampler":"0x{:x}","view":"0x{:x}","names":{{"sampler":"sampler {}","view":null}},"fingerprint":"{fingerprint:016x}","format":"{format}","aspect":"color","view_type":"VK_IMAGE_VIEW_TYPE_2D","swizzle":"rgba","view_class":{{"image_type":"VK_IMAGE_TYPE_2D","tiling":"optimal","features":"0x1f401","levels":0,"is":["single_layer","filter_cubic","filter_cubic_minmax"]}},"path":"update","changes":["#,
                0x5600_0000_0000_u64 + sampler * 64,
                0x5700_0000_0000_u64 + view * 64,
                sampler % 50,
            )?;
            if is_changed {
                for (index, field) in ["magFilter", "minFilter"].into_iter().enumerate() {
                    if index > 0 {
                        line.push(b',');
                    }
                    change(&mut line, field, format)?;
                    changes += 1;
                }
                write!(line, r#"],"variant":"0x{:x}"}}"#, 0x5800_0000_0000_u64 + (sampler % 300) * 64)?;
            } else {
                line.extend_from_slice(br#"],"variant":null}"#);
            }
        }
        line.push(b'\n');
        into.write_all(&line)?;
        written += line.len() as u64;
        records += 1;
    }
    Ok((records, changes))
}
