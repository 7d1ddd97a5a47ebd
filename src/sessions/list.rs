//! The list of all sessions.

use std::collections::HashSet;

use serde::Deserialize;

use super::record::Head;
use super::{SessionError, SessionKind, SessionState, Sessions};

/// The most sessions of a list.
const LISTED_MAX: usize = 1_000;

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter {
    /// Those of a kind.
    pub kind: Option<SessionKind>,
    /// Those in a state.
    pub state: Option<SessionState>,
}

/// A session in a list.
#[derive(Debug)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// What all kinds share; its state is [`SessionState::Thinking`] while somebody works on it.
    pub head: Head,
}

/// What a list reads of a record.
#[derive(Deserialize)]
struct HeadOnly {
    head: Head,
}

impl Sessions {
    /// The newest sessions, the newest first.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Listed>, SessionError> {
        let (mut found, working) = self.all().await?;
        for Listed { id, head } in &mut found {
            if working.contains(id) && !head.state.is_end() {
                head.state = SessionState::Thinking;
            }
        }
        found.retain(|listed| filter.takes(&listed.head));
        found.sort_by(|one, other| {
            other.head.created_at.cmp(&one.head.created_at).then(one.id.cmp(&other.id))
        });
        found.truncate(LISTED_MAX);
        Ok(found)
    }

    /// All sessions, and the ids of those that somebody works on.
    async fn all(&self) -> Result<(Vec<Listed>, HashSet<String>), SessionError> {
        let (sessions, leases) = (self.prefix(), self.leases.prefix());
        let mut working: HashSet<String> = self.leases.held_here().into_iter().collect();
        let (mut found, mut cursor) = (std::collections::HashMap::new(), None);
        loop {
            let page = self.store.scan(&[&sessions, leases], cursor).await?;
            for item in page.items {
                if let Some(id) = item.key.strip_prefix(&sessions) {
                    let head = item.content.map_or_else(|_| Head::failed(), |bytes| head_of(&bytes));
                    found.insert(id.to_owned(), head);
                } else if let Some(id) = item.key.strip_prefix(leases) {
                    working.insert(id.to_owned());
                }
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok((found.into_iter().map(|(id, head)| Listed { id, head }).collect(), working))
    }
}

impl Filter {
    fn takes(&self, head: &Head) -> bool {
        let kind = head.subject.as_ref().map(|subject| subject.kind);
        self.kind.is_none_or(|wanted| kind == Some(wanted))
            && self.state.is_none_or(|wanted| head.state == wanted)
    }
}

fn head_of(bytes: &[u8]) -> Head {
    serde_json::from_slice::<HeadOnly>(bytes).map_or_else(|_| Head::failed(), |read| read.head)
}
