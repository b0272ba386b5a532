//! How the loader finds the entry points: the dispatch table, and names.

use super::{
    Pointer, commands, context, events, globals, kernels, memory, programs, svm, transfer,
};
use opencl_sys::cl_icd::cl_icd_dispatch;
use std::ffi::{CStr, c_char};

/// An entry point as the table has it: `opencl-sys` types some handles and pointers differently from the functions
/// here, but with the same layout.
macro_rules! entry {
    ($function:path) => {
        // SAFETY: both are pointers to functions of the same C signature.
        unsafe { std::mem::transmute::<*const (), _>($function as *const ()) }
    };
}

/// The target of handles. Entry points of unsupported interfaces (OpenGL, EGL, Direct3D, sub-devices as extension) are
/// null.
#[allow(
    clippy::missing_transmute_annotations,
    reason = "the field says the type"
)]
pub(super) static DISPATCH: cl_icd_dispatch = cl_icd_dispatch {
    clGetPlatformIDs: entry!(context::clGetPlatformIDs),
    clGetPlatformInfo: entry!(context::clGetPlatformInfo),
    clGetDeviceIDs: entry!(context::clGetDeviceIDs),
    clGetDeviceInfo: entry!(context::clGetDeviceInfo),
    clCreateContext: entry!(context::clCreateContext),
    clCreateContextFromType: entry!(context::clCreateContextFromType),
    clRetainContext: entry!(context::clRetainContext),
    clReleaseContext: entry!(context::clReleaseContext),
    clGetContextInfo: entry!(context::clGetContextInfo),
    clCreateCommandQueue: entry!(events::clCreateCommandQueue),
    clRetainCommandQueue: entry!(events::clRetainCommandQueue),
    clReleaseCommandQueue: entry!(events::clReleaseCommandQueue),
    clGetCommandQueueInfo: entry!(events::clGetCommandQueueInfo),
    clSetCommandQueueProperty: entry!(events::clSetCommandQueueProperty),
    clCreateBuffer: entry!(memory::clCreateBuffer),
    clCreateImage2D: entry!(memory::clCreateImage2D),
    clCreateImage3D: entry!(memory::clCreateImage3D),
    clRetainMemObject: entry!(memory::clRetainMemObject),
    clReleaseMemObject: entry!(memory::clReleaseMemObject),
    clGetSupportedImageFormats: entry!(memory::clGetSupportedImageFormats),
    clGetMemObjectInfo: entry!(memory::clGetMemObjectInfo),
    clGetImageInfo: entry!(memory::clGetImageInfo),
    clCreateSampler: entry!(memory::clCreateSampler),
    clRetainSampler: entry!(memory::clRetainSampler),
    clReleaseSampler: entry!(memory::clReleaseSampler),
    clGetSamplerInfo: entry!(memory::clGetSamplerInfo),
    clCreateProgramWithSource: entry!(programs::clCreateProgramWithSource),
    clCreateProgramWithBinary: entry!(programs::clCreateProgramWithBinary),
    clRetainProgram: entry!(programs::clRetainProgram),
    clReleaseProgram: entry!(programs::clReleaseProgram),
    clBuildProgram: entry!(programs::clBuildProgram),
    clUnloadCompiler: entry!(context::clUnloadCompiler),
    clGetProgramInfo: entry!(programs::clGetProgramInfo),
    clGetProgramBuildInfo: entry!(programs::clGetProgramBuildInfo),
    clCreateKernel: entry!(kernels::clCreateKernel),
    clCreateKernelsInProgram: entry!(kernels::clCreateKernelsInProgram),
    clRetainKernel: entry!(kernels::clRetainKernel),
    clReleaseKernel: entry!(kernels::clReleaseKernel),
    clSetKernelArg: entry!(kernels::clSetKernelArg),
    clGetKernelInfo: entry!(kernels::clGetKernelInfo),
    clGetKernelWorkGroupInfo: entry!(kernels::clGetKernelWorkGroupInfo),
    clWaitForEvents: entry!(events::clWaitForEvents),
    clGetEventInfo: entry!(events::clGetEventInfo),
    clRetainEvent: entry!(events::clRetainEvent),
    clReleaseEvent: entry!(events::clReleaseEvent),
    clGetEventProfilingInfo: entry!(events::clGetEventProfilingInfo),
    clFlush: entry!(events::clFlush),
    clFinish: entry!(events::clFinish),
    clEnqueueReadBuffer: entry!(transfer::clEnqueueReadBuffer),
    clEnqueueWriteBuffer: entry!(transfer::clEnqueueWriteBuffer),
    clEnqueueCopyBuffer: entry!(transfer::clEnqueueCopyBuffer),
    clEnqueueReadImage: entry!(transfer::clEnqueueReadImage),
    clEnqueueWriteImage: entry!(transfer::clEnqueueWriteImage),
    clEnqueueCopyImage: entry!(transfer::clEnqueueCopyImage),
    clEnqueueCopyImageToBuffer: entry!(transfer::clEnqueueCopyImageToBuffer),
    clEnqueueCopyBufferToImage: entry!(transfer::clEnqueueCopyBufferToImage),
    clEnqueueMapBuffer: entry!(transfer::clEnqueueMapBuffer),
    clEnqueueMapImage: entry!(transfer::clEnqueueMapImage),
    clEnqueueUnmapMemObject: entry!(transfer::clEnqueueUnmapMemObject),
    clEnqueueNDRangeKernel: entry!(kernels::clEnqueueNDRangeKernel),
    clEnqueueTask: entry!(kernels::clEnqueueTask),
    clEnqueueNativeKernel: entry!(kernels::clEnqueueNativeKernel),
    clEnqueueMarker: entry!(events::clEnqueueMarker),
    clEnqueueWaitForEvents: entry!(events::clEnqueueWaitForEvents),
    clEnqueueBarrier: entry!(events::clEnqueueBarrier),
    clGetExtensionFunctionAddress: entry!(address),
    clCreateFromGLBuffer: None,
    clCreateFromGLTexture2D: None,
    clCreateFromGLTexture3D: None,
    clCreateFromGLRenderbuffer: None,
    clGetGLObjectInfo: None,
    clGetGLTextureInfo: None,
    clEnqueueAcquireGLObjects: None,
    clEnqueueReleaseGLObjects: None,
    clGetGLContextInfoKHR: None,
    clGetDeviceIDsFromD3D10KHR: None,
    clCreateFromD3D10BufferKHR: None,
    clCreateFromD3D10Texture2DKHR: None,
    clCreateFromD3D10Texture3DKHR: None,
    clEnqueueAcquireD3D10ObjectsKHR: None,
    clEnqueueReleaseD3D10ObjectsKHR: None,
    clSetEventCallback: entry!(events::clSetEventCallback),
    clCreateSubBuffer: entry!(memory::clCreateSubBuffer),
    clSetMemObjectDestructorCallback: entry!(memory::clSetMemObjectDestructorCallback),
    clCreateUserEvent: entry!(events::clCreateUserEvent),
    clSetUserEventStatus: entry!(events::clSetUserEventStatus),
    clEnqueueReadBufferRect: entry!(transfer::clEnqueueReadBufferRect),
    clEnqueueWriteBufferRect: entry!(transfer::clEnqueueWriteBufferRect),
    clEnqueueCopyBufferRect: entry!(transfer::clEnqueueCopyBufferRect),
    clCreateSubDevicesEXT: None,
    clRetainDeviceEXT: None,
    clReleaseDeviceEXT: None,
    clCreateEventFromGLsyncKHR: None,
    clCreateSubDevices: entry!(context::clCreateSubDevices),
    clRetainDevice: entry!(context::clRetainDevice),
    clReleaseDevice: entry!(context::clReleaseDevice),
    clCreateImage: entry!(memory::clCreateImage),
    clCreateProgramWithBuiltInKernels: entry!(programs::clCreateProgramWithBuiltInKernels),
    clCompileProgram: entry!(programs::clCompileProgram),
    clLinkProgram: entry!(programs::clLinkProgram),
    clUnloadPlatformCompiler: entry!(context::clUnloadPlatformCompiler),
    clGetKernelArgInfo: entry!(kernels::clGetKernelArgInfo),
    clEnqueueFillBuffer: entry!(transfer::clEnqueueFillBuffer),
    clEnqueueFillImage: entry!(transfer::clEnqueueFillImage),
    clEnqueueMigrateMemObjects: entry!(events::clEnqueueMigrateMemObjects),
    clEnqueueMarkerWithWaitList: entry!(events::clEnqueueMarkerWithWaitList),
    clEnqueueBarrierWithWaitList: entry!(events::clEnqueueBarrierWithWaitList),
    clGetExtensionFunctionAddressForPlatform: entry!(clGetExtensionFunctionAddressForPlatform),
    clCreateFromGLTexture: None,
    clGetDeviceIDsFromD3D11KHR: None,
    clCreateFromD3D11BufferKHR: None,
    clCreateFromD3D11Texture2DKHR: None,
    clCreateFromD3D11Texture3DKHR: None,
    clCreateFromDX9MediaSurfaceKHR: None,
    clEnqueueAcquireD3D11ObjectsKHR: None,
    clEnqueueReleaseD3D11ObjectsKHR: None,
    clGetDeviceIDsFromDX9MediaAdapterKHR: None,
    clEnqueueAcquireDX9MediaSurfacesKHR: None,
    clEnqueueReleaseDX9MediaSurfacesKHR: None,
    clCreateFromEGLImageKHR: None,
    clEnqueueAcquireEGLObjectsKHR: None,
    clEnqueueReleaseEGLObjectsKHR: None,
    clCreateEventFromEGLSyncKHR: None,
    clCreateCommandQueueWithProperties: entry!(events::clCreateCommandQueueWithProperties),
    clCreatePipe: entry!(memory::clCreatePipe),
    clGetPipeInfo: entry!(memory::clGetPipeInfo),
    clSVMAlloc: entry!(svm::clSVMAlloc),
    clSVMFree: entry!(svm::clSVMFree),
    clEnqueueSVMFree: entry!(svm::clEnqueueSVMFree),
    clEnqueueSVMMemcpy: entry!(svm::clEnqueueSVMMemcpy),
    clEnqueueSVMMemFill: entry!(svm::clEnqueueSVMMemFill),
    clEnqueueSVMMap: entry!(svm::clEnqueueSVMMap),
    clEnqueueSVMUnmap: entry!(svm::clEnqueueSVMUnmap),
    clCreateSamplerWithProperties: entry!(memory::clCreateSamplerWithProperties),
    clSetKernelArgSVMPointer: entry!(kernels::clSetKernelArgSVMPointer),
    clSetKernelExecInfo: entry!(kernels::clSetKernelExecInfo),
    clGetKernelSubGroupInfoKHR: entry!(kernels::clGetKernelSubGroupInfo),
    clCloneKernel: entry!(kernels::clCloneKernel),
    clCreateProgramWithIL: entry!(programs::clCreateProgramWithIL),
    clEnqueueSVMMigrateMem: entry!(svm::clEnqueueSVMMigrateMem),
    clGetDeviceAndHostTimer: entry!(context::clGetDeviceAndHostTimer),
    clGetHostTimer: entry!(context::clGetHostTimer),
    clGetKernelSubGroupInfo: entry!(kernels::clGetKernelSubGroupInfo),
    clSetDefaultDeviceCommandQueue: entry!(events::clSetDefaultDeviceCommandQueue),
    clSetProgramReleaseCallback: entry!(programs::clSetProgramReleaseCallback),
    clSetProgramSpecializationConstant: entry!(programs::clSetProgramSpecializationConstant),
    clCreateBufferWithProperties: entry!(memory::clCreateBufferWithProperties),
    clCreateImageWithProperties: entry!(memory::clCreateImageWithProperties),
    clSetContextDestructorCallback: entry!(context::clSetContextDestructorCallback),
    clGetKernelSuggestedLocalWorkSize: 0,
};

