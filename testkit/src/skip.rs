//! How a test says that it cannot check something here.
//!
//! A skip is a line `SKIP: REASON` on standard output, nothing else: `scripts/test-report` finds it under the test's name and
//! holds it against the lists in `tests/skips`, where each has to stand. A test that returns early without such a line
//! would count as passed.

use std::fmt::Display;

/// Why a case cannot run here.
#[derive(Debug)]
pub struct Skip(pub String);

/// What a case comes to; failures panic.
pub type Outcome = Result<(), Skip>;

/// Says that the test, or a part of it, is left out, and why: one line, the same in every run on the same system.
pub fn skip(reason: impl Display) {
    // A line of its own, also when the harness has started one with the test's name.
    println!("\nSKIP: {reason}");
}

/// Skips when there is a reason to.
pub fn skip_if(reason: Option<String>) -> Outcome {
    reason.map_or(Ok(()), |reason| Err(Skip(reason)))
}
