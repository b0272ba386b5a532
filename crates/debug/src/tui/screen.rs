//! The layout of the screen.

use super::{App, Pane};
use crate::{MemorySpace, Place, PointKind, VariableView, state_name};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};
use visakit_exec::ThreadState;

/// Columns from which on the source is shown beside the text.
const WIDE: u16 = 100;

const KEYS: &str =
    "c cont s step n next i instr o out g group ⇧ back b break t thread ←→ lane ⇥ : ? q";

const HELP: &str = "\
\x20c  continue            C  reverse-continue
 s  step a line         S  back by a line
 n  next (over calls)   N  back over calls
 i  an instruction      I  back by one
 o  out of the routine  O  back to its call
 g  an instruction of every thread
 b  breakpoint here on, off
 t  next thread         T  the one before
 →  next lane           ←  the one before
 Tab  lanes, variables, memory
 m  another memory      ↑↓ PgUp PgDn  scroll
 :  a command: print, set, watch, goto, …
    :keep NAME keeps a variable in view,
    :drop NAME lets it go, :help lists all
 q  quit";

pub(crate) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let [head, top, state, bottom, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(6),
        Constraint::Fill(4),
        Constraint::Length(5),
        Constraint::Length(1),
    ])
    .areas(area);
    header(app, frame, head);
    let has_source = source_file(app).is_some();
    if has_source && top.width >= WIDE {
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(top);
        text(app, frame, left);
        source(app, frame, right);
    } else if has_source {
        let [upper, lower] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(4)]).areas(top);
        text(app, frame, upper);
        source(app, frame, lower);
    } else {
        text(app, frame, top);
    }
    match app.pane {
        Pane::Lanes => lanes(app, frame, state),
        Pane::Variables => variables(app, frame, state),
        Pane::Memory => memory(app, frame, state),
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(bottom);
    threads(app, frame, left);
    said(app, frame, right);
    match &app.input {
        Some(input) => frame.render_widget(Line::from(format!(":{input}▏")), keys),
        None => frame.render_widget(Line::from(KEYS).dim(), keys),
    }
    if app.help {
        let width = 50.min(area.width);
        let height = 17.min(area.height);
        let over = Rect {
            x: (area.width - width) / 2,
            y: (area.height - height) / 2,
            width,
            height,
        };
        frame.render_widget(Clear, over);
        let block = Block::bordered().title(" keys ");
        frame.render_widget(Paragraph::new(HELP).block(block), over);
    }
}

fn header(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let session = &app.console.session;
    let time = session.time();
    let (thread, lane) = session.focus();
    let mut text = format!(" group {}/{}", time.group, session.target().groups());
    if let Some([x, y, z]) = session.target().group_at(time.group) {
        text.push_str(&format!(" ({x},{y},{z})"));
    }
    text.push_str(&format!(" step {} thread {thread} lane {lane}", time.step));
    if let Some(item) = session.target().work_item(time.group, thread, lane) {
        let [x, y, z] = item.global;
        text.push_str(&format!(" item ({x},{y},{z})"));
    }
    text.push_str(&format!(" · {}", app.console.stop_text()));
    let style = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(text).style(style), area);
}

/// Lines around one: the first that is shown.
fn window(current: usize, height: usize, count: usize) -> usize {
    let first = current.saturating_sub(height / 2);
    first.min(count.saturating_sub(height))
}

fn pane(title: String) -> Block<'static> {
    Block::new().borders(Borders::TOP).title(title)
}

fn text(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let session = &app.console.session;
    let Some(place) = session.place() else {
        let block = pane(" text ".to_owned());
        frame.render_widget(Paragraph::new("the thread has ended").block(block), area);
        return;
    };
    let listing = session.listing();
    let Some(routine) = listing.routines.get(place.routine) else {
        return;
    };
    let broken = |place: Place| {
        let mut points = session.points().iter();
        points.any(|p| matches!(&p.what, PointKind::Code(places) if places.contains(&place)))
    };
    let height = usize::from(area.height.saturating_sub(1));
    let first = window(place.instruction, height, routine.rows.len());
    let rows = routine.rows.iter().enumerate().skip(first).take(height);
    let lines: Vec<_> = rows
        .map(|(instruction, row)| {
            let this = Place {
                instruction,
                ..place
            };
            let here = this == place;
            let mark = match (here, broken(this)) {
                (true, true) => "◉▶",
                (true, false) => " ▶",
                (false, true) => "● ",
                (false, false) => "  ",
            };
            let line = Line::from(format!("{mark}{instruction:>5}  {}", row.text));
            if here {
                line.style(Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED))
            } else if row.marker {
                line.dim()
            } else {
                line
            }
        })
        .collect();
    let block = pane(format!(" {} ", routine.name));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// The file and line of the place, if the file is available.
