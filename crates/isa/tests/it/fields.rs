//! The fields of an instruction are one list, wherever they are stored.

#![allow(clippy::indexing_slicing)]

use visakit_isa::{Field, FieldName, Fields, Value};

fn field(number: u8) -> Field {
    Field {
        name: FieldName::ALL[usize::from(number)],
        value: Value::U8(number),
    }
}

#[test]
fn fields_behave_as_a_list_of_any_length() {
    // Longer than what fits inline, and back.
    for length in 0..20 {
        let mut list: Vec<Field> = (0..length).map(field).collect();
        let mut fields: Fields = list.iter().copied().collect();
        assert_eq!(fields[..], list[..]);
        assert_eq!(fields, fields.clone());

        for index in [0, 3, 100] {
            list.insert(index.min(list.len()), field(30));
            fields.insert(index, field(30));
            assert_eq!(fields[..], list[..], "{length}, insert at {index}");
        }
        *fields.push_name(FieldName::Pred).unwrap() = Value::U16(7);
        list.push(Field {
            name: FieldName::Pred,
            value: Value::U16(7),
        });
        assert_eq!(fields[..], list[..]);

        list.retain(|f| f.value != Value::U8(30));
        fields.retain(|f| f.value != Value::U8(30));
        assert_eq!(fields[..], list[..]);
        for field in &mut fields {
            field.value = Value::U8(0);
        }
        assert!(fields.iter().all(|f| f.value == Value::U8(0)));
        for keep in [1000, 4, 0] {
            list.truncate(keep);
            fields.truncate(keep);
            assert_eq!(fields.len(), list.len());
        }
        // Equal where the one once had more than the other can hold.
        assert_eq!(fields, Fields::new());
    }
}
