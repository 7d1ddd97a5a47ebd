//! Which upstream a model has, by the settings: what a model leaves out is taken from the default upstream, whose secrets are sent only to
//! its own addresses.

use super::revealed;
use crate::llm::{Protocol, UpstreamOptions};
use crate::settings::{self, Model, Secret};

/// The default upstream, if there is one.
pub fn default(settings: &settings::Llm) -> Option<UpstreamOptions> {
    let protocol = protocol(settings.protocol);
    let usual = || protocol.usual_base_url().map(str::to_owned);
    Some(UpstreamOptions {
        protocol,
        base_url: settings.base_url.clone().or_else(usual)?,
        api_key: revealed_key(settings.api_key.as_ref()),
        headers: revealed(&settings.headers),
        responses: settings.responses,
        oauth_url: settings.oauth_url.clone(),
        scope: settings.scope.clone(),
        ca_file: settings.ca_file.clone(),
    })
}

/// The upstream of a model with settings of its own; `None` if it is the default one.
pub fn own(default: Option<&UpstreamOptions>, model: &Model) -> Option<UpstreamOptions> {
    let own = of_model(model);
    let protocol_of_default = default.map(|default| default.protocol).unwrap_or_default();
    // Another address, or another protocol, is another upstream, which has nothing of the default one.
    if model.base_url.is_some() || model.protocol.is_some() && own.protocol != protocol_of_default {
        return Some(own);
    }
    let has_own = own.api_key.is_some() || !own.headers.is_empty() || own.responses.is_some();
    if !has_own && own.oauth_url.is_none() && own.scope.is_none() && own.ca_file.is_none() {
        return None;
    }
    let mut upstream = default?.clone();
    // The key is for the address where it is exchanged for tokens.
    let place_of_default = upstream.oauth_url.as_deref().or(upstream.protocol.usual_oauth_url());
    let is_same_place = own.oauth_url.is_none() || own.oauth_url.as_deref() == place_of_default;
    upstream.api_key = own.api_key.or(upstream.api_key.filter(|_| is_same_place));
    upstream.headers.extend(own.headers);
    upstream.responses = own.responses.or(upstream.responses);
    upstream.oauth_url = own.oauth_url.or(upstream.oauth_url);
    upstream.scope = own.scope.or(upstream.scope);
    upstream.ca_file = own.ca_file.or(upstream.ca_file);
    Some(upstream)
}

/// What a model's settings say, without those of the default upstream. Where they name no address, and there is no usual one, it is empty.
fn of_model(model: &Model) -> UpstreamOptions {
    let protocol = model.protocol.map(protocol).unwrap_or_default();
    let usual = || protocol.usual_base_url().unwrap_or_default().to_owned();
    UpstreamOptions {
        protocol,
        base_url: model.base_url.clone().unwrap_or_else(usual),
        api_key: revealed_key(model.api_key.as_ref()),
        headers: revealed(&model.headers),
        responses: model.responses,
        oauth_url: model.oauth_url.clone(),
        scope: model.scope.clone(),
        ca_file: model.ca_file.clone(),
    }
}

fn protocol(setting: settings::Protocol) -> Protocol {
    match setting {
        settings::Protocol::OpenAi => Protocol::OpenAi,
        settings::Protocol::GigaChat => Protocol::GigaChat,
    }
}

/// The key, if there is one; an empty environment variable counts as none.
fn revealed_key(key: Option<&Secret>) -> Option<String> {
    key.map(|key| key.reveal().to_owned()).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gigachat() -> UpstreamOptions {
        let settings = settings::Llm {
            protocol: settings::Protocol::GigaChat,
            api_key: Some("the-default-key".into()),
            oauth_url: Some("https://tokens.test/".into()),
            scope: Some("A".into()),
            ca_file: Some("ca.pem".into()),
            ..settings::Llm::default()
        };
        default(&settings).unwrap()
    }

    fn model() -> Model {
        Model { name: "m".into(), ..Model::default() }
    }

    #[test]
    fn gigachats_own_address_needs_no_setting() {
        assert_eq!(Some(gigachat().base_url.as_str()), Protocol::GigaChat.usual_base_url());
        assert!(default(&settings::Llm::default()).is_none());
        let model = Model { protocol: Some(settings::Protocol::GigaChat), ..model() };
        let upstream = own(None, &model).unwrap();
        assert_eq!(Some(upstream.base_url.as_str()), Protocol::GigaChat.usual_base_url());
    }

    #[test]
    fn what_a_model_leaves_out_is_that_of_the_default_upstream() {
        let default = gigachat();
        assert!(own(Some(&default), &model()).is_none());
        let same = Model { protocol: Some(settings::Protocol::GigaChat), ..model() };
        assert!(own(Some(&default), &same).is_none());
        let scope = own(Some(&default), &Model { scope: Some("B".into()), ..model() }).unwrap();
        assert_eq!(scope.scope.as_deref(), Some("B"));
        assert_eq!(
            (scope.api_key, scope.oauth_url, scope.ca_file),
            (default.api_key.clone(), default.oauth_url.clone(), default.ca_file.clone())
        );
        let key = own(Some(&default), &Model { api_key: Some("own".into()), ..same }).unwrap();
        assert_eq!((key.api_key.as_deref(), key.scope.as_deref()), (Some("own"), Some("A")));
    }

    #[test]
    fn secrets_are_sent_to_their_own_addresses_only() {
        let default = gigachat();
        let elsewhere =
            own(Some(&default), &Model { oauth_url: Some("https://other.test/".into()), ..model() });
        assert_eq!(elsewhere.unwrap().api_key, None);
        // What is written out is the same place as what is left out.
        let silent = UpstreamOptions { oauth_url: None, ..default.clone() };
        let usual = Model { oauth_url: Protocol::GigaChat.usual_oauth_url().map(str::to_owned), ..model() };
        assert_eq!(own(Some(&silent), &usual).unwrap().api_key, default.api_key);
        assert_eq!(own(Some(&default), &usual).unwrap().api_key, None);
        let openai = Model { protocol: Some(settings::Protocol::OpenAi), ..model() };
        let address = Model { base_url: Some("https://other.test/v1".into()), ..model() };
        for model in [openai, address] {
            let upstream = own(Some(&default), &model).unwrap();
            assert_eq!(upstream.protocol, Protocol::OpenAi);
            assert_eq!(
                (upstream.api_key, upstream.scope, upstream.ca_file, upstream.oauth_url),
                (None, None, None, None)
            );
        }
    }
}
