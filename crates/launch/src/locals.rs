//! Variables of kernels in local memory, from the compiler's dumps of its intermediate representation.
//!
//! Launch metadata say only how much local memory a kernel has. The last dump of LLVM's representation (`*_codegen.ll`)
//! has the variables with their types, and as metadata (`localOffsets`) the places that the compiler gave them.

use std::collections::HashMap;

/// A variable in local memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalVariable {
    /// The kernel that has it.
    pub kernel: String,
    /// Its declared name.
    pub name: String,
    /// Its first byte.
    pub start: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The bits of a place; compilers set others so that no address is null.
const PLACE: u64 = 0x0fff_ffff;

/// Types in types are followed down to this depth.
const DEPTH: usize = 32;

/// The variables in local memory that a dump names. Unreadable entries are omitted.
#[must_use]
pub fn local_variables(text: &str) -> Vec<LocalVariable> {
    let mut dump = Dump::default();
    for line in text.lines() {
        dump.line(line);
    }
    dump.variables()
}

/// The facts in the lines of a dump, indexed by names and numbers.
#[derive(Default)]
struct Dump<'t> {
    types: HashMap<&'t str, &'t str>,
    globals: HashMap<&'t str, &'t str>,
    /// Kernels, by their numbers among functions.
    kernels: Vec<(&'t str, &'t str)>,
    /// Nodes of metadata with the text after their tag.
    functions: HashMap<&'t str, &'t str>,
    lists: HashMap<&'t str, &'t str>,
    entries: HashMap<&'t str, &'t str>,
    offsets: HashMap<&'t str, u64>,
    variables: HashMap<&'t str, &'t str>,
}

impl<'t> Dump<'t> {
    fn line(&mut self, line: &'t str) {
        let Some((name, rest)) = line.split_once(" = ") else {
            return;
        };
        match name.bytes().next() {
            Some(b'%') => {
                if let Some(of) = rest.strip_prefix("type ") {
                    self.types.insert(name, of);
                }
            }
            Some(b'@') => {
                if let Some((_, of)) = rest.split_once("addrspace(3) global ") {
                    self.globals.insert(name, of);
                }
            }
            Some(b'!') => self.node(name, rest),
            _ => {}
        }
    }

    fn node(&mut self, name: &'t str, rest: &'t str) {
        let inner = rest.strip_prefix("!{!\"").and_then(|r| r.strip_suffix('}'));
        let Some((tag, rest)) = inner.and_then(|inner| inner.split_once('"')) else {
            return;
        };
        let rest = rest.trim_start_matches([',', ' ']);
        match tag.split_once('[').map_or((tag, ""), |(tag, n)| (tag, n)) {
            ("FuncMDMap", number) => {
                if let Some((_, kernel)) = rest.rsplit_once('@') {
                    self.kernels.push((number, kernel.trim_matches('"')));
                }
            }
            ("FuncMDValue", number) => {
                self.functions.insert(number, rest);
            }
            ("localOffsets", _) => {
                self.lists.insert(name, rest);
            }
            ("localOffsetsVec", _) => {
                self.entries.insert(name, rest);
            }
            ("m_Offset", _) => {
                let number = rest.rsplit(' ').next().and_then(|n| n.parse().ok());
                if let Some(number) = number {
                    self.offsets.insert(name, number);
                }
            }
            ("m_Var", _) => {
                if let Some(at) = rest.rfind('@') {
                    self.variables.insert(name, rest.get(at..).unwrap_or(""));
                }
            }
            _ => {}
        }
    }

