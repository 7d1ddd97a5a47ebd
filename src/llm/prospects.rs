//! How a model would be asked for a value that fits a schema, without asking it.

use bytes::Bytes;

use super::Llm;
use super::client_format::RequestOptions;
use super::error::LlmError;
use super::protocol::{Protocol, Service};
use super::routes::{ECHO, Target};
use super::structured::{Ladder, Plan, Strategy, StructuredRequest, Way};
use template::value::RawObject;

/// What is known of the ways in which a model, and its fallbacks, would be asked for a value.
#[derive(Debug, PartialEq, Eq)]
pub struct Prospects {
    /// The model that is asked for.
    pub model: String,
    /// Whether one of them may need the schema as a text.
    pub needs_text: bool,
    /// Whether all of them are known to have the way in which the payload itself asks.
    pub is_native: bool,
    /// Whether the model that is asked for may have it.
    pub may_be_native: bool,
}

/// The request that would be sent.
#[derive(Debug)]
pub struct Preview {
    /// The model that is asked for.
    pub model: String,
    /// How it is asked.
    pub strategy: Strategy,
    /// The body for its upstream.
    pub body: Bytes,
}

impl Llm {
    /// How the model of a chat would be asked for a value.
    ///
    /// # Errors
    /// [`LlmError::StrategyNotSupported`] if its capabilities deny the strategy of the plan; errors of the chat's members; if there is
    /// no such model.
    pub fn prospects(&self, payload: &RawObject, plan: Plan) -> Result<Prospects, LlmError> {
        let model = RequestOptions::of_chat(payload, self.default_model())?.model;
        let ladders: Vec<Option<Ladder>> =
            self.chain(&model)?.iter().map(|target| ladder(target, plan)).collect();
        if let (Some(Some(Ladder(steps))), Some(strategy)) = (ladders.first(), plan.forced())
            && steps.is_empty()
        {
            let supported = self.supported(&model)?;
            return Err(LlmError::StrategyNotSupported { model, strategy: strategy.name(), supported });
        }
        let any = |is_so: fn(&Ladder) -> bool| ladders.iter().flatten().any(is_so);
        let has_native = |ladder: &Option<Ladder>| {
            ladder.as_ref().zip(plan.native).is_some_and(|(ladder, native)| ladder.is_only(native))
        };
        let is_native = ladders.iter().all(has_native);
        let first = ladders.first().and_then(Option::as_ref);
        let may_be_native = first.zip(plan.native).is_some_and(|(ladder, native)| ladder.has(native));
        Ok(Prospects { model, needs_text: any(Ladder::has_text), is_native, may_be_native })
    }

    /// The strategies that a model has, or may have.
    fn supported(&self, model: &str) -> Result<Vec<&'static str>, LlmError> {
        let target = self.chain(model)?.into_iter().next();
        let has = |strategy: &Strategy| {
            let ladder = target.as_ref().and_then(|target| ladder(target, Plan::only(*strategy)));
            ladder.is_none_or(|Ladder(steps)| !steps.is_empty())
        };
        let supported = Strategy::ALL.into_iter().filter(has).map(Strategy::name).collect::<Vec<_>>();
        // The text in the system message needs nothing of a model.
        Ok(if supported.is_empty() {
            vec!["the schema as a text, where no strategy is named"]
        } else {
            supported
        })
    }

    /// The request that would be sent first.
    ///
    /// # Errors
    /// As of [`Llm::prospects`]; [`LlmError::Invalid`].
    pub fn preview(&self, request: &StructuredRequest) -> Result<Preview, LlmError> {
        let Prospects { model, .. } = self.prospects(&request.payload, request.plan)?;
        let target = self.chain(&model)?.into_iter().next().unwrap_or(Target::Echo);
        let steps = ladder(&target, request.plan).map(|Ladder(steps)| steps);
        let way = steps.map_or(Some(request.plan.first()), |steps| steps.first().map(|step| step.way));
        let way = way.unwrap_or(Way::Text);
        let (protocol, name) = match &target {
            Target::Model { upstream, name, .. } => (upstream.protocol, name.as_str()),
            Target::Echo => (Protocol::OpenAi, ECHO),
        };
        let body = protocol.request(Service::Chat, &request.body(way, protocol)?, name)?;
        Ok(Preview { model, strategy: way.strategy(), body })
    }
}

/// The ladder of a target; `None` for the built-in model, which takes every strategy.
fn ladder(target: &Target, plan: Plan) -> Option<Ladder> {
    match target {
        Target::Echo => None,
        Target::Model { upstream, name, capabilities, .. } => {
            Some(Ladder::new(*capabilities, &upstream.structured, name, plan))
        }
    }
}
