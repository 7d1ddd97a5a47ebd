//! Objects: ordered members, fast look-up, and an optional shared layer below them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::{SmolStr, Value};

/// Objects of up to this many members are searched linearly; larger ones get a sorted index.
const LINEAR_SEARCH_MAX: usize = 12;

/// The members of an object, in their original order.
///
/// A map may lie over a *base*, in which members are looked up that the map does not have. So the root of a render (the
/// shared environs and the request's variables) is made without copying the environs.
#[derive(Debug, Clone, Default)]
pub struct Map {
    entries: Box<[(SmolStr, Value)]>,
    /// The fields that few maps need; boxed, so that all others stay small.
    extras: OnceLock<Box<MapExtras>>,
}

/// The fields of large maps, and of maps with a base.
#[derive(Debug, Clone, Default)]
struct MapExtras {
    /// Positions in `entries`, sorted by key; made by the first look-up that needs it.
    sorted: OnceLock<Box<[u32]>>,
    base: Option<Arc<Map>>,
    /// An alias of a member, which look-ups find but enumeration does not show: `(alias, member)`.
    alias: Option<(SmolStr, SmolStr)>,
}

impl Map {
    /// An object of these members; of a repeated key, the last value counts, as in JSON parsers.
    pub fn from_entries(entries: Vec<(SmolStr, Value)>) -> Map {
        let mut map = Map { entries: entries.into_boxed_slice(), ..Map::default() };
        map.keep_last_of_equal_keys();
        map
    }

    /// An object of `entries` over `base`.
    pub fn over(base: Arc<Map>, entries: Vec<(SmolStr, Value)>) -> Map {
        let map = Map::from_entries(entries);
        let sorted = map.extras.into_inner().map(|extras| extras.sorted).unwrap_or_default();
        let extras = Box::new(MapExtras { sorted, base: Some(base), alias: None });
        Map { entries: map.entries, extras: extras.into() }
    }

    /// Adds an alias of `member`, which look-ups find and enumeration does not show.
    pub fn with_alias(mut self, alias: &str, member: &str) -> Map {
        let alias = Some((SmolStr::new(alias), SmolStr::new(member)));
        match self.extras.get_mut() {
            Some(extras) => extras.alias = alias,
            None => self.extras = Box::new(MapExtras { alias, ..MapExtras::default() }).into(),
        }
        self
    }

    fn base(&self) -> Option<&Arc<Map>> {
        self.extras.get()?.base.as_ref()
    }

    /// The member that an alias refers to.
    fn meant_by(&self, alias: &str) -> Option<&SmolStr> {
        let (known, member) = self.extras.get()?.alias.as_ref()?;
        (known == alias).then_some(member)
    }

