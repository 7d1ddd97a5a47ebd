//! The tests of the dialogue: answers and outputs as tables of cases, and properties that hold for any text.

#![cfg(test)]

mod answer_properties;
mod answers;
mod cases;
mod output_properties;
mod outputs;
