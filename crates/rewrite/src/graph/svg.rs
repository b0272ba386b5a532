//! Renders layouts as SVG.

use super::layout::{Layout, Link, Rect, Size, layout};
use super::{Arrow, Node, Picture, Style};
use petgraph::visit::EdgeRef;
use std::fmt::{self, Write};

/// The height of a line of text in a box, in pixels of text of 10.
pub const LINE: i64 = 13;
/// Between the side of a box and its text; half of it above and below.
pub const PAD: i64 = 8;
/// The height of a line of text beside an arrow.
const LABEL: i64 = 11;
/// Around pictures, titles and legends.
const GAP: i64 = 16;
/// Longer lines are cut.
const WIDEST: usize = 100;
/// Longer texts of arrows are cut.
const WIDEST_LABEL: usize = 24;

/// The colours of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The preference of the reader's system.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// A picture with everything in place, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The places of boxes and arrows, in order of the graph's nodes and edges, in pixels of a picture with text of 10
    /// pixels.
    pub layout: Layout,
    /// The input of the layout: sizes of the boxes, and links between them.
    pub boxes: Vec<Size>,
    /// See `boxes`.
    pub links: Vec<Link>,
}

impl Picture {
    /// Places boxes and arrows, for text of a fixed width of 10 pixels.
    #[must_use]
    pub fn place(&self) -> Placed {
        let boxes: Vec<Size> = self.graph.node_weights().map(Node::size).collect();
        let links = self.graph.edge_references();
        let links: Vec<Link> = links
            .map(|edge| Link {
                from: edge.source().index(),
                to: edge.target().index(),
                label: edge.weight().size(),
            })
            .collect();
        Placed {
            layout: layout(&boxes, &links),
            boxes,
            links,
        }
    }
}

impl Node {
    /// The lines as drawn: nothing in them affects their surroundings, and long ones are cut.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| shown(line, WIDEST))
    }

    fn size(&self) -> Size {
        let widest = self.shown().map(|line| width(&line, 10));
        let lines = i64::try_from(self.lines.len().max(1)).unwrap_or(i64::MAX / LINE);
        Size {
            width: widest.max().unwrap_or(0) + 2 * PAD,
            height: lines.saturating_mul(LINE).saturating_add(PAD),
        }
    }
}

impl Arrow {
    fn size(&self) -> Size {
        match self.text.is_empty() {
            true => Size::default(),
            false => Size {
                width: width(&shown(&self.text, WIDEST_LABEL), 9),
                height: LABEL,
            },
        }
    }
}

/// The width of a text with letters of this size: letters of common fonts are 0.6 to 0.61 times as wide as high, and
/// those of square scripts twice that.
fn width(text: &str, size: i64) -> i64 {
    let columns: i64 = text
        .chars()
        .map(|c| if c < '\u{1100}' { 1 } else { 2 })
        .sum();
    (columns * size * 61 + 99) / 100
}

/// A text as drawn: nothing in it affects its surroundings, and a long one is cut.
fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for c in text.chars() {
        // Control characters, and those that reverse or join adjacent ones.
        let hidden = c.is_control()
            || matches!(c, '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}'.. );
        let piece = match hidden {
            true => format!("\\u{{{:x}}}", u32::from(c)),
            false => c.to_string(),
        };
        count += piece.chars().count();
        if count > most {
            while shown.chars().count() >= most {
                shown.pop();
            }
            shown.push('…');
            break;
        }
        shown.push_str(&piece);
    }
    shown
}

/// Writes graphs as one SVG image, one below the other.
///
/// # Errors
/// The output could not take the text.
pub fn svg(out: &mut impl Write, pictures: &[Picture], theme: Theme) -> fmt::Result {
    let placed: Vec<Placed> = pictures.iter().map(Picture::place).collect();
    let mut width = 0;
    let mut height = GAP;
    for (picture, placed) in pictures.iter().zip(&placed) {
        let title = self::width(&shown(&picture.title, WIDEST), 14);
        let legend = legend(picture).len();
        let widest = [
            placed.layout.size.width,
            title,
            LEGEND * i64::from(legend > 0),
        ];
        width = widest.into_iter().fold(width, i64::max);
        height += block(placed, legend);
    }
    width += 2 * GAP;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    )?;
    style(out, theme)?;
    writeln!(
        out,
        "<rect class=\"back\" width=\"{width}\" height=\"{height}\"/>"
    )?;
    let mut top = GAP;
    for (picture, placed) in pictures.iter().zip(&placed) {
        write!(out, "<text class=\"title\" x=\"{GAP}\" y=\"{}\">", top + 14)?;
        escaped(out, &shown(&picture.title, WIDEST))?;
        writeln!(
            out,
            "</text>\n<g transform=\"translate({GAP} {})\">",
            top + 14 + PAD
        )?;
        draw(out, picture, placed)?;
        writeln!(out, "</g>")?;
        let legend = legend(picture);
        let mut y = top + 14 + PAD + placed.layout.size.height;
        for style in &legend {
            y += LINE;
            let class = class(*style);
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{GAP} {}h36\"/><text class=\"edge\" x=\"{}\" y=\"{y}\">{}</text>",
                y - 3,
                GAP + 44,
                meaning(*style)
            )?;
        }
        top += block(placed, legend.len());
    }
    writeln!(out, "</svg>")
}

