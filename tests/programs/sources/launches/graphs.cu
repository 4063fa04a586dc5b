#include <cstdio>
#include <cstring>

__global__ void step(int *value, int amount) { *value = *value * 2 + amount; }

static void say(void *text) { printf("host: %s\n", static_cast<const char *>(text)); }

static int check(cudaError_t error, const char *what) {
    if (error) printf("%s: %s\n", what, cudaGetErrorName(error));
    return error;
}

static void captured(int *value) {
    cudaStream_t main, side;
    cudaEvent_t fork, join;
    cudaStreamCreate(&main), cudaStreamCreate(&side), cudaEventCreate(&fork), cudaEventCreate(&join);
    check(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal), "begin");
    cudaMemsetAsync(value, 0, 4, main);
    step<<<1, 1, 0, main>>>(value, 1);
    cudaEventRecord(fork, main);
    cudaStreamWaitEvent(side, fork, 0);
    cudaLaunchHostFunc(side, say, const_cast<char *>("side"));
    cudaEventRecord(join, side);
    step<<<1, 1, 0, main>>>(value, 10);
    cudaStreamWaitEvent(main, join, 0);
    int result = -1;
    cudaMemcpyAsync(&result, value, 4, cudaMemcpyDeviceToHost, main);
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(side, &status);
    cudaGraph_t graph, copy;
    check(cudaStreamEndCapture(main, &graph), "end");
    size_t nodes, edges;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
    printf("%zu nodes, %zu edges, capturing %d, result %d\n", nodes, edges, status, result);
    cudaGraphClone(&copy, graph);
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, copy, 0), "instantiate");
    for (int i = 0; i < 2; i++) cudaGraphLaunch(exec, main);
    cudaStreamSynchronize(main);
    printf("captured: %d\n", result);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(copy), cudaGraphDestroy(graph);
}

static void built(int *value) {
    cudaGraph_t graph;
    cudaGraphNode_t clear, first, second, back;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams zero = {};
    zero.dst = value, zero.elementSize = 4, zero.width = 1, zero.height = 1, zero.value = 3;
    int amount = 5, result = 0;
    void *arguments[] = {&value, &amount};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(step), kernel.gridDim = kernel.blockDim = dim3(1, 1, 1);
    kernel.kernelParams = arguments;
    cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, &result, value, 4, cudaMemcpyDeviceToHost);
    cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel);
    amount = 100;
    cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel);
    cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero);
    cudaGraphNode_t from[] = {clear, first, second}, to[] = {first, second, back};
    cudaGraphAddDependencies(graph, from, to, nullptr, 3);
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    printf("built: %d\n", result);
    amount = 7;
    cudaGraphExecKernelNodeSetParams(exec, second, &kernel);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    printf("changed: %d\n", result);
    cudaGraphKernelNodeGetParams(second, &kernel);
    printf("asked: %d %d\n", *static_cast<int *>(kernel.kernelParams[1]), kernel.func == (void *)step);
    cudaGraphExecUpdateResultInfo info;
    printf("update: %d\n", cudaGraphExecUpdate(exec, graph, &info));
    cudaGraphLaunch(exec, 0);
    printf("updated: %d\n", result);
    cudaGraphAddDependencies(graph, &back, &clear, nullptr, 1);
    check(cudaGraphInstantiate(&exec, graph, 0), "cycle");
}

static void wrong(int *value) {
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaStreamCreate(&stream);
    check(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), "default stream");
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    check(cudaStreamSynchronize(stream), "synchronize");
    check(cudaStreamEndCapture(stream, &graph), "end");
    check(cudaStreamEndCapture(stream, &graph), "end again");
}

int main() {
    int *value;
    cudaMalloc(&value, 4);
    captured(value);
    built(value);
    wrong(value);
}
