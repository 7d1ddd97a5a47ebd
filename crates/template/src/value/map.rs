//! Objects: ordered members, fast look-up, and an optional shared layer below them.

use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock, OnceLock};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{SmolStr, Value};

/// Objects of up to this many members are searched linearly; larger ones get an index.
const LINEAR_SEARCH_MAX: usize = 12;

/// The members of an object, in their original order.
///
/// A map may lie over a *base*, in which members are looked up that the map does not have, and may have an *opened* member,
/// whose own members are looked up, too, but not enumerated. So the root of a render (the shared environs and the request's
/// variables) is made without copying either.
#[derive(Debug, Clone, Default)]
pub struct Map {
    entries: Box<[(SmolStr, Value)]>,
    /// The fields that few maps need; boxed, so that all others stay small.
    extras: OnceLock<Box<MapExtras>>,
}

/// The fields of large maps, and of maps with a base.
#[derive(Debug, Clone, Default)]
struct MapExtras {
    /// The places of the members of a large map by their keys; of a repeated key, the first one. Made by the first look-up that needs
    /// it.
    index: OnceLock<HashTable<u32>>,
    base: Option<Arc<Map>>,
    /// An alias of a member, which look-ups find but enumeration does not show: `(alias, member)`.
    alias: Option<(SmolStr, SmolStr)>,
    opened: Option<OpenedMember>,
}

impl MapExtras {
    /// Whether look-ups find more than the map's own members.
    fn has_layers(&self) -> bool {
        self.base.is_some() || self.alias.is_some() || self.opened.is_some()
    }
}

/// The hashes of keys; they differ from process to process, so that keys of equal hashes cannot be prepared.
static HASHES: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

fn hash_of(key: &str) -> u64 {
    HASHES.hash_one(key)
}

/// A member, an object, whose own members look-ups find in the map itself, and enumeration does not show there.
#[derive(Debug, Clone)]
struct OpenedMember {
    name: SmolStr,
    /// The names that are looked up in it before the base, and in it alone; sorted. All others come after the base.
    before_base: Arc<[SmolStr]>,
}

