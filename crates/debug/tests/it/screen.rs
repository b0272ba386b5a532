//! The content of the screen.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};
use visakit_debug::tui::{App, Inbox};

fn blur() -> App {
    App::new(super::blur())
}

fn keys(app: &mut App, text: &str) {
    for c in text.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            c => KeyCode::Char(c),
        };
        app.key(KeyEvent::new(code, KeyModifiers::NONE));
    }
}

fn screen(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn at_a_breakpoint() {
    let mut app = blur();
    keys(&mut app, ":break :15\nci");
    insta::assert_snapshot!(screen(&mut app, 80, 24));
}

#[test]
fn wide_with_source() {
    let mut app = blur();
    keys(&mut app, ":break :9\n:keep V0111\ncnll");
    insta::assert_snapshot!(screen(&mut app, 140, 40));
}

#[test]
fn memory_and_threads() {
    let mut app = blur();
    keys(&mut app, ":break :16\nct\t\tm");
    insta::assert_snapshot!(screen(&mut app, 80, 24));
}

#[test]
fn keys_and_variables() {
    let mut app = blur();
    keys(&mut app, "ss\t");
    insta::assert_snapshot!("variables", screen(&mut app, 80, 24));
    keys(&mut app, "?");
    insta::assert_snapshot!("help", screen(&mut app, 80, 24));
    keys(&mut app, " q");
    assert!(app.is_done());
}

/// No size of a terminal is too small to be drawn on.
#[test]
fn any_size() {
    let mut app = blur();
    keys(&mut app, "ss");
    for _ in 0..3 {
        for (width, height) in [(1, 1), (10, 3), (40, 12), (79, 23), (300, 100)] {
            screen(&mut app, width, height);
        }
        keys(&mut app, "\t?");
        screen(&mut app, 20, 8);
        keys(&mut app, " ");
    }
    keys(&mut app, ":frob\n:print V0111\n");
    keys(&mut app, ":continue\n");
    screen(&mut app, 80, 24);
    keys(&mut app, "snioSNIOgtTlLb");
    screen(&mut app, 80, 24);
}

/// Whatever arrives at whatever moment, while commands run or not, takes effect in order.
#[test]
fn no_event_is_lost() {
    let mut state = 7_u32;
    let mut below = move |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % bound
    };
    for _ in 0..3 {
        let mut app = blur();
        let inbox = Inbox::new(app.console.session.interrupt().clone());
        let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let mut kept = Vec::new();
        let mut events = Vec::new();
        for number in 0..25 {
            let name: String = (0..=below(30))
                .map(|_| char::from(b'a' + u8::try_from(below(26)).unwrap()))
                .collect();
            let line = format!("keep {name}{number}");
            kept.push(format!("{name}{number}"));
            if below(2) == 0 {
                events.push(Event::Paste(format!("{line}\n")));
            } else {
                events.push(key(KeyCode::Char(':')));
                events.extend(line.chars().map(|c| key(KeyCode::Char(c))));
                events.push(key(KeyCode::Enter));
            }
            events.push(key(KeyCode::Char(
                ['i', 's', 'n', 'c', 'I'][below(5) as usize],
            )));
        }
        let feed = inbox.feed();
        let ender = inbox.ender();
        let pause = u64::from(below(3));
        let typing = std::thread::spawn(move || {
            for event in events {
                assert!(feed.send(event));
                std::thread::sleep(std::time::Duration::from_micros(pause * 20));
            }
            // Only the end itself may come before its turn.
            while feed.send(Event::FocusLost) {
                ender.end();
            }
        });
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        app.serve(&mut terminal, &inbox, || true).unwrap();
        assert_eq!(app.kept, kept);
        drop(inbox);
        typing.join().unwrap();
    }
}

