//! The layer as Android's loader opens it, for `tests/android.rs`.

#![allow(non_snake_case, reason = "loaders look for these names")]

samplin::export_v0!();
