//! `samplin`: runs programs under the layer, reads its traces, explains and predicts.

fn main() {}
