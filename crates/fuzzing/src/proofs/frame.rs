//! The kernel around a routine: how work-items find their data, and where they leave results.

use super::choices::Choices;
use super::{Style, TEMPORARIES};
use std::fmt::Write;
use visakit_launch::{Argument, Kernel, LaunchError, NdRange, ZeInfo};
use visakit_prove::Side;
use visakit_text::asm;

/// Bytes that each work-item loads and stores.
const OWN: usize = 16;

/// Bytes of a register.
const GRF: usize = 32;

/// How data are loaded and stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// By a message before the load/store cache, for at most 16 lanes.
    Gather,
    /// By an index of the binding table.
    Table,
    /// By an address.
    Flat,
}

/// What the kernels of a frame are launched with.
pub(crate) struct Bench {
    metadata: ZeInfo,
    range: NdRange,
    pub(crate) arguments: Vec<Argument>,
}

impl Bench {
    /// Does something with the kernel of a text; `None` if it is no legal one.
    pub(crate) fn with<T>(
        &self,
        text: &str,
        of: impl FnOnce(Side<'_>) -> Result<T, LaunchError>,
    ) -> Result<Option<T>, LaunchError> {
        let Ok(object) = asm::assemble(text.as_bytes(), &asm::Options::default()) else {
            return Ok(None);
        };
        let kernel = Kernel::new(&object, "k", &self.metadata)?;
        let range = self.range;
        of(Side {
            kernel: &kernel,
            range,
        })
        .map(Some)
    }
}

/// The launch of a routine, and how it accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// What the routine consists of.
    pub style: Style,
    /// Lanes of a thread.
    pub lanes: usize,
    /// Work-items of a group.
    pub items: usize,
    /// Groups.
    pub groups: usize,
    way: Way,
}

impl Frame {
    pub(crate) fn choose(choices: &mut Choices<'_>, style: Style) -> Self {
        let lanes = [8, 16, 16, 32].get(choices.below(4)).copied();
        let lanes = lanes.unwrap_or(16);
        let threads = style == Style::Memory && choices.below(3) != 0;
        // Lanes do the same: few are as good as many, and take less time.
        let items = match (threads, choices.below(8)) {
            (true, _) => lanes + 1 + choices.below(4),
            (false, 0) => lanes,
            (false, 1..=3) => 3,
            (false, _) => 1,
        };
        let groups = if choices.once_in(8) { 2 } else { 1 };
        let way = match choices.below(3) {
            0 if lanes <= 16 => Way::Gather,
            0 | 1 => Way::Table,
            _ => Way::Flat,
        };
        Self {
            style,
            lanes,
            items,
            groups,
            way,
        }
    }

    /// 16 work-items of one thread.
    pub(crate) const fn plain() -> Self {
        Self {
            style: Style::Integers,
            lanes: 16,
            items: 16,
            groups: 1,
            way: Way::Gather,
        }
    }

    /// Bytes of the only buffer.
    pub(crate) const fn bytes(&self) -> usize {
        OWN * self.items * self.groups
    }

    /// What kernels of this frame are launched with; `None` if that is no launch.
    pub(crate) fn bench(&self) -> Option<Bench> {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (items, groups) = (number(self.items), number(self.groups));
        Some(Bench {
            metadata: self.metadata()?,
            range: NdRange::new(&[items * groups], &[items], &[]).ok()?,
            arguments: vec![Argument::Buffer(vec![0; self.bytes()])],
        })
    }

    /// Bytes of the ids of a thread in one dimension.
    const fn ids(&self) -> usize {
        (2 * self.lanes).next_multiple_of(GRF)
    }

