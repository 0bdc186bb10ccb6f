//! The reader, the links, the editor and the pass `split` on shaders of several compilers.

mod corpus;
mod counters;
mod declared;
mod divide;
mod edit;
mod formats;
mod images;
mod inputs;
mod layout;
mod lines;
mod links;
mod machine;
mod masks;
mod mutants;
mod passes;
mod refused;
mod rules;
mod samples;
mod sampling;
mod scan;
mod select;
mod split;
mod words;
