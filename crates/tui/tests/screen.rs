//! What the screen shows.

#![allow(clippy::unwrap_used, reason = "tests")]

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use visakit_debug::{Console, Listing, Session, Sources, Target};
use visakit_launch::{Argument, Config, Kernel, NdRange, Source, ZeInfo};
use visakit_tui::App;

/// Two groups of two threads of 32 lanes.
fn blur() -> App {
    let folder = visakit_testing::fixtures().join("kernels");
    let source = Source::open(&folder.join("blur.dg2.visaasm")).unwrap();
    let object = source.object(32).unwrap();
    let zeinfo = std::fs::read_to_string(folder.join("blur.dg2.zeinfo")).unwrap();
    let zeinfo = ZeInfo::parse(&zeinfo).unwrap();
    let kernel = Kernel::new(&object, "blur", &zeinfo).unwrap();
    let numbers = (0..128_u8).flat_map(|n| f32::from(n).to_le_bytes());
    let arguments = [
        Argument::Buffer(numbers.collect()),
        Argument::Buffer(vec![0; 512]),
        Argument::Local(66 * 4),
        Argument::Value(128_i32.to_le_bytes().to_vec()),
    ];
    let range = NdRange::new(&[128], &[64], &[]).unwrap();
    let config = Config::default();
    let launch = kernel.prepare(&range, &arguments, &config).unwrap();
    let listing = Listing::new(&object, launch.program().code(), 32);
    let session = Session::new(Target::kernel(launch, config.limits), listing).unwrap();
    App::new(Console::new(session, Sources::new(vec![folder])))
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