/// Entry points by name.
macro_rules! by_name {
    ($name:expr, $($module:ident::$function:ident)*) => {
        match $name {
            $(name if name == stringify!($function).as_bytes() => $module::$function as *const (),)*
            b"clIcdGetPlatformIDsKHR" => clIcdGetPlatformIDsKHR as *const (),
            b"clGetExtensionFunctionAddress" => address as *const (),
            b"clGetExtensionFunctionAddressForPlatform" => clGetExtensionFunctionAddressForPlatform as *const (),
            b"clGetKernelSubGroupInfoKHR" => kernels::clGetKernelSubGroupInfo as *const (),
            b"clCreateBufferWithPropertiesINTEL" => memory::clCreateBufferWithProperties as *const (),
            b"clCreateCommandQueueWithPropertiesKHR" => events::clCreateCommandQueueWithProperties as *const (),
            b"clCreateProgramWithILKHR" => programs::clCreateProgramWithIL as *const (),
            _ => std::ptr::null(),
        }
    };
}

/// `clIcdGetPlatformIDsKHR`: the loader asks for the platform here.
///
/// # Safety
/// As the specification says: pointers are null or can be written.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenCL's name")]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    room: u32,
    to: *mut Pointer,
    count: *mut u32,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { context::clGetPlatformIDs(room, to, count) }
}

