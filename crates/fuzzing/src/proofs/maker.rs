//! Random instructions.

mod related;

use super::choices::Choices;
use super::frame::Frame;
use super::{Style, TEMPORARIES};

/// Writes instructions of a routine.
#[derive(Debug)]
pub(crate) struct Maker<'c, 'b> {
    pub(crate) choices: &'c mut Choices<'b>,
    pub(crate) frame: Frame,
    labels: usize,
    /// Whether the routine has numbers that the launch decides.
    launched: bool,
}

const INTEGERS: [&str; 6] = ["d", "ud", "d", "ud", "w", "uw"];
const RELATIONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

impl<'c, 'b> Maker<'c, 'b> {
    pub(crate) const fn new(choices: &'c mut Choices<'b>, frame: Frame) -> Self {
        Self {
            choices,
            frame,
            labels: 0,
            launched: false,
        }
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.choices.below(end)
    }

    pub(crate) fn pick(&mut self, all: &[&'static str]) -> &'static str {
        self.choices.pick(all)
    }

    fn exec(&self) -> String {
        format!("(M1, {})", self.frame.lanes)
    }

    fn register(&mut self) -> usize {
        self.below(TEMPORARIES)
    }

    /// A number of that type.
    fn number(&mut self, ty: &str) -> String {
        let value = match self.below(4) {
            0 => self.choices.number(),
            1 => self.below(33) as u64,
            2 => u64::MAX - self.below(4) as u64,
            _ => 1 << self.below(64),
        };
        match ty {
            "f" => {
                let all = [
                    "0x3f800000",
                    "0xbf800000",
                    "0x40490fdb",
                    "0x0",
                    "0x80000000",
                    "0x3f000000",
                    "0x7f800000",
                ];
                format!("{}:f", self.pick(&all))
            }
            "hf" => format!("{}:hf", self.pick(&["0x3c00", "0xbc00", "0x0", "0x7c00"])),
            "df" => {
                let all = ["0x3ff0000000000000", "0xbff8000000000000", "0x0"];
                format!("{}:df", self.pick(&all))
            }
            "b" | "w" => format!("{:#x}:w", value & 0x7fff),
            "ub" | "uw" => format!("{:#x}:uw", value & 0x7fff),
            "q" | "uq" => format!("{value:#x}:{ty}"),
            _ => format!("{:#x}:{ty}", value & 0xffff_ffff),
        }
    }

    /// A source of that type.
    fn source(&mut self, ty: &str) -> String {
        if self.choices.once_in(4) && ty != "bf" {
            return self.number(ty);
        }
        let modifier = match (ty, self.below(8)) {
            ("d" | "f" | "q" | "hf" | "df", 0) => "(-)",
            ("d" | "f" | "q" | "hf" | "df", 1) => "(abs)",
            _ => "",
        };
        format!("{modifier}{}", self.plain(ty))
    }

    /// The first part of the name of a register, how many there are, and elements from lane to lane.
    fn named(&mut self, ty: &str) -> (String, usize) {
        let (count, stride) = match ty {
            "q" | "uq" | "df" => (2, 1),
            "w" | "uw" | "hf" | "bf" => (TEMPORARIES, 2),
            "b" | "ub" => (TEMPORARIES, 4),
            _ => (TEMPORARIES, 1),
        };
        (
            format!("{}{}", ty.to_uppercase(), self.below(count)),
            stride,
        )
    }

    /// A register as a source.
    fn plain(&mut self, ty: &str) -> String {
        let (name, stride) = self.named(ty);
        match (stride, self.below(6)) {
            // Of lanes that run.
            (1, 0) => format!("{name}(0,{})<0;1,0>", self.below(self.frame.items.min(8))),
            (1, _) => format!("{name}(0,0)<1;1,0>"),
            (_, n) => format!("{name}(0,{})<{stride};1,0>", n % stride),
        }
    }

    fn to(&mut self, ty: &str) -> String {
        let (name, stride) = self.named(ty);
        format!("{name}(0,0)<{stride}>")
    }

    fn guard(&mut self) -> &'static str {
        match self.below(6) {
            0 => "(P1) ",
            1 => "(!P2) ",
            _ => "",
        }
    }

    fn sat(&mut self) -> &'static str {
        if self.choices.once_in(8) { ".sat" } else { "" }
    }

