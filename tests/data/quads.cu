// Products of 8 x 8 x 4 halves (HMMA.884): each lane stores its numbers of D. nvcc 13.0, -arch=sm_75 -cubin
typedef unsigned u32;
extern "C" __global__ void f32_f32(const u32* in, u32* out) {
  const u32* own = in + 12 * threadIdx.x; u32 d[8], c[8];
  for (int i = 0; i < 8; i++) c[i] = own[4 + i];
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%12,%13,%14,%15,%16,%17,%18,%19};"
    : "=f"((float&)d[0]),"=f"((float&)d[1]),"=f"((float&)d[2]),"=f"((float&)d[3]),"=f"((float&)d[4]),"=f"((float&)d[5]),"=f"((float&)d[6]),"=f"((float&)d[7]) : "r"(own[0]), "r"(own[1]), "r"(own[2]), "r"(own[3]), "f"((float&)c[0]),"f"((float&)c[1]),"f"((float&)c[2]),"f"((float&)c[3]),"f"((float&)c[4]),"f"((float&)c[5]),"f"((float&)c[6]),"f"((float&)c[7]));
  for (int i = 0; i < 8; i++) out[8 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void f16_f16(const u32* in, u32* out) {
  const u32* own = in + 12 * threadIdx.x; u32 d[8], c[8];
  for (int i = 0; i < 4; i++) c[i] = own[4 + i];
  asm volatile("mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11};"
    : "=r"(d[0]),"=r"(d[1]),"=r"(d[2]),"=r"(d[3]) : "r"(own[0]), "r"(own[1]), "r"(own[2]), "r"(own[3]), "r"(c[0]),"r"(c[1]),"r"(c[2]),"r"(c[3]));
  for (int i = 0; i < 4; i++) out[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void f32_f16(const u32* in, u32* out) {
  const u32* own = in + 12 * threadIdx.x; u32 d[8], c[8];
  for (int i = 0; i < 4; i++) c[i] = own[4 + i];
  asm volatile("mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%12,%13,%14,%15};"
    : "=f"((float&)d[0]),"=f"((float&)d[1]),"=f"((float&)d[2]),"=f"((float&)d[3]),"=f"((float&)d[4]),"=f"((float&)d[5]),"=f"((float&)d[6]),"=f"((float&)d[7]) : "r"(own[0]), "r"(own[1]), "r"(own[2]), "r"(own[3]), "r"(c[0]),"r"(c[1]),"r"(c[2]),"r"(c[3]));
  for (int i = 0; i < 8; i++) out[8 * threadIdx.x + i] = d[i];
}
