//! Requests to callgrind, which does nothing about them unless the program runs under it.

use std::ffi::CStr;

/// Requests of the tool "CT" (callgrind.h of Valgrind 3.19).
const ZERO_STATS: usize = 0x4354_0001;
const DUMP_STATS_AT: usize = 0x4354_0003;
const START_INSTRUMENTATION: usize = 0x4354_0004;
const STOP_INSTRUMENTATION: usize = 0x4354_0005;
/// Request of Valgrind itself: under how many of them the program runs.
const RUNNING_ON_VALGRIND: usize = 0x1001;

#[cfg(target_arch = "x86_64")]
fn request(request: usize, argument: usize) -> usize {
    let mut answer = 0;
    let block = [request, argument, 0, 0, 0, 0];
    // SAFETY: outside of Valgrind the rotations add up to two full turns and the exchange is of a register with itself. Under it
    // the sequence is a client request (Valgrind manual, "The Client Request mechanism"): rax points to the request and its
    // arguments, which are only read, and the answer comes back in rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") block.as_ptr(), inout("rdx") answer, inout("rdi") 0_usize => _,
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_request: usize, _argument: usize) -> usize {
    0
}

/// Whether the program runs under Valgrind.
pub(crate) fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, 0) != 0
}

/// Starts to count.
pub(crate) fn start() {
    request(START_INSTRUMENTATION, 0);
}

/// Stops counting.
pub(crate) fn stop() {
    request(STOP_INSTRUMENTATION, 0);
}

/// Counts from 0.
pub(crate) fn zero() {
    request(ZERO_STATS, 0);
}

/// Writes what was counted, under a name.
pub(crate) fn dump(name: &CStr) {
    request(DUMP_STATS_AT, name.as_ptr() as usize);
}
