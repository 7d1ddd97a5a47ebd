//! Which strategies are tried for a model: what the settings declare is believed, the rest is found out and remembered.

use std::time::Duration;

use super::plan::{Plan, Way};
use super::strategy::{Parameter, Refusal};
use crate::llm::capabilities::Capabilities;
use crate::llm::offer::Offer;

/// How long it is believed that a model lacks a parameter.
const LACKING: Duration = Duration::from_secs(3_600);

/// For which of an upstream's models the ways work, as far as its answers have told.
#[derive(Debug)]
pub struct StructuredOffers {
    json_schema: Offer,
    tools: Offer,
    json_object: Offer,
}

impl Default for StructuredOffers {
    fn default() -> StructuredOffers {
        let unknown = || Offer::new(None, LACKING);
        StructuredOffers { json_schema: unknown(), tools: unknown(), json_object: unknown() }
    }
}

impl StructuredOffers {
    fn of(&self, way: Way) -> Option<&Offer> {
        match way {
            Way::JsonSchema => Some(&self.json_schema),
            Way::Tools => Some(&self.tools),
            Way::JsonObject => Some(&self.json_object),
            Way::Text => None,
        }
    }

    /// Remembers that a model does not support what a way needs, if that is what the refusal says.
    pub fn lacks(&self, way: Way, model: &str, refusal: Refusal) {
        if let (Some(offer), Refusal::Unsupported) = (self.of(way), refusal) {
            offer.lacks(model);
        }
    }
}

/// A step of a ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// How the model is asked.
    pub way: Way,
    /// The parameter whose refusal leads to the next step; `None` where a refusal is final.
    pub refusable: Option<Parameter>,
}

/// The ways in which a model is asked, in turn.
#[derive(Debug, PartialEq, Eq)]
pub struct Ladder(pub Vec<Step>);

impl Ladder {
    /// The ladder of a model with these capabilities, of an upstream that has told what it offers. It is empty if the capabilities
    /// deny all that the plan allows.
    pub fn new(capabilities: Capabilities, offers: &StructuredOffers, model: &str, plan: Plan) -> Ladder {
        let mut steps = Vec::new();
        for (at, &way) in plan.ways.iter().enumerate() {
            let is_last = at + 1 == plan.ways.len();
            match declared(way, capabilities) {
                Some(true) => {
                    steps.push(Step { way, refusable: None });
                    return Ladder(steps);
                }
                Some(false) if plan.is_forced => return Ladder(steps),
                Some(false) => {}
                // A way that is forced is tried whatever was seen before.
                None if plan.is_forced || offers.of(way).is_none_or(|offer| offer.is_tried(model)) => {
                    steps.push(Step { way, refusable: way.parameter().filter(|_| !is_last) });
                }
                None => {}
            }
        }
        Ladder(steps)
    }

    /// Whether a step needs the schema as a text.
    pub fn has_text(&self) -> bool {
        self.0.iter().any(|step| step.way.has_text())
    }

    /// Whether the model may have this way.
    pub fn has(&self, way: Way) -> bool {
        self.0.iter().any(|step| step.way == way)
    }

    /// Whether the model is known to have this way.
    pub fn is_only(&self, way: Way) -> bool {
        self.0.as_slice() == [Step { way, refusable: None }]
    }
}

/// What the settings say of a way. The text alone needs nothing of a model.
fn declared(way: Way, capabilities: Capabilities) -> Option<bool> {
    match way {
        Way::JsonSchema => capabilities.json_schema,
        // The function that carries the value is one of `tools`.
        Way::Tools if capabilities.functions == Some(true) => Some(false),
        Way::Tools => capabilities.tools,
        Way::JsonObject => capabilities.json_object,
        Way::Text => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::structured::Strategy;

    fn ways(capabilities: Capabilities, offers: &StructuredOffers, plan: Plan) -> Vec<(Way, bool)> {
        let Ladder(steps) = Ladder::new(capabilities, offers, "m", plan);
        steps.into_iter().map(|step| (step.way, step.refusable.is_some())).collect()
    }

    const NOTHING: Capabilities = Capabilities {
        json_schema: Some(false),
        tools: Some(false),
        json_object: Some(false),
        functions: None,
    };

    #[test]
    fn what_is_declared_is_believed_and_the_rest_is_tried() {
        let offers = StructuredOffers::default();
        let unknown = Capabilities::default();
        let all = [(Way::JsonSchema, true), (Way::Tools, true), (Way::JsonObject, true), (Way::Text, false)];
        assert_eq!(ways(unknown, &offers, Plan::ANY), all);
        let tools = Capabilities { tools: Some(true), ..unknown };
        assert_eq!(ways(tools, &offers, Plan::ANY), [(Way::JsonSchema, true), (Way::Tools, false)]);
        let tools = Capabilities { tools: Some(true), ..NOTHING };
        assert_eq!(ways(tools, &offers, Plan::ANY), [(Way::Tools, false)]);
        assert_eq!(ways(NOTHING, &offers, Plan::ANY), [(Way::Text, false)]);
        let functions = Capabilities { tools: Some(true), functions: Some(true), ..NOTHING };
        assert_eq!(ways(functions, &offers, Plan::ANY), [(Way::Text, false)]);
        let object = Capabilities { json_object: Some(true), ..NOTHING };
        assert_eq!(ways(object, &offers, Plan::ANY), [(Way::JsonObject, false)]);
    }

    #[test]
    fn what_was_refused_is_not_tried_again_unless_it_is_forced() {
        let offers = StructuredOffers::default();
        offers.lacks(Way::JsonSchema, "m", Refusal::OfSchema);
        assert_eq!(ways(Capabilities::default(), &offers, Plan::ANY).len(), 4);
        offers.lacks(Way::JsonSchema, "m", Refusal::Unsupported);
        offers.lacks(Way::Tools, "m", Refusal::Unsupported);
        assert_eq!(
            ways(Capabilities::default(), &offers, Plan::ANY),
            [(Way::JsonObject, true), (Way::Text, false)]
        );
        assert_eq!(
            ways(Capabilities::default(), &offers, Plan::only(Strategy::JsonSchema)),
            [(Way::JsonSchema, false)]
        );
        assert_eq!(Ladder::new(Capabilities::default(), &offers, "other", Plan::ANY).0.len(), 4);
    }

    #[test]
    fn a_forced_strategy_that_is_denied_has_no_way() {
        let offers = StructuredOffers::default();
        for forced in Strategy::ALL {
            assert!(ways(NOTHING, &offers, Plan::only(forced)).is_empty(), "{forced}");
        }
        assert_eq!(
            ways(Capabilities::default(), &offers, Plan::only(Strategy::JsonObject)),
            [(Way::JsonObject, true), (Way::Text, false)]
        );
    }
}
