//! Random routines in the frame of a kernel: each of 16 work-items reads four dwords of a buffer and writes others there.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_launch::{Argument, Config, Kernel, NdRange, ZeInfo};
use visakit_prove::{Options, Proof, Refutation, Side, prove, refute};
use visakit_text::asm;

const ZEINFO: &str = "---
version:         '1.20'
kernels:
  - name:            k
    execution_env:
      grf_count:       128
      inline_data_payload_size: 32
      offset_to_skip_per_thread_data_load: 96
      simd_size:       16
    payload_arguments:
      - arg_type:        arg_bypointer
        offset:          0
        size:            0
        arg_index:       0
        addrmode:        stateful
        addrspace:       global
        access_type:     readwrite
    per_thread_payload_arguments:
      - arg_type:        local_id
        offset:          0
        size:            96
    binding_table_indices:
      - bti_value:       0
        arg_index:       0
";

/// Temporaries, each as dwords, words, bytes and floats.
pub(crate) const TEMPORARIES: usize = 6;

/// A routine: a line for each instruction.
#[derive(Clone, Debug)]
pub(crate) struct Routine {
    pub(crate) lines: Vec<String>,
}

pub(crate) struct Maker {
    pub(crate) random: SplitMix64,
}

impl Maker {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: SplitMix64::seed_from_u64(seed),
        }
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.random.next_u64() % end as u64) as usize
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn register(&mut self) -> usize {
        self.below(TEMPORARIES)
    }

    /// A number of that type.
    fn number(&mut self, ty: &str) -> String {
        let value = match self.below(4) {
            0 => self.random.next_u64() as u32,
            1 => self.below(33) as u32,
            2 => u32::MAX - self.below(4) as u32,
            _ => 1 << self.below(32),
        };
        match ty {
            "f" => {
                let pick = [
                    "0x3f800000",
                    "0xbf800000",
                    "0x40490fdb",
                    "0x0",
                    "0x3f000000",
                    "0x7f800000",
                ];
                format!("{}:f", self.pick(&pick))
            }
            "w" | "uw" => format!("{:#x}:{ty}", value & 0x7fff),
            _ => format!("{value:#x}:{ty}"),
        }
    }

    /// A source of that type.
    pub(crate) fn source(&mut self, ty: &str) -> String {
        if self.below(4) == 0 {
            return self.number(ty);
        }
        let modifier = match (ty, self.below(8)) {
            ("d" | "f", 0) => "(-)",
            ("f" | "d", 1) => "(abs)",
            _ => "",
        };
        format!("{modifier}{}", self.plain(ty))
    }

    /// A register as a source.
    pub(crate) fn plain(&mut self, ty: &str) -> String {
        let name = ty.to_uppercase();
        match (ty, self.below(6)) {
            ("w" | "uw", n) => format!("{name}{}(0,{})<2;1,0>", self.register(), n % 2),
            (_, 0) => format!(
                "{name}{}(0,{})<0;1,0>",
                self.register(),
                self.random.next_u64() % 8
            ),
            _ => format!("{name}{}(0,0)<1;1,0>", self.register()),
        }
    }

    fn to(&mut self, ty: &str) -> String {
        let stride = if ty == "w" || ty == "uw" { 2 } else { 1 };
        format!("{}{}(0,0)<{stride}>", ty.to_uppercase(), self.register())
    }

    fn guard(&mut self) -> &'static str {
        match self.below(6) {
            0 => "(P1) ",
            1 => "(!P2) ",
            _ => "",
        }
    }

    /// An instruction.
    pub(crate) fn instruction(&mut self) -> String {
        let guard = self.guard();
        let int = self.pick(&["d", "ud", "d", "ud", "w", "uw"]);
        let wide = self.pick(&["d", "ud"]);
        let sat = if self.below(8) == 0 { ".sat" } else { "" };
        match self.below(17) {
            0 | 1 => {
                let op = self.pick(&["add", "mul"]);
                let (to, ty) = (self.to(int), self.pick(&["d", "ud", int]));
                format!(
                    "{guard}{op}{sat} (M1, 16) {to} {} {}",
                    self.plain(int),
                    self.source(ty)
                )
            }
            2 | 3 => {
                let op = self.pick(&["and", "or", "xor"]);
                format!(
                    "{guard}{op} (M1, 16) {} {} {}",
                    self.to(wide),
                    self.plain(wide),
                    self.source(wide)
                )
            }
            4 | 5 => {
                let op = self.pick(&["shl", "shr", "asr"]);
                let ty = if op == "shr" { "ud" } else { "d" };
                format!(
                    "{guard}{op} (M1, 16) {} {} {}",
                    self.to(ty),
                    self.plain(ty),
                    self.source("ud")
                )
            }
            6 => {
                let from = self.pick(&["d", "ud", "w", "uw", "f"]);
                let to = self.pick(&["d", "ud", "w", "uw", "f"]);
                format!(
                    "{guard}mov{sat} (M1, 16) {} {}",
                    self.to(to),
                    self.plain(from)
                )
            }
            7 | 8 => {
                let relation = self.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
                let flag = self.pick(&["P1", "P2"]);
                let ty = self.pick(&["d", "ud", "f"]);
                format!(
                    "cmp.{relation} (M1, 16) {flag} {} {}",
                    self.plain(ty),
                    self.source(ty)
                )
            }
            9 => {
                let flag = self.pick(&["P1", "P2", "!P1"]);
                format!(
                    "({flag}) sel (M1, 16) {} {} {}",
                    self.to(wide),
                    self.plain(wide),
                    self.source(wide)
                )
            }
            10 => {
                let op = self.pick(&["min", "max"]);
                format!(
                    "{guard}{op} (M1, 16) {} {} {}",
                    self.to(wide),
                    self.plain(wide),
                    self.source(wide)
                )
            }
            11 => {
                let op = self.pick(&["add", "mul"]);
                format!(
                    "{guard}{op}{sat} (M1, 16) {} {} {}",
                    self.to("f"),
                    self.plain("f"),
                    self.source("f")
                )
            }
            12 => format!(
                "{guard}mad (M1, 16) {} {} {} {}",
                self.to("f"),
                self.plain("f"),
                self.plain("f"),
                self.plain("f")
            ),
            13 => {
                let op = self.pick(&["bfrev", "cbit", "lzd", "fbl"]);
                format!(
                    "{guard}{op} (M1, 16) {} {}",
                    self.to("ud"),
                    self.plain("ud")
                )
            }
            14 => {
                let (width, first) = (self.below(12) + 1, self.below(20));
                format!(
                    "{guard}bfe (M1, 16) {} {width:#x}:{wide} {first:#x}:{wide} {}",
                    self.to(wide),
                    self.plain(wide)
                )
            }
            15 => {
                let flags = self.pick(&["P1 P1 P2", "P2 P1 P2", "P1 P2 P1"]);
                let op = self.pick(&["and", "or", "xor"]);
                format!("{op} (M1, 16) {flags}")
            }
            _ => format!("{guard}not (M1, 16) {} {}", self.to(wide), self.plain(wide)),
        }
    }

    /// A routine of that many instructions, some of them under a branch.
    pub(crate) fn routine(&mut self, length: usize) -> Routine {
        let mut lines: Vec<String> = (0..length).map(|_| self.instruction()).collect();
        if length > 4 && self.below(2) == 0 {
            let first = self.below(length - 2);
            let last = first + 1 + self.below(length - first - 1);
            lines.insert(last, "out:".to_owned());
            let flag = self.pick(&["(P1)", "(!P2)"]);
            lines.insert(first, format!("{flag} goto (M1, 16) out"));
        }
        Routine { lines }
    }
}

