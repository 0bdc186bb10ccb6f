//! The words for a descriptor that a shader names: set, binding, and which element.

/// Which element of an array of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// The variable is no array.
    Whole,
    /// A constant, or a specialization constant whose value was given.
    Const(u32),
    /// The specialization constant of this `SpecId`; only where no specialization was given.
    Spec(u32),
    /// The integer at this byte offset of the push constants, whatever the size of the array.
    Push(u32),
    /// Any element of an array of at most 64.
    Dynamic {
        /// Whether invocations that run together may differ.
        nonuniform: bool,
    },
    /// Any element of a larger array, or of one without a length.
    Unbounded,
}

/// A descriptor, or the descriptors of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
    /// Descriptors that the shader declares there: 1 if it is no array, 0 if the array has no length. Specialization constants
    /// count with the value that was given or else their default.
    pub count: u32,
    /// Which of them.
    pub index: Index,
}
