//! The reader, the links, the editor and the pass `split` on shaders of several compilers.

mod corpus;
mod counters;
mod edit;
mod links;
mod machine;
mod samples;
mod scan;
mod split;
mod words;