    fn variables(&self) -> Vec<LocalVariable> {
        let mut all = Vec::new();
        for (number, kernel) in &self.kernels {
            let of_kernel = self.functions.get(number).copied().unwrap_or("");
            let lists = nodes(of_kernel).filter_map(|node| self.lists.get(node));
            let entries = lists.flat_map(|list| nodes(list));
            for entry in entries.filter_map(|node| self.entries.get(node)) {
                let offset = nodes(entry).find_map(|node| self.offsets.get(node));
                let global = nodes(entry).find_map(|node| self.variables.get(node));
                let (Some(offset), Some(global)) = (offset, global) else {
                    continue;
                };
                let bytes = self.globals.get(global).and_then(|of| self.size(of));
                let name = global.trim_start_matches('@').trim_matches('"');
                let own = name.strip_prefix(kernel).and_then(|n| n.strip_prefix('.'));
                if let Some(bytes) = bytes {
                    all.push(LocalVariable {
                        kernel: (*kernel).to_owned(),
                        name: own.unwrap_or(name).to_owned(),
                        start: offset & PLACE,
                        bytes,
                    });
                }
            }
        }
        all
    }

    /// Bytes of the type that a text begins with.
    fn size(&self, text: &str) -> Option<u64> {
        Some(self.layout(&mut Words(text), DEPTH)?.bytes)
    }

    fn layout(&self, words: &mut Words<'_>, depth: usize) -> Option<Layout> {
        let deeper = depth.checked_sub(1)?;
        let mut of = match words.next()? {
            "[" => {
                let count = words.count()?;
                let element = self.layout(words, deeper)?;
                words.expect("]")?;
                Layout {
                    bytes: element.bytes.checked_mul(count)?,
                    align: element.align,
                }
            }
            "<" if words.peek() == Some("{") => {
                words.next();
                let bytes = self.fields(words, deeper, true)?.bytes;
                words.expect(">")?;
                Layout { bytes, align: 1 }
            }
            "<" => {
                let count = words.count()?;
                let element = self.layout(words, deeper)?;
                words.expect(">")?;
                let bytes = element
                    .bytes
                    .checked_mul(count)?
                    .checked_next_power_of_two()?;
                Layout {
                    bytes,
                    align: bytes,
                }
            }
            "{" => self.fields(words, deeper, false)?,
            "half" | "bfloat" => Layout::scalar(2),
            "float" => Layout::scalar(4),
            "double" | "ptr" => Layout::scalar(8),
            name if name.starts_with('%') => {
                let named = self.types.get(name)?;
                self.layout(&mut Words(named), deeper)?
            }
            name => {
                let bits: u64 = name.strip_prefix('i')?.parse().ok()?;
                let bytes = bits.div_ceil(8).checked_next_power_of_two()?;
                Layout {
                    bytes,
                    align: bytes.min(16),
                }
            }
        };
        // A pointer to it, and the address space of a pointer.
        loop {
            match words.peek() {
                Some("*") => {
                    words.next();
                    of = Layout::scalar(8);
                }
                Some(space) if space.starts_with("addrspace(") => {
                    words.next();
                }
                _ => return Some(of),
            }
        }
    }

    fn fields(&self, words: &mut Words<'_>, depth: usize, packed: bool) -> Option<Layout> {
        let mut all = Layout { bytes: 0, align: 1 };
        while words.peek()? != "}" {
            let field = self.layout(words, depth)?;
            let align = if packed { 1 } else { field.align };
            let start = all.bytes.checked_next_multiple_of(align.max(1))?;
            all.bytes = start.checked_add(field.bytes)?;
            all.align = all.align.max(align);
        }
        words.next();
        all.bytes = all.bytes.checked_next_multiple_of(all.align)?;
        Some(all)
    }
}

/// The nodes that a list names.
fn nodes(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ").filter(|word| word.starts_with('!'))
}

/// Room that a type takes.
#[derive(Clone, Copy)]
struct Layout {
    bytes: u64,
    align: u64,
}

impl Layout {
    const fn scalar(bytes: u64) -> Self {
        Self {
            bytes,
            align: bytes,
        }
    }
}

