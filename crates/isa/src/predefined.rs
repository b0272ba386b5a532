//! Variables and surfaces that every routine has without declaring them.
//!
//! The ids changed their meaning in 3.1, 3.2, 3.3 and 3.4; readers since 2019 apply the last table
//! to every version and misread older objects.

use crate::ids::{SurfaceId, VarId};
use crate::types::DataType;
use crate::version::{Features, Format};

/// A predefined variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredefinedVariable {
    /// Name without the `%` that newer texts prepend.
    pub name: &'static str,
    /// Element type.
    pub data_type: DataType,
    /// Number of elements on targets with 32-byte registers.
    pub elements: u16,
}

macro_rules! variables {
    ($($name:literal $ty:ident $elements:literal),* $(,)?) => {
        &[$(PredefinedVariable {
            name: $name,
            data_type: DataType::$ty,
            elements: $elements,
        }),*]
    };
}

/// 3.0 to 3.3; each version has a prefix of it.
static BEFORE_3_4: &[PredefinedVariable] = variables![
    "null" Ud 1,
    "thread_x" Uw 1,
    "thread_y" Uw 1,
    "local_id_x" Ud 1,
    "local_id_y" Ud 1,
    "local_size_x" Ud 1,
    "local_size_y" Ud 1,
    "group_id_x" Ud 1,
    "group_id_y" Ud 1,
    "group_count_x" Ud 1,
    "group_count_y" Ud 1,
    "tsc" Ud 5,
    "r0" Ud 8,
    "arg" Ud 256,
    "retval" Ud 96,
    "sp" Ud 1,
    "fp" Ud 1,
    "hw_id" Ud 1,
    "sr0" Ud 4,
    "cr0" Ud 1,
    "ce0" Ud 1,
    "dbg0" Ud 2,
    "color" Uw 1,
    "group_id_z" Ud 1,
];

/// 3.4 and later.
static SINCE_3_4: &[PredefinedVariable] = variables![
    "null" Ud 1,
    "thread_x" Uw 1,
    "thread_y" Uw 1,
    "group_id_x" Ud 1,
    "group_id_y" Ud 1,
    "group_id_z" Ud 1,
    "tsc" Ud 5,
    "r0" Ud 8,
    "arg" Ud 256,
    "retval" Ud 96,
    "sp" Uq 1,
    "fp" Uq 1,
    "hw_id" Ud 1,
    "sr0" Ud 4,
    "cr0" Ud 1,
    "ce0" Ud 1,
    "dbg0" Ud 2,
    "color" Uw 1,
    "impl_arg_buf_ptr" Uq 1,
    "local_id_buf_ptr" Uq 1,
    "msg0" Ud 3,
    "scratchloc" Uq 1,
];

/// 2.4: only the first three ids are ever used.
const KNOWN_IN_2_4: usize = 3;
/// 3.0 and 3.1 end with `cr0`.
const KNOWN_IN_3_0: usize = 20;
/// 3.2 adds `ce0`, `dbg0` and `color`.
const KNOWN_IN_3_2: usize = 23;

/// A predefined surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredefinedSurface {
    /// Name in current texts.
    pub name: &'static str,
    /// Name in older texts.
    pub old_name: &'static str,
    /// Index in the binding table.
    pub binding_table_index: u8,
    /// Its purpose.
    pub summary: &'static str,
}

/// The predefined surfaces of 3.1 and later; up to 3.0 the last one is missing.
static SURFACES: [PredefinedSurface; 6] = [
    PredefinedSurface {
        name: "%slm",
        old_name: "T0",
        binding_table_index: 254,
        summary: "shared local memory",
    },
    PredefinedSurface {
        name: "T1",
        old_name: "T1",
        binding_table_index: 1,
        summary: "stack",
    },
    PredefinedSurface {
        name: "T2",
        old_name: "T2",
        binding_table_index: 2,
        summary: "",
    },
    PredefinedSurface {
        name: "TSS",
        old_name: "T3",
        binding_table_index: 3,
        summary: "scratch",
    },
    PredefinedSurface {
        name: "%bss",
        old_name: "T252",
        binding_table_index: 252,
        summary: "bindless",
    },
    PredefinedSurface {
        name: "%scratch",
        old_name: "T255",
        binding_table_index: 255,
        summary: "stateless",
    },
];

impl Format {
    /// Number of ids reserved for predefined variables; the first declared variable has this id.
    #[must_use]
    pub const fn predefined_variable_count(self) -> u32 {
        if self.features().contains(Features::SINCE_3_0) {
            32
        } else {
            16
        }
    }

    /// The predefined variables whose meaning is known, in order of their ids.
    #[must_use]
    pub fn predefined_variables(self) -> &'static [PredefinedVariable] {
        let has = |feature| self.features().contains(feature);
        let known = if has(Features::SINCE_3_4) {
            return SINCE_3_4;
        } else if has(Features::SINCE_3_3) {
            BEFORE_3_4.len()
        } else if has(Features::SINCE_3_2) {
            KNOWN_IN_3_2
        } else if has(Features::SINCE_3_0) {
            KNOWN_IN_3_0
        } else {
            KNOWN_IN_2_4
        };
        BEFORE_3_4.get(..known).unwrap_or(BEFORE_3_4)
    }

    /// The predefined variable with this id, if its meaning is known.
    #[must_use]
    pub fn predefined_variable(self, id: VarId) -> Option<&'static PredefinedVariable> {
        let index = usize::try_from(id.0).ok()?;
        self.predefined_variables().get(index)
    }

    /// Number of predefined surfaces; the first declared surface has this id.
    #[must_use]
    pub const fn predefined_surface_count(self) -> u8 {
        if self.features().contains(Features::SINCE_3_1) {
            6
        } else {
            5
        }
    }

    /// The predefined surface with this id.
    #[must_use]
    pub fn predefined_surface(self, id: SurfaceId) -> Option<&'static PredefinedSurface> {
        if id.0 >= self.predefined_surface_count() {
            return None;
        }
        SURFACES.get(usize::from(id.0))
    }
}
