//! The tests of the policy: its table of cases, its properties, rules of users, repositories, the page of the rules.

#![cfg(test)]

mod cases;
mod fixture;
mod lines;
mod page;
mod properties;
mod repositories;
mod user_rules;
