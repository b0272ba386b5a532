//! Files of any kind that programs are found in.

use crate::rows::{Source, fill, fill_text, unreadable};
use crate::schema::{Select, Tables};
use std::path::Path;
use visakit_launch::{Input, LaunchError, Reading};

/// Adds the rows of a file, whatever it is: an object, a text, or a file that holds them, packed or not. Objects are
/// read leniently. `how` tells what files do not say themselves.
///
/// # Errors
/// The file holds no program, or a text of it has faults; the row of `objects` tells the first.
pub fn fill_file(
    source: &Source<'_>,
    how: &Reading,
    select: Select,
    tables: &mut Tables,
) -> Result<(), Vec<LaunchError>> {
    let path = Path::new(source.path);
    let input = match Input::of(path, source.bytes) {
        Ok(input) => input,
        Err(error) => {
            unreadable(source, &error.to_string(), select, tables);
            return Err(vec![error]);
        }
    };
    if input.is_object() {
        // What was packed has its offsets in what it unpacks to.
        let source = Source {
            bytes: input.bytes(),
            dialect: how.dialect,
            ..*source
        };
        return fill(&source, select, tables).map_err(|error| {
            vec![LaunchError::Decode {
                path: path.to_owned(),
                error: Box::new(error),
            }]
        });
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
