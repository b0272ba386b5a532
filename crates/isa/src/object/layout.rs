//! The layouts of the container, each defined once.

use super::symbols::{
    Attribute, Declaration, FileAttribute, FileVariable, Input, Label, NativeBinary, Relocation,
    Variable,
};
use super::{Body, Object, Routine};
use crate::version::{Features, Format};
use crate::wire::Width;
use crate::wire::layout;

const fn since_3_0(f: Format) -> bool {
    f.features().contains(Features::SINCE_3_0)
}

layout! {
    /// The file header after magic and version.
    part read_header write_header Object {
        list kernels: Width::U16 => Routine read_kernel_entry write_kernel_entry;
        list file_variables: Width::U16, if since_3_0;
        list functions: Width::U16 => Routine read_function_entry write_function_entry, if since_3_0;
    }
}

layout! {
    /// An entry of the kernel table.
    part read_kernel_entry write_kernel_entry Routine {
        counted name: Width::NameLength;
        derived RoutineOffset;
        derived RoutineSize;
        derived InputOffset;
        list variable_relocations: Width::U16, if since_3_0;
        list function_relocations: Width::U16, if since_3_0;
        list binaries: Width::BinaryCount;
    }
}

layout! {
    /// An entry of the function table.
    part read_function_entry write_function_entry Routine {
        number linkage: Width::U8;
        counted name: Width::NameLength;
        derived RoutineOffset;
        derived RoutineSize;
        list variable_relocations: Width::U16;
        list function_relocations: Width::U16;
    }
}

layout! {
    record NativeBinary<'a> {
        number platform: Width::U8, if since_3_0;
        derived BinaryOffset;
        derived BinarySize;
    }
}

layout! {
    record Relocation {
        number symbolic: Width::U16;
        number resolved: Width::U16;
    }
}

layout! {
    record FileVariable<'a> {
        number linkage: Width::U8;
        counted name: Width::U16;
        number properties: Width::U8;
        number elements: Width::U16;
        list attributes: Width::U8;
    }
}

layout! {
    record FileAttribute<'a> {
        number name: Width::U16;
        counted value: Width::U8;
    }
}

layout! {
    /// The tables that kernels and functions have in common.
    part read_tables write_tables Body {
        list strings: Width::Index;
        number name: Width::Index;
        list variables: Width::Index;
        list addresses: Width::U16;
        list predicates: Width::U16;
        list labels: Width::U16;
        list samplers: Width::U8;
        list surfaces: Width::U8;
        zero vme_count: Width::U8;
    }
}

layout! {
    /// What follows the tables in a kernel, up to the instructions.
    part read_kernel_tail write_kernel_tail Body {
        inputs;
        list inputs: Width::InputCount;
        derived CodeSize;
        derived CodeEntry;
        list attributes: Width::U16;
    }
}

layout! {
    /// What follows the tables in a function, up to the instructions.
    part read_function_tail write_function_tail Body {
        derived CodeSize;
        derived CodeEntry;
        number input_size: Width::U8;
        number return_value_size: Width::U8;
        list attributes: Width::U16;
    }
}

layout! {
    record Variable<'a> {
        number name: Width::Index;
        number properties: Width::U8;
        number elements: Width::U16;
        number alias: Width::Index;
        number alias_offset: Width::U16;
        number alias_scope: Width::U8, if since_3_0;
        list attributes: Width::U8;
    }
}

layout! {
    record Declaration<'a> {
        number name: Width::Index;
        number elements: Width::U16;
        list attributes: Width::U8;
    }
}

layout! {
    record Label<'a> {
        number name: Width::Index;
        number kind: Width::U8;
        list attributes: Width::U8;
    }
}

layout! {
    record Input {
        number kind: Width::U8;
        number index: Width::Index;
        number offset: Width::I16;
        number size: Width::U16;
    }
}

layout! {
    record Attribute<'a> {
        number name: Width::Index;
        counted value: Width::U8;
    }
}
