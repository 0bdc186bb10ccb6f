//! What programs and libraries are made for.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What the first bytes of an ELF file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    /// Word size in bits.
    pub bits: u8,
    /// `e_machine`.
    pub machine: u16,
}

/// A kind of machine.
struct Machine {
    elf: Elf,
    /// For messages.
    name: &'static str,
    /// Its name in Rust.
    arch: &'static str,
    /// Where Debian has its libraries: a folder below `lib`.
    folder: &'static str,
    /// What Debian calls it.
    debian: &'static str,
    /// What cargo calls it.
    target: &'static str,
    /// `e_machine` of the other word size, which runs on the same processors.
    other: Option<u16>,
}

const fn elf(bits: u8, machine: u16) -> Elf {
    Elf { bits, machine }
}

const MACHINES: [Machine; 5] = [
    Machine {
        elf: elf(64, 62),
        name: "x86-64",
        arch: "x86_64",
        folder: "x86_64-linux-gnu",
        debian: "amd64",
        target: "x86_64-unknown-linux-gnu",
        other: Some(3),
    },
    Machine {
        elf: elf(32, 3),
        name: "x86",
        arch: "x86",
        folder: "i386-linux-gnu",
        debian: "i386",
        target: "i686-unknown-linux-gnu",
        other: Some(62),
    },
    Machine {
        elf: elf(64, 183),
        name: "AArch64",
        arch: "aarch64",
        folder: "aarch64-linux-gnu",
        debian: "arm64",
        target: "aarch64-unknown-linux-gnu",
        other: Some(40),
    },
    Machine {
        elf: elf(32, 40),
        name: "Arm",
        arch: "arm",
        folder: "arm-linux-gnueabihf",
        debian: "armhf",
        target: "armv7-unknown-linux-gnueabihf",
        other: Some(183),
    },
    Machine {
        elf: elf(64, 243),
        name: "RISC-V",
        arch: "riscv64",
        folder: "riscv64-linux-gnu",
        debian: "riscv64",
        target: "riscv64gc-unknown-linux-gnu",
        other: None,
    },
];

impl Elf {
    /// Reads the head of a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no ELF file.
    pub fn read(path: &Path) -> io::Result<Self> {
        if cfg!(windows) {
            return Self::of_windows(path);
        }
        let mut head = [0_u8; 20];
        File::open(path)?.read_exact(&mut head)?;
        let bad = || io::Error::new(io::ErrorKind::InvalidData, "not an ELF file");
        let [0x7f, b'E', b'L', b'F', class, order, ..] = head else { return Err(bad()) };
        let machine = match order {
            1 => u16::from_le_bytes([head[18], head[19]]),
            _ => u16::from_be_bytes([head[18], head[19]]),
        };
        match class {
            1 => Ok(Self { bits: 32, machine }),
            2 => Ok(Self { bits: 64, machine }),
            _ => Err(bad()),
        }
    }

    /// The same of a program or library of Windows, whose machines have other numbers.
    fn of_windows(path: &Path) -> io::Result<Self> {
        let mut head = Vec::new();
        File::open(path)?.take(4096).read_to_end(&mut head)?;
        match machine_of_windows(&head) {
            Some(0x014c) => Ok(elf(32, 3)),
            Some(0x8664) => Ok(elf(64, 62)),
            Some(0xaa64) => Ok(elf(64, 183)),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "no program or library that is known")),
        }
    }

    /// What this program is compiled for; `None` on a machine that is not in the table.
    pub fn native() -> Option<Self> {
        MACHINES.iter().find(|machine| machine.arch == std::env::consts::ARCH).map(|machine| machine.elf)
    }

    /// What else runs here: programs of the other word size, if the system has their libraries.
    pub fn other() -> Option<Self> {
        let other = Self::native()?.row()?.other?;
        MACHINES.iter().map(|machine| machine.elf).find(|elf| elf.machine == other)
    }

    /// Whether programs like this one can load it.
    pub fn is_native(self) -> bool {
        Self::native().is_none_or(|native| native == self)
    }

    /// Whether programs that run here can load it, of this word size or the other one.
    pub fn runs_here(self) -> bool {
        self.is_native() || Self::other() == Some(self)
    }

    fn row(self) -> Option<&'static Machine> {
        MACHINES.iter().find(|machine| machine.elf == self)
    }

    /// For messages: `64-bit x86-64`.
    pub fn describe(self) -> String {
        let name = self.row().map_or_else(|| format!("machine {}", self.machine), |row| row.name.to_owned());
        format!("{}-bit {name}", self.bits)
    }

    /// The folder below `lib` where Debian has libraries of this kind.
    pub fn folder(self) -> Option<&'static str> {
        self.row().map(|row| row.folder)
    }

    /// What Debian calls such a machine.
    pub fn debian(self) -> Option<&'static str> {
        self.row().map(|row| row.debian)
    }

    /// What cargo calls it.
    pub fn target(self) -> Option<&'static str> {
        self.row().map(|row| row.target)
    }
}

