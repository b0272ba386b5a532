//! Barriers between the threads of a group, as text: split ones, different ones, named ones.

use std::fmt::Write;
use visakit_check::{Checks, Finding, Kind, check_media};
use visakit_launch::{Config, Media, Source, find_kernel};

/// The findings in a group of four threads, each with different code, and in a second one after it. `OWN` is the value
/// at `TO`, the thread's place in local memory, and `THERE` the place of the thread beside it.
fn found(attributes: &str, threads: [&str; 4]) -> Vec<Finding> {
    run(attributes, "", threads)
}

/// Checks barriers with code before that all threads have.
fn run(attributes: &str, first: &str, threads: [&str; 4]) -> Vec<Finding> {
    let lines = |code: &str| {
        let code = code
            .replace("WRITE", "lsc_store.slm (M1_NM, 1) flat[TO]:a32 OWN:d32")
            .replace(
                "READ",
                "lsc_load.slm (M1_NM, 1) NEXT:d32 flat[THERE]:a32; \
                 add (M1_NM, 1) OWN(0,0)<1> OWN(0,0)<0;1,0> NEXT(0,0)<0;1,0>",
            )
            .replace("FENCE", "lsc_fence.slm.none.group");
        code.replace("; ", "\n    ")
    };
    let mut text = format!(
        ".version 4.1
.kernel \"threads\"
.decl ROLE v_type=G type=ud num_elts=1 align=dword
.decl OWN v_type=G type=ud num_elts=1 align=GRF
.decl TO v_type=G type=ud num_elts=1 align=GRF
.decl THERE v_type=G type=ud num_elts=1 align=GRF
.decl NEXT v_type=G type=ud num_elts=1 align=GRF
.decl NUMBER v_type=G type=ub num_elts=1 align=GRF
.decl P1 v_type=P num_elts=1
.kernel_attr SLMSize=1
{attributes}
    mov (M1_NM, 1) ROLE(0,0)<1> %thread_x(0,0)<0;1,0>
    and (M1_NM, 1) ROLE(0,0)<1> ROLE(0,0)<0;1,0> 0x3:ud
    add (M1_NM, 1) OWN(0,0)<1> ROLE(0,0)<0;1,0> 0x64:ud
    shl (M1_NM, 1) TO(0,0)<1> ROLE(0,0)<0;1,0> 0x2:ud
    xor (M1_NM, 1) THERE(0,0)<1> TO(0,0)<0;1,0> 0x4:ud
    mov (M1_NM, 1) NUMBER(0,0)<1> 0x1:ub
    {}
",
        lines(first)
    );
    for (number, code) in threads.iter().enumerate() {
        write!(
            text,
            "    cmp.ne (M1_NM, 1) P1 ROLE(0,0)<0;1,0> 0x{number}:ud
    (P1) jmp (M1, 1) after_{number}
    {}
after_{number}:
",
            lines(code)
        )
        .unwrap();
    }
    text.push_str("    ret (M1, 1)\n");
    let source = Source {
        path: "test.visaasm".into(),
        bytes: text.into_bytes(),
    };
    let object = source.object(64).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let mut media = Media::new(&object, id, 64, &Config::default()).unwrap();
    media.space = [8, 1];
    media.group = Some([4, 1]);
    let report = check_media(&object, &mut media, &Config::default(), Checks::ALL);
    report.unwrap().findings
}

/// Kinds, and how often.
fn kinds(findings: &[Finding]) -> Vec<(Kind, u64)> {
    findings.iter().map(|f| (f.kind, f.count)).collect()
}

/// Threads 0 and 1 run this, the others nothing.
fn two(code: &str) -> [&str; 4] {
    [code, code, "", ""]
}

const COUNT: &str = ".kernel_attr Target=\"3d\"\n.kernel_attr NBarrierCnt=2";

