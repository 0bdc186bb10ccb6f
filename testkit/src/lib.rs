//! Headless Vulkan harness of the tests, the gallery and the benches.