fn source_file(app: &mut App) -> Option<(String, u32)> {
    let session = &app.console.session;
    let source = session.source(session.place()?)?;
    let file = session.listing().files.get(source.file)?.clone();
    app.console.sources.lines(&file)?;
    Some((file, source.line))
}

fn source(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let Some((file, line)) = source_file(app) else {
        return;
    };
    let Some(all) = app.console.sources.lines(&file) else {
        return;
    };
    let current = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let height = usize::from(area.height.saturating_sub(1));
    let first = window(current, height, all.len());
    let lines: Vec<_> = all
        .iter()
        .enumerate()
        .skip(first)
        .take(height)
        .map(|(number, text)| {
            let line = Line::from(format!("{:>5}  {text}", number + 1));
            if number == current {
                line.style(Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED))
            } else {
                line
            }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines).block(pane(format!(" {file} "))), area);
}

/// The grid: a row for each variable, a column for each lane; disabled lanes are dim, changes are marked.
fn lanes(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let session = &app.console.session;
    let (thread, focus) = session.focus();
    let position = session.position(thread).map(|(_, position)| position);
    let running = position.map_or(0, |p| p.running);
    let mut views = session.operands();
    views.extend(app.kept.iter().filter_map(|name| session.variable(name)));
    let count = usize::try_from(session.target().lanes()).unwrap_or(1);
    let names = views
        .iter()
        .map(|v| v.name.len() + v.slot.data_type.name().len() + 1);
    let names = names.max().unwrap_or(0).clamp(5, 16);
    let rows: Vec<_> = views.iter().map(VariableView::elements).collect();
    let wide = rows.iter().flatten().map(String::len).max().unwrap_or(1);
    let wide = wide.clamp(2, 11);
    let room = usize::from(area.width).saturating_sub(names + 2);
    let fit = (room / (wide + 1)).clamp(1, count);
    let focus = usize::try_from(focus).unwrap_or(0);
    // The page of lanes that the chosen one is on.
    let first = (focus / fit) * fit;
    let shown = first..(first + fit).min(count.max(1));
    let mut lines = Vec::new();
    let mut head = vec![Span::raw(format!("{:<names$} ", "lane"))];
    for lane in shown.clone() {
        let on = running >> lane.min(31) & 1 != 0;
        let mut style = if on {
            Style::new().add_modifier(Modifier::BOLD)
        } else {
            Style::new().add_modifier(Modifier::DIM)
        };
        if lane == focus {
            style = style.add_modifier(Modifier::REVERSED);
        }
        let label = format!("{lane}{}", if on { "" } else { "-" });
        head.push(Span::styled(format!("{label:>wide$}"), style));
        head.push(Span::raw(" "));
    }
    lines.push(Line::from(head));
    for (view, elements) in views.iter().zip(&rows) {
        let name = format!("{} {}", view.name, view.slot.data_type.name());
        let mut spans = vec![Span::raw(format!("{name:<names$.names$} "))];
        for lane in shown.clone() {
            let Some(element) = elements.get(lane) else {
                break;
            };
            let changed = view.changed.contains(&lane);
            let mut style = Style::new();
            if running >> lane.min(31) & 1 == 0 && elements.len() > 1 {
                style = style.add_modifier(Modifier::DIM);
            }
            if changed {
                style = style.yellow().add_modifier(Modifier::BOLD);
            }
            spans.push(Span::styled(format!("{element:>wide$.wide$}"), style));
            spans.push(Span::raw(if changed { "*" } else { " " }));
        }
        lines.push(Line::from(spans));
    }
    if views.is_empty() {
        lines.push(Line::from("the next instruction names no variables").dim());
    }
    let mask = position.map_or(0, |p| p.enabled);
    let lines: Vec<_> = scrolled(lines, app.scroll, 1);
    let title = format!(" lanes {running:08x}, enabled {mask:08x} ");
    frame.render_widget(Paragraph::new(lines).block(pane(title)), area);
}