#[test]
fn named_barriers_that_are_used_well() {
    let first = "WRITE; FENCE; nbarrier.signal 0x1:ub 0x2:ub; nbarrier.wait 0x1:ub; READ";
    let second = "WRITE; FENCE; nbarrier.signal 0x2:b 0x0:w 0x2:b 0x2:b; nbarrier.wait 0x2:b; READ";
    assert_eq!(kinds(&found(COUNT, [first, first, second, second])), []);
    // Without the fence, or the barrier, the same is a race: the barrier is the order.
    for gone in ["FENCE; ", "nbarrier.wait 0x1:ub; "] {
        let found = found(COUNT, two(&first.replace(gone, "")));
        assert!(found.iter().any(|f| f.kind == Kind::Race), "{found:#?}");
    }
    // In a variable.
    let named = "WRITE; FENCE; nbarrier.signal NUMBER(0,0)<0;1,0> 0x2:ub; \
                 nbarrier.wait NUMBER(0,0)<0;1,0>; READ";
    assert_eq!(kinds(&found(COUNT, two(named))), []);
    // Phase after phase.
    let again = format!("{first}; nbarrier.signal 0x1:ub 0x2:ub; nbarrier.wait 0x1:ub; {first}");
    assert_eq!(kinds(&found(COUNT, two(&again))), []);
    // Producers and consumers; pure producers do not wait.
    let producer = "WRITE; FENCE; nbarrier.signal 0x1:b 0x1:w 0x2:b 0x2:b";
    let consumer = "nbarrier.signal 0x1:b 0x2:w 0x2:b 0x2:b; nbarrier.wait 0x1:b; \
                    mov (M1_NM, 1) THERE(0,0)<1> 0x4:ud; READ";
    let threads = [producer, producer, consumer, consumer];
    assert_eq!(kinds(&found(COUNT, threads)), []);
    // What was produced is available again when a consumer has answered through another barrier.
    let answer = "nbarrier.signal 0x2:ub 0x3:ub; nbarrier.wait 0x2:ub";
    let producer = format!("{producer}; {answer}; {producer}");
    let consumer = "nbarrier.signal 0x1:b 0x2:w 0x1:b 0x2:b; nbarrier.wait 0x1:b";
    let consumer = format!("{consumer}; {answer}; {consumer}");
    let producer = producer.replace("0x2:b 0x2:b", "0x1:b 0x2:b");
    let threads = [producer.as_str(), &consumer, &consumer, ""];
    assert_eq!(kinds(&found(COUNT, threads)), []);
}

/// Each of these is reported once for each of the two groups, with this message.
#[test]
fn named_barriers_that_are_misused() {
    let both = "nbarrier.signal 0x1:ub 0x2:ub; nbarrier.wait 0x1:ub";
    let one = "nbarrier.signal 0x1:ub 0x1:ub; nbarrier.wait 0x1:ub";
    let signal = "nbarrier.signal 0x1:ub 0x2:ub";
    let producer = "nbarrier.signal 0x1:b 0x1:w 0x1:b 0x1:b";
    let three = "nbarrier.signal 0x1:ub 0x3:ub; nbarrier.wait 0x1:ub";
    let rows: &[([&str; 4], &str)] = &[
        (
            [both, three, "", ""],
            "3 producers and 3 consumers are to come, 2 and 2 at the first signal",
        ),
        (
            two("nbarrier.signal 0x1:ub 0x5:ub; nbarrier.wait 0x1:ub"),
            "5 producers and 5 consumers are to come in a group of 4 threads",
        ),
        (
            two("nbarrier.signal 0x1:b 0x3:w 0x2:b 0x2:b; nbarrier.wait 0x1:b"),
            "3 is no type of thread; there are 0, 1 and 2",
        ),
        // Three threads where two are expected: the third may belong to either phase, whichever runs first.
        (
            [both, both, signal, ""],
            "more threads signal than are to come: nothing says that the phase is over",
        ),
        (
            [producer, producer, "", ""],
            "more threads signal than are to come: 1 producers and 1 consumers",
        ),
        (
            [both, &format!("{signal}; {both}"), "", ""],
            "a thread signals again before it knows that the phase is over",
        ),
        (
            [
                &format!("{three}; {three}"),
                "nbarrier.signal 0x1:ub 0x3:ub; nbarrier.signal 0x1:ub 0x3:ub",
                "",
                "",
            ],
            "a thread signals twice in one phase",
        ),
        (
            [&format!("{one}; nbarrier.wait 0x1:ub"), "", "", ""],
            "a thread waits that has not signalled since it waited last",
        ),
        (
            [
                &format!("{producer}; nbarrier.wait 0x1:b"),
                "nbarrier.signal 0x1:b 0x2:w 0x1:b 0x1:b",
                "",
                "",
            ],
            "a thread waits that signalled as a producer only",
        ),
        (
            ["", "", "", signal],
            "the group ends when 1 of 2 threads have come",
        ),
        (
            ["", "", "", producer],
            "the group ends when 1 of 1 producers and 0 of 1 consumers have come",
        ),
        (
            [
                "nbarrier.signal 0x3:ub 0x1:ub; nbarrier.wait 0x3:ub",
                "",
                "",
                "",
            ],
            "the group has 3 barriers, so that numbers are below that",
        ),
    ];
    for (threads, message) in rows {
        let found = found(COUNT, *threads);
        let told: Vec<_> = found.iter().map(|f| (f.kind, f.message.as_str())).collect();
        let full = |n| format!("named barrier {n}: {message}");
        assert!(
            told.contains(&(Kind::NamedBarrier, &full(1)))
                || told.contains(&(Kind::NamedBarrier, &full(3))),
            "{threads:?}: {message}: {told:#?}"
        );
        assert!(
            told.iter().all(|(kind, _)| *kind == Kind::NamedBarrier),
            "{threads:?}: {message}: {told:#?}"
        );
        assert!(found.iter().all(|f| f.count % 2 == 0), "{found:#?}");
    }
}