    /// An instruction, or a few that belong together.
    pub(crate) fn instruction(&mut self) -> Vec<String> {
        let special = self.below(2) == 0;
        let flow = self.frame.style == Style::Flow;
        match self.frame.style {
            Style::Wide if special => vec![self.wide()],
            Style::Floats if special => vec![self.float()],
            Style::Memory if special => self.memory(),
            Style::Indirect if special => self.indirect(),
            _ if self.launched && self.choices.once_in(3) => vec![self.of_launch()],
            _ if self.choices.once_in(16) => self.related(),
            _ if self.choices.once_in(if flow { 6 } else { 16 }) => self.tested(),
            // In lanes that have parted from others most of all.
            Style::Flow if self.choices.once_in(4) => self.bounded(),
            _ if self.choices.once_in(16) => self.bounded(),
            _ => vec![self.integer()],
        }
    }

    fn binary(&mut self, op: &str, to: &str, first: &str, second: &str) -> String {
        let (guard, exec) = (self.guard(), self.exec());
        format!(
            "{guard}{op} {exec} {} {} {}",
            self.to(to),
            self.plain(first),
            self.source(second)
        )
    }

    fn integer(&mut self) -> String {
        let (guard, exec) = (self.guard(), self.exec());
        let int = self.pick(&INTEGERS);
        let wide = self.pick(&["d", "ud"]);
        let sat = self.sat();
        match self.below(19) {
            0 | 1 => {
                let op = self.pick(&["add", "mul"]);
                let second = self.pick(&["d", "ud", int]);
                self.binary(&format!("{op}{sat}"), int, int, second)
            }
            2 | 3 => {
                let op = self.pick(&["and", "or", "xor"]);
                self.binary(op, wide, wide, wide)
            }
            4 | 5 => {
                let op = self.pick(&["shl", "shr", "asr", "rol", "ror"]);
                let ty = if op == "asr" { "d" } else { "ud" };
                self.binary(op, ty, ty, "ud")
            }
            6 => {
                let from = self.pick(&["d", "ud", "w", "uw", "f"]);
                let to = self.pick(&["d", "ud", "w", "uw", "f"]);
                format!(
                    "{guard}mov{sat} {exec} {} {}",
                    self.to(to),
                    self.plain(from)
                )
            }
            7 | 8 => {
                let ty = self.pick(&["d", "ud", "w", "uw", "f"]);
                self.compare(ty)
            }
            9 => self.select(wide),
            10 => {
                let op = self.pick(&["min", "max"]);
                self.binary(op, wide, wide, wide)
            }
            11 => {
                let op = self.pick(&["add", "mul"]);
                let second = self.pick(&["f", "f", "d"]);
                self.binary(&format!("{op}{sat}"), "f", "f", second)
            }
            12 => {
                let (op, ty) = match self.below(4) {
                    0 => ("mad", "f"),
                    1 => ("mad", "d"),
                    2 => ("add3", "d"),
                    _ => ("mad", "w"),
                };
                self.ternary(op, ty)
            }
            13 => {
                let op = self.pick(&["bfrev", "cbit", "lzd", "fbl", "fbh"]);
                format!("{guard}{op} {exec} {} {}", self.to("ud"), self.plain("ud"))
            }
            14 => {
                let (width, first) = (self.below(12) + 1, self.below(20));
                format!(
                    "{guard}bfe {exec} {} {width:#x}:{wide} {first:#x}:{wide} {}",
                    self.to(wide),
                    self.plain(wide)
                )
            }
            15 => {
                let (width, first) = (self.below(12) + 1, self.below(20));
                format!(
                    "{guard}bfi {exec} {} {width:#x}:{wide} {first:#x}:{wide} {} {}",
                    self.to(wide),
                    self.plain(wide),
                    self.plain(wide)
                )
            }
            16 => {
                let flags = self.pick(&["P1 P1 P2", "P2 P1 P2", "P1 P2 P1"]);
                let op = self.pick(&["and", "or", "xor"]);
                format!("{op} {exec} {flags}")
            }
            17 => self.rare(),
            _ => format!("{guard}not {exec} {} {}", self.to(wide), self.plain(wide)),
        }
    }

    /// Operations with two results, with costs, or on predicates as numbers.
    fn rare(&mut self) -> String {
        let exec = self.exec();
        match self.below(7) {
            0 => self.binary("avg", "d", "d", "d"),
            1 => self.binary("mulh", "ud", "ud", "ud"),
            2 => self.binary("mulh", "d", "d", "d"),
            3 => {
                let op = self.pick(&["addc", "subb"]);
                let (to, carry) = (self.to("ud"), self.to("ud"));
                format!(
                    "{op} {exec} {to} {carry} {} {}",
                    self.plain("ud"),
                    self.source("ud")
                )
            }
            4 => {
                let to = self.to("ud");
                format!("mov (M1_NM, 1) {to} P1")
            }
            5 => {
                let flag = self.pick(&["P1", "P2"]);
                format!("setp {exec} {flag} {}", self.number("ud"))
            }
            _ => {
                let number = self.number("ud");
                format!("div {exec} {} {} {number}", self.to("ud"), self.plain("ud"))
            }
        }
    }

