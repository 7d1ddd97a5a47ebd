//! The page of the rules.

#[test]
fn the_page_is_made_of_the_rules_that_ship() {
    let page = include_str!("../../../../docs/commands.md");
    assert!(page == policy::page(), "docs/commands.md is not current: `make rules-page` writes it anew");
}
