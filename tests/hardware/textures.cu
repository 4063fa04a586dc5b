// Texture fetches of every form that nvcc emits, one for each thread: coordinates as bits, results as bits.
typedef cudaTextureObject_t Texture;
#define FETCH(name, coordinate, ...)                                                   \
    extern "C" __global__ void name(Texture t, int n, const coordinate *at, float4 *o) \
    {                                                                                  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                 \
        if (i >= n)                                                                    \
            return;                                                                    \
        coordinate c = at[i];                                                          \
        float4 f = make_float4(0, 0, 0, 0);                                            \
        __VA_ARGS__;                                                                   \
        o[i] = f;                                                                      \
    }
#define TEXEL(shape, coordinates, ...) \
    asm("tex." shape ".v4.f32.s32 {%0,%1,%2,%3},[%4,{" coordinates "}];" \
        : "=f"(f.x), "=f"(f.y), "=f"(f.z), "=f"(f.w) : "l"(t), __VA_ARGS__)

FETCH(fetch1, int4, f = tex1Dfetch<float4>(t, c.x))
FETCH(fetch1_one, int4, f.x = tex1Dfetch<float>(t, c.x))
FETCH(fetch1_pair, int4, float2 g = tex1Dfetch<float2>(t, c.x); f.x = g.x; f.y = g.y)
FETCH(fetch2, int4, TEXEL("2d", "%5,%6", "r"(c.x), "r"(c.y)))
FETCH(fetch3, int4, TEXEL("3d", "%5,%6,%7,%7", "r"(c.x), "r"(c.y), "r"(c.z)))
FETCH(sample1, float4, f = tex1D<float4>(t, c.x))
FETCH(sample2, float4, f = tex2D<float4>(t, c.x, c.y))
FETCH(sample2_one, float4, f.x = tex2D<float>(t, c.x, c.y))
FETCH(sample2_some, float4, float4 g = tex2D<float4>(t, c.x, c.y); f.x = g.w; f.y = g.y)
FETCH(sample3, float4, f = tex3D<float4>(t, c.x, c.y, c.z))
FETCH(level2, float4, f = tex2DLod<float4>(t, c.x, c.y, c.w))
FETCH(level3, float4, f = tex3DLod<float4>(t, c.x, c.y, c.z, c.w))
FETCH(gather_red, float4, f = tex2Dgather<float4>(t, c.x, c.y, 0))
FETCH(gather_green, float4, f = tex2Dgather<float4>(t, c.x, c.y, 1))
FETCH(gather_blue, float4, f = tex2Dgather<float4>(t, c.x, c.y, 2))
FETCH(gather_alpha, float4, f = tex2Dgather<float4>(t, c.x, c.y, 3))

extern "C" __global__ void size(Texture t, int *o)
{
    asm("txq.width.b32 %0,[%1];" : "=r"(o[0]) : "l"(t));
    asm("txq.height.b32 %0,[%1];" : "=r"(o[1]) : "l"(t));
    asm("txq.depth.b32 %0,[%1];" : "=r"(o[2]) : "l"(t));
}

// Time: a chain of fetches, each at the place that the last one has found; and as many as the SM takes.
extern "C" __global__ void chain(Texture t, int n, int *o)
{
    int at = 0;
    for (int i = 0; i < n; i++)
        at = tex1Dfetch<int>(t, at);
    long long begin = clock64();
    for (int i = 0; i < n; i++)
        at = tex1Dfetch<int>(t, at);
    o[0] = (int)(clock64() - begin);
    o[1] = at;
}

extern "C" __global__ void chain2(Texture t, int n, int *o)
{
    float at = 0;
    for (int i = 0; i < n; i++)
        at = tex2D<float>(t, at + 0.5f, 0.5f);
    long long begin = clock64();
    for (int i = 0; i < n; i++)
        at = tex2D<float>(t, at + 0.5f, 0.5f);
    o[0] = (int)(clock64() - begin);
    o[1] = (int)at;
}

#define RATE(name, coordinates, type, fetch, sum)                  \
    extern "C" __global__ void name(Texture t, int n, int *o)      \
    {                                                              \
        float total = 0;                                           \
        __syncthreads();                                           \
        long long begin = clock64();                               \
        for (int i = 0; i < n; i++) {                              \
            _Pragma("unroll") for (int k = 0; k < 8; k++)          \
            {                                                      \
                coordinates;                                       \
                type f = fetch;                                    \
                total += sum;                                      \
            }                                                      \
        }                                                          \
        __syncthreads();                                           \
        int taken = (int)(clock64() - begin);                      \
        if (threadIdx.x == 0)                                      \
            o[0] = taken;                                          \
        o[1 + threadIdx.x] = (int)total;                           \
    }
RATE(rate_fetch, int x = (threadIdx.x + 32 * k + i) & 1023, float, tex1Dfetch<float>(t, x), f)
RATE(rate_fetch_four, int x = (threadIdx.x + 32 * k + i) & 1023, float4, tex1Dfetch<float4>(t, x), f.x + f.y + f.z + f.w)
RATE(rate_sample, float x = ((threadIdx.x + i) & 7) + 0.25f; float y = ((threadIdx.x >> 3 & 3) + k) + 0.25f, float,
     tex2D<float>(t, x, y), f)
RATE(rate_sample_four, float x = ((threadIdx.x + i) & 7) + 0.25f; float y = ((threadIdx.x >> 3 & 3) + k) + 0.25f, float4,
     tex2D<float4>(t, x, y), f.x + f.y + f.z + f.w)
RATE(rate_gather, float x = ((threadIdx.x + i) & 7) + 0.25f; float y = ((threadIdx.x >> 3 & 3) + k) + 0.25f, float4,
     tex2Dgather<float4>(t, x, y, 0), f.x + f.y + f.z + f.w)
