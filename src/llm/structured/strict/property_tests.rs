//! Schemas at random, with values that fit them and what those are in the strict form.

use std::vec::IntoIter;

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::StrictSchema;
use super::rules::broken;
use base::schema::{Effort, Schema};
use template::value::Value;

const NAMES: [&str; 8] = ["a", "b", "größe", "a/b", "c~d", "e%f", "$ref", "type"];
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A subschema.
#[derive(Debug, Clone)]
enum Shape {
    Text,
    Whole,
    Real,
    Flag,
    Null,
    MaybeText,
    Listed(Vec<Json>),
    Constant(Json),
    List(Box<Shape>),
    MaybeList(Box<Shape>),
    Record(Vec<(&'static str, Shape, bool)>),
    /// The keyword, and its branches.
    Union(&'static str, Vec<Shape>),
    /// `allOf` with one member.
    Single(Box<Shape>),
    Definition(usize),
    Root,
    /// A property of the root.
    Property(usize),
}

/// A whole schema: the members of the root, and the definitions.
#[derive(Debug)]
struct Model {
    root: Vec<(&'static str, Shape, bool)>,
    definitions: Vec<Shape>,
    place: &'static str,
    is_tagged: bool,
}

/// Numbers that decide; zeros, when there are no more.
struct Choices(IntoIter<u16>);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().unwrap_or_default()) % limit
    }

    fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) + 1 == limit
    }

    fn model(&mut self, is_tagged: bool) -> Model {
        let place = DEFINITIONS[self.below(2)];
        let mut model = Model { root: Vec::new(), definitions: Vec::new(), place, is_tagged };
        for _ in 0..2 {
            let record = Shape::Record(self.members(&model, 2));
            model.definitions.push(record);
        }
        model.definitions.push(Shape::Listed(vec![json!("x"), json!(1)]));
        // Properties may refer to those before them.
        for name in &NAMES[..1 + self.below(NAMES.len())] {
            let is_required = self.one_in(2);
            let shape = self.shape(&model, 3, !is_required);
            model.root.push((name, shape, is_required));
        }
        model
    }

    fn members(&mut self, model: &Model, depth: usize) -> Vec<(&'static str, Shape, bool)> {
        let count = 1 + self.below(3);
        let first = self.below(NAMES.len() - count);
        let names = NAMES[first..first + count].iter();
        names
            .map(|name| {
                let is_required = self.one_in(2);
                (*name, self.shape(model, depth, !is_required), is_required)
            })
            .collect()
    }

    /// A subschema; one that a value need not have may be recursive.
    fn shape(&mut self, model: &Model, depth: usize, is_optional: bool) -> Shape {
        let count = if depth == 0 { 9 } else { 15 };
        match self.below(count) {
            0 => Shape::Text,
            1 => Shape::Whole,
            2 => Shape::Real,
            3 => Shape::Flag,
            4 => Shape::MaybeText,
            5 => Shape::Listed(vec![json!("x"), json!(1), json!(2.5)]),
            6 => Shape::Listed(vec![json!("x"), Json::Null]),
            7 => Shape::Constant([json!("k"), json!(7), Json::Null, json!(true)][self.below(4)].clone()),
            8 => self.reference(model, is_optional),
            9 => Shape::List(Box::new(self.shape(model, depth - 1, true))),
            10 => Shape::MaybeList(Box::new(self.shape(model, depth - 1, true))),
            11 | 12 => Shape::Record(self.members(model, depth - 1)),
            13 => Shape::Single(Box::new(self.reference(model, is_optional))),
            _ => self.union(model, depth - 1),
        }
    }

    fn reference(&mut self, model: &Model, is_optional: bool) -> Shape {
        let property = self.below(model.root.len().max(1));
        match self.below(4) {
            0 if model.root.get(property).is_some_and(|member| is_optional || member.2) => {
                Shape::Property(property)
            }
            1 if is_optional => Shape::Root,
            2 if is_optional => Shape::Definition(self.below(2)),
            _ => Shape::Definition(2),
        }
    }

    /// Branches that can be told apart by a tag, or any branches.
    fn union(&mut self, model: &Model, depth: usize) -> Shape {
        if !model.is_tagged {
            let count = 1 + self.below(3);
            return Shape::Union("anyOf", (0..count).map(|_| self.shape(model, depth, false)).collect());
        }
        let keyword = ["anyOf", "oneOf"][self.below(2)];
        let mut branches: Vec<Shape> = (0..1 + self.below(3))
            .map(|tag| {
                let mut members = self.members(model, depth);
                members.insert(self.below(2).min(members.len()), ("kind", Shape::Constant(json!(tag)), true));
                Shape::Record(members)
            })
            .collect();
        branches.extend(self.one_in(3).then_some(Shape::Text));
        branches.extend(self.one_in(3).then_some(Shape::Null));
        Shape::Union(keyword, branches)
    }

    /// A value, and what it is in the strict form.
    fn value(&mut self, model: &Model, shape: &Shape, fuel: usize) -> (Json, Json) {
        let same = |json: Json| (json.clone(), json);
        match shape {
            Shape::Text => same(json!(["abc", "de"][self.below(2)])),
            Shape::Whole => same(json!(self.below(9))),
            Shape::Real => same(json!(self.below(9) as f64 / 4.0)),
            Shape::Flag => same(json!(self.one_in(2))),
            Shape::MaybeText if self.one_in(2) => same(json!("abc")),
            Shape::MaybeText | Shape::Null => same(Json::Null),
            Shape::Listed(values) => same(values[self.below(values.len())].clone()),
            Shape::Constant(value) => same(value.clone()),
            Shape::MaybeList(_) if self.one_in(2) => same(Json::Null),
            Shape::List(item) | Shape::MaybeList(item) => {
                let count = if fuel == 0 { 0 } else { self.below(3) };
                let items = (0..count).map(|_| self.value(model, item, fuel - 1));
                let (items, strict): (Vec<Json>, Vec<Json>) = items.unzip();
                (json!(items), json!(strict))
            }
            Shape::Record(members) => self.record(model, members, fuel),
            Shape::Union(_, branches) => {
                let branch = &branches[self.below(branches.len())];
                self.value(model, branch, fuel)
            }
            Shape::Single(inner) => self.value(model, inner, fuel),
            Shape::Definition(number) => self.value(model, &model.definitions[*number], fuel),
            Shape::Root => self.record(model, &model.root, fuel),
            Shape::Property(number) => self.value(model, &model.root[*number].1, fuel),
        }
    }

    fn record(&mut self, model: &Model, members: &[(&str, Shape, bool)], fuel: usize) -> (Json, Json) {
        let (mut record, mut strict) = (Map::new(), Map::new());
        for (name, shape, is_required) in members {
            let is_absent = !is_required && !model.accepts_null(shape) && (fuel == 0 || self.one_in(2));
            if is_absent {
                strict.insert((*name).to_owned(), Json::Null);
            } else {
                let (value, form) = self.value(model, shape, fuel.saturating_sub(1));
                record.insert((*name).to_owned(), value);
                strict.insert((*name).to_owned(), form);
            }
        }
        (Json::Object(record), Json::Object(strict))
    }

    /// Members that change little or nothing.
    fn decorated(&mut self, schema: &mut Json) {
        let decorations = [
            ("title", json!("T")),
            ("description", json!("D")),
            ("default", json!({"x": null})),
            ("examples", json!([1])),
            ("$comment", json!("c")),
            ("minLength", json!(1)),
            ("uniqueItems", json!(false)),
            ("readOnly", json!(true)),
            ("maxProperties", json!(50)),
            ("not", json!({"type": "object", "required": ["never"]})),
        ];
        for _ in 0..self.below(3) {
            let (name, value) = &decorations[self.below(decorations.len())];
            schema[*name] = value.clone();
        }
    }

    fn schema(&mut self, model: &Model, shape: &Shape) -> Json {
        let mut schema = match shape {
            Shape::Text => json!({"type": "string", "pattern": "^[a-z]*$"}),
            Shape::Whole => json!({"type": "integer", "minimum": 0, "exclusiveMaximum": 9}),
            Shape::Real => json!({"type": "number"}),
            Shape::Flag => json!({"type": "boolean"}),
            Shape::Null => json!({"type": "null"}),
            Shape::MaybeText => json!({"type": ["null", "string"]}),
            Shape::Listed(values) => json!({"enum": values}),
            Shape::Constant(value) => json!({"const": value}),
            Shape::List(item) => json!({"type": "array", "items": self.schema(model, item), "maxItems": 9}),
            Shape::MaybeList(item) => json!({"type": ["array", "null"], "items": self.schema(model, item)}),
            Shape::Record(members) => self.object(model, members),
            Shape::Union(keyword, branches) => {
                json!({*keyword: branches.iter().map(|branch| self.schema(model, branch)).collect::<Vec<_>>()})
            }
            Shape::Single(inner) => json!({"allOf": [self.schema(model, inner)]}),
            Shape::Definition(number) => json!({"$ref": format!("#/{}/d~0{number}", model.place)}),
            Shape::Root => json!({"$ref": "#"}),
            Shape::Property(number) => {
                let name = model.root[*number].0.replace('~', "~0").replace('/', "~1").replace('%', "%25");
                json!({"$ref": format!("#/properties/{}", name.replace('ö', "%C3%B6").replace('ß', "%C3%9F"))})
            }
        };
        self.decorated(&mut schema);
        schema
    }

    fn object(&mut self, model: &Model, members: &[(&str, Shape, bool)]) -> Json {
        let mut properties = Map::new();
        for (name, shape, _) in members {
            properties.insert((*name).to_owned(), self.schema(model, shape));
        }
        let required: Vec<&str> = members.iter().filter(|member| member.2).map(|member| member.0).collect();
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if self.one_in(2) {
            schema["additionalProperties"] = json!(false);
        }
        schema
    }

    fn document(&mut self, model: &Model) -> Json {
        let mut document = self.object(model, &model.root);
        for (number, shape) in model.definitions.iter().enumerate() {
            document[model.place][format!("d~{number}")] = self.schema(model, shape);
        }
        document
    }
}

