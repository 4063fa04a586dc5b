// A program of CUDA 12, with places of fields as its header has them.
#include <cstdio>
#include <cstring>

extern "C" int cudaGetDeviceProperties_v2(void *properties, int device);
extern "C" int cudaRuntimeGetVersion(int *version);

int main() {
    char properties[1032];
    int processors, clock, major, minor, clusters, version;
    cudaGetDeviceProperties_v2(properties, 0);
    std::memcpy(&clock, properties + 348, 4);
    std::memcpy(&major, properties + 360, 4);
    std::memcpy(&minor, properties + 364, 4);
    std::memcpy(&processors, properties + 388, 4);
    std::memcpy(&clusters, properties + 772, 4);
    std::printf("%s %d %d %d.%d %d\n", properties, processors, clock, major, minor, clusters);
    cudaRuntimeGetVersion(&version);
    std::printf("%d\n", version);
}