/// The height of a picture with title and legend.
fn block(placed: &Placed, legend: usize) -> i64 {
    let legend = i64::try_from(legend).unwrap_or(0);
    14 + PAD + placed.layout.size.height + legend * LINE + GAP
}

/// The width of a legend.
const LEGEND: i64 = 420;

/// The styles that need an explanation, where a picture has them.
fn legend(picture: &Picture) -> Vec<Style> {
    let has = |style: Style| picture.graph.edge_weights().any(|a| a.style == style);
    let styles = [Style::Divergent, Style::Call, Style::Address];
    let found: Vec<Style> = styles.into_iter().filter(|style| has(*style)).collect();
    match !has(Style::Divergent) || !has(Style::Uniform) {
        true => found,
        false => [Style::Uniform].into_iter().chain(found).collect(),
    }
}

fn meaning(style: Style) -> &'static str {
    match style {
        Style::Uniform => "all active lanes of a thread go this way, or none",
        Style::Divergent => "some lanes of a thread may go this way, others not",
        Style::Call => "call",
        Style::Address => "takes the address",
    }
}

fn class(style: Style) -> &'static str {
    match style {
        Style::Uniform => "uniform",
        Style::Divergent => "divergent",
        Style::Call => "call",
        Style::Address => "address",
    }
}

/// Colours: background, box, its side, text, faint text; uniform, divergent, call.
type Colours = [&'static str; 8];
const LIGHT: Colours = [
    "#ffffff", "#f6f8fa", "#8c959f", "#1f2328", "#57606a", "#57606a", "#cf222e", "#0969da",
];
const DARK: Colours = [
    "#0d1117", "#161b22", "#6e7681", "#e6edf3", "#9da7b3", "#9da7b3", "#ff7b72", "#58a6ff",
];

fn style(out: &mut impl Write, theme: Theme) -> fmt::Result {
    writeln!(
        out,
        "<style>\ntext{{font:10px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}}\n\
         .title{{font-size:14px;font-weight:bold}}.edge{{font-size:9px}}\n\
         .outside{{stroke-dasharray:4}}\n\
         path{{fill:none;stroke-width:1.3}}.divergent{{stroke-dasharray:5 3}}.call{{stroke-dasharray:2 2}}.address{{stroke-dasharray:1 4}}\n\
         .head{{stroke:none;stroke-dasharray:none}}"
    )?;
    colours(out, if theme == Theme::Dark { DARK } else { LIGHT })?;
    if theme == Theme::Auto {
        writeln!(out, "@media (prefers-color-scheme:dark){{")?;
        colours(out, DARK)?;
        writeln!(out, "}}")?;
    }
    writeln!(out, "</style>")
}

fn colours(out: &mut impl Write, colours: Colours) -> fmt::Result {
    let [back, inside, side, text, faint, uniform, divergent, call] = colours;
    writeln!(
        out,
        ".back{{fill:{back}}}.box{{fill:{inside};stroke:{side}}}text{{fill:{text}}}.edge{{fill:{faint}}}\n\
         .uniform{{stroke:{uniform}}}.divergent{{stroke:{divergent}}}.call,.address{{stroke:{call}}}\n\
         .uniform.head{{fill:{uniform}}}.divergent.head{{fill:{divergent}}}.call.head,.address.head{{fill:{call}}}"
    )
}

fn draw(out: &mut impl Write, picture: &Picture, placed: &Placed) -> fmt::Result {
    for (arrow, route) in picture.graph.edge_weights().zip(&placed.layout.routes) {
        let class = class(arrow.style);
        let mut command = 'M';
        write!(out, "<path class=\"{class}\" d=\"")?;
        for point in &route.points {
            write!(out, "{command}{} {}", point.x, point.y)?;
            command = 'L';
        }
        writeln!(out, "\"/>")?;
        if let Some(end) = route.points.last() {
            writeln!(
                out,
                "<path class=\"{class} head\" d=\"M{} {}l-4 -8h8z\"/>",
                end.x, end.y
            )?;
        }
        if let Some(Rect { x, y, .. }) = route.label {
            write!(
                out,
                "<text class=\"edge\" x=\"{x}\" y=\"{}\">",
                y + LABEL - 2
            )?;
            escaped(out, &shown(&arrow.text, WIDEST_LABEL))?;
            writeln!(out, "</text>")?;
        }
    }
    for (node, frame) in picture.graph.node_weights().zip(&placed.layout.boxes) {
        let Rect {
            x,
            y,
            width,
            height,
        } = frame;
        let class = if node.outside { "box outside" } else { "box" };
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
        )?;
        let mut line_y = y + PAD / 2;
        for line in node.shown() {
            line_y += LINE;
            write!(out, "<text x=\"{}\" y=\"{}\">", x + PAD, line_y - 3)?;
            escaped(out, &line)?;
            writeln!(out, "</text>")?;
        }
    }
    Ok(())
}

fn escaped(out: &mut impl Write, text: &str) -> fmt::Result {
    for c in text.chars() {
        match c {
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '&' => out.write_str("&amp;")?,
            '"' => out.write_str("&quot;")?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}
