//! Extensions and optional features of devices.
//!
//! What a device has depends on its family alone, so that it is the same with every compiler that knows the device.
//! Compilers that know more define further macros.

use visakit_isa::Platform as Family;

/// Extensions of every device.
pub(crate) const EVERYWHERE: [&str; 39] = [
    "cl_khr_byte_addressable_store",
    "cl_khr_fp16",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_icd",
    "cl_khr_il_program",
    "cl_khr_create_command_queue",
    "cl_khr_command_buffer",
    "cl_khr_command_buffer_mutable_dispatch",
    "cl_khr_device_uuid",
    "cl_khr_pci_bus_info",
    "cl_khr_extended_versioning",
    "cl_khr_priority_hints",
    "cl_khr_throttle_hints",
    "cl_khr_suggested_local_work_size",
    "cl_khr_subgroups",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroup_clustered_reduce",
    "cl_ext_float_atomics",
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_short",
    "cl_intel_subgroups_long",
    "cl_intel_spirv_subgroups",
    "cl_intel_required_subgroup_size",
    "cl_intel_device_attribute_query",
    "cl_intel_unified_shared_memory",
    "cl_intel_global_variable_access",
    "cl_intel_create_buffer_with_properties",
    "cl_intel_mem_force_host_memory",
];

/// Features of every device's compiler.
const FEATURES: [&str; 17] = [
    "__opencl_c_int64",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_generic_address_space",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_work_group_collective_functions",
    "__opencl_c_subgroups",
    "__opencl_c_ext_fp16_global_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_min_max",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_min_max",
];

/// Whether only newer compilers know the family. Older ones declare some functions, but do not have them.
pub(crate) fn is_recent(family: Family) -> bool {
    family >= Family::Xe2 || matches!(family, Family::Mtl | Family::Arl)
}

/// Extensions that compilers offer only if they are asked to: the driver tells them what the device has.
pub(crate) fn asked_for(family: Family) -> Vec<&'static str> {
    let mut all = Vec::new();
    if family >= Family::Tgllp {
        all.push("cl_intel_subgroup_local_block_io");
    }
    // The messages for it went with the data port.
    if family.has_data_port() {
        all.push("cl_intel_media_block_io");
    }
    if family.has_dpas() {
        all.extend([
            "cl_intel_bfloat16_conversions",
            "cl_intel_subgroup_matrix_multiply_accumulate",
        ]);
    }
    if family == Family::Dg2 {
        all.push("cl_intel_subgroup_split_matrix_multiply_accumulate");
    }
    all
}

/// The extensions of a family.
pub(crate) fn extensions(family: Family, doubles: bool) -> Vec<&'static str> {
    let mut all = EVERYWHERE.to_vec();
    if doubles {
        all.push("cl_khr_fp64");
    }
    if family.has_samplers() {
        all.extend(["cl_khr_3d_image_writes", "cl_khr_image2d_from_buffer"]);
    }
    if family.has_data_port() {
        all.push("cl_intel_spirv_media_block_io");
    }
    all.extend(asked_for(family));
    if is_recent(family) {
        all.extend([
            "cl_khr_expect_assume",
            "cl_khr_extended_bit_ops",
            "cl_khr_integer_dot_product",
            "cl_khr_subgroup_rotate",
            "cl_intel_split_work_group_barrier",
        ]);
    }
    if family >= Family::Xe2 {
        all.extend([
            "cl_intel_subgroup_2d_block_io",
            "cl_intel_subgroup_buffer_prefetch",
            "cl_intel_subgroup_extended_block_read",
            "cl_intel_subgroup_matrix_multiply_accumulate_tf32",
        ]);
    }
    all
}

/// The features of OpenCL C of a family.
pub(crate) fn features(family: Family, doubles: bool) -> Vec<&'static str> {
    let mut all = FEATURES.to_vec();
    if is_recent(family) {
        all.extend([
            "__opencl_c_integer_dot_product_input_4x8bit",
            "__opencl_c_integer_dot_product_input_4x8bit_packed",
        ]);
    }
    if doubles {
        all.extend([
            "__opencl_c_fp64",
            "__opencl_c_ext_fp64_global_atomic_add",
            "__opencl_c_ext_fp64_local_atomic_add",
            "__opencl_c_ext_fp64_global_atomic_min_max",
            "__opencl_c_ext_fp64_local_atomic_min_max",
        ]);
    }
    if family.has_samplers() {
        all.extend([
            "__opencl_c_images",
            "__opencl_c_read_write_images",
            "__opencl_c_3d_image_writes",
        ]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_differ() {
        let has = |family, name: &str| extensions(family, false).contains(&name);
        // Without the data port there are no media blocks.
        assert!(has(Family::Dg2, "cl_intel_media_block_io"));
        assert!(!has(Family::Xe2, "cl_intel_media_block_io"));
        // Without samplers there are no images.
        assert!(has(Family::Xe2, "cl_khr_3d_image_writes"));
        assert!(!has(Family::Pvc, "cl_khr_3d_image_writes"));
        for (family, products) in [
            (Family::Mtl, false),
            (Family::Arl, true),
            (Family::Xe2, true),
        ] {
            let name = "cl_intel_subgroup_matrix_multiply_accumulate";
            assert_eq!(has(family, name), products);
            assert!(has(family, "cl_intel_split_work_group_barrier"));
        }
        assert!(!has(Family::Skl, "cl_intel_subgroup_local_block_io"));
        for family in Family::ALL {
            let mut all = extensions(*family, true);
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{family}");
            let offered = asked_for(*family);
            assert!(offered.iter().all(|name| all.contains(name)), "{family}");
        }
    }
}