impl Routine {
    pub(crate) fn text(&self) -> String {
        let mut text = String::from(
            ".version 4.1\n.kernel \"k\"\n.decl L v_type=G type=uw num_elts=16 align=hword\n\
             .decl LY v_type=G type=uw num_elts=16 align=hword\n\
             .decl LZ v_type=G type=uw num_elts=16 align=hword\n\
             .decl R v_type=G type=d num_elts=8 align=hword\n\
             .decl ADDR v_type=G type=ud num_elts=16 align=hword\n\
             .decl LD v_type=G type=ud num_elts=16 align=hword\n\
             .decl DATA v_type=G type=ud num_elts=64 align=hword\n\
             .decl P1 v_type=P num_elts=16\n.decl P2 v_type=P num_elts=16\n\
             .decl T6 v_type=T num_elts=1\n",
        );
        for n in 0..TEMPORARIES {
            text += &format!(".decl D{n} v_type=G type=d num_elts=16 align=hword\n");
            for ty in ["ud", "w", "uw", "f"] {
                let elements = if ty.contains('w') { 32 } else { 16 };
                let name = ty.to_uppercase();
                text += &format!(
                    ".decl {name}{n} v_type=G type={ty} num_elts={elements} align=hword alias=<D{n}, 0>\n"
                );
            }
        }
        text += ".input L offset=32 size=32\n.input LY offset=64 size=32\n.input LZ offset=96 size=32\n\
                 .kernel_attr SimdSize=16\n.function \"k_0\"\nk_0:\n\
                 or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n\
                 mov (M1, 16) LD(0,0)<1> L(0,0)<1;1,0>\n\
                 shl (M1, 16) ADDR(0,0)<1> LD(0,0)<1;1,0> 0x4:ud\n\
                 movs (M1_NM, 1) T6(0) 0x0:ud\n\
                 gather4_scaled.RGBA (M1, 16) T6 0x0:ud ADDR.0 DATA.0\n";
        for n in 0..TEMPORARIES {
            let row = 2 * (n % 4);
            text += &format!("mov (M1, 16) UD{n}(0,0)<1> DATA({row},0)<1;1,0>\n");
        }
        text += "cmp.lt (M1, 16) P1 D0(0,0)<1;1,0> D1(0,0)<1;1,0>\n\
                 cmp.eq (M1, 16) P2 D2(0,0)<1;1,0> 0x0:d\n";
        for line in &self.lines {
            text += line;
            text.push('\n');
        }
        for n in 0..4 {
            text += &format!("mov (M1, 16) DATA({},0)<1> UD{n}(0,0)<1;1,0>\n", 2 * n);
        }
        text + "scatter4_scaled.RGBA (M1, 16) T6 0x0:ud ADDR.0 DATA.0\nret (M1, 1)\n"
    }
}