    fn ternary(&mut self, op: &str, ty: &str) -> String {
        let (guard, exec) = (self.guard(), self.exec());
        format!(
            "{guard}{op} {exec} {} {} {} {}",
            self.to(ty),
            self.plain(ty),
            self.plain(ty),
            self.plain(ty)
        )
    }

    fn compare(&mut self, ty: &str) -> String {
        let exec = self.exec();
        let (relation, flag) = (self.pick(&RELATIONS), self.pick(&["P1", "P2"]));
        let first = self.plain(ty);
        let second = match ty == "f" && self.choices.once_in(3) {
            // An integer beside a float.
            true => format!("{:#x}:d", self.below(4)),
            false => self.source(ty),
        };
        format!("cmp.{relation} {exec} {flag} {first} {second}")
    }

    fn select(&mut self, ty: &str) -> String {
        let (flag, exec) = (self.pick(&["P1", "P2", "!P1"]), self.exec());
        format!(
            "({flag}) sel {exec} {} {} {}",
            self.to(ty),
            self.plain(ty),
            self.source(ty)
        )
    }

    /// Numbers of 64 and of 8 bits.
    fn wide(&mut self) -> String {
        let (guard, exec, sat) = (self.guard(), self.exec(), self.sat());
        let ty = self.pick(&["q", "uq"]);
        match self.below(9) {
            0 | 1 => {
                let second = self.pick(&["q", "uq", "d", "ud"]);
                self.binary("add", ty, ty, second)
            }
            2 => self.binary("mul", ty, "ud", "ud"),
            3 => {
                let op = self.pick(&["and", "or", "xor"]);
                self.binary(op, ty, ty, ty)
            }
            4 => {
                let op = self.pick(&["shl", "shr", "asr"]);
                let ty = if op == "asr" { "q" } else { "uq" };
                self.binary(op, ty, ty, "ud")
            }
            5 => self.compare(ty),
            6 => self.select(ty),
            7 => {
                let small = self.pick(&["b", "ub"]);
                let second = self.pick(&["b", "ub", "d"]);
                self.binary(&format!("add{sat}"), small, small, second)
            }
            _ => {
                let all = ["q", "uq", "d", "ud", "w", "uw", "b", "ub"];
                let (from, to) = (self.pick(&all), self.pick(&all));
                format!(
                    "{guard}mov{sat} {exec} {} {}",
                    self.to(to),
                    self.plain(from)
                )
            }
        }
    }

    /// Floats of all sizes.
    fn float(&mut self) -> String {
        let (guard, exec, sat) = (self.guard(), self.exec(), self.sat());
        let ty = self.pick(&["hf", "hf", "df", "f"]);
        match self.below(8) {
            0 | 1 => {
                let op = self.pick(&["add", "mul"]);
                self.binary(&format!("{op}{sat}"), ty, ty, ty)
            }
            2 => self.ternary("mad", ty),
            3 => self.compare(ty),
            4 => self.select(ty),
            5 => {
                let op = self.pick(&["min", "max"]);
                self.binary(op, ty, ty, ty)
            }
            6 => {
                let op = self.pick(&["inv", "sqrt", "rndd", "rndu", "rnde", "rndz", "frc"]);
                format!("{guard}{op} {exec} {} {}", self.to("f"), self.plain("f"))
            }
            _ => {
                let pairs = [
                    "hf f", "f hf", "bf f", "f bf", "df f", "f df", "d hf", "hf w", "df d", "d df",
                    "ud f", "uw f", "b f",
                ];
                let (to, from) = self.pick(&pairs).split_once(' ').unwrap_or(("f", "f"));
                format!(
                    "{guard}mov{sat} {exec} {} {}",
                    self.to(to),
                    self.plain(from)
                )
            }
        }
    }

