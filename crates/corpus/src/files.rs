//! Files of any kind that contain programs.

use crate::rows::{Source, fill, fill_text, unreadable};
use crate::schema::{Select, Tables};
use std::path::Path;
use visakit_launch::{Content, Input, LaunchError, Reading};

/// Adds the rows of a file of any kind: an object, a text, or a file that contains them, compressed or not. Objects are
/// read leniently. `how` supplies what files do not state themselves.
///
/// # Errors
/// The file contains no program, or a text in it has faults; the row of `objects` has the first.
pub fn fill_file(
    source: &Source<'_>,
    how: &Reading,
    select: Select,
    tables: &mut Tables,
) -> Result<(), Vec<LaunchError>> {
    let path = Path::new(source.path);
    // An object as it is needs no copy.
    if Content::of(source.bytes) == Content::Object {
        return fill_object(source, how, select, tables);
    }
    let input = match Input::of(path, source.bytes) {
        Ok(input) => input,
        Err(error) => {
            unreadable(source, &error.to_string(), select, tables);
            return Err(vec![error]);
        }
    };
    if input.is_object() {
        // Offsets of compressed content refer to the uncompressed bytes.
        let bytes = input.bytes();
        return fill_object(&Source { bytes, ..*source }, how, select, tables);
    }
    match input.object(how) {
        Ok(linked) => {
            fill_text(source, &linked.object, select, tables);
            Ok(())
        }
        Err(errors) => {
            let error = errors.first().map(ToString::to_string);
            unreadable(source, &error.unwrap_or_default(), select, tables);
            Err(errors)
        }
    }
}

fn fill_object(
    source: &Source<'_>,
    how: &Reading,
    select: Select,
    tables: &mut Tables,
) -> Result<(), Vec<LaunchError>> {
    let source = Source {
        dialect: how.dialect,
        ..*source
    };
    fill(&source, select, tables).map_err(|error| {
        vec![LaunchError::Decode {
            path: Path::new(source.path).to_owned(),
            error: Box::new(error),
        }]
    })
}
