use std::collections::BTreeSet;

use super::*;
use crate::model::{Class, OverlapPolicy, Preset};

fn words(object: &Object, name: &str) -> Vec<&'static str> {
    match object.field(name).map(|field| field.is) {
        Some(Is::Word(words)) => words.to_vec(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn words_of_the_file_are_those_of_the_model() {
    assert_eq!(words(&WEBHOOK, "verify"), Preset::ALL.map(Preset::name));
    assert_eq!(words(&STEP, "effect"), Class::ALL.map(Class::name));
    assert_eq!(
        words(&OVERLAP, "policy"),
        OverlapPolicy::ALL.map(OverlapPolicy::name)
    );
}

#[test]
fn every_field_has_one_line_about_it() {
    for object in all() {
        let mut names = BTreeSet::new();
        for field in object.fields {
            let place = format!("{}, {}", object.name, field.name);
            assert!(names.insert(field.name), "{place} is there twice");
            assert!(
                field.doc.ends_with(['.', '?']) && !field.doc.contains('\n'),
                "{place}"
            );
        }
        let groups = object
            .at_most_one
            .iter()
            .copied()
            .chain([object.exactly_one, object.at_least_one]);
        let grouped = groups.flatten().copied();
        let needed = object.needs.iter().flat_map(|(one, other)| [*one, *other]);
        for name in grouped.chain(needed) {
            assert!(names.contains(name), "{} has no {name}", object.name);
        }
    }
}

/// An object that is not in the list would be missing from the schema and the documentation.
#[test]
fn every_object_that_a_field_points_at_is_listed() {
    for object in all() {
        for field in object.fields {
            let (Is::Object(inner)
            | Is::Objects(inner)
            | Is::Items(inner)
            | Is::Short { long: inner, .. }) = field.is
            else {
                continue;
            };
            let listed = all().into_iter().any(|object| std::ptr::eq(object, inner));
            assert!(listed, "{}, {}: {}", object.name, field.name, inner.name);
            if let Is::Short { main, .. } = field.is {
                assert!(inner.field(main).is_some(), "{}", inner.name);
            }
        }
    }
}
