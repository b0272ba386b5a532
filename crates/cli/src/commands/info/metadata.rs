//! The report about the metadata of compiled programs.

use crate::output::{Failure, heading, printable};
use crate::table::Align::{Left, Right};
use crate::table::Columns;
use serde::Serialize;
use std::io::Write;
use visakit_launch::{ElfSection, KernelInfo, LaunchError, ZeInfo, Zebin};

/// A compiled program, or its metadata alone.
#[derive(Serialize)]
pub(super) struct Program {
    pub(super) file: String,
    version: String,
    /// How its loads and stores use the cache of a core by default.
    #[serde(skip_serializing_if = "String::is_empty")]
    l1_cache_policy: String,
    kernels: Kernels,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sections: Vec<SectionInfo>,
    /// Keys of the metadata that are newer than this tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_keys: Vec<String>,
    /// Symbols that the code needs and the file does not define.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undefined: Vec<String>,
}

/// The kernels of a compiled program, with what the compiler decided for them.
#[derive(Serialize, Default)]
#[serde(transparent)]
pub(crate) struct Kernels(Vec<Kernel>);

#[derive(Serialize)]
struct Kernel {
    name: String,
    /// Work-items of a thread.
    simd: u32,
    /// Registers of a thread.
    registers: u32,
    /// Bytes of local memory of the program's own variables.
    local_bytes: u32,
    /// Bytes of private memory of a thread.
    private_bytes: u64,
    /// Bytes that a thread spills from registers to memory.
    spill_bytes: u64,
    barriers: u32,
    bindless_image_read: bool,
    /// The starter of the kernel adds the local memory of its own variables to offsets of arguments.
    local_offsets_by_host: bool,
}

#[derive(Serialize)]
struct SectionInfo {
    name: String,
    /// `sh_type`.
    kind: u32,
    bytes: u64,
    /// Null for a section of an unknown type.
    content: Option<&'static str>,
}

impl Program {
    pub(super) fn of_zebin(file: String, zebin: &Zebin) -> Result<Self, LaunchError> {
        let sections = zebin.sections.iter().filter(|section| section.kind != 0);
        Ok(Self {
            sections: sections.map(section).collect(),
            undefined: zebin
                .undefined
                .iter()
                .map(|n| printable(n.as_bytes()))
                .collect(),
            ..Self::of_text(file, &zebin.zeinfo)?
        })
    }

    pub(super) fn of_text(file: String, text: &str) -> Result<Self, LaunchError> {
        let info = ZeInfo::parse(text)?;
        let unknown = ZeInfo::unknown_keys(text);
        Ok(Self {
            file,
            version: printable(info.version.as_bytes()),
            l1_cache_policy: printable(info.l1_cache_policy.as_bytes()),
            kernels: Kernels::of(&info),
            sections: Vec::new(),
            unknown_keys: unknown
                .iter()
                .map(|key| printable(key.as_bytes()))
                .collect(),
            undefined: Vec::new(),
        })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> Result<(), Failure> {
        writeln!(out, "{}", heading(&self.file))?;
        let mut table = Columns::pairs();
        table.row(["metadata".to_owned(), format!("version {}", self.version)]);
        if !self.l1_cache_policy.is_empty() {
            table.row(["L1 policy".to_owned(), self.l1_cache_policy.clone()]);
        }
        for (name, list) in [
            ("unknown keys", &self.unknown_keys),
            ("undefined", &self.undefined),
        ] {
            if !list.is_empty() {
                table.row([name.to_owned(), list.join(", ")]);
            }
        }
        writeln!(out, "{table}\n{}", heading("kernels"))?;
        self.kernels.write(out)?;
        if !self.sections.is_empty() {
            write!(out, "\n{}\n{}", heading("sections"), self.sections())?;
        }
        Ok(())
    }

    fn sections(&self) -> Columns {
        let mut table = Columns::new(&[("bytes", Right), ("content", Left), ("name", Left)]);
        for section in &self.sections {
            let unknown = || format!("unknown section type {:#x}", section.kind);
            let content = section.content.map_or_else(unknown, str::to_owned);
            table.row([section.bytes.to_string(), content, section.name.clone()]);
        }
        table
    }
}

impl Kernels {
    pub(crate) fn of(info: &ZeInfo) -> Self {
        Self(info.kernels.iter().map(kernel).collect())
    }

    /// Leaves out all others: a compiler may add one that only carries symbols.
    pub(crate) fn retain(&mut self, names: &[String]) {
        self.0.retain(|kernel| names.contains(&kernel.name));
    }

    /// A table, and what is remarkable of each.
    pub(crate) fn write(&self, out: &mut impl Write) -> Result<(), Failure> {
        write!(out, "{}", self.table())?;
        for kernel in &self.0 {
            for note in kernel.notes() {
                writeln!(out, "  {}: {note}", kernel.name)?;
            }
        }
        Ok(())
    }

    fn table(&self) -> Columns {
        let mut table = Columns::new(&[
            ("SIMD", Right),
            ("registers", Right),
            ("local", Right),
            ("private", Right),
            ("spilled", Right),
            ("barriers", Right),
            ("name", Left),
        ]);
        for kernel in &self.0 {
            table.row([
                kernel.simd.to_string(),
                kernel.registers.to_string(),
                kernel.local_bytes.to_string(),
                kernel.private_bytes.to_string(),
                kernel.spill_bytes.to_string(),
                kernel.barriers.to_string(),
                kernel.name.clone(),
            ]);
        }
        table
    }
}

impl Kernel {
    /// What is remarkable.
    fn notes(&self) -> Vec<String> {
        let spilled = format!(
            "warning: each thread spills {} bytes from registers to memory",
            self.spill_bytes
        );
        let by_host = "offsets of arguments in local memory begin after the kernel's own variables";
        [
            (self.spill_bytes > 0, spilled.as_str()),
            (self.bindless_image_read, "reads bindless images"),
            (self.local_offsets_by_host, by_host),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, text)| text.to_owned())
        .collect()
    }
}

fn kernel(info: &KernelInfo) -> Kernel {
    let env = &info.execution_env;
    Kernel {
        name: printable(info.name.as_bytes()),
        simd: env.simd_size,
        registers: env.grf_count,
        local_bytes: env.slm_size,
        private_bytes: info.private_bytes(),
        spill_bytes: info.spill_bytes(),
        barriers: env.barrier_count,
        bindless_image_read: env.has_bindless_image_read,
        local_offsets_by_host: env.slm_alloc_mode == 1,
    }
}

fn section(section: &ElfSection) -> SectionInfo {
    SectionInfo {
        name: printable(section.name.as_bytes()),
        kind: section.kind,
        bytes: section.bytes,
        content: section.content(),
    }
}
