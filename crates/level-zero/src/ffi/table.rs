//! The tables that the loader asks for: which function is where, since which version of the specification.
//!
//! A loader of an earlier version has a shorter table. Functions that are not here answer that they are not supported, so
//! that no entry is null.

use super::{
    append, copies, device, driver, events, fabric, images, ipc, kernels, lists, memory, modules,
    mutable, ranges, runtime, sysman,
};
use crate::error::{Error, Result, ensure};

/// Answers for all functions that are not here, whatever their arguments are.
extern "C" fn unsupported() -> u32 {
    Error::UNSUPPORTED_FEATURE.0
}

/// The major version of the specification; minor versions add entries.
const MAJOR: u32 = 1;

/// An entry of a table.
type Entry = *const ();

/// Writes the entries that a loader of a version has room for.
///
/// # Safety
/// The table is null, or has the entries of the version.
unsafe fn fill(version: u32, to: *mut Entry, entries: &[(u32, Entry)]) -> Result<()> {
    ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
    ensure(version >> 16 == MAJOR, Error::UNSUPPORTED_VERSION)?;
    let known = entries
        .iter()
        .take_while(|entry| entry.0 <= version & 0xffff);
    for (place, (_, function)) in known.enumerate() {
        // SAFETY: the caller's promise: a table of that version, which has these entries.
        unsafe { to.add(place).write_unaligned(*function) };
    }
    Ok(())
}

/// The names of all functions that write a table.
pub fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.iter().chain(EMPTY_TABLES).copied()
}

macro_rules! entry {
    () => {
        unsupported as Entry
    };
    ($module:ident $function:ident) => {
        $module::$function as Entry
    };
}

macro_rules! tables {
    ($($table:ident { $($since:literal $function:ident $(=> $module:ident)?,)* })*) => {
        $(
            #[doc = concat!("`", stringify!($table), "`: writes a table of the loader.")]
            ///
            /// # Safety
            /// The table is null, or has the entries of its version.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "Level Zero's name")]
            pub unsafe extern "C" fn $table(version: u32, to: *mut Entry) -> u32 {
                let entries = [$(($since, entry!($($module $function)?))),*];
                // SAFETY: the caller's promise.
                super::call(stringify!($table), || unsafe { fill(version, to, &entries) })
            }
        )*

        /// Tables with functions that are here.
        const TABLES: &[&str] = &[$(stringify!($table)),*];

        /// The function of a name, if it is here.
        pub(super) fn by_name(name: &str) -> Option<Entry> {
            $($($(if name == stringify!($function) {
                return Some($module::$function as Entry);
            })?)*)*
            None
        }
    };
}

/// Tables without a function that is here: how many entries each minor version brought.
macro_rules! empty {
    ($($table:ident { $($since:literal: $count:literal),* })*) => {
        /// Tables without any.
        const EMPTY_TABLES: &[&str] = &[$(stringify!($table)),*];

        $(
        #[doc = concat!("`", stringify!($table), "`: writes a table of the loader.")]
        ///
        /// # Safety
        /// The table is null, or has the entries of its version.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "Level Zero's name")]
        pub unsafe extern "C" fn $table(version: u32, to: *mut Entry) -> u32 {
            let counts: &[(u32, usize)] = &[$(($since, $count)),*];
            let each = |(since, count): &(u32, usize)| std::iter::repeat_n((*since, entry!()), *count);
            let entries: Vec<_> = counts.iter().flat_map(each).collect();
            // SAFETY: the caller's promise.
            super::call(stringify!($table), || unsafe { fill(version, to, &entries) })
        }
        )*
    };
}

