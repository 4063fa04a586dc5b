#include <cstdio>
#include <cstring>

static void in_order() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int *memory, values[] = {1, 2, 3}, back[3];
    cudaMallocAsync(&memory, sizeof values, stream);
    cudaMemcpyAsync(memory, values, sizeof values, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(back, memory, sizeof values, cudaMemcpyDeviceToHost, stream);
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    unsigned long long used, threshold = ~0ull;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    cudaFreeAsync(memory, stream);
    cudaStreamSynchronize(stream);
    printf("%d %d %d, %llu\n", back[0], back[1], back[2], used);
}

static void arrays() {
    cudaArray_t array, solid;
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), asked;
    float values[3][4], back[2][2], cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, part[2][2];
    for (int i = 0; i < 12; i++) values[i / 4][i % 4] = i;
    cudaMallocArray(&array, &floats, 4, 3);
    cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 3, cudaMemcpyHostToDevice);
    cudaMemcpy2DFromArray(back, 8, array, 4, 1, 8, 2, cudaMemcpyDeviceToHost);
    cudaExtent extent;
    cudaArrayGetInfo(&asked, &extent, nullptr, array);
    printf("%g %g %g %g, %d bits, %zu x %zu\n", back[0][0], back[0][1], back[1][0], back[1][1], asked.x, extent.width,
           extent.height);
    cudaMalloc3DArray(&solid, &floats, make_cudaExtent(2, 2, 2));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(cube, 8, 2, 2), copy.dstArray = solid, copy.extent = make_cudaExtent(2, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaMemcpy3DParms out = {};
    out.srcArray = solid, out.srcPos = make_cudaPos(1, 0, 0), out.dstPtr = make_cudaPitchedPtr(part, 4, 1, 2);
    out.extent = make_cudaExtent(1, 2, 2), out.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&out);
    printf("%g %g %g %g\n", part[0][0], part[0][1], part[1][0], part[1][1]);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
    cudaTextureDesc texture = {};
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp, texture.filterMode = cudaFilterModeLinear;
    texture.normalizedCoords = 1, texture.borderColor[0] = 1.0f;
    cudaTextureObject_t object;
    printf("texture %d\n", cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    cudaDestroyTextureObject(object);
    printf("free %d %d\n", cudaFreeArray(array), cudaFreeArray(solid));
}

static void other() {
    char own[64];
    int *managed, least, greatest;
    int first = cudaHostRegister(own, 64, 0), second = cudaHostRegister(own, 64, 0);
    printf("register %d %d %d\n", first, second, cudaHostUnregister(own));
    cudaMallocManaged(&managed, 4);
    cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    printf("managed %d %d\n", cudaMemPrefetchAsync(managed, 4, place, 0, 0),
           cudaMemAdvise(managed, 4, cudaMemAdviseSetReadMostly, place));
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    void *pitched, *function = nullptr;
    size_t pitch, heap;
    cudaMallocPitch(&pitched, &pitch, 3, 2);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, cudaEnableDefault, &found);
    printf("priorities %d %d, pitch %zu, driver %d %d\n", least, greatest, pitch, function != nullptr, found);
}

int main() {
    in_order();
    arrays();
    other();
}