    /// Messages: local memory, the own part of the buffer, addresses of few values, atomic operations, barriers.
    fn memory(&mut self) -> Vec<String> {
        let (guard, exec) = (self.guard(), self.exec());
        let data = format!("UD{}", self.register());
        let add = self.pick(&["", "", "+0x4", "+0x8", "+0x40"]);
        let local = self.pick(&["LA", "LA", "LB"]);
        let own = format!("bti(0x0)[ADDR{add}]:a32");
        let size = self.pick(&["d32", "d32", "d8u32", "d16u32"]);
        // Stores are what other lanes see: half of them have a condition.
        let lanes = self.pick(&["(P1) ", "(!P2) ", "", ""]);
        match self.below(12) {
            0 | 1 => vec![format!(
                "{lanes}lsc_store.slm {exec} flat[{local}{add}]:a32 {data}:{size}"
            )],
            2 | 3 => vec![format!(
                "{guard}lsc_load.slm {exec} {data}:{size} flat[{local}{add}]:a32"
            )],
            4 => vec![format!("{lanes}lsc_store.ugm {exec} {own} {data}:{size}")],
            5 => vec![format!("{guard}lsc_load.ugm {exec} {data}:{size} {own}")],
            6 | 7 => {
                let fence = "lsc_fence.slm.none.group".to_owned();
                match self.below(3) {
                    0 => vec!["barrier".to_owned()],
                    1 => vec![fence, "barrier".to_owned()],
                    _ => vec![
                        format!("lsc_store.slm {exec} flat[LA]:a32 {data}:d32"),
                        "barrier".to_owned(),
                        format!("lsc_load.slm {exec} {data}:d32 flat[LB]:a32"),
                        "barrier".to_owned(),
                    ],
                }
            }
            8 => self.atomic(&data, &own),
            9 if self.frame.lanes <= 16 => {
                let exec = self.exec();
                let op = self.pick(&["gather_scaled.4", "scatter_scaled.4", "gather_scaled.1"]);
                vec![format!("{guard}{op} {exec} %slm 0x0:ud {local}.0 {data}.0")]
            }
            10 => {
                let mask = self.pick(&["0x4:ud", "0xc:ud", "0x8:ud"]);
                let from = format!("UD{}", self.register());
                vec![
                    format!("and {exec} IX(0,0)<1> {from}(0,0)<1;1,0> {mask}"),
                    format!("or {exec} IX(0,0)<1> IX(0,0)<1;1,0> ADDR(0,0)<1;1,0>"),
                    match self.below(2) {
                        0 => format!("{guard}lsc_load.ugm {exec} {data}:d32 bti(0x0)[IX]:a32"),
                        _ => format!("{lanes}lsc_store.ugm {exec} bti(0x0)[IX]:a32 {data}:d32"),
                    },
                ]
            }
            _ => vec![
                format!("lsc_store.slm {exec} flat[LA]:a32 {data}:d32"),
                format!(
                    "{guard}lsc_load.slm {exec} UD{}:{size} flat[LA]:a32",
                    self.register()
                ),
            ],
        }
    }

    fn atomic(&mut self, data: &str, own: &str) -> Vec<String> {
        let exec = self.exec();
        let op = self.pick(&[
            "iadd", "isub", "iinc", "idec", "smin", "smax", "umin", "umax", "and", "or", "xor",
            "icas", "fadd",
        ]);
        let equal = self.register();
        let sources = match op {
            "iinc" | "idec" => "%null %null".to_owned(),
            "icas" => match self.below(3) {
                0 => format!("IX UD{equal}"),
                _ => format!("{data} UD{}", self.register()),
            },
            _ => format!("{data} %null"),
        };
        let result = match self.below(2) {
            0 => "%null".to_owned(),
            _ => format!("UD{}", self.register()),
        };
        let zero = format!("lsc_store.slm {exec} flat[LA]:a32 {data}:d32");
        match self.below(3) {
            0 => vec![format!(
                "lsc_atomic_{op}.ugm {exec} {result}:d32 {own} {sources}"
            )],
            1 => vec![
                zero,
                format!("lsc_atomic_{op}.slm {exec} {result}:d32 flat[LA]:a32 {sources}"),
            ],
            // All lanes meet at the same place, where one may be as good as all.
            _ => vec![
                format!("mov {exec} IX(0,0)<1> 0x200:ud"),
                format!("mov {exec} UD{equal}(0,0)<1> 0x7:ud"),
                format!("lsc_store.slm {exec} flat[IX]:a32 IX:d32"),
                "barrier".to_owned(),
                format!("lsc_atomic_{op}.slm {exec} %null:d32 flat[IX]:a32 {sources}"),
                "barrier".to_owned(),
                format!("lsc_load.slm {exec} {data}:d32 flat[IX]:a32"),
            ],
        }
    }