/// `clGetPlatformInfo`, which loaders look for by its name.
///
/// # Safety
/// As the specification says.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenCL's name")]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: Pointer,
    name: u32,
    room: usize,
    to: Pointer,
    size: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { context::clGetPlatformInfo(platform, name, room, to, size) }
}

/// `clGetExtensionFunctionAddress`: entry points by their names.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "OpenCL's name")]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *const () {
    // SAFETY: the caller's promise.
    unsafe { address(name) }
}

/// `clGetExtensionFunctionAddress` under a name that no other library has: where the loader is linked to the program, calls of functions that
/// it exports, too, end in the loader.
///
/// # Safety
/// The name is null, or ends with a zero.
unsafe extern "C" fn address(name: *const c_char) -> *const () {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    by_name!(
        name.to_bytes(),
        programs::clBuildProgram
        kernels::clCloneKernel
        commands::clCommandBarrierWithWaitListKHR
        commands::clCommandCopyBufferKHR
        commands::clCommandCopyBufferRectKHR
        commands::clCommandCopyBufferToImageKHR
        commands::clCommandCopyImageKHR
        commands::clCommandCopyImageToBufferKHR
        commands::clCommandFillBufferKHR
        commands::clCommandFillImageKHR
        commands::clCommandNDRangeKernelKHR
        commands::clCommandSVMMemFillKHR
        commands::clCommandSVMMemcpyKHR
        programs::clCompileProgram
        memory::clCreateBuffer
        memory::clCreateBufferWithProperties
        commands::clCreateCommandBufferKHR
        events::clCreateCommandQueue
        events::clCreateCommandQueueWithProperties
        context::clCreateContext
        context::clCreateContextFromType
        memory::clCreateImage
        memory::clCreateImage2D
        memory::clCreateImage3D
        memory::clCreateImageWithProperties
        kernels::clCreateKernel
        kernels::clCreateKernelsInProgram
        memory::clCreatePipe
        programs::clCreateProgramWithBinary
        programs::clCreateProgramWithBuiltInKernels
        programs::clCreateProgramWithIL
        programs::clCreateProgramWithSource
        memory::clCreateSampler
        memory::clCreateSamplerWithProperties
        memory::clCreateSubBuffer
        context::clCreateSubDevices
        events::clCreateUserEvent
        svm::clDeviceMemAllocINTEL
        events::clEnqueueBarrier
        events::clEnqueueBarrierWithWaitList
        commands::clEnqueueCommandBufferKHR
        transfer::clEnqueueCopyBuffer
        transfer::clEnqueueCopyBufferRect
        transfer::clEnqueueCopyBufferToImage
        transfer::clEnqueueCopyImage
        transfer::clEnqueueCopyImageToBuffer
        transfer::clEnqueueFillBuffer
        transfer::clEnqueueFillImage
        transfer::clEnqueueMapBuffer
        transfer::clEnqueueMapImage
        events::clEnqueueMarker
        events::clEnqueueMarkerWithWaitList
        svm::clEnqueueMemAdviseINTEL
        svm::clEnqueueMemFillINTEL
        svm::clEnqueueMemcpyINTEL
        svm::clEnqueueMemsetINTEL
        svm::clEnqueueMigrateMemINTEL
        events::clEnqueueMigrateMemObjects
        kernels::clEnqueueNDRangeKernel
        kernels::clEnqueueNativeKernel
        transfer::clEnqueueReadBuffer
        transfer::clEnqueueReadBufferRect
        globals::clEnqueueReadGlobalVariableINTEL
        transfer::clEnqueueReadImage
        svm::clEnqueueSVMFree
        svm::clEnqueueSVMMap
        svm::clEnqueueSVMMemFill
        svm::clEnqueueSVMMemcpy
        svm::clEnqueueSVMMigrateMem
        svm::clEnqueueSVMUnmap
        kernels::clEnqueueTask
        transfer::clEnqueueUnmapMemObject
        events::clEnqueueWaitForEvents
        transfer::clEnqueueWriteBuffer
        transfer::clEnqueueWriteBufferRect
        globals::clEnqueueWriteGlobalVariableINTEL
        transfer::clEnqueueWriteImage
        commands::clFinalizeCommandBufferKHR
        events::clFinish
        events::clFlush
        commands::clGetCommandBufferInfoKHR
        events::clGetCommandQueueInfo
        context::clGetContextInfo
        context::clGetDeviceAndHostTimer
        context::clGetDeviceIDs
        context::clGetDeviceInfo
        events::clGetEventInfo
        events::clGetEventProfilingInfo
        context::clGetHostTimer
        globals::clGetDeviceFunctionPointerINTEL
        globals::clGetDeviceGlobalVariablePointerINTEL
        memory::clGetImageInfo
        kernels::clGetKernelArgInfo
        kernels::clGetKernelInfo
        kernels::clGetKernelMaxConcurrentWorkGroupCountINTEL
        kernels::clGetKernelSubGroupInfo
        kernels::clGetKernelSuggestedLocalWorkSizeKHR
        kernels::clGetKernelWorkGroupInfo
        svm::clGetMemAllocInfoINTEL
        memory::clGetMemObjectInfo
        commands::clGetMutableCommandInfoKHR
        memory::clGetPipeInfo
        context::clGetPlatformIDs
        context::clGetPlatformInfo
        programs::clGetProgramBuildInfo
        programs::clGetProgramInfo
        memory::clGetSamplerInfo
        memory::clGetSupportedImageFormats
        svm::clHostMemAllocINTEL
        programs::clLinkProgram
        svm::clMemBlockingFreeINTEL
        svm::clMemFreeINTEL
        commands::clReleaseCommandBufferKHR
        events::clReleaseCommandQueue
        context::clReleaseContext
        context::clReleaseDevice
        events::clReleaseEvent
        kernels::clReleaseKernel
        memory::clReleaseMemObject
        programs::clReleaseProgram
        memory::clReleaseSampler
        commands::clRetainCommandBufferKHR
        events::clRetainCommandQueue
        context::clRetainContext
        context::clRetainDevice
        events::clRetainEvent
        kernels::clRetainKernel
        memory::clRetainMemObject
        programs::clRetainProgram
        memory::clRetainSampler
        svm::clSVMAlloc
        svm::clSVMFree
        events::clSetCommandQueueProperty
        context::clSetContextDestructorCallback
        events::clSetDefaultDeviceCommandQueue
        events::clSetEventCallback
        kernels::clSetKernelArg
        svm::clSetKernelArgMemPointerINTEL
        kernels::clSetKernelArgSVMPointer
        kernels::clSetKernelExecInfo
        memory::clSetMemObjectDestructorCallback
        programs::clSetProgramReleaseCallback
        programs::clSetProgramSpecializationConstant
        events::clSetUserEventStatus
        svm::clSharedMemAllocINTEL
        context::clUnloadCompiler
        context::clUnloadPlatformCompiler
        commands::clUpdateMutableCommandsKHR
        events::clWaitForEvents
    )
}

/// The address of a function of a platform; there is one platform.
///
/// # Safety
/// The name is null, or ends with a zero.
#[allow(non_snake_case, reason = "OpenCL's name")]
unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    _platform: Pointer,
    name: *const c_char,
) -> *const () {
    // SAFETY: the caller's promise.
    unsafe { address(name) }
}