    /// What the compiler says of the kernel.
    pub(crate) fn metadata(&self) -> Option<ZeInfo> {
        let (lanes, ids) = (self.lanes, 3 * self.ids());
        let text = format!(
            "---
version:         '1.20'
kernels:
  - name:            k
    execution_env:
      barrier_count:   1
      grf_count:       128
      inline_data_payload_size: 32
      offset_to_skip_per_thread_data_load: {ids}
      simd_size:       {lanes}
      slm_size:        1024
    payload_arguments:
      - arg_type:        arg_bypointer
        offset:          0
        size:            0
        arg_index:       0
        addrmode:        stateful
        addrspace:       global
        access_type:     readwrite
      - arg_type:        arg_bypointer
        offset:          0
        size:            8
        arg_index:       0
        addrmode:        stateless
        addrspace:       global
        access_type:     readwrite
    per_thread_payload_arguments:
      - arg_type:        local_id
        offset:          0
        size:            {ids}
    binding_table_indices:
      - bti_value:       0
        arg_index:       0
"
        );
        ZeInfo::parse(&text).ok()
    }

    /// The message that loads or stores the data of all lanes.
    fn transfer(&self, stores: bool) -> String {
        let lanes = self.lanes;
        let (verb, gather) = match stores {
            true => ("lsc_store", "scatter4_scaled"),
            false => ("lsc_load", "gather4_scaled"),
        };
        let place = match self.way {
            Way::Gather => {
                return format!("{gather}.RGBA (M1, {lanes}) T6 0x0:ud ADDR.0 DATA.0\n");
            }
            Way::Table => "bti(0x0)[ADDR]:a32",
            Way::Flat => "flat[FLAT]:a64",
        };
        match stores {
            true => format!("{verb}.ugm (M1, {lanes}) {place} DATA:d32x4\n"),
            false => format!("{verb}.ugm (M1, {lanes}) DATA:d32x4 {place}\n"),
        }
    }

    /// The text of a kernel of these instructions.
    pub(crate) fn text(&self, lines: &[String]) -> String {
        let mut text = self.declarations();
        text += &self.prologue();
        for line in lines {
            text += line;
            text.push('\n');
        }
        self.epilogue(&mut text);
        text
    }

    fn declarations(&self) -> String {
        let (lanes, ids) = (self.lanes, self.ids());
        let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
        let mut declare = |name: &str, ty: &str, elements: usize, of: &str| {
            let of = match of {
                "" => String::new(),
                of => format!(" alias=<{of}, 0>"),
            };
            let _ = writeln!(
                text,
                ".decl {name} v_type=G type={ty} num_elts={elements} align=GRF{of}"
            );
        };
        for name in ["L", "LY", "LZ"] {
            declare(name, "uw", lanes, "");
        }
        declare("BASE", "uq", 1, "");
        declare("GROUP", "ud", 1, "");
        for name in [
            "ADDR", "LD", "LA", "LB", "IX", "C", "CD", "K0", "K1", "UNREAD",
        ] {
            declare(name, "ud", lanes, "");
        }
        declare("FLAT", "uq", lanes, "");
        declare("DATA", "ud", 4 * lanes.max(8), "");
        for n in 0..TEMPORARIES {
            let to = format!("D{n}");
            declare(&to, "d", lanes, "");
            for (name, ty, elements) in [
                ("UD", "ud", lanes),
                ("W", "w", 2 * lanes),
                ("UW", "uw", 2 * lanes),
                ("F", "f", lanes),
                ("B", "b", 4 * lanes),
                ("UB", "ub", 4 * lanes),
                ("HF", "hf", 2 * lanes),
                ("BF", "bf", 2 * lanes),
            ] {
                let used = matches!(self.style, Style::Floats | Style::Wide)
                    || !matches!(name, "HF" | "BF" | "B" | "UB");
                if used {
                    declare(&format!("{name}{n}"), ty, elements, &to);
                }
            }
        }
        if self.style.is_wide() {
            for n in 0..2 {
                let to = format!("Q{n}");
                declare(&to, "q", lanes, "");
                declare(&format!("UQ{n}"), "uq", lanes, &to);
                declare(&format!("DF{n}"), "df", lanes, &to);
                declare(&format!("QD{n}"), "ud", 2 * lanes, &to);
            }
        }
        for n in 1..6 {
            let _ = writeln!(text, ".decl P{n} v_type=P num_elts=32");
        }
        text += ".decl A0 v_type=A num_elts=8\n.decl T6 v_type=T num_elts=1\n";
        for (place, name) in ["L", "LY", "LZ"].iter().enumerate() {
            let at = GRF + place * ids;
            let _ = writeln!(text, ".input {name} offset={at} size={ids}");
        }
        let at = GRF + 3 * ids;
        let _ = writeln!(text, ".input BASE offset={at} size=8");
        let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
        text
    }

