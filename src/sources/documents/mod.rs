//! The `documents` kind: a hybrid index over files.
