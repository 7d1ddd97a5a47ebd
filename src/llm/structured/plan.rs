//! The ways in which a model may be asked for a value, in the order in which they are tried.

use super::strategy::{Parameter, Strategy};

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
    pub fn parameter(self) -> Option<Parameter> {
        match self {
            Way::JsonSchema | Way::JsonObject => Some(Parameter::ResponseFormat),
            Way::Tools => Some(Parameter::Tools),
            Way::Text => None,
        }
    }
}

/// The ways that may be tried, in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The ways.
    pub ways: &'static [Way],
    /// Whether nothing else will do: a model that is declared not to have the first way is not asked.
    pub is_forced: bool,
    /// The way in which the payload itself asks, and goes out as it is.
    pub native: Option<Way>,
    /// Whether the value is the arguments of a function that the payload itself offers.
    pub is_call: bool,
}

impl Plan {
    /// Any way, the most reliable first.
    pub const ANY: Plan = Plan {
        ways: &[Way::JsonSchema, Way::Tools, Way::JsonObject, Way::Text],
        is_forced: false,
        native: None,
        is_call: false,
    };

    /// For a client that asks by `response_format` with a JSON Schema.
    pub const VALUE: Plan = Plan { native: Some(Way::JsonSchema), ..Plan::ANY };

    /// The same beside functions to which none can be added.
    pub const VALUE_BESIDE_FUNCTIONS: Plan =
        Plan { ways: &[Way::JsonSchema, Way::JsonObject, Way::Text], ..Plan::VALUE };

    /// For a client that asks by `response_format` for any JSON object, and says by itself for which.
    pub const OBJECT: Plan =
        Plan { ways: &[Way::JsonObject, Way::Text], native: Some(Way::JsonObject), ..Plan::ANY };

    /// For a client that asks for the call of one function.
    pub const CALL: Plan = Plan {
        ways: &[Way::Tools, Way::JsonSchema, Way::JsonObject, Way::Text],
        is_forced: false,
        native: Some(Way::Tools),
        is_call: true,
    };

    /// The same for a client that sends a `response_format` with a JSON Schema, too: that needs more of a model.
    pub const CALL_BESIDE_FORMAT: Plan = Plan { native: Some(Way::JsonSchema), is_call: true, ..Plan::ANY };

    /// One strategy only.
    pub const fn only(strategy: Strategy) -> Plan {
        let ways: &'static [Way] = match strategy {
            Strategy::JsonSchema => &[Way::JsonSchema],
            Strategy::Tools => &[Way::Tools],
            Strategy::JsonObject => &[Way::JsonObject, Way::Text],
        };
        Plan { ways, is_forced: true, ..Plan::ANY }
    }

    /// The only strategy that will do, if there is one.
    pub fn forced(self) -> Option<Strategy> {
        self.ways.first().filter(|_| self.is_forced).map(|way| way.strategy())
    }

    /// The first way, in which the built-in model is asked, as it takes every one.
    pub fn first(self) -> Way {
        self.ways.first().copied().unwrap_or(Way::Text)
    }
}
