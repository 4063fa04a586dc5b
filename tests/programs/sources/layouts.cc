// Structures of the stand-in have the sizes and places of CUDA's.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "cudart/arrays/arrays.h"
#include "cudart/graphs/edges.h"
#include "cuda13/properties.h"

#define SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs);
#define FIELD(ours, name, theirs, other) \
    static_assert(offsetof(ours, name) == offsetof(theirs, other), #theirs "." #other);

SIZE(Dim3, dim3)
SIZE(Extent, cudaExtent)
SIZE(Position, cudaPos)
SIZE(Pitched, cudaPitchedPtr)
SIZE(Channels, cudaChannelFormatDesc)
SIZE(FunctionFacts, cudaFuncAttributes)
FIELD(FunctionFacts, threads, cudaFuncAttributes, maxThreadsPerBlock)
FIELD(FunctionFacts, carveout, cudaFuncAttributes, preferredShmemCarveout)
FIELD(FunctionFacts, cluster_not_portable, cudaFuncAttributes, nonPortableClusterSizeAllowed)
FIELD(PointerFacts, host_pointer, cudaPointerAttributes, hostPointer)
SIZE(LaunchAttribute, cudaLaunchAttribute)
FIELD(LaunchAttribute, value, cudaLaunchAttribute, val)
SIZE(LaunchConfiguration, cudaLaunchConfig_t)
FIELD(LaunchConfiguration, stream, cudaLaunchConfig_t, stream)
FIELD(LaunchConfiguration, count, cudaLaunchConfig_t, numAttrs)
SIZE(CopyParameters, cudaMemcpy3DParms)
FIELD(CopyParameters, extent, cudaMemcpy3DParms, extent)
SIZE(KernelParameters, cudaKernelNodeParams)
FIELD(KernelParameters, arguments, cudaKernelNodeParams, kernelParams)
FIELD(KernelParameters, arguments, CUDA_KERNEL_NODE_PARAMS, kernelParams)
SIZE(FillParameters, cudaMemsetParams)
SIZE(FillParameters, CUDA_MEMSET_NODE_PARAMS)
SIZE(HostParameters, cudaHostNodeParams)
SIZE(AllocationParameters, cudaMemAllocNodeParams)
FIELD(AllocationParameters, address, cudaMemAllocNodeParams, dptr)
SIZE(NodeParameters, cudaGraphNodeParams)
FIELD(NodeParameters, kernel, cudaGraphNodeParams, kernel)
FIELD(NodeParameters, copy.copy, cudaGraphNodeParams, memcpy.copyParams)
SIZE(UpdateResult, cudaGraphExecUpdateResultInfo)
FIELD(InstantiateParameters, result, cudaGraphInstantiateParams, result_out)
SIZE(Properties13, cudaDeviceProp)
FIELD(Properties13, maxTexture2D, cudaDeviceProp, maxTexture2D)
FIELD(Properties13, hostNumaId, cudaDeviceProp, hostNumaId)
