//! How graphs are drawn, and into which files.

use crate::output::{self, Failure};
use crate::{Status, input, render};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use visakit::rewrite::graph::{Picture, Theme, dot, svg};

#[derive(clap::Args)]
pub(crate) struct Look {
    /// Draw an SVG image; the default where the output's name ends with .svg, and in folders.
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
    /// Write text for Graphviz; the default for standard output.
    #[arg(long)]
    dot: bool,
    /// Put boxes that only follow each other into one, and leave out the middle of long boxes.
    #[arg(long)]
    compact: bool,
    /// Colours of an image: those that the reader's system prefers, or always the same.
    #[arg(long, value_name = "THEME", default_value = "auto")]
    theme: Colours,
    /// Write one file for each picture into this folder, which is made if it is not there.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    output_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Colours {
    Auto,
    Light,
    Dark,
}

impl Look {
    /// Applies the flags to the pictures.
    pub(crate) fn of(&self, pictures: Vec<Picture>) -> Vec<Picture> {
        match self.compact {
            true => pictures.into_iter().map(Picture::compact).collect(),
            false => pictures,
        }
    }

    /// One file with all pictures, for an output of this name.
    pub(crate) fn text(&self, output: Option<&Path>, pictures: &[Picture]) -> String {
        let named = output.is_some_and(|o| o.extension() == Some("svg".as_ref()));
        self.drawn(self.svg || named && !self.dot, pictures)
    }

    /// Refuses an output whose name asks for a format that is not written here.
    pub(crate) fn check(&self, output: Option<&Path>) -> Result<(), Failure> {
        let extension = output.and_then(Path::extension).and_then(|e| e.to_str());
        let known = ["svg", "dot", "gv", "txt"];
        match extension.map(str::to_ascii_lowercase) {
            Some(found) if !self.svg && !self.dot && !known.contains(&found.as_str()) => {
                Err(Failure::Other(format!(
                    "no picture of the kind .{found} is written: name the output .svg for an image, or .dot for Graphviz, \
                     which makes other images of it (dot -T{found}); --svg and --dot write it under any name"
                )))
            }
            _ => Ok(()),
        }
    }

    fn drawn(&self, image: bool, pictures: &[Picture]) -> String {
        let theme = match self.theme {
            Colours::Auto => Theme::Auto,
            Colours::Light => Theme::Light,
            Colours::Dark => Theme::Dark,
        };
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = match image {
            true => svg(&mut text, pictures, theme),
            false => dot(&mut text, pictures),
        };
        text
    }

    /// One file for each picture, if a folder was given.
    pub(crate) fn folder(&self, pictures: &[Picture]) -> Option<Result<Status, Failure>> {
        let folder = self.output_dir.as_deref()?;
        Some(self.write(folder, pictures))
    }

    fn write(&self, folder: &Path, pictures: &[Picture]) -> Result<Status, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| output::at(folder, &error))?;
        let extension = if self.dot { "dot" } else { "svg" };
        let mut taken = HashSet::new();
        for picture in pictures {
            let path = folder.join(free_name(&picture.title, extension, &mut taken));
            let text = self.drawn(!self.dot, std::slice::from_ref(picture));
            output::file(&path, text.as_bytes())?;
        }
        let pictures_in = output::count(pictures.len(), "picture");
        render::note(&format!("{pictures_in} in {}", input::name(folder)));
        Ok(match pictures.is_empty() {
            true => Status::Findings,
            false => Status::Clean,
        })
    }
}

/// A name that file systems accept, with a number if another picture already uses it, ignoring case.
fn free_name(title: &str, extension: &str, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "_-.".contains(c) {
        true => c,
        false => '-',
    };
    let stem: String = title.chars().map(plain).take(120).collect();
    let mut name = format!("{stem}.{extension}");
    let mut number = 2;
    while !taken.insert(name.to_ascii_lowercase()) {
        name = format!("{stem}-{number}.{extension}");
        number += 1;
    }
    name
}
