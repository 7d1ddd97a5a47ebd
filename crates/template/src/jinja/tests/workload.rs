//! A usual chat prompt of two messages, rendered as expected.

use super::*;

#[test]
fn a_usual_chat_prompt_renders_as_expected() {
    let body = value(include_str!("workload/small.body.json"));
    let expected = value(include_str!("workload/small.expected.json"));
    let variables = serde_json::to_string(body.get("args").unwrap()).unwrap();
    let world = World::new(include_str!("workload/shared.json"), &variables);
    for (name, source) in
        [("system", include_str!("workload/system.j2")), ("user", include_str!("workload/user.j2"))]
    {
        world.shows(source, expected.get(name).unwrap().as_str().unwrap());
    }
}
