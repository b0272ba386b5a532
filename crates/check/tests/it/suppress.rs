//! Rules that describe known findings.

use visakit_check::{Between, Finding, Kind, Other, Place, Space, Suppressions, Target};

fn finding() -> Finding {
    Finding {
        access: None,
        between: None,
        kind: Kind::Race,
        space: Space::Global,
        place: Place {
            routine: "histogram".to_owned(),
            instruction: 7,
            text: "ret".to_owned(),
            file: Some("/src/kernels/histogram.cl".to_owned()),
            line: Some(42),
        },
        message: String::new(),
        target: Some(Target {
            name: "bins".to_owned(),
            argument: Some(1),
            bytes: 64,
            offset: 0,
        }),
        item: None,
        address: None,
        bytes: None,
        value: None,
        other: None,
        moment: (0, 0),
        count: 1,
    }
}

/// A race is at two places, and either will do; what a value comes from is no place of a finding.
#[test]
fn either_side_of_a_race() {
    let mut race = finding();
    race.other = Some(Other {
        what: String::new(),
        place: Some(Place {
            line: Some(77),
            ..race.place.clone()
        }),
        item: None,
        access: None,
    });
    for (between, rule, fits) in [
        (Some(Between::Threads), "line=77 kind=race", true),
        (Some(Between::Threads), "line=42 file=histogram.cl", true),
        (Some(Between::Threads), "line=78", false),
        (None, "line=77", false),
    ] {
        race.between = between;
        let rules = Suppressions::parse(rule).unwrap();
        assert_eq!(rules.covers("", &race), fits, "{rule}");
    }
}

#[test]
fn all_words_of_a_rule_must_fit() {
    for (rule, fits) in [
        ("kind=race", true),
        ("kind=race-same-value", false),
        ("kind=race*", true),
        ("kind=*", true),
        ("routine=histogram", true),
        ("routine=hist", false),
        ("routine=h*m", true),
        ("routine=*gram", true),
        ("routine=*x*", false),
        ("file=histogram.cl", true),
        ("file=kernels/histogram.cl", true),
        ("file=histogram", false),
        ("file=kernels/*.cl", true),
        ("line=42", true),
        ("line=4", false),
        ("line=4*", true),
        ("argument=bins", true),
        ("argument=bin", false),
        ("case=histogram/pvc", true),
        ("case=histogram/*", true),
        ("case=pvc", false),
        (
            "kind=race routine=histogram line=42 argument=bins case=*pvc",
            true,
        ),
        ("kind=race routine=histogram line=43", false),
        // The word decides, in any order; blanks and comments do not.
        ("  line=42\tkind=race   # known", true),
        ("# kind=race", false),
        ("", false),
    ] {
        let rules = Suppressions::parse(rule).unwrap();
        assert_eq!(rules.covers("histogram/pvc", &finding()), fits, "{rule}");
    }
    // Only `*` matches what a finding lacks.
    let bare = Finding {
        place: Place::default(),
        target: None,
        ..finding()
    };
    for (rule, fits) in [
        ("line=42", false),
        ("argument=bins", false),
        ("file=histogram.cl", false),
        ("line=* argument=* file=*", true),
    ] {
        let rules = Suppressions::parse(rule).unwrap();
        assert_eq!(rules.covers("c", &bare), fits, "{rule}");
    }
}

#[test]
fn each_line_that_fits_is_told() {
    let text = "kind=race\n\n# comment\nline=1\nroutine=histogram\n";
    let rules = Suppressions::parse(text).unwrap();
    assert_eq!(rules.lines().collect::<Vec<_>>(), [1, 4, 5]);
    let finding = finding();
    let fitting: Vec<_> = rules.covering("c", &finding).collect();
    assert_eq!(fitting, [1, 5]);
}

#[test]
fn lines_that_are_no_rules() {
    for (text, line, message) in [
        ("race", 1, "`race` is no key=value"),
        ("kind=race\nkind=races", 2, "there is no kind `races`"),
        (
            "\n\ncolour=red",
            3,
            "`colour` is not known; known are kind, routine, file, line, argument and case",
        ),
        ("line=here", 1, "`line=here` has no value that fits"),
        ("line=-1", 1, "`line=-1` has no value that fits"),
        ("kind=race routine=", 1, "`routine=` has no value that fits"),
        (
            "=race",
            1,
            "`` is not known; known are kind, routine, file, line, argument and case",
        ),
    ] {
        let error = Suppressions::parse(text).unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (line, message));
    }
}
