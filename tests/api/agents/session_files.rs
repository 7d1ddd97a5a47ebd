//! `agent test` and `check --test` play session files, and tell everything that is not as it is expected.
