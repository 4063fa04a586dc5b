#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

static const char *ptx = ".version 8.0\n.target sm_90\n.address_size 64\n";

static void tensor(CUdeviceptr memory) {
    CUtensorMap map;
    cuuint64_t sizes[] = {64, 32}, strides[] = {256};
    cuuint32_t box[] = {16, 8}, steps[] = {1, 1};
    int error = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void *>(memory), sizes,
                                       strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("map: %d %d\n", error, reinterpret_cast<unsigned char *>(&map)[127]);
}

static void memory_of(CUdeviceptr memory) {
    unsigned char bytes[16];
    cuMemsetD8(memory, 9, 16);
    cuMemsetD8(memory, 7, 3);
    cuMemcpyDtoH(bytes, memory, 4);
    printf("memset: %d %d %d %d, ", bytes[0], bytes[1], bytes[2], bytes[3]);
    cuMemsetD2D16(memory, 8, 5, 2, 2);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = memory, copy.srcPitch = 8, copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = bytes, copy.dstPitch = 4;
    copy.WidthInBytes = 4, copy.Height = 1;
    cuMemcpy2D(&copy);
    printf("2 rows %d\n", bytes[2]);
    unsigned type;
    int mapped;
    size_t size;
    CUdeviceptr base;
    cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 4);
    cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, memory + 4);
    cuMemGetAddressRange(&base, &size, memory + 4);
    printf("pointer: %u %d %zu\n", type, base == memory ? mapped : -1, size);
}

static void array() {
    CUDA_ARRAY_DESCRIPTOR wanted = {4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 2}, got;
    CUarray array;
    unsigned char row[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[4];
    cuArrayCreate(&array, &wanted);
    cuMemcpyHtoA(array, 0, row, 8);
    cuMemcpyAtoH(back, array, 2, 4);
    cuArrayGetDescriptor(&got, array);
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC reading = {};
    reading.flags = CU_TRSF_NORMALIZED_COORDINATES, reading.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CUtexObject texture;
    int error = cuTexObjectCreate(&texture, &resource, &reading, nullptr);
    printf("array: %d %d, %zu x %zu, %d %u, texture %d %d\n", back[0], back[3], got.Width, got.Height, got.Format,
           got.NumChannels, error, cuTexObjectDestroy(texture));
    cuArrayDestroy(array);
}

static void graph(CUdeviceptr memory, CUfunction step) {
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    cuuint64_t id;
    CUstreamCaptureStatus status;
    size_t nodes = 0, value = 0;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamWriteValue32(stream, memory, 3, 0);
    cuStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, &nodes);
    cuStreamEndCapture(stream, &graph);
    int amount = 4;
    void *arguments[] = {&memory, &amount};
    CUDA_KERNEL_NODE_PARAMS kernel = {};
    kernel.func = step, kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1, kernel.kernelParams = arguments;
    CUgraphNode first;
    size_t one = 1;
    cuGraphGetNodes(graph, &first, &one);
    cuGraphAddKernelNode(&node, graph, &first, 1, &kernel);
    cuGraphInstantiate(&exec, graph, 0);
    cuGraphLaunch(exec, stream);
    cuMemcpyDtoH(&value, memory, 4);
    printf("graph: %d %zu, %zu\n", status, nodes, value);
}

int main() {
    CUdevice device;
    CUcontext context, current;
    CUmodule module;
    CUfunction step, none;
    CUdeviceptr memory, number;
    char name[64];
    int major, minor, devices, version, value, value2 = 0;
    const char *error, *text;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDeviceGetName(name, 64, device);
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    cuDeviceGetCount(&devices);
    cuDriverGetVersion(&version);
    printf("%s %d.%d, %d device, driver %d\n", name, major, minor, devices, version);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    int loaded = cuModuleLoadData(&module, ptx);
    cuModuleGetFunction(&step, module, "step");
    CUresult wrong = cuModuleGetFunction(&none, module, "none");
    cuGetErrorName(wrong, &error), cuGetErrorString(wrong, &text);
    printf("module %d, wrong %d %s %s\n", loaded, wrong, error, text);
    cuMemAlloc(&memory, 16);
    value = 5;
    cuMemcpyHtoD(memory, &value, 4);
    int amount = 1;
    void *arguments[] = {&memory, &amount};
    cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, 0, arguments, nullptr);
    cudaMemcpy(&value, reinterpret_cast<void *>(memory), 4, cudaMemcpyDeviceToHost);
    struct { CUdeviceptr memory; int amount; } block = {memory, 5};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, 0, nullptr, extra);
    cuMemcpyDtoH(&value2, memory, 4);
    printf("launched: %d %d\n", value, value2);
    memory_of(memory);
    void *function = nullptr, *other = nullptr, *other_none = nullptr;
    CUdriverProcAddressQueryResult status;
    cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &status);
    cuGetProcAddress("cuCtxCreate", &other, 11000, 0, &status);
    CUresult missing = cuGetProcAddress("cuNothing", &other_none, 12000, 0, &status);
    printf("by name: %d %d %d\n", function == reinterpret_cast<void *>(cuMemAlloc), other != nullptr, missing);
    int threads, registers, blocks, grid, best, dynamic;
    cuFuncSetAttribute(step, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000);
    cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, step);
    cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, step);
    cuFuncGetAttribute(&dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, step);
    printf("attributes: %d threads, %d registers, %d dynamic\n", threads, registers, dynamic);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step, 1024, 0);
    cuOccupancyMaxPotentialBlockSize(&grid, &best, step, nullptr, 0, 0);
    printf("occupancy: %d, best %d of %d\n", blocks, best, grid);
    tensor(memory);
    array();
    graph(memory, step);
    cuCtxGetCurrent(&current);
    bool same = current == context;
    cuCtxPopCurrent(nullptr);
    cuCtxGetCurrent(&current);
    printf("contexts: %d %d %d\n", same, current == nullptr, cuCtxPopCurrent(nullptr));
    cuModuleGetGlobal(&number, &bytes, module, "number");
    printf("global: %zu\n", bytes);
    cuModuleUnload(module);
}
