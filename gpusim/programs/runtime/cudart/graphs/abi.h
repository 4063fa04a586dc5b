// Layouts of the parameters of graph nodes, which 12 and 13 share.
#pragma once
#include "../../graphs/graphs.h"
#include "../api.h"

struct CopyParameters {  // cudaMemcpy3DParms
  void *from_array;
  Position from_position;
  Pitched from;
  void *into_array;
  Position into_position;
  Pitched into;
  Extent extent;
  int way;
};

struct KernelParameters {  // cudaKernelNodeParams
  void *function;
  Dim3 grid, block;
  unsigned shared;
  void **arguments, **extra;
};

struct FillParameters {  // cudaMemsetParams
  void *into;
  size_t pitch;
  unsigned value, element;
  size_t width, height;
};

struct HostParameters {  // cudaHostNodeParams
  void (*function)(void *);
  void *data;
};

struct AllocationParameters {  // cudaMemAllocNodeParams: of its pool's 88 bytes nothing is read
  char pool[88];
  const void *access;
  size_t accesses, bytes;
  void *address;
};

struct NodeParameters {  // cudaGraphNodeParams
  int type, reserved[3];
  union {
    long long size[29];
    KernelParameters kernel;
    struct {
      int flags, reserved[3];
      CopyParameters copy;
    } copy;
    FillParameters fill;
    HostParameters host;
    gpusim::Graph *graph;
    gpusim::Event *event;
    AllocationParameters allocation;
    void *released;
  };
  long long reserved2;
};

struct UpdateResult {  // cudaGraphExecUpdateResultInfo
  int result;
  gpusim::Node *node, *from;
};

struct InstantiateParameters {  // cudaGraphInstantiateParams
  unsigned long long flags;
  void *upload_stream;
  gpusim::Node *node;
  int result;
};

namespace gpusim {

// nodes.cc: what parameters mean, and back
Error read(Work *work, const KernelParameters *parameters);
Error read(Work *work, const CopyParameters *parameters);
Error read(Work *work, const FillParameters *parameters);
Error read(Work *work, const HostParameters *parameters);
Error read(Work *work, NodeParameters *parameters, Graph *graph);

// ../arrays/arrays.cc
Error copy_of(Copy *copy, const CopyParameters *parameters);

}  // namespace gpusim
