//! A usual chat prompt, rendered.