/// A terminal that is gone, or an end that somebody else wants, ends the screen.
#[test]
fn the_end_comes() {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let mut app = blur();
    let inbox = Inbox::new(app.console.session.interrupt().clone());
    app.serve(&mut terminal, &inbox, || false).unwrap();
    inbox.ender().end();
    app.serve(&mut terminal, &inbox, || true).unwrap();
    assert!(!app.is_done());
}

/// Lines that are pasted are commands; what follows the last of them waits for more.
#[test]
fn pasted_lines() {
    let mut app = blur();
    app.paste("keep V0111\r\nkeep V0112\nprint");
    assert_eq!(app.kept, ["V0111", "V0112"]);
    assert_eq!(app.input.as_deref(), Some("print"));
}

/// Every key that goes forward has one that goes back.
#[test]
fn there_and_back() {
    let mut app = blur();
    keys(&mut app, "s");
    let first = app.console.session.time();
    keys(&mut app, "ss");
    assert!(app.console.session.time() > first);
    keys(&mut app, "SS");
    assert_eq!(app.console.session.time(), first);
    keys(&mut app, "iiI");
    keys(&mut app, "b");
    assert_eq!(app.console.session.points().len(), 1);
    keys(&mut app, "b");
    assert!(app.console.session.points().is_empty());
}

/// A colour as a picture has it.
fn colour(colour: Color, usual: &'static str) -> &'static str {
    match colour {
        Color::Black => "#1d1f21",
        Color::Red | Color::LightRed => "#e06c75",
        Color::Green | Color::LightGreen => "#98c379",
        Color::Yellow | Color::LightYellow => "#e5c07b",
        Color::Blue | Color::LightBlue => "#61afef",
        Color::Magenta | Color::LightMagenta => "#c678dd",
        Color::Cyan | Color::LightCyan => "#56b6c2",
        Color::Gray => "#c8ccd4",
        Color::DarkGray => "#5c6370",
        Color::White => "#ffffff",
        _ => usual,
    }
}

/// The screen as a picture: a line of text for each run of cells that look alike.
fn picture(buffer: &Buffer) -> String {
    const WIDTH: u16 = 9;
    const HEIGHT: u16 = 19;
    const PAPER: &str = "#282c34";
    let area = buffer.area;
    let (width, height) = (area.width * WIDTH + 20, area.height * HEIGHT + 20);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"15\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let style = buffer[(x, y)].style();
            let first = x;
            let mut text = String::new();
            while x < area.width && buffer[(x, y)].style() == style {
                text.push_str(buffer[(x, y)].symbol());
                x += 1;
            }
            let of = |c: Option<Color>, usual| colour(c.unwrap_or(Color::Reset), usual);
            let (mut ink, mut paper) = (of(style.fg, "#c8ccd4"), of(style.bg, PAPER));
            if style.add_modifier.contains(Modifier::REVERSED) {
                (ink, paper) = (paper, ink);
            }
            let (left, top) = (10 + first * WIDTH, 10 + y * HEIGHT);
            let wide = (x - first) * WIDTH;
            if paper != PAPER {
                svg.push_str(&format!(
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>\n"
                ));
            }
            if text.trim().is_empty() {
                continue;
            }
            let mut more = String::new();
            if style.add_modifier.contains(Modifier::BOLD) {
                more.push_str(" font-weight=\"bold\"");
            }
            if style.add_modifier.contains(Modifier::DIM) {
                more.push_str(" opacity=\"0.55\"");
            }
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            svg.push_str(&format!(
                "<text x=\"{left}\" y=\"{}\" fill=\"{ink}\" textLength=\"{wide}\" xml:space=\"preserve\"{more}>{text}</text>\n",
                top + 15
            ));
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The picture in the documentation is what the debugger shows.
#[test]
fn picture_of_the_documentation() {
    let mut app = blur();
    keys(&mut app, ":break :15\nci");
    let mut terminal = Terminal::new(TestBackend::new(110, 34)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let made = picture(terminal.backend().buffer());
    let path = visakit_testing::root().join("docs/pictures/debugger.svg");
    visakit_testing::page::holds(&path, &made);
}