/// The compiler for CM includes the barrier of the group among those that are declared.
#[test]
fn the_number_of_named_barriers() {
    let with =
        |number: u32| format!("nbarrier.signal 0x{number}:ub 0x2:ub; nbarrier.wait 0x{number}:ub");
    let cm = ".kernel_attr Target=\"cm\"\n.kernel_attr NBarrierCnt=2";
    let three_d = ".kernel_attr Target=\"3d\"\n.kernel_attr NBarrierCnt=2";
    for (attributes, number, fine) in [
        (cm, 1, true),
        (cm, 2, false),
        (three_d, 2, true),
        (three_d, 3, false),
        ("", 9, true),
        ("", 0, true),
    ] {
        let found = found(attributes, two(&with(number)));
        assert_eq!(found.is_empty(), fine, "{attributes} {number}: {found:#?}");
    }
    // Number 0 is the barrier of the group, if that is used.
    let own = format!("{}; barrier", with(0));
    let found = found("", [&own, &own, "barrier", "barrier"]);
    let told: Vec<_> = found.iter().map(|f| f.message.as_str()).collect();
    let expected = "named barrier 0: this is the number of the barrier of the group, which the program also uses";
    assert!(told.contains(&expected), "{told:#?}");
}

/// Which thread waits where, if none can continue.
#[test]
fn groups_that_hang() {
    let three = "nbarrier.signal 0x1:ub 0x3:ub; nbarrier.wait 0x1:ub";
    let found_here = found(COUNT, two(three));
    assert_eq!(
        kinds(&found_here),
        [(Kind::BarrierDivergence, 2)],
        "{found_here:#?}"
    );
    let [first, ..] = found_here.as_slice() else {
        panic!("{found_here:#?}")
    };
    let message = &first.message;
    assert!(
        message.ends_with(
            "thread 0 at named barrier 1, where 2 of 3 threads have come; \
             thread 1 at named barrier 1, where 2 of 3 threads have come"
        ),
        "{message}"
    );
}

/// A split barrier orders what is fenced before its signal, and nothing else.
#[test]
fn split_barriers() {
    let check = |code: &str| {
        let found = run("", code, [""; 4]);
        let mut kinds: Vec<_> = found.iter().map(|f| f.kind).collect();
        kinds.dedup();
        kinds
    };
    let split = "sbarrier.signal; mov (M1_NM, 1) NEXT(0,0)<1> 0x1:ud; sbarrier.wait";
    assert_eq!(check(&format!("WRITE; FENCE; {split}; READ")), []);
    // Without a fence, and with one that comes too late.
    assert_eq!(check(&format!("WRITE; {split}; READ")), [Kind::Race]);
    assert_eq!(
        check("WRITE; sbarrier.signal; FENCE; sbarrier.wait; READ"),
        [Kind::Race]
    );
    // What is written after the signal, and what is read before the wait.
    assert_eq!(
        check("sbarrier.signal; WRITE; FENCE; sbarrier.wait; READ"),
        [Kind::Race]
    );
    assert_eq!(
        check("WRITE; FENCE; sbarrier.signal; READ; sbarrier.wait"),
        [Kind::Race]
    );
    // A wait for a barrier that nobody signals.
    let found = run("", "sbarrier.wait", [""; 4]);
    assert_eq!(kinds(&found), [(Kind::BarrierDivergence, 2)]);
    let message = &found[0].message;
    assert!(
        message.ends_with("threads 0, 1, 2, 3 at the barrier of the group"),
        "{message}"
    );
}

/// Threads of a group that wait at two barriers do not wait for the same.
#[test]
fn two_barriers() {
    let found = run("", "", ["barrier", "barrier", "barrier; WRITE", "barrier"]);
    let all = found.iter().all(|f| f.kind == Kind::BarrierDivergence);
    assert!(all && !found.is_empty(), "{found:#?}");
    let finding = &found[0];
    assert_eq!(
        finding.message,
        "threads of the group wait at different barriers"
    );
    let other = finding.other.as_ref().unwrap();
    let other = other.place.as_ref().unwrap().instruction;
    assert_ne!(other, finding.place.instruction);
    // One that only some threads reach.
    let found = run("", "", ["barrier", "", "", ""]);
    assert_eq!(kinds(&found), [(Kind::BarrierDivergence, 2)]);
    assert!(run("", "barrier", [""; 4]).is_empty());
}