    /// The value at `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        if let Some(member) = self.meant_by(key) {
            return self.get_own(member);
        }
        self.get_own(key).or_else(|| self.base()?.get(key))
    }

    /// Whether this map hides a member of the base.
    fn hides(&self, key: &str) -> bool {
        self.get_own(key).is_some() || self.meant_by(key).is_some()
    }

    fn get_own(&self, key: &str) -> Option<&Value> {
        if self.entries.len() <= LINEAR_SEARCH_MAX {
            return self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v);
        }
        let found = self.sorted().binary_search_by(|&at| self.key_at(at).cmp(key)).ok()?;
        let at = *self.sorted().get(found)?;
        self.entries.get(at as usize).map(|(_, value)| value)
    }

    fn key_at(&self, at: u32) -> &str {
        self.entries.get(at as usize).map_or("", |(key, _)| key)
    }

    fn sorted(&self) -> &[u32] {
        self.extras.get_or_init(Box::default).sorted.get_or_init(|| {
            let mut order: Vec<u32> = (0..self.entries.len() as u32).collect();
            order.sort_by(|&a, &b| self.key_at(a).cmp(self.key_at(b)));
            order.into_boxed_slice()
        })
    }

    fn has_equal_keys(&self) -> bool {
        if self.entries.len() <= LINEAR_SEARCH_MAX {
            let mut earlier = self.entries.iter().enumerate();
            return earlier.any(|(at, (key, _))| self.entries.iter().take(at).any(|(other, _)| other == key));
        }
        self.sorted().windows(2).any(|pair| matches!(pair, &[a, b] if self.key_at(a) == self.key_at(b)))
    }

    fn keep_last_of_equal_keys(&mut self) {
        if !self.has_equal_keys() {
            return;
        }
        let mut places = std::collections::HashMap::new();
        let mut kept: Vec<(SmolStr, Value)> = Vec::with_capacity(self.entries.len());
        for (key, value) in std::mem::take(&mut self.entries) {
            match places.get(&key).and_then(|&at: &usize| kept.get_mut(at)) {
                Some(slot) => slot.1 = value,
                None => {
                    places.insert(key.clone(), kept.len());
                    kept.push((key, value));
                }
            }
        }
        self.entries = kept.into_boxed_slice();
        self.extras = OnceLock::new();
    }

    /// A copy in which `key` has `value`, or is removed (`None`); the other members are shared.
    pub fn with(&self, key: &str, value: Option<Value>) -> Map {
        let mut entries = self.entries.to_vec();
        let at = entries.iter().position(|(k, _)| k == key);
        match (at, value) {
            (Some(at), Some(value)) => {
                if let Some(slot) = entries.get_mut(at) {
                    slot.1 = value;
                }
            }
            (Some(at), None) => {
                entries.remove(at);
            }
            (None, Some(value)) => entries.push((SmolStr::new(key), value)),
            (None, None) => {}
        }
        let map = Map { entries: entries.into_boxed_slice(), ..Map::default() };
        if let Some(extras) =
            self.extras.get().filter(|extras| extras.base.is_some() || extras.alias.is_some())
        {
            let extras = MapExtras { sorted: OnceLock::new(), ..MapExtras::clone(extras) };
            map.extras.get_or_init(|| Box::new(extras));
        }
        map
    }

    /// How many members enumeration shows.
    pub fn len(&self) -> usize {
        match self.base() {
            None => self.entries.len(),
            Some(_) => self.iter().count(),
        }
    }

    /// Whether enumeration shows no member.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.base().is_none_or(|base| base.is_empty())
    }

    /// The members in order: those of the base that are not hidden, then those of this map.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Value)> + '_ {
        let base: Box<dyn Iterator<Item = (&SmolStr, &Value)> + '_> = match self.base() {
            None => Box::new(std::iter::empty()),
            Some(base) => Box::new(base.iter().filter(|(key, _)| !self.hides(key))),
        };
        base.chain(self.entries.iter().map(|(key, value)| (key, value)))
    }

    /// The members sorted by the bytes of their keys, as Go prints and ranges over maps.
    pub fn iter_sorted(&self) -> Vec<(&SmolStr, &Value)> {
        let mut members: Vec<_> = self.iter().collect();
        members.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        members
    }

    /// The entry at `index` of this map, without its base.
    pub fn entry_at(&self, index: usize) -> Option<(&SmolStr, &Value)> {
        self.entries.get(index).map(|(key, value)| (key, value))
    }

    /// The entry at `index` in the order of [`Map::iter`].
    pub fn shown_at(&self, index: usize) -> Option<(&SmolStr, &Value)> {
        match self.base() {
            None => self.entry_at(index),
            Some(_) => self.iter().nth(index),
        }
    }

    /// The object with all layers merged into one, for readers that index by position.
    pub fn flattened(&self) -> Cow<'_, Map> {
        match self.base() {
            None => Cow::Borrowed(self),
            Some(_) => Cow::Owned(Map::from_entries(
                self.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            )),
        }
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl FromIterator<(SmolStr, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (SmolStr, Value)>>(members: I) -> Map {
        Map::from_entries(members.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(keys: &[(&str, i64)]) -> Map {
        keys.iter().map(|(key, n)| (SmolStr::new(key), Value::Int(*n))).collect()
    }

    #[test]
    fn a_repeated_key_keeps_its_first_place_and_its_last_value() {
        let small = map(&[("a", 1), ("b", 2), ("a", 3)]);
        assert_eq!(
            small.iter().map(|(k, v)| (k.as_str(), v.clone())).collect::<Vec<_>>(),
            [("a", Value::Int(3)), ("b", Value::Int(2))]
        );
        let keys: Vec<String> = (0..40).map(|n| format!("k{}", n % 20)).collect();
        let pairs: Vec<(&str, i64)> = keys.iter().map(String::as_str).zip(0..).collect();
        let large = map(&pairs);
        assert_eq!(large.len(), 20);
        assert_eq!(large.get("k3"), Some(&Value::Int(23)));
    }

    #[test]
    fn a_layer_hides_what_lies_below_and_an_alias_is_found_but_not_shown() {
        let base = Arc::new(map(&[("variables", 0), ("vscode", 1), ("args", 2)]));
        let root = Map::over(base, vec![("variables".into(), Value::Int(7))]).with_alias("args", "variables");
        assert_eq!(root.get("variables"), Some(&Value::Int(7)));
        assert_eq!(root.get("args"), Some(&Value::Int(7)));
        assert_eq!(root.get("vscode"), Some(&Value::Int(1)));
        let shown: Vec<&str> = root.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(shown, ["vscode", "variables"]);
        assert_eq!(root.len(), 2);
    }

    #[test]
    fn a_changed_copy_leaves_the_original_alone() {
        let before = map(&[("a", 1), ("b", 2)]);
        let after = before.with("a", None).with("c", Some(Value::Int(3)));
        assert_eq!(before, map(&[("a", 1), ("b", 2)]));
        assert_eq!(after, map(&[("b", 2), ("c", 3)]));
    }
}
