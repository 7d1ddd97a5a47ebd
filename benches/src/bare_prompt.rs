//! The workload's prompt, rendered by bare minijinja: what the yardsticks do before anything else.

use std::error::Error;

use minijinja::{AutoEscape, Environment, Value, context};
use serde::{Deserialize, Serialize};

/// The prompt and its environs.
pub struct BarePrompt {
    env: Environment<'static>,
    environs: Environs,
}

#[derive(Deserialize)]
struct Environs {
    company: Value,
    policy: Value,
    today: Value,
}

/// A rendered message.
#[derive(Serialize)]
pub struct Message {
    role: &'static str,
    content: String,
}

impl BarePrompt {
    /// Reads the prompt from the folder of the workload.
    pub fn load(folder: &str) -> Result<BarePrompt, Box<dyn Error>> {
        let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}"));
        let mut env = Environment::new();
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.add_template_owned("system", read("system.j2")?)?;
        env.add_template_owned("user", read("user.j2")?)?;
        Ok(BarePrompt { env, environs: serde_json::from_str(&read("shared.json")?)? })
    }

    /// Renders both messages.
    pub fn messages(&self, args: Value) -> Result<[Message; 2], minijinja::Error> {
        let Environs { company, policy, today } = &self.environs;
        let root = context! { args, company, policy, today };
        let message = |role| {
            let content = self.env.get_template(role)?.render(&root)?;
            Ok::<_, minijinja::Error>(Message { role, content })
        };
        Ok([message("system")?, message("user")?])
    }
}