/// Lines after the first `fixed` ones, scrolled.
fn scrolled(lines: Vec<Line<'static>>, by: usize, fixed: usize) -> Vec<Line<'static>> {
    let last = lines.len().saturating_sub(1);
    let lines = lines.into_iter().enumerate();
    lines
        .filter(|(n, _)| *n < fixed || *n >= fixed + by.min(last.saturating_sub(fixed)))
        .map(|(_, line)| line)
        .collect()
}

fn variables(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let session = &app.console.session;
    let lines = session.variables().into_iter().map(|view| {
        let alias = view.alias.as_ref();
        let alias = alias.map_or_else(String::new, |(of, at)| format!(" ={of}+{at}"));
        let kind = view.slot.data_type.name();
        let head = format!("{} {kind}{alias}: ", view.name);
        let line = Line::from(format!("{head:<20} {}", view.elements().join(" ")));
        if view.changed.is_empty() {
            line
        } else {
            line.yellow().bold()
        }
    });
    let lines = scrolled(lines.collect(), app.scroll, 0);
    frame.render_widget(
        Paragraph::new(lines).block(pane(" variables ".to_owned())),
        area,
    );
}

fn memory(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let session = &app.console.session;
    let (thread, _) = session.focus();
    let mut all: Vec<_> = session
        .target()
        .buffers()
        .into_iter()
        .map(|b| (b.name, MemorySpace::Buffer(b.buffer), b.bytes, b.data_type))
        .collect();
    let scratch = session.thread().map_or(0, |t| t.scratch().len());
    all.push((
        "slm".to_owned(),
        MemorySpace::Local,
        session.group().slm().len(),
        None,
    ));
    all.push((
        "scratch".to_owned(),
        MemorySpace::Scratch(thread),
        scratch,
        None,
    ));
    let Some((name, space, bytes, ty)) = all.get(app.memory % all.len().max(1)) else {
        return;
    };
    // With the type where it is known, else as bytes.
    let size = ty.map_or(1, |ty| usize::from(ty.size()).max(1));
    let wide: usize = if ty.is_some() { 11 } else { 2 };
    let fit = usize::from(area.width).saturating_sub(8) / (wide + 1);
    let fit = if fit >= 16 { 16 } else { fit.clamp(1, 8) };
    let height = usize::from(area.height.saturating_sub(1));
    let row = fit * size;
    let first = app.scroll.min(bytes.div_ceil(row).saturating_sub(1));
    let at = first * row;
    let read = session.read(*space, at as u64, height * row);
    let lines: Vec<_> = read
        .chunks(row)
        .enumerate()
        .map(|(number, chunk)| {
            let elements = match ty {
                Some(ty) => crate::show(chunk, *ty),
                None => chunk.iter().map(|byte| format!("{byte:02x}")).collect(),
            };
            let cells = elements.iter().map(|e| format!("{e:>wide$.wide$}"));
            let cells: Vec<_> = cells.collect();
            Line::from(format!("{:>6x}  {}", at + number * row, cells.join(" ")))
        })
        .collect();
    let kind = ty.map_or("", |ty| ty.name());
    let title = format!(" memory: {name} {kind} ({bytes} bytes; m: another) ");
    frame.render_widget(Paragraph::new(lines).block(pane(title)), area);
}

fn threads(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let session = &app.console.session;
    let (focus, _) = session.focus();
    let height = usize::from(area.height.saturating_sub(1));
    // Two columns: threads, and calls of the selected one.
    let threads = session.threads();
    let first = window(focus, height, threads.len());
    let calls = session.backtrace(focus);
    let mut frames = calls.iter().enumerate().map(|(n, place)| {
        let routine = session.listing().routines.get(place.routine);
        let name = routine.map_or("?", |r| r.name.as_str());
        format!("#{n} {name}:{}", place.instruction)
    });
    let mut lines = Vec::new();
    let mut rows = threads.iter().skip(first).take(height);
    for _ in 0..height {
        let thread = rows.next();
        let text = thread.map_or_else(String::new, |view| {
            let mark = match (view.thread == focus, view.next) {
                (true, _) => '▶',
                (_, true) => '→',
                _ => ' ',
            };
            let state = match view.state {
                ThreadState::Ready => view
                    .place
                    .map_or_else(String::new, |p| p.instruction.to_string()),
                state => state_name(state),
            };
            format!("{mark}{} {state}", view.thread)
        });
        lines.push(Line::from(format!(
            "{text:<19.19} {}",
            frames.next().unwrap_or_default()
        )));
    }
    let title = format!(" threads ({}), calls ", threads.len());
    frame.render_widget(Paragraph::new(lines).block(pane(title)), area);
}

fn said(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let lines: Vec<_> = app
        .said
        .iter()
        .map(|line| Line::from(line.clone()))
        .collect();
    frame.render_widget(
        Paragraph::new(lines).block(pane(" output ".to_owned())),
        area,
    );
}
