//! What an analysis has found so far, and how much work it has done.

use super::needs::{Need, Needs, Requirements};
use super::path::Paths;

/// The most statements and paths that an analysis visits; beyond, a template counts as using everything.
const MAX_VISITS: usize = 1_000_000;

/// What an analysis has found, and the work that it has done.
#[derive(Default)]
pub(crate) struct Facts {
    visits: usize,
    paths: Needs,
    functions: Needs,
    templates: Needs,
}

impl Facts {
    /// Forgets what has been found, but not the work: a need that an earlier round took for certain may now be optional.
    pub(crate) fn begin_round(&mut self) {
        (self.paths, self.functions, self.templates) = Default::default();
    }

    /// Counts work: visits of statements, expressions, variables and paths.
    pub(crate) fn work(&mut self, visits: usize) {
        self.visits = self.visits.saturating_add(visits);
    }

    /// Whether the analysis must give up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.visits >= MAX_VISITS
    }

    /// Notes that a value is tested, iterated over, or on the way to another one.
    pub(crate) fn look_at(&mut self, value: &Paths, optional: bool) {
        self.touch(value, optional, false);
    }

    /// Notes that a value is used with everything in it.
    pub(crate) fn use_whole(&mut self, value: &Paths, optional: bool) {
        self.touch(value, optional, true);
    }

    fn touch(&mut self, value: &Paths, optional: bool, whole: bool) {
        for path in value.iter() {
            self.work(1);
            let optional = optional || path.optional;
            self.paths.note(Need { name: path.to_string(), optional, dynamic: path.dynamic, whole });
        }
    }

    /// Notes a call of a function that the template does not define.
    pub(crate) fn function(&mut self, name: &str, optional: bool) {
        self.functions.name(name, optional);
    }

    /// Notes the name of another template.
    pub(crate) fn template(&mut self, name: &str, optional: bool) {
        self.templates.name(name, optional);
    }

    /// Notes that names of other templates are computed.
    #[cfg(feature = "jinja")]
    pub(crate) fn computed_template(&mut self) {
        self.templates.note(Need { name: "*".to_owned(), optional: true, dynamic: true, whole: true });
    }

    /// Adds what the result must have if the analysis gives up: everything in the data, and every function and template that
    /// is named anywhere.
    pub(crate) fn give_up<'n>(
        &mut self,
        functions: impl IntoIterator<Item = &'n str>,
        templates: impl IntoIterator<Item = &'n str>,
    ) {
        self.paths.note(Need { name: String::new(), optional: true, dynamic: true, whole: true });
        functions.into_iter().for_each(|name| self.functions.name(name, true));
        templates.into_iter().for_each(|name| self.templates.name(name, true));
    }

    /// What has been found.
    pub(crate) fn requirements(self) -> Requirements {
        Requirements {
            paths: self.paths.listed(),
            functions: self.functions.listed(),
            templates: self.templates.listed(),
        }
    }
}
