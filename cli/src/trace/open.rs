//! Opening a trace: plain lines, or compressed with gzip or Zstandard, which is seen from its first bytes and not from its name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The first bytes of a gzip member (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The first bytes of a Zstandard frame (RFC 8878, 3.1.1); those of a skippable frame end in the same three bytes, see [`is_zstd`].
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

fn is_zstd(head: &[u8]) -> bool {
    // RFC 8878, 3.1.2: 0x184D2A50 to 0x184D2A5F begin a skippable frame.
    head == ZSTD || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// The bytes of a trace that is read from `input`, decompressed if need be.
///
/// # Errors
///
/// When its first bytes cannot be read.
pub(crate) fn decompressed<'r>(mut input: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    let mut head = Vec::with_capacity(ZSTD.len());
    (&mut input).take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let (is_gzip, is_zstd) = (head.starts_with(&GZIP), is_zstd(&head));
    let whole = Cursor::new(head).chain(input);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::new(whole)))
    } else if is_zstd {
        Box::new(Frames { source: BufReader::new(whole), decoder: FrameDecoder::new(), is_open: false })
    } else {
        Box::new(whole)
    })
}

/// Whether the file begins as a compressed one.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn is_compressed(path: &Path) -> io::Result<bool> {
    let mut head = Vec::with_capacity(ZSTD.len());
    File::open(path)?.take(ZSTD.len() as u64).read_to_end(&mut head)?;
    Ok(head.starts_with(&GZIP) || is_zstd(&head))
}

/// All frames of a Zstandard stream, one after the other.
struct Frames<R: BufRead> {
    source: R,
    decoder: FrameDecoder,
    /// The decoder is in the middle of a frame.
    is_open: bool,
}

impl<R: BufRead> Frames<R> {
    /// Begins the next frame that holds something; `false` at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }

    /// Whether the frame that ends here is what was compressed, as far as it tells.
    fn check(&self) -> io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stated), Some(found)) if stated != found => {
                Err(invalid("the checksum of a Zstandard frame is wrong"))
            }
            _ => Ok(()),
        }
    }
}

fn invalid(error: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                self.is_open = self.begin()?;
                if !self.is_open {
                    return Ok(0);
                }
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            if self.decoder.is_finished() {
                self.check()?;
                self.is_open = false;
            } else {
                self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)).map_err(invalid)?;
            }
        }
    }
}