    /// Registers by their addresses.
    fn indirect(&mut self) -> Vec<String> {
        let (guard, exec) = (self.guard(), self.exec());
        let (of, other) = (self.register(), self.register());
        let mut lines = match self.below(3) {
            0 => {
                let by = self.pick(&["0x0:uw", "0x4:uw", "0x8:uw", "0x2:uw"]);
                vec![format!("addr_add (M1_NM, 1) A0(0)<1> &D{of} {by}")]
            }
            _ => {
                let mask = self.pick(&["0x4:ud", "0xc:ud", "0x1c:ud"]);
                vec![
                    format!("and (M1_NM, 1) IX(0,0)<1> UD{other}(0,0)<0;1,0> {mask}"),
                    format!("mov (M1_NM, 1) UW0(0,0)<1> IX(0,0)<0;1,0>"),
                    format!("addr_add (M1_NM, 1) A0(0)<1> &D{of} UW0(0,0)<0;1,0>"),
                ]
            }
        };
        let ty = self.pick(&["d", "ud", "d", "w"]);
        lines.push(match self.below(3) {
            0 => format!("{guard}mov (M1, 1) r[A0(0),0]<1>:d D{other}(0,0)<0;1,0>"),
            1 => format!("{guard}mov {exec} D{other}(0,0)<1> r[A0(0),0]<0;1,0>:{ty}"),
            _ => format!("{guard}add {exec} D{other}(0,0)<1> r[A0(0),0]<0;1,0>:{ty} 0x7:d"),
        });
        lines
    }

    /// A routine of about that many instructions, some of them under branches.
    pub(crate) fn routine(&mut self, length: usize) -> Vec<String> {
        let flow = self.frame.style == Style::Flow;
        self.launched = self.choices.once_in(4);
        let mut lines: Vec<String> = (0..length).flat_map(|_| self.instruction()).collect();
        let parts = match flow {
            true => 1 + self.below(3),
            false => usize::from(length > 4 && self.below(4) == 0),
        };
        for _ in 0..parts {
            self.branch(&mut lines, flow);
        }
        if self.launched {
            let begin = self.launch();
            lines.splice(0..0, begin);
        }
        lines
    }

    /// Puts a part of the lines under a branch, or into a loop.
    fn branch(&mut self, lines: &mut Vec<String>, loops: bool) {
        let exec = self.exec();
        let first = self.below(lines.len().max(1));
        let last = first + self.below(lines.len() - first + 1);
        let label = format!("L{}", self.labels);
        self.labels += 1;
        let flag = match self.launched && self.below(2) == 0 {
            true => self.pick(&["(P4)", "(!P4)"]),
            false => self.pick(&["(P1)", "(!P2)", "(P2)"]),
        };
        match self.below(if loops { 5 } else { 1 }) {
            0 | 1 => {
                lines.insert(last, format!("{label}:"));
                lines.insert(first, format!("{flag} goto {exec} {label}"));
            }
            2 => {
                // What the others run instead.
                let middle = first + self.below(last - first + 1);
                lines.insert(last, format!("O{label}:"));
                lines.insert(middle, format!("{label}:"));
                lines.insert(middle, format!("goto {exec} O{label}"));
                lines.insert(first, format!("{flag} goto {exec} {label}"));
            }
            3 => {
                // A loop of all lanes.
                let (turns, branch) = (1 + self.below(3), self.pick(&["goto", "jmp"]));
                lines.splice(
                    last..last,
                    [
                        "add (M1_NM, 1) C(0,0)<1> C(0,0)<0;1,0> 0x1:ud".to_owned(),
                        format!("cmp.lt (M1_NM, 1) P3 C(0,0)<0;1,0> {turns:#x}:ud"),
                        format!("(P3) {branch} (M1, 1) {label}"),
                    ],
                );
                lines.splice(
                    first..first,
                    [
                        "mov (M1_NM, 1) C(0,0)<1> 0x0:ud".to_owned(),
                        format!("{label}:"),
                    ],
                );
            }
            _ => {
                // Each lane turns as often as its data say.
                let turns = self.pick(&["0x1:ud", "0x3:ud", "0x2:ud"]);
                lines.splice(
                    last..last,
                    [
                        format!("cmp.ne {exec} P3 CD(0,0)<1;1,0> 0x0:ud"),
                        format!("(P3) add {exec} CD(0,0)<1> CD(0,0)<1;1,0> 0xffffffff:ud"),
                        format!("(P3) goto {exec} {label}"),
                    ],
                );
                let from = self.register();
                lines.splice(
                    first..first,
                    [
                        format!("and {exec} CD(0,0)<1> UD{from}(0,0)<1;1,0> {turns}"),
                        format!("{label}:"),
                    ],
                );
            }
        }
    }
}
