int main() {
    int *device;
    cudaMalloc(&device, 4);
    *device = 1;
}