// Tools and the management of systems: loaders before 1.9 do not start without their tables.
empty! {
    zetGetMetricProgrammableExpProcAddrTable { 9: 4 }
    zetGetMetricTracerExpProcAddrTable { 10: 6 }
    zetGetMetricDecoderExpProcAddrTable { 10: 3 }
    zetGetDeviceProcAddrTable { 0: 1 }
    zetGetDeviceExpProcAddrTable { 10: 2, 13: 2 }
    zetGetContextProcAddrTable { 0: 1 }
    zetGetCommandListProcAddrTable { 0: 4 }
    zetGetCommandListExpProcAddrTable { 13: 1 }
    zetGetModuleProcAddrTable { 0: 1 }
    zetGetKernelProcAddrTable { 0: 1 }
    zetGetMetricProcAddrTable { 0: 2 }
    zetGetMetricExpProcAddrTable { 9: 2, 11: 1 }
    zetGetMetricGroupProcAddrTable { 0: 3 }
    zetGetMetricGroupExpProcAddrTable { 2: 1, 5: 1, 6: 2, 9: 5 }
    zetGetMetricStreamerProcAddrTable { 0: 3 }
    zetGetMetricQueryPoolProcAddrTable { 0: 2 }
    zetGetMetricQueryProcAddrTable { 0: 4 }
    zetGetTracerExpProcAddrTable { 0: 5 }
    zetGetDebugProcAddrTable { 0: 11, 5: 1 }
    zesGetDeviceExpProcAddrTable { 9: 2, 10: 1 }
    zesGetOverclockProcAddrTable { 5: 9 }
    zesGetSchedulerProcAddrTable { 0: 8 }
    zesGetPerformanceFactorProcAddrTable { 0: 3 }
    zesGetPowerProcAddrTable { 0: 8, 16: 3 }
    zesGetFrequencyProcAddrTable { 0: 17 }
    zesGetEngineProcAddrTable { 0: 1, 7: 2 }
    zesGetStandbyProcAddrTable { 0: 3 }
    zesGetFirmwareProcAddrTable { 0: 2, 8: 1, 9: 1 }
    zesGetFirmwareExpProcAddrTable { 9: 2 }
    zesGetFabricPortProcAddrTable { 0: 6, 7: 2 }
    zesGetTemperatureProcAddrTable { 0: 4 }
    zesGetPsuProcAddrTable { 0: 2 }
    zesGetFanProcAddrTable { 0: 6 }
    zesGetLedProcAddrTable { 0: 4 }
    zesGetRasProcAddrTable { 0: 4 }
    zesGetRasExpProcAddrTable { 0: 2, 16: 4 }
    zesGetDiagnosticsProcAddrTable { 0: 3 }
    zesGetVFManagementExpProcAddrTable { 9: 5, 10: 3, 12: 1 }
}