/// What is asked of two routines.
pub(crate) enum Asked {
    Proof(Proof),
    Refutation(Option<Box<Refutation>>),
}

/// Proves the routines equal without running them, or only runs them. `None` if one is no legal text.
pub(crate) fn ask(old: &Routine, new: &Routine, only_run: bool) -> Option<Asked> {
    let options = Options {
        trials: if only_run { 24 } else { 0 },
        by_steps: false,
        ..Options::default()
    };
    between([&old.text(), &new.text()], |old, new, arguments| {
        let config = Config::default();
        if only_run {
            let found = refute(old, new, arguments, &config, &options).unwrap();
            return Asked::Refutation(found.map(Box::new));
        }
        Asked::Proof(prove(old, new, arguments, &config, &options).unwrap())
    })
}

/// Does something with two texts and their arguments. `None` if one is no legal text.
pub(crate) fn between<T>(
    texts: [&str; 2],
    work: impl FnOnce(Side<'_>, Side<'_>, &[Argument]) -> T,
) -> Option<T> {
    let assembled: Option<Vec<_>> = texts
        .iter()
        .map(|text| asm::assemble(text.as_bytes(), &asm::Options::default()).ok())
        .collect();
    let [old, new] = &assembled?[..] else {
        return None;
    };
    let zeinfo = ZeInfo::parse(ZEINFO).unwrap();
    let kernels = [old, new].map(|object| Kernel::new(object, "k", &zeinfo).unwrap());
    let range = NdRange::new(&[16], &[16], &[]).unwrap();
    let [old, new] = kernels.each_ref().map(|kernel| Side { kernel, range });
    Some(work(old, new, &[Argument::Buffer(vec![0; 256])]))
}