impl OpenedMember {
    fn is_before_base(&self, key: &str) -> bool {
        self.before_base.binary_search_by(|name| name.as_str().cmp(key)).is_ok()
    }
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
        map.with_extras(|extras| extras.base = Some(base))
    }

    /// Adds an alias of `member`, which look-ups find and enumeration does not show.
    pub fn with_alias(self, alias: &str, member: &str) -> Map {
        let alias = Some((SmolStr::new(alias), SmolStr::new(member)));
        self.with_extras(|extras| extras.alias = alias)
    }

    /// Opens a member that is an object: look-ups in this map find its members, too, and enumeration does not show them.
    ///
    /// The names in `before_base`, which must be sorted, mean members of the object even where the base has members of these
    /// names. All other names are looked up in the object last, so that it cannot hide a member of this map or of the base.
    pub fn with_opened(self, member: &str, before_base: Arc<[SmolStr]>) -> Map {
        let opened = Some(OpenedMember { name: SmolStr::new(member), before_base });
        self.with_extras(|extras| extras.opened = opened)
    }

    fn with_extras(mut self, change: impl FnOnce(&mut MapExtras)) -> Map {
        self.extras.get_or_init(Box::default);
        if let Some(extras) = self.extras.get_mut() {
            change(extras);
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
        self.get_own(key).or_else(|| self.get_below(key))
    }

    /// The value at `key` of a map over a base, without the members of an opened one: what its enumeration shows, and the
    /// alias. A map without a base has none.
    pub fn get_shared(&self, key: &str) -> Option<&Value> {
        let base = self.base()?;
        if let Some(member) = self.meant_by(key) {
            return self.get_own(member);
        }
        self.get_own(key).or_else(|| base.get(key))
    }

    /// The value at a key that this map does not have itself: in the base, or in the opened member.
    fn get_below(&self, key: &str) -> Option<&Value> {
        let extras = self.extras.get()?;
        let in_base = || extras.base.as_ref()?.get(key);
        let Some(opened) = &extras.opened else { return in_base() };
        match in_base() {
            Some(value) if !opened.is_before_base(key) => Some(value),
            _ => self.get_own(&opened.name)?.get(key),
        }
    }

    /// Whether this map hides a member of the base.
    fn hides(&self, key: &str) -> bool {
        self.get_own(key).is_some() || self.meant_by(key).is_some()
    }

    fn get_own(&self, key: &str) -> Option<&Value> {
        if self.entries.len() <= LINEAR_SEARCH_MAX {
            return self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v);
        }
        let at = self.index().find(hash_of(key), |&at| self.key_at(at) == key)?;
        self.entries.get(*at as usize).map(|(_, value)| value)
    }

    fn key_at(&self, at: u32) -> &str {
        self.entries.get(at as usize).map_or("", |(key, _)| key)
    }

    fn index(&self) -> &HashTable<u32> {
        self.extras.get_or_init(Box::default).index.get_or_init(|| {
            let mut index = HashTable::with_capacity(self.entries.len());
            for (at, (key, _)) in (0..).zip(&self.entries) {
                let is_key = |&other: &u32| self.key_at(other) == key;
                index.entry(hash_of(key), is_key, |&at| hash_of(self.key_at(at))).or_insert(at);
            }
            index
        })
    }

    fn has_equal_keys(&self) -> bool {
        if self.entries.len() <= LINEAR_SEARCH_MAX {
            let mut earlier = self.entries.iter().enumerate();
            return earlier.any(|(at, (key, _))| self.entries.iter().take(at).any(|(other, _)| other == key));
        }
        self.index().len() < self.entries.len()
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
        if let Some(extras) = self.extras.get().filter(|extras| extras.has_layers()) {
            let extras = MapExtras { index: OnceLock::new(), ..MapExtras::clone(extras) };
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

    /// The entry at `index` in the order of [`Map::iter`].
    pub fn shown_at(&self, index: usize) -> Option<(&SmolStr, &Value)> {
        match self.base() {
            None => self.entries.get(index).map(|(key, value)| (key, value)),
            Some(_) => self.iter().nth(index),
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
    use proptest::prelude::*;

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

    /// A root as a render has it: environs, variables, and the declared names, sorted.
    fn root(environs: Map, variables: Map, declared: &[&str]) -> Map {
        let declared = declared.iter().map(SmolStr::new).collect();
        Map::over(Arc::new(environs), vec![("variables".into(), variables.into())])
            .with_alias("args", "variables")
            .with_opened("variables", declared)
    }

    #[test]
    fn an_opened_member_is_looked_into_after_the_base_except_for_the_names_that_come_before_it() {
        let environs = map(&[("shared", 1), ("declared", 2), ("absent", 3)]);
        let variables =
            map(&[("shared", 10), ("declared", 20), ("free", 30), ("args", 40), ("variables", 50)]);
        let root = root(environs, variables.clone(), &["absent", "declared", "variables"]);
        assert_eq!(root.get("shared"), Some(&Value::Int(1)));
        assert_eq!(root.get("declared"), Some(&Value::Int(20)));
        assert_eq!(root.get("free"), Some(&Value::Int(30)));
        assert_eq!(root.get("absent"), None, "a declared name means the variable, which is not there");
        for name in ["variables", "args"] {
            assert_eq!(root.get(name), Some(&Value::from(variables.clone())));
        }
        let shown: Vec<&str> = root.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(shown, ["shared", "declared", "absent", "variables"]);
        assert_eq!(root.len(), shown.len());
        let changed = root.with("more", Some(Value::Int(5)));
        assert_eq!(changed.get("free"), Some(&Value::Int(30)), "a copy has the layers, too");
    }

    #[test]
    fn an_opened_member_that_is_no_object_has_no_members() {
        let root = Map::from_entries(vec![("variables".into(), Value::Null)]);
        assert_eq!(root.with_opened("variables", Arc::new([])).get("x"), None);
    }

    /// Objects with members of a few names, so that names meet; large ones have an index.
    fn any_map() -> impl Strategy<Value = Map> {
        let names = prop_oneof!["[a-d]", "[a-d]{2}", Just("variables".to_owned()), Just("args".to_owned())];
        prop::collection::vec((names.prop_map(SmolStr::from), (0i64..9).prop_map(Value::Int)), 0..24)
            .prop_map(Map::from_entries)
    }

    proptest! {
        #[test]
        fn variables_never_change_what_an_environ_or_another_name_means(
            environs in any_map(), variables in any_map(), declared in any_map(), name in "[a-d]{1,2}",
        ) {
            let mut declared: Vec<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
            declared.sort_unstable();
            let root = root(environs.clone(), variables.clone(), &declared);
            let meant = match declared.contains(&name.as_str()) {
                true => variables.get(&name),
                false => environs.get(&name).or_else(|| variables.get(&name)),
            };
            prop_assert_eq!(root.get(&name), meant);
            for own in ["variables", "args"] {
                prop_assert_eq!(root.get(own), Some(&Value::from(variables.clone())));
            }
            let shown = root.iter().filter(|(key, _)| *key != "variables");
            let expected = environs.iter().filter(|(key, _)| !["variables", "args"].contains(&key.as_str()));
            prop_assert!(shown.eq(expected), "enumeration shows the environs, whatever the variables are");
        }
    }

    #[test]
    fn a_changed_copy_leaves_the_original_alone() {
        let before = map(&[("a", 1), ("b", 2)]);
        let after = before.with("a", None).with("c", Some(Value::Int(3)));
        assert_eq!(before, map(&[("a", 1), ("b", 2)]));
        assert_eq!(after, map(&[("b", 2), ("c", 3)]));
    }
}