/// The words of a type.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    fn peek(&self) -> Option<&'t str> {
        Words(self.0).next()
    }

    fn next(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start_matches([' ', ',']);
        let first = text.chars().next()?;
        let end = match first {
            '[' | ']' | '<' | '>' | '{' | '}' | '*' => first.len_utf8(),
            '%' if text.get(1..2) == Some("\"") => 2 + text.get(2..)?.find('"')? + 1,
            _ => {
                let ends = |c| " ,[]<>{}*".contains(c);
                text.find(ends).unwrap_or(text.len())
            }
        };
        let (word, rest) = text.split_at_checked(end)?;
        self.0 = rest;
        Some(word)
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        (self.next()? == word).then_some(())
    }

    /// The number before `x`.
    fn count(&mut self) -> Option<u64> {
        let count = self.next()?.parse().ok()?;
        self.expect("x")?;
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = r#"; ModuleID = 'k'
%struct.Record = type { i8, i32, <3 x float>, [2 x half] }
%"struct.two words" = type <{ i8, i64 }>
@blur.tile = internal unnamed_addr addrspace(3) global [10 x [10 x i32]] undef, section "localSLM", align 4, !dbg !0
@blur.sum = addrspace(3) global i32 undef, align 4
@scan.records = addrspace(3) global [3 x %struct.Record] undef, align 16
@scan.packed = addrspace(3) global [5 x %"struct.two words"] undef, align 1
@scan.where = addrspace(3) global [7 x i32 addrspace(1)*] undef, align 8
@scan.opaque = addrspace(3) global %struct.unknown undef
@table = addrspace(2) constant [3 x i32] zeroinitializer
!1 = !{!"FuncMDMap[0]", void (i32 addrspace(1)*, <8 x i32>)* @blur}
!2 = !{!"FuncMDValue[0]", !3, !20}
!3 = !{!"localOffsets", !4, !7}
!4 = !{!"localOffsetsVec[0]", !5, !6}
!5 = !{!"m_Offset", i32 0}
!6 = !{!"m_Var", [10 x [10 x i32]] addrspace(3)* @blur.tile}
!7 = !{!"localOffsetsVec[1]", !8, !9}
!8 = !{!"m_Offset", i32 268435856}
!9 = !{!"m_Var", ptr addrspace(3) @blur.sum}
!10 = !{!"FuncMDMap[1]", void ()* @scan}
!11 = !{!"FuncMDValue[1]", !20, !12}
!12 = !{!"localOffsets", !13, !14, !15, !16}
!13 = !{!"localOffsetsVec[0]", !5, !17}
!14 = !{!"localOffsetsVec[1]", !8, !18}
!15 = !{!"localOffsetsVec[2]", !8, !19}
!16 = !{!"localOffsetsVec[3]", !8, !21}
!17 = !{!"m_Var", [3 x %struct.Record] addrspace(3)* @scan.records}
!18 = !{!"m_Var", ptr addrspace(3) @scan.packed}
!19 = !{!"m_Var", ptr addrspace(3) @scan.where}
!20 = !{!"resourceAlloc", !5}
!21 = !{!"m_Var", ptr addrspace(3) @scan.opaque}
"#;

    #[test]
    fn names_places_and_sizes() {
        let found = local_variables(DUMP);
        let found = found
            .iter()
            .map(|v| (v.kernel.as_str(), v.name.as_str(), v.start, v.bytes));
        let expected = [
            ("blur", "tile", 0, 400),
            ("blur", "sum", 400, 4),
            // 1, 3 of padding, 4, 8 of padding, 16, 4 and 12 of padding.
            ("scan", "records", 0, 3 * 48),
            ("scan", "packed", 400, 5 * 9),
            ("scan", "where", 400, 7 * 8),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    /// Dumps are files of anybody: no text is too strange.
    #[test]
    fn damaged_dumps_say_less() {
        for end in (0..DUMP.len()).step_by(7) {
            let known = local_variables(DUMP.get(..end).unwrap_or("")).len();
            assert!(known <= 5);
        }
        let endless = DUMP.replace("type { i8,", "type { %struct.Record,");
        assert_eq!(local_variables(&endless).len(), 4);
        let nested = format!("@k.t = addrspace(3) global {}i8", "[2 x ".repeat(100_000));
        assert!(local_variables(&nested).is_empty());
        let huge = DUMP.replace("[10 x [10 x", "[18446744073709551615 x [10 x");
        assert_eq!(local_variables(&huge).len(), 4);
    }
}
