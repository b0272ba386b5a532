//! What work-items of a group do together, and images.

use super::Writer;
use crate::ast::{Expr, Guard, ROW, Reduction, SURFACE, Together};
use crate::types::Scalar;

impl Writer<'_> {
    pub(super) fn together(&mut self, to: usize, value: &Expr, together: &Together) {
        let ty = value.ty;
        let text = self.expr(value);
        match together {
            Together::Exchange(from) => {
                let l = self.locals.len();
                self.locals.push(ty);
                let length = usize::try_from(self.program.local).unwrap_or(1);
                let from = self.index(from, length);
                self.line(&format!("l{l}[get_local_id(0)] = {text};"));
                self.line("barrier(CLK_LOCAL_MEM_FENCE);");
                self.line(&format!("v{to} = l{l}[{from}];"));
                self.line("barrier(CLK_LOCAL_MEM_FENCE);");
            }
            Together::Shuffle(bits) => {
                self.line(&format!(
                    "v{to} = intel_sub_group_shuffle_xor({text}, {bits}u);"
                ));
            }
            Together::Block(input) => {
                let suffix = match ty.scalar {
                    Scalar::Ushort => "_us",
                    Scalar::Ulong => "_ul",
                    _ => "",
                };
                let block = format!("i{input} + (get_local_id(0) - get_sub_group_local_id())");
                self.line(&format!(
                    "v{to} = intel_sub_group_block_read{suffix}({block}) ^ {text};"
                ));
            }
            Together::Block2(input) => {
                let rows = self.program.inputs.get(*input);
                let rows = rows.map_or(1, |input| input.data.len() / SURFACE);
                let first = "((int)get_local_id(0) - (int)get_sub_group_local_id())";
                let (columns, bytes) = (SURFACE - 1, SURFACE * 2);
                let place = format!("(int2)({first} & {columns}, {first} / {SURFACE})");
                self.line(&format!(
                    "{{ ushort b; intel_sub_group_2d_block_read_16b_1r16x1c((__global void *)i{input}, {bytes}, {rows}, \
                     {bytes}, {place}, &b); v{to} = b ^ {text}; }}"
                ));
            }
            Together::Matrix(matrix) => {
                let column = self.expr(&matrix.column);
                let [row_sign, column_sign] =
                    matrix.signed.map(|signed| if signed { "" } else { "u" });
                let names = matrix.signed.map(|signed| if signed { "i8" } else { "u8" });
                // Each work-item of the sub-group has a part of the row.
                let part = if self.matrix == 8 { "int" } else { "short" };
                let row = format!("((const __global {row_sign}{part} *)i{})", matrix.input);
                self.line(&format!(
                    "v{to} = intel_sub_group_{}_{}_matrix_mad_k32({row}[get_sub_group_local_id()], \
                     as_{column_sign}int8({column}), ({text}) >> 1);",
                    names[0], names[1]
                ));
            }
            Together::Reduce(reduction) => {
                let name = match reduction {
                    Reduction::Add => "reduce_add",
                    Reduction::Min => "reduce_min",
                    Reduction::Max => "reduce_max",
                    Reduction::InclusiveAdd => "scan_inclusive_add",
                    Reduction::ExclusiveAdd => "scan_exclusive_add",
                };
                self.line(&format!("v{to} = work_group_{name}({text});"));
            }
        }
    }

    /// A work-item's own pixel.
    pub(super) fn draw(&mut self, image: usize, value: &Expr) {
        let value = self.guarded(Guard::Normal, value);
        let suffix = self.program.drawn.get(image).map_or("ui", |i| i.suffix());
        let id = "(int)get_global_id(0)";
        let place = format!("(int2)({id} & {}, {id} / {ROW})", ROW - 1);
        self.line(&format!("write_image{suffix}(d{image}, {place}, {value});"));
    }
}