// In the order of the loader's tables.
tables! {
    zeGetRTASBuilderProcAddrTable {
        13 zeRTASBuilderCreateExt,
        13 zeRTASBuilderGetBuildPropertiesExt,
        13 zeRTASBuilderBuildExt,
        13 zeRTASBuilderCommandListAppendCopyExt,
        13 zeRTASBuilderDestroyExt,
    }
    zeGetRTASBuilderExpProcAddrTable {
        7 zeRTASBuilderCreateExp,
        7 zeRTASBuilderGetBuildPropertiesExp,
        7 zeRTASBuilderBuildExp,
        7 zeRTASBuilderDestroyExp,
    }
    zeGetRTASParallelOperationProcAddrTable {
        13 zeRTASParallelOperationCreateExt,
        13 zeRTASParallelOperationGetPropertiesExt,
        13 zeRTASParallelOperationJoinExt,
        13 zeRTASParallelOperationDestroyExt,
    }
    zeGetRTASParallelOperationExpProcAddrTable {
        7 zeRTASParallelOperationCreateExp,
        7 zeRTASParallelOperationGetPropertiesExp,
        7 zeRTASParallelOperationJoinExp,
        7 zeRTASParallelOperationDestroyExp,
    }
    zeGetGlobalProcAddrTable {
        0 zeInit => driver,
        10 zeInitDrivers => driver,
    }
    zerGetGlobalProcAddrTable {
        14 zerGetLastErrorDescription => runtime,
        14 zerTranslateDeviceHandleToIdentifier => runtime,
        14 zerTranslateIdentifierToDeviceHandle => runtime,
        14 zerGetDefaultContext => runtime,
    }
    zeGetDriverProcAddrTable {
        0 zeDriverGet => driver,
        0 zeDriverGetApiVersion => driver,
        0 zeDriverGetProperties => driver,
        0 zeDriverGetIpcProperties => driver,
        0 zeDriverGetExtensionProperties => driver,
        1 zeDriverGetExtensionFunctionAddress => driver,
        6 zeDriverGetLastErrorDescription => driver,
        13 zeDriverRTASFormatCompatibilityCheckExt,
        14 zeDriverGetDefaultContext => driver,
    }
    zeGetDriverExpProcAddrTable {
        7 zeDriverRTASFormatCompatibilityCheckExp,
    }
    zeGetDeviceProcAddrTable {
        0 zeDeviceGet => device,
        0 zeDeviceGetSubDevices => device,
        0 zeDeviceGetProperties => device,
        0 zeDeviceGetComputeProperties => device,
        0 zeDeviceGetModuleProperties => device,
        0 zeDeviceGetCommandQueueGroupProperties => device,
        0 zeDeviceGetMemoryProperties => device,
        0 zeDeviceGetMemoryAccessProperties => device,
        0 zeDeviceGetCacheProperties => device,
        0 zeDeviceGetImageProperties => device,
        0 zeDeviceGetExternalMemoryProperties => device,
        0 zeDeviceGetP2PProperties => device,
        0 zeDeviceCanAccessPeer => device,
        0 zeDeviceGetStatus => device,
        1 zeDeviceGetGlobalTimestamps => device,
        2 zeDeviceReserveCacheExt,
        2 zeDeviceSetCacheAdviceExt,
        3 zeDevicePciGetPropertiesExt => device,
        7 zeDeviceGetRootDevice => device,
        12 zeDeviceImportExternalSemaphoreExt,
        12 zeDeviceReleaseExternalSemaphoreExt,
        13 zeDeviceGetVectorWidthPropertiesExt => device,
        14 zeDeviceSynchronize => device,
        15 zeDeviceGetAggregatedCopyOffloadIncrementValue,
        16 zeDeviceGetRuntimeRequirements,
        16 zeDeviceGetRuntimeRequirementsKey,
        16 zeDeviceValidateRuntimeRequirements,
        17 zeDeviceGetCounterBasedEventMaxValue,
    }
    zeGetDeviceExpProcAddrTable {
        4 zeDeviceGetFabricVertexExp => fabric,
    }
    zeGetContextProcAddrTable {
        0 zeContextCreate => driver,
        0 zeContextDestroy => driver,
        0 zeContextGetStatus => driver,
        0 zeContextSystemBarrier => driver,
        0 zeContextMakeMemoryResident => driver,
        0 zeContextEvictMemory => driver,
        0 zeContextMakeImageResident => driver,
        0 zeContextEvictImage => driver,
        1 zeContextCreateEx => driver,
    }
    zeGetCommandQueueProcAddrTable {
        0 zeCommandQueueCreate => lists,
        0 zeCommandQueueDestroy => lists,
        0 zeCommandQueueExecuteCommandLists => lists,
        0 zeCommandQueueSynchronize => lists,
        9 zeCommandQueueGetOrdinal => lists,
        9 zeCommandQueueGetIndex => lists,
        17 zeCommandQueueGetFlags => lists,
        17 zeCommandQueueGetMode => lists,
        17 zeCommandQueueGetPriority => lists,
    }
    zeGetCommandListProcAddrTable {
        0 zeCommandListCreate => lists,
        0 zeCommandListCreateImmediate => lists,
        0 zeCommandListDestroy => lists,
        0 zeCommandListClose => lists,
        0 zeCommandListReset => lists,
        0 zeCommandListAppendWriteGlobalTimestamp => append,
        0 zeCommandListAppendBarrier => append,
        0 zeCommandListAppendMemoryRangesBarrier => append,
        0 zeCommandListAppendMemoryCopy => copies,
        0 zeCommandListAppendMemoryFill => copies,
        0 zeCommandListAppendMemoryCopyRegion => copies,
        0 zeCommandListAppendMemoryCopyFromContext => copies,
        0 zeCommandListAppendImageCopy => copies,
        0 zeCommandListAppendImageCopyRegion => copies,
        0 zeCommandListAppendImageCopyToMemory => copies,
        0 zeCommandListAppendImageCopyFromMemory => copies,
        0 zeCommandListAppendMemoryPrefetch => append,
        0 zeCommandListAppendMemAdvise => append,
        0 zeCommandListAppendSignalEvent => append,
        0 zeCommandListAppendWaitOnEvents => append,
        0 zeCommandListAppendEventReset => append,
        0 zeCommandListAppendQueryKernelTimestamps => append,
        0 zeCommandListAppendLaunchKernel => append,
        0 zeCommandListAppendLaunchCooperativeKernel => append,
        0 zeCommandListAppendLaunchKernelIndirect => append,
        0 zeCommandListAppendLaunchMultipleKernelsIndirect => append,
        3 zeCommandListAppendImageCopyToMemoryExt => copies,
        3 zeCommandListAppendImageCopyFromMemoryExt => copies,
        6 zeCommandListHostSynchronize => lists,
        9 zeCommandListGetDeviceHandle => lists,
        9 zeCommandListGetContextHandle => lists,
        9 zeCommandListGetOrdinal => lists,
        9 zeCommandListImmediateGetIndex => lists,
        9 zeCommandListIsImmediate => lists,
        12 zeCommandListAppendSignalExternalSemaphoreExt,
        12 zeCommandListAppendWaitExternalSemaphoreExt,
        14 zeCommandListAppendLaunchKernelWithParameters => append,
        14 zeCommandListAppendLaunchKernelWithArguments => append,
        16 zeCommandListAppendMemoryCopyWithParameters => copies,
        16 zeCommandListAppendMemoryFillWithParameters => copies,
        16 zeCommandListImmediateAppendCommandListsWithParameters => lists,
        17 zeCommandListGetFlags => lists,
        17 zeCommandListImmediateGetFlags => lists,
        17 zeCommandListImmediateGetMode => lists,
        17 zeCommandListImmediateGetPriority => lists,
        17 zeCommandListBeginGraphCaptureExt,
        17 zeCommandListBeginCaptureIntoGraphExt,
        17 zeCommandListIsGraphCaptureEnabledExt,
        17 zeCommandListEndGraphCaptureExt,
        17 zeCommandListGetGraphExt,
        17 zeCommandListAppendGraphExt,
        17 zeCommandListAppendHostFunction => append,
    }
    zeGetCommandListExpProcAddrTable {
        9 zeCommandListCreateCloneExp => lists,
        9 zeCommandListImmediateAppendCommandListsExp => lists,
        9 zeCommandListGetNextCommandIdExp => mutable,
        9 zeCommandListUpdateMutableCommandsExp => mutable,
        9 zeCommandListUpdateMutableCommandSignalEventExp => mutable,
        9 zeCommandListUpdateMutableCommandWaitEventsExp => mutable,
        10 zeCommandListGetNextCommandIdWithKernelsExp => mutable,
        10 zeCommandListUpdateMutableCommandKernelsExp => mutable,
        17 zeCommandListIsMutableExp => mutable,
    }
    zeGetImageProcAddrTable {
        0 zeImageGetProperties => images,
        0 zeImageCreate => images,
        0 zeImageDestroy => images,
        3 zeImageGetAllocPropertiesExt => images,
        5 zeImageViewCreateExt => images,
    }
    zeGetImageExpProcAddrTable {
        2 zeImageGetMemoryPropertiesExp => images,
        2 zeImageViewCreateExp => images,
        9 zeImageGetDeviceOffsetExp,
    }
    zeGetMemProcAddrTable {
        0 zeMemAllocShared => memory,
        0 zeMemAllocDevice => memory,
        0 zeMemAllocHost => memory,
        0 zeMemFree => memory,
        0 zeMemGetAllocProperties => memory,
        0 zeMemGetAddressRange => memory,
        0 zeMemGetIpcHandle => ipc,
        0 zeMemOpenIpcHandle => ipc,
        0 zeMemCloseIpcHandle => ipc,
        3 zeMemFreeExt => memory,
        6 zeMemPutIpcHandle => ipc,
        9 zeMemGetPitchFor2dImage,
        15 zeMemGetIpcHandleWithProperties => ipc,
    }
    zeGetMemExpProcAddrTable {
        6 zeMemGetIpcHandleFromFileDescriptorExp => ipc,
        6 zeMemGetFileDescriptorFromIpcHandleExp => ipc,
        7 zeMemSetAtomicAccessAttributeExp => memory,
        7 zeMemGetAtomicAccessAttributeExp => memory,
    }
    zeGetFenceProcAddrTable {
        0 zeFenceCreate => events,
        0 zeFenceDestroy => events,
        0 zeFenceHostSynchronize => events,
        0 zeFenceQueryStatus => events,
        0 zeFenceReset => events,
    }
    zeGetEventPoolProcAddrTable {
        0 zeEventPoolCreate => events,
        0 zeEventPoolDestroy => events,
        0 zeEventPoolGetIpcHandle => ipc,
        0 zeEventPoolOpenIpcHandle => ipc,
        0 zeEventPoolCloseIpcHandle => ipc,
        6 zeEventPoolPutIpcHandle => ipc,
        9 zeEventPoolGetContextHandle => events,
        9 zeEventPoolGetFlags => events,
    }
    zeGetEventProcAddrTable {
        0 zeEventCreate => events,
        0 zeEventDestroy => events,
        0 zeEventHostSignal => events,
        0 zeEventHostSynchronize => events,
        0 zeEventQueryStatus => events,
        0 zeEventHostReset => events,
        0 zeEventQueryKernelTimestamp => events,
        6 zeEventQueryKernelTimestampsExt => events,
        9 zeEventGetEventPool => events,
        9 zeEventGetSignalScope => events,
        9 zeEventGetWaitScope => events,
        15 zeEventCounterBasedCreate => events,
        15 zeEventCounterBasedGetIpcHandle => ipc,
        15 zeEventCounterBasedOpenIpcHandle => ipc,
        15 zeEventCounterBasedCloseIpcHandle => ipc,
        15 zeEventCounterBasedGetDeviceAddress,
        17 zeEventGetCounterBasedFlags => events,
    }
    zeGetEventExpProcAddrTable {
        2 zeEventQueryTimestampsExp => events,
    }
    zeGetModuleProcAddrTable {
        0 zeModuleCreate => modules,
        0 zeModuleDestroy => modules,
        0 zeModuleDynamicLink => modules,
        0 zeModuleGetNativeBinary => modules,
        0 zeModuleGetGlobalPointer => modules,
        0 zeModuleGetKernelNames => modules,
        0 zeModuleGetProperties => modules,
        0 zeModuleGetFunctionPointer => modules,
        3 zeModuleInspectLinkageExt => modules,
    }
    zeGetModuleBuildLogProcAddrTable {
        0 zeModuleBuildLogDestroy => modules,
        0 zeModuleBuildLogGetString => modules,
    }
    zeGetKernelProcAddrTable {
        0 zeKernelCreate => kernels,
        0 zeKernelDestroy => kernels,
        0 zeKernelSetCacheConfig => kernels,
        0 zeKernelSetGroupSize => kernels,
        0 zeKernelSuggestGroupSize => kernels,
        0 zeKernelSuggestMaxCooperativeGroupCount => kernels,
        0 zeKernelSetArgumentValue => kernels,
        0 zeKernelSetIndirectAccess => kernels,
        0 zeKernelGetIndirectAccess => kernels,
        0 zeKernelGetSourceAttributes => kernels,
        0 zeKernelGetProperties => kernels,
        0 zeKernelGetName => kernels,
    }
    zeGetKernelExpProcAddrTable {
        1 zeKernelSetGlobalOffsetExp => kernels,
        2 zeKernelSchedulingHintExp => kernels,
        11 zeKernelGetBinaryExp,
        14 zeKernelGetAllocationPropertiesExp,
    }
    zeGetSamplerProcAddrTable {
        0 zeSamplerCreate => images,
        0 zeSamplerDestroy => images,
    }
    zeGetPhysicalMemProcAddrTable {
        0 zePhysicalMemCreate => ranges,
        0 zePhysicalMemDestroy => ranges,
        15 zePhysicalMemGetProperties => ranges,
    }
    zeGetVirtualMemProcAddrTable {
        0 zeVirtualMemReserve => ranges,
        0 zeVirtualMemFree => ranges,
        0 zeVirtualMemQueryPageSize => ranges,
        0 zeVirtualMemMap => ranges,
        0 zeVirtualMemUnmap => ranges,
        0 zeVirtualMemSetAccessAttribute => ranges,
        0 zeVirtualMemGetAccessAttribute => ranges,
    }
    zeGetFabricVertexExpProcAddrTable {
        4 zeFabricVertexGetExp => fabric,
        4 zeFabricVertexGetSubVerticesExp => fabric,
        4 zeFabricVertexGetPropertiesExp => fabric,
        4 zeFabricVertexGetDeviceExp => fabric,
    }
    zeGetFabricEdgeExpProcAddrTable {
        4 zeFabricEdgeGetExp => fabric,
        4 zeFabricEdgeGetVerticesExp,
        4 zeFabricEdgeGetPropertiesExp,
    }
    zeGetGraphProcAddrTable {
        17 zeGraphCreateExt,
        17 zeGraphGetPrimaryCommandListExt,
        17 zeGraphSetDestructionCallbackExt,
        17 zeGraphInstantiateExt,
        17 zeGraphIsEmptyExt,
        17 zeGraphDumpContentsExt,
        17 zeGraphDestroyExt,
    }
    zeGetExecutableGraphProcAddrTable {
        17 zeExecutableGraphGetSourceGraphExt,
        17 zeExecutableGraphDestroyExt,
    }
    zesGetGlobalProcAddrTable {
        5 zesInit => sysman,
    }
    zesGetDeviceProcAddrTable {
        0 zesDeviceGetProperties => sysman,
        0 zesDeviceGetState => sysman,
        0 zesDeviceReset,
        0 zesDeviceProcessesGetState => sysman,
        0 zesDevicePciGetProperties => sysman,
        0 zesDevicePciGetState => sysman,
        0 zesDevicePciGetBars => sysman,
        0 zesDevicePciGetStats,
        0 zesDeviceEnumDiagnosticTestSuites => sysman,
        0 zesDeviceEnumEngineGroups => sysman,
        0 zesDeviceEventRegister,
        0 zesDeviceEnumFabricPorts => sysman,
        0 zesDeviceEnumFans => sysman,
        0 zesDeviceEnumFirmwares => sysman,
        0 zesDeviceEnumFrequencyDomains => sysman,
        0 zesDeviceEnumLeds => sysman,
        0 zesDeviceEnumMemoryModules => sysman,
        0 zesDeviceEnumPerformanceFactorDomains => sysman,
        0 zesDeviceEnumPowerDomains => sysman,
        0 zesDeviceGetCardPowerDomain,
        0 zesDeviceEnumPsus => sysman,
        0 zesDeviceEnumRasErrorSets => sysman,
        0 zesDeviceEnumSchedulers => sysman,
        0 zesDeviceEnumStandbyDomains => sysman,
        0 zesDeviceEnumTemperatureSensors => sysman,
        4 zesDeviceEccAvailable => sysman,
        4 zesDeviceEccConfigurable => sysman,
        4 zesDeviceGetEccState,
        4 zesDeviceSetEccState,
        5 zesDeviceGet => sysman,
        5 zesDeviceSetOverclockWaiver,
        5 zesDeviceGetOverclockDomains,
        5 zesDeviceGetOverclockControls,
        5 zesDeviceResetOverclockSettings,
        5 zesDeviceReadOverclockState,
        5 zesDeviceEnumOverclockDomains => sysman,
        7 zesDeviceResetExt,
        15 zesDevicePciLinkSpeedUpdateExt,
    }
    zesGetDriverProcAddrTable {
        0 zesDriverEventListen,
        1 zesDriverEventListenEx,
        5 zesDriverGet => sysman,
        8 zesDriverGetExtensionProperties => sysman,
        8 zesDriverGetExtensionFunctionAddress => sysman,
    }
    zesGetDriverExpProcAddrTable {
        9 zesDriverGetDeviceByUuidExp => sysman,
    }
    zesGetMemoryProcAddrTable {
        0 zesMemoryGetProperties => sysman,
        0 zesMemoryGetState => sysman,
        0 zesMemoryGetBandwidth,
    }
}