/// A file that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executable {
    /// A program of Linux.
    Linux(Elf),
    /// A program of Windows with this word size, which Wine starts.
    Windows(u8),
    /// A text that names the program which reads it, with its argument if it has one.
    Script(PathBuf, Option<String>),
}

impl Executable {
    /// Reads the head of a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is none of these.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut head = Vec::new();
        File::open(path)?.take(4096).read_to_end(&mut head)?;
        if let Some(line) = head.strip_prefix(b"#!") {
            let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line).into_owned();
            let mut words = line.split_whitespace().map(str::to_owned);
            let program = words.next().map(PathBuf::from);
            return program
                .map(|program| Self::Script(program, words.next()))
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a script that names no program"));
        }
        if let Some(bits) = windows(&head) {
            return Ok(Self::Windows(bits));
        }
        let neither = || io::Error::new(io::ErrorKind::InvalidData, "no program of Linux or Windows");
        Elf::read(path).map(Self::Linux).map_err(|_| neither())
    }
}

/// The machine of a program of Windows: at 0x3c of a DOS program is the offset of its second head, which begins with `PE\0\0` and the
/// machine.
fn machine_of_windows(head: &[u8]) -> Option<u16> {
    head.strip_prefix(b"MZ")?;
    let at = u32::from_le_bytes(head.get(0x3c..0x40)?.try_into().ok()?) as usize;
    let machine = head.get(at..at.checked_add(6)?)?.strip_prefix(b"PE\0\0")?;
    Some(u16::from_le_bytes(machine.try_into().ok()?))
}

/// Its word size.
fn windows(head: &[u8]) -> Option<u8> {
    match machine_of_windows(head)? {
        0x014c => Some(32),
        0x8664 | 0xaa64 => Some(64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_native() {
        let own = Elf::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.is_native() && own.runs_here(), "{}", own.describe());
        assert_eq!(Executable::read(&std::env::current_exe().unwrap()).unwrap(), Executable::Linux(own));
        let other = Elf::other().unwrap();
        assert!(!other.is_native() && other.runs_here() && other.bits != own.bits, "{}", other.describe());
        assert!(!elf(64, 243).runs_here());
        assert!(Elf::read(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn every_machine_has_one_other() {
        for machine in &MACHINES {
            let other = machine.other.map(|other| MACHINES.iter().find(|row| row.elf.machine == other).unwrap());
            assert!(other.is_none_or(|row| row.other == Some(machine.elf.machine) && row.elf.bits != machine.elf.bits));
        }
    }

    #[test]
    fn programs_of_windows_are_known() {
        let program = |machine: u16| {
            let mut bytes = vec![0_u8; 0x90];
            bytes[..2].copy_from_slice(b"MZ");
            bytes[0x3c] = 0x80;
            bytes[0x80..0x84].copy_from_slice(b"PE\0\0");
            bytes[0x84..0x86].copy_from_slice(&machine.to_le_bytes());
            bytes
        };
        assert_eq!(
            [0x14c, 0x8664, 0xaa64, 0x200].map(|of| windows(&program(of))),
            [Some(32), Some(64), Some(64), None]
        );
        let mut far = program(0x14c);
        far[0x3c..0x40].fill(0xff);
        assert_eq!(windows(&far), None);
        assert_eq!(windows(b"MZ"), None);
    }
}
