//! Jinja.
