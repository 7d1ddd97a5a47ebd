//! Runs the corpus of Jinja templates, whose results were made with real Jinja2: the output must be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Read;

use serde::Deserialize;

use ai_prompt_corpus::jinja::{Answer, Case};

/// Cases that are known to differ, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

#[derive(Debug, Deserialize)]
struct Expected {
    group: String,
    ok: bool,
    #[serde(default)]
    out: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    says: Option<String>,
    #[serde(default)]
    semistrict_out: Option<String>,
}

/// How many cases of a group there are, and how many of them are as expected.
#[derive(Default)]
struct Count {
    cases: usize,
    same: usize,
}

#[derive(Default)]
struct Figures {
    good: Count,
    failing: Count,
    groups: BTreeMap<String, Count>,
    different: BTreeSet<String>,
}

impl Expected {
    /// Whether the answer is right: a failing case has to fail, or may test a missing value.
    fn allows(&self, answer: &Answer) -> bool {
        if self.ok {
            return answer.out == self.out;
        }
        let says = self.says.as_deref().unwrap_or_default();
        let fails =
            answer.kind != Some("panic") && answer.error.as_deref().is_some_and(|text| text.contains(says));
        fails || (answer.ok && answer.out == self.semistrict_out)
    }
}

impl Count {
    fn add(&mut self, same: bool) {
        self.cases += 1;
        self.same += usize::from(same);
    }
}

impl Figures {
    fn count(&mut self, line: &str) -> serde_json::Result<()> {
        let case = Case::parse(line)?;
        let expected: Expected = serde_json::from_str(line)?;
        let answer = case.run();
        let same = expected.allows(&answer);
        let sort = if expected.ok { &mut self.good } else { &mut self.failing };
        sort.add(same);
        self.groups.entry(expected.group.clone()).or_default().add(same);
        if !same {
            if self.different.len() < 20 {
                println!(
                    "{} {}\n  want {:?}",
                    case.id,
                    expected.group,
                    expected.out.as_ref().or(expected.error.as_ref())
                );
                println!("  have {:?}", answer.out.as_ref().or(answer.error.as_ref()));
            }
            self.different.insert(case.id);
        }
        Ok(())
    }

    fn print(&self) {
        for (group, count) in self.groups.iter().filter(|(_, count)| count.same < count.cases) {
            println!("{group}: {} of {}", count.same, count.cases);
        }
        println!("good cases identical: {} of {}", self.good.same, self.good.cases);
        println!("failing cases as expected: {} of {}", self.failing.same, self.failing.cases);
    }
}

fn corpus() -> std::io::Result<String> {
    let file = std::fs::File::open("jinja_templates.jsonl.gz")?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn every_case_of_the_corpus_gives_the_output_of_jinja2() -> Result<(), Box<dyn Error>> {
    let mut figures = Figures::default();
    for line in corpus()?.lines() {
        figures.count(line)?;
    }
    figures.print();
    let listed: BTreeSet<String> = EXCEPTIONS.iter().map(|(id, _)| (*id).to_owned()).collect();
    let unlisted: Vec<_> = figures.different.difference(&listed).collect();
    let repaired: Vec<_> = listed.difference(&figures.different).collect();
    assert!(figures.good.cases > 2_400 && figures.failing.cases > 250, "the corpus is there");
    assert!(figures.good.same * 100 >= figures.good.cases * 99, "99 % of the good cases are identical");
    assert!(figures.failing.same * 10 >= figures.failing.cases * 9, "90 % of the failing cases fail");
    assert!(unlisted.is_empty(), "they differ, and are no exceptions: {unlisted:?}");
    assert!(repaired.is_empty(), "exceptions that do not differ: {repaired:?}");
    Ok(())
}
