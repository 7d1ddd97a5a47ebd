//! Which strategies are tried for a model: what the settings declare is believed, the rest is found out and remembered.

use std::time::Duration;

use super::strategy::{Parameter, Refusal, Strategy};
use crate::llm::capabilities::Capabilities;
use crate::llm::offer::Offer;

/// How long it is believed that a model lacks a parameter.
const LACKING: Duration = Duration::from_secs(3_600);

/// One way to ask: a strategy with or without its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// [`Strategy::JsonSchema`].
    JsonSchema,
    /// [`Strategy::Tools`].
    Tools,
    /// [`Strategy::JsonObject`] with `response_format`.
    JsonObject,
    /// [`Strategy::JsonObject`] for a model that has no `response_format`: the text in the system message alone.
    Text,
}

impl Way {
    /// Its strategy.
    pub fn strategy(self) -> Strategy {
        match self {
            Way::JsonSchema => Strategy::JsonSchema,
            Way::Tools => Strategy::Tools,
            Way::JsonObject | Way::Text => Strategy::JsonObject,
        }
    }

    /// Whether the schema is a text in the system message.
    pub fn has_text(self) -> bool {
        self.strategy() == Strategy::JsonObject
    }

    /// The parameter that it needs.
    fn parameter(self) -> Option<Parameter> {
        match self {
            Way::JsonSchema | Way::JsonObject => Some(Parameter::ResponseFormat),
            Way::Tools => Some(Parameter::Tools),
            Way::Text => None,
        }
    }
}

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
    /// The ladder of a model with these capabilities, of an upstream that has told what it offers. With `forced` it has ways of
    /// this strategy only, and is empty if the capabilities deny it.
    pub fn new(
        capabilities: Capabilities,
        offers: &StructuredOffers,
        model: &str,
        forced: Option<Strategy>,
    ) -> Ladder {
        let Capabilities { json_schema, tools, json_object } = capabilities;
        let declared = [(Way::JsonSchema, json_schema), (Way::Tools, tools), (Way::JsonObject, json_object)];
        let mut steps = Vec::new();
        for (way, declared) in declared {
            let is_wanted = forced.is_none_or(|forced| forced == way.strategy());
            let is_seen_lacking = || offers.of(way).is_some_and(|offer| !offer.is_tried(model));
            match declared {
                Some(true) if is_wanted => {
                    steps.push(Step { way, refusable: None });
                    return Ladder(steps);
                }
                None if is_wanted && (forced.is_some() || !is_seen_lacking()) => {
                    let has_next = forced.is_none() || way == Way::JsonObject;
                    steps.push(Step { way, refusable: way.parameter().filter(|_| has_next) });
                }
                _ => {}
            }
        }
        let denied = forced == Some(Strategy::JsonObject) && json_object == Some(false);
        if forced.is_none_or(|forced| forced == Strategy::JsonObject) && !denied {
            steps.push(Step { way: Way::Text, refusable: None });
        }
        Ladder(steps)
    }

    /// The ladder of the built-in model, which takes every strategy.
    pub fn of_echo(forced: Option<Strategy>) -> Way {
        match forced {
            None | Some(Strategy::JsonSchema) => Way::JsonSchema,
            Some(Strategy::Tools) => Way::Tools,
            Some(Strategy::JsonObject) => Way::JsonObject,
        }
    }

    /// Whether a step needs the schema as a text.
    pub fn has_text(&self) -> bool {
        self.0.iter().any(|step| step.way.has_text())
    }

    /// Whether the model is known to have [`Strategy::JsonSchema`].
    pub fn is_native(&self) -> bool {
        matches!(self.0.as_slice(), [Step { way: Way::JsonSchema, refusable: None }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(
        capabilities: Capabilities,
        offers: &StructuredOffers,
        forced: Option<Strategy>,
    ) -> Vec<(Way, bool)> {
        let Ladder(steps) = Ladder::new(capabilities, offers, "m", forced);
        steps.into_iter().map(|step| (step.way, step.refusable.is_some())).collect()
    }

    const NOTHING: Capabilities =
        Capabilities { json_schema: Some(false), tools: Some(false), json_object: Some(false) };

    #[test]
    fn what_is_declared_is_believed_and_the_rest_is_tried() {
        let offers = StructuredOffers::default();
        let unknown = Capabilities::default();
        let all = [(Way::JsonSchema, true), (Way::Tools, true), (Way::JsonObject, true), (Way::Text, false)];
        assert_eq!(ways(unknown, &offers, None), all);
        let tools = Capabilities { tools: Some(true), ..unknown };
        assert_eq!(ways(tools, &offers, None), [(Way::JsonSchema, true), (Way::Tools, false)]);
        let tools = Capabilities { tools: Some(true), ..NOTHING };
        assert_eq!(ways(tools, &offers, None), [(Way::Tools, false)]);
        assert_eq!(ways(NOTHING, &offers, None), [(Way::Text, false)]);
        let object = Capabilities { json_object: Some(true), ..NOTHING };
        assert_eq!(ways(object, &offers, None), [(Way::JsonObject, false)]);
    }

    #[test]
    fn what_was_refused_is_not_tried_again_unless_it_is_forced() {
        let offers = StructuredOffers::default();
        offers.lacks(Way::JsonSchema, "m", Refusal::OfSchema);
        assert_eq!(ways(Capabilities::default(), &offers, None).len(), 4);
        offers.lacks(Way::JsonSchema, "m", Refusal::Unsupported);
        offers.lacks(Way::Tools, "m", Refusal::Unsupported);
        assert_eq!(
            ways(Capabilities::default(), &offers, None),
            [(Way::JsonObject, true), (Way::Text, false)]
        );
        assert_eq!(
            ways(Capabilities::default(), &offers, Some(Strategy::JsonSchema)),
            [(Way::JsonSchema, false)]
        );
        assert_eq!(Ladder::new(Capabilities::default(), &offers, "other", None).0.len(), 4);
    }

    #[test]
    fn a_forced_strategy_that_is_denied_has_no_way() {
        let offers = StructuredOffers::default();
        for forced in Strategy::ALL {
            assert!(ways(NOTHING, &offers, Some(forced)).is_empty(), "{forced}");
        }
        let forced = Some(Strategy::JsonObject);
        assert_eq!(
            ways(Capabilities::default(), &offers, forced),
            [(Way::JsonObject, true), (Way::Text, false)]
        );
    }
}
