//! The one room of the product's templates that is looked at.

#[path = "../../../src/template/go/mod.rs"]
pub mod go;
