//! Written in the next step.

fn main() {}
