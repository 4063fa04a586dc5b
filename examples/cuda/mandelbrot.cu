// Rounds until a point of the plane leaves the circle of radius 2: the lanes of a warp leave the loop at different times.
extern "C" __global__ void mandelbrot(int *rounds, int width, int height, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cr = -2.0f + 3.0f * x / width, ci = -1.0f + 2.0f * y / height, zr = 0, zi = 0;
  int n = 0;
  while (n < most && zr * zr + zi * zi < 4) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    n++;
  }
  rounds[y * width + x] = n;
}
