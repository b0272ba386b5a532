//! The keys of the metadata, as the specification of version 1.73 lists them.

use serde_json::Value;
use std::collections::BTreeSet;

/// Keys by the key that they are in. What is in other keys is not examined.
const KNOWN: [(&str, &[&str]); 13] = [
    (
        "",
        &[
            "version",
            "kernels",
            "functions",
            "global_host_access_table",
            "kernels_misc_info",
            "kernels_cost_info",
            "l1_cache_policy",
        ],
    ),
    (
        "kernels",
        &[
            "name",
            "user_attributes",
            "execution_env",
            "payload_arguments",
            "per_thread_payload_arguments",
            "binding_table_indices",
            "per_thread_memory_buffers",
            "inline_samplers",
            "experimental_properties",
            "debug_env",
        ],
    ),
    ("functions", &["name", "execution_env"]),
    (
        "user_attributes",
        &[
            "intel_reqd_sub_group_size",
            "intel_reqd_workgroup_walk_order",
            "invalid_kernel",
            "reqd_work_group_size",
            "vec_type_hint",
            "work_group_size_hint",
            "intel_reqd_thread_group_dispatch_size",
        ],
    ),
    (
        "execution_env",
        &[
            "barrier_count",
            "disable_mid_thread_preemption",
            "grf_count",
            "has_4gb_buffers",
            "has_device_enqueue",
            "has_dpas",
            "has_fence_for_image_access",
            "has_global_atomics",
            "has_multi_scratch_spaces",
            "has_no_stateless_write",
            "has_stack_calls",
            "has_printf_calls",
            "require_assert_buffer",
            "require_sync_buffer",
            "has_indirect_calls",
            "require_disable_eufusion",
            "indirect_stateless_count",
            "inline_data_payload_size",
            "offset_to_skip_per_thread_data_load",
            "offset_to_skip_set_ffid_gp",
            "required_sub_group_size",
            "required_work_group_size",
            "simd_size",
            "slm_size",
            "slm_alloc_mode",
            "private_size",
            "spill_size",
            "subgroup_independent_forward_progress",
            "thread_scheduling_mode",
            "work_group_walk_order_dimensions",
            "eu_thread_count",
            "has_sample",
            "has_rtcalls",
            "quantum_size",
            "quantum_walk_order",
            "quantum_partition_dimension",
            "generate_local_id",
            "has_lsc_stores_with_non_default_l1_cache_controls",
            "require_iab",
            "has_bindless_image_read",
        ],
    ),
    (
        "payload_arguments",
        &[
            "arg_type",
            "offset",
            "size",
            "arg_index",
            "addrmode",
            "addrspace",
            "access_type",
            "sampler_index",
            "source_offset",
            "slm_alignment",
            "image_type",
            "image_transformable",
            "sampler_type",
            "is_pipe",
            "is_ptr",
            "bti_value",
        ],
    ),
    (
        "per_thread_payload_arguments",
        &["arg_type", "offset", "size"],
    ),
    ("binding_table_indices", &["bti_value", "arg_index"]),
    (
        "per_thread_memory_buffers",
        &["type", "usage", "size", "slot", "is_simt_thread"],
    ),
    (
        "inline_samplers",
        &["sampler_index", "addrmode", "filtermode", "normalized"],
    ),
    (
        "experimental_properties",
        &[
            "has_non_kernel_arg_load",
            "has_non_kernel_arg_store",
            "has_non_kernel_arg_atomic",
        ],
    ),
    ("debug_env", &["sip_surface_bti", "sip_surface_offset"]),
    (
        "args_info",
        &[
            "index",
            "name",
            "address_qualifier",
            "access_qualifier",
            "type_name",
            "type_qualifiers",
        ],
    ),
];

/// Collects the unknown keys of a value. `inside` is the key that it has, `path` that key with those around it.
pub(super) fn unknown(value: &Value, inside: &str, path: &str, found: &mut BTreeSet<String>) {
    if let Value::Array(list) = value {
        for entry in list {
            unknown(entry, inside, path, found);
        }
    }
    let (Value::Object(entries), known) = (value, KNOWN.iter().find(|(key, _)| *key == inside))
    else {
        return;
    };
    for (key, value) in entries {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        match known {
            Some((_, known)) if !known.contains(&key.as_str()) => {
                found.insert(path);
            }
            _ => unknown(value, key, &path, found),
        }
    }
}