    fn prologue(&self) -> String {
        let (lanes, items) = (self.lanes, self.items);
        let mut text = format!(
            ".function \"k_0\"\nk_0:\n\
             or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n\
             mov (M1, {lanes}) LD(0,0)<1> L(0,0)<1;1,0>\n"
        );
        if self.style == Style::Memory {
            // A slot of local memory, and that of the work-item beside.
            let _ = write!(
                text,
                "shl (M1, {lanes}) LA(0,0)<1> LD(0,0)<1;1,0> 0x2:ud\n\
                 add (M1, {lanes}) LB(0,0)<1> LA(0,0)<1;1,0> 0x4:ud\n\
                 cmp.ge (M1, {lanes}) P1 LB(0,0)<1;1,0> {:#x}:ud\n\
                 (P1) mov (M1, {lanes}) LB(0,0)<1> 0x0:ud\n",
                4 * items
            );
        }
        if self.groups > 1 {
            let _ = write!(
                text,
                "mul (M1_NM, 1) GROUP(0,0)<1> %r0(0,1)<0;1,0> {items:#x}:ud\n\
                 add (M1, {lanes}) LD(0,0)<1> LD(0,0)<1;1,0> GROUP(0,0)<0;1,0>\n"
            );
        }
        let _ = writeln!(text, "shl (M1, {lanes}) ADDR(0,0)<1> LD(0,0)<1;1,0> 0x4:ud");
        match self.way {
            Way::Gather => text += "movs (M1_NM, 1) T6(0) 0x0:ud\n",
            Way::Table => {}
            Way::Flat => {
                let _ = writeln!(
                    text,
                    "add (M1, {lanes}) FLAT(0,0)<1> ADDR(0,0)<1;1,0> BASE(0,0)<0;1,0>"
                );
            }
        }
        text += &self.transfer(false);
        let row = (4 * lanes).div_ceil(GRF);
        for n in 0..TEMPORARIES {
            let _ = writeln!(
                text,
                "mov (M1, {lanes}) UD{n}(0,0)<1> DATA({},0)<1;1,0>",
                row * (n % 4)
            );
        }
        if self.style.is_wide() {
            for n in 0..2 {
                let _ = write!(
                    text,
                    "mov (M1, {lanes}) QD{n}(0,0)<2> UD{}(0,0)<1;1,0>\n\
                     mov (M1, {lanes}) QD{n}(0,1)<2> UD{}(0,0)<1;1,0>\n",
                    2 * n,
                    2 * n + 1
                );
            }
        }
        let _ = write!(
            text,
            "cmp.lt (M1, {lanes}) P1 D0(0,0)<1;1,0> D1(0,0)<1;1,0>\n\
             cmp.eq (M1, {lanes}) P2 D2(0,0)<1;1,0> 0x0:d\n"
        );
        text
    }

    fn epilogue(&self, text: &mut String) {
        let lanes = self.lanes;
        if self.style.is_wide() {
            for n in 0..2 {
                let to = 2 * n;
                let _ = write!(
                    text,
                    "xor (M1, {lanes}) UD{to}(0,0)<1> UD{to}(0,0)<1;1,0> QD{n}(0,0)<2;1,0>\n\
                     xor (M1, {lanes}) UD{0}(0,0)<1> UD{0}(0,0)<1;1,0> QD{n}(0,1)<2;1,0>\n",
                    to + 1
                );
            }
        }
        let row = (4 * lanes).div_ceil(GRF);
        for n in 0..4 {
            let _ = writeln!(
                text,
                "mov (M1, {lanes}) DATA({},0)<1> UD{n}(0,0)<1;1,0>",
                row * n
            );
        }
        *text += &self.transfer(true);
        *text += "ret (M1, 1)\n";
    }
}
