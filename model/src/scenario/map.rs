//! A map of a scenario file: ordered by name, and a name given twice is a mistake.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::{Entry, Iter};
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Values by name, in the order of the names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Map<V>(BTreeMap<String, V>);

impl<V> Map<V> {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.get(name)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Names and values.
    pub fn iter(&self) -> Iter<'_, String, V> {
        self.0.iter()
    }
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<V> FromIterator<(String, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<'a, V> IntoIterator for &'a Map<V> {
    type Item = (&'a String, &'a V);
    type IntoIter = Iter<'a, String, V>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Unique<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
            type Value = BTreeMap<String, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names, such as `{\"orders\": (...)}`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut map = BTreeMap::new();
                while let Some(name) = access.next_key::<String>()? {
                    match map.entry(name) {
                        Entry::Occupied(taken) => {
                            return Err(A::Error::custom(format_args!("`{}` is defined twice", taken.key())));
                        }
                        Entry::Vacant(free) => {
                            free.insert(access.next_value()?);
                        }
                    }
                }
                Ok(map)
            }
        }

        deserializer.deserialize_map(Unique(PhantomData)).map(Self)
    }
}

impl<V: JsonSchema> JsonSchema for Map<V> {
    fn schema_name() -> Cow<'static, str> {
        format!("MapOf{}", V::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, V>>::json_schema(generator)
    }
}