impl Model {
    fn accepts_null(&self, shape: &Shape) -> bool {
        match shape {
            Shape::Null | Shape::MaybeText | Shape::MaybeList(_) => true,
            Shape::Listed(values) => values.contains(&Json::Null),
            Shape::Constant(value) => value.is_null(),
            Shape::Union(_, branches) => branches.iter().any(|branch| self.accepts_null(branch)),
            Shape::Single(inner) => self.accepts_null(inner),
            Shape::Property(number) => self.accepts_null(&self.root[*number].1),
            _ => false,
        }
    }
}

fn violations(schema: &Json, value: &Json) -> Vec<String> {
    let compiled = Schema::compile(schema).unwrap();
    compiled.violations(&Value::from(value), Effort::POOL).iter().map(ToString::to_string).collect()
}

/// A schema, a value, its strict form, and what that is read as.
fn case(choices: Vec<u16>, is_tagged: bool) -> (Json, Json, Json, Json) {
    let mut choices = Choices(choices.into_iter());
    let model = choices.model(is_tagged);
    let document = choices.document(&model);
    let (value, form) = choices.record(&model, &model.root, 5);
    assert_eq!(violations(&document, &value), [""; 0], "{value} by {document}");
    let strict = StrictSchema::of(&document).unwrap_or_else(|| panic!("not expressible: {document}"));
    assert_eq!(broken(strict.schema()), [""; 0], "{document} became {}", strict.schema());
    let again = StrictSchema::of(strict.schema()).map(|again| again.schema().to_string());
    assert_eq!(again, Some(strict.schema().to_string()), "of {document}");
    assert_eq!(violations(strict.schema(), &form), [""; 0], "{form} by {}", strict.schema());
    let read = strict.read_back(&Value::from(&form)).to_json();
    (document, value, form, read)
}

proptest! {
    #[test]
    fn what_strict_mode_makes_of_a_value_is_read_back(choices in prop::collection::vec(any::<u16>(), 0..400)) {
        let (document, value, form, read) = case(choices, true);
        prop_assert_eq!(read.to_string(), value.to_string(), "{} by {}", form, document);
    }

    #[test]
    fn what_is_read_back_fits_however_ambiguous_the_schema(choices in prop::collection::vec(any::<u16>(), 0..400)) {
        let (document, _, form, read) = case(choices, false);
        prop_assert_eq!(violations(&document, &read), [""; 0], "{} of {} by {}", read, form, document);
    }
}
