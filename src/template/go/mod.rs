//! Go text/template.
