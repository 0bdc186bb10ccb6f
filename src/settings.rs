//! Layer settings.
