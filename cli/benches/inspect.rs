//! How fast a trace is read, and in how much memory.
//!
//!     cargo bench -p samplin-cli --bench inspect [-- MEGABYTES]
//!
//! Writes a trace of that size (default 1000) into the temporary folder, reads it with `samplin inspect` three times in a
//! process of its own, and prints the best speed and the most memory. Speed is bytes of the file by user and system time of
//! the process, that is per core.

use std::io::{BufWriter, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use samplin_testkit::large;

fn main() {
    let megabytes: u64 = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1000);
    let path = std::env::temp_dir().join(format!("samplin-bench-{}.jsonl", std::process::id()));
    let file = std::fs::File::create(&path).expect("creates a file");
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    let (records, changes) = large::trace(&mut writer, megabytes * 1_000_000).expect("writes");
    writer.flush().expect("writes");
    drop(writer);
    let bytes = std::fs::metadata(&path).expect("is there").len();
    println!("trace: {bytes} bytes, {records} records, {changes} changes");
    let mut best = f64::INFINITY;
    let mut memory = 0;
    for round in 1..=3 {
        // Once through, so that the file is in memory and not the disk is measured.
        std::io::copy(&mut std::fs::File::open(&path).expect("opens"), &mut std::io::sink()).expect("reads");
        let started = Instant::now();
        // The shell reports what its only child used, without any further dependency.
        let output = Command::new("sh")
            .args(["-c", "\"$0\" inspect --json \"$1\" | tail -c 1 >/dev/null; times"])
            .arg(env!("CARGO_BIN_EXE_samplin"))
            .arg(&path)
            .stdin(Stdio::null())
            .output()
            .expect("runs");
        let wall = started.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        let seconds = children_time(&text).unwrap_or(wall);
        best = best.min(seconds);
        let peak = peak_memory(&path);
        memory = memory.max(peak);
        println!("round {round}: {seconds:.2} s of one core ({wall:.2} s by the clock), {peak} kB");
    }
    let _ = std::fs::remove_file(&path);
    println!("best: {:.0} MB/s per core, at most {memory} kB of memory", bytes as f64 / 1e6 / best);
}

/// User and system time of the children, from the second line of the shell's `times`: `0m1.23s 0m0.45s`.
fn children_time(text: &str) -> Option<f64> {
    let line = text.lines().last()?;
    line.split_whitespace()
        .map(|part| {
            let (minutes, seconds) = part.strip_suffix('s')?.split_once('m')?;
            Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
        })
        .sum()
}

/// The most memory that the process ever had resident, in kilobytes; 0 where /proc does not tell.
fn peak_memory(path: &std::path::Path) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_samplin"))
        .arg("inspect")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while matches!(child.try_wait(), Ok(None)) {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("");
        peak = peak.max(line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    peak
}
