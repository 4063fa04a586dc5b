#include <cstdio>
#include <cuda_runtime.h>
__device__ __forceinline__ void mma64s(float* d,const unsigned* a,unsigned long long da,unsigned long long db){ asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,1,1,1,0,0;":"+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]):"l"(da),"l"(db)); }
__device__ __forceinline__ void mma64r(float* d,const unsigned* a,unsigned long long da,unsigned long long db){ asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,1,1,1,0;":"+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]):"r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"l"(db)); }
__device__ __forceinline__ void mma128s(float* d,const unsigned* a,unsigned long long da,unsigned long long db){ asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63},%64,%65,1,1,1,0,0;":"+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]):"l"(da),"l"(db)); }
__device__ __forceinline__ void mma128r(float* d,const unsigned* a,unsigned long long da,unsigned long long db){ asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63},{%64,%65,%66,%67},%68,1,1,1,0;":"+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]):"r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"l"(db)); }
__device__ __forceinline__ void mma256s(float* d,const unsigned* a,unsigned long long da,unsigned long long db){ asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127},%128,%129,1,1,1,0,0;":"+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]),"+f"(d[64]),"+f"(d[65]),"+f"(d[66]),"+f"(d[67]),"+f"(d[68]),"+f"(d[69]),"+f"(d[70]),"+f"(d[71]),"+f"(d[72]),"+f"(d[73]),"+f"(d[74]),"+f"(d[75]),"+f"(d[76]),"+f"(d[77]),"+f"(d[78]),"+f"(d[79]),"+f"(d[80]),"+f"(d[81]),"+f"(d[82]),"+f"(d[83]),"+f"(d[84]),"+f"(d[85]),"+f"(d[86]),"+f"(d[87]),"+f"(d[88]),"+f"(d[89]),"+f"(d[90]),"+f"(d[91]),"+f"(d[92]),"+f"(d[93]),"+f"(d[94]),"+f"(d[95]),"+f"(d[96]),"+f"(d[97]),"+f"(d[98]),"+f"(d[99]),"+f"(d[100]),"+f"(d[101]),"+f"(d[102]),"+f"(d[103]),"+f"(d[104]),"+f"(d[105]),"+f"(d[106]),"+f"(d[107]),"+f"(d[108]),"+f"(d[109]),"+f"(d[110]),"+f"(d[111]),"+f"(d[112]),"+f"(d[113]),"+f"(d[114]),"+f"(d[115]),"+f"(d[116]),"+f"(d[117]),"+f"(d[118]),"+f"(d[119]),"+f"(d[120]),"+f"(d[121]),"+f"(d[122]),"+f"(d[123]),"+f"(d[124]),"+f"(d[125]),"+f"(d[126]),"+f"(d[127]):"l"(da),"l"(db)); }
__device__ __forceinline__ void mma256r(float* d,const unsigned* a,unsigned long long da,unsigned long long db){ asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127},{%128,%129,%130,%131},%132,1,1,1,0;":"+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]),"+f"(d[64]),"+f"(d[65]),"+f"(d[66]),"+f"(d[67]),"+f"(d[68]),"+f"(d[69]),"+f"(d[70]),"+f"(d[71]),"+f"(d[72]),"+f"(d[73]),"+f"(d[74]),"+f"(d[75]),"+f"(d[76]),"+f"(d[77]),"+f"(d[78]),"+f"(d[79]),"+f"(d[80]),"+f"(d[81]),"+f"(d[82]),"+f"(d[83]),"+f"(d[84]),"+f"(d[85]),"+f"(d[86]),"+f"(d[87]),"+f"(d[88]),"+f"(d[89]),"+f"(d[90]),"+f"(d[91]),"+f"(d[92]),"+f"(d[93]),"+f"(d[94]),"+f"(d[95]),"+f"(d[96]),"+f"(d[97]),"+f"(d[98]),"+f"(d[99]),"+f"(d[100]),"+f"(d[101]),"+f"(d[102]),"+f"(d[103]),"+f"(d[104]),"+f"(d[105]),"+f"(d[106]),"+f"(d[107]),"+f"(d[108]),"+f"(d[109]),"+f"(d[110]),"+f"(d[111]),"+f"(d[112]),"+f"(d[113]),"+f"(d[114]),"+f"(d[115]),"+f"(d[116]),"+f"(d[117]),"+f"(d[118]),"+f"(d[119]),"+f"(d[120]),"+f"(d[121]),"+f"(d[122]),"+f"(d[123]),"+f"(d[124]),"+f"(d[125]),"+f"(d[126]),"+f"(d[127]):"r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"l"(db)); }

template<int OP> __device__ __forceinline__ void body(float* x,const float* y,const float* z,unsigned* u,const unsigned* v){
#pragma unroll
 for(int i=0;i<32;i++){ if(OP==0){} if(OP==1){asm volatile("fma.rn.f32 %0,%0,%1,%2;":"+f"(x[i]):"f"(y[i&7]),"f"(z[i&7]));} if(OP==2){asm volatile("fma.rn.f32 %0,%0,0f3F800001,0f33800000;":"+f"(x[i]));} if(OP==3){asm volatile("add.f32 %0,%0,%1;":"+f"(x[i]):"f"(y[i&7]));} if(OP==4){asm volatile("mul.f32 %0,%0,%1;":"+f"(x[i]):"f"(y[i&7]));} if(OP==5){asm volatile("ex2.approx.ftz.f32 %0,%0;":"+f"(x[i]));} if(OP==6){asm volatile("max.f32 %0,%0,%1;":"+f"(x[i]):"f"(y[i&7]));} if(OP==7){asm volatile("cvt.rn.f16x2.f32 %0,%1,%2;":"=r"(u[i]):"f"(x[i]),"f"(y[i&7]));} if(OP==8){asm volatile("add.u32 %0,%0,%1;":"+r"(u[i]):"r"(v[i&7]));} if(OP==9){asm volatile("xor.b32 %0,%0,%1;":"+r"(u[i]):"r"(v[i&7]));} if(OP==10){asm volatile("mad.lo.u32 %0,%0,%1,%2;":"+r"(u[i]):"r"(v[i&7]),"r"(v[(i+1)&7]));} if(OP==11){if(i%4==0) asm volatile("ex2.approx.ftz.f32 %0,%0;":"+f"(x[i])); else if(i%4==1) asm volatile("fma.rn.f32 %0,%0,%1,%2;":"+f"(x[i]):"f"(y[i&7]),"f"(z[i&7])); else if(i%4==2) asm volatile("add.f32 %0,%0,%1;":"+f"(x[i]):"f"(y[i&7])); else asm volatile("max.f32 %0,%0,%1;":"+f"(x[i]):"f"(y[i&7]));} } }
template<int N,int RS,int OP,int CH> __global__ void __launch_bounds__(384) kern(long long* out,int iters,int alus,int withmma,float f){
 extern __shared__ __align__(1024) unsigned char sm[]; __shared__ volatile int flag; int wgid=threadIdx.x/128;
 for(int i=threadIdx.x;i<16384;i+=blockDim.x) ((unsigned*)sm)[i]=0; if(threadIdx.x==0) flag=0; __syncthreads();
 unsigned base=(unsigned)__cvta_generic_to_shared(sm); base=(base+1023)&~1023u;
 unsigned long long da=((unsigned long long)(base>>4)&0x3fff)|(1ull<<16)|(64ull<<32)|(1ull<<62), db=(((unsigned long long)((base+16384)>>4))&0x3fff)|(1ull<<16)|(64ull<<32)|(1ull<<62);
 if(wgid==0){
  if(withmma){ float d[N/2]; unsigned a[4]={0,0,0,0};
#pragma unroll
  for(int i=0;i<N/2;i++) d[i]=0; 
  asm volatile("wgmma.fence.sync.aligned;"); long long t0=clock64();
  for(int it=0;it<iters;it++){
#pragma unroll
   for(int k=0;k<4;k++){ if(RS){ if(N==64) mma64r(d,a,da+2*k,db+2*k); else if(N==128) mma128r(d,a,da+2*k,db+2*k); else mma256r(d,a,da+2*k,db+2*k);} else { if(N==64) mma64s(d,a,da+2*k,db+2*k); else if(N==128) mma128s(d,a,da+2*k,db+2*k); else mma256s(d,a,da+2*k,db+2*k);} }
   asm volatile("wgmma.commit_group.sync.aligned;"); if(CH) { asm volatile("wgmma.wait_group.sync.aligned 0;"); } else asm volatile("wgmma.wait_group.sync.aligned 1;");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;"); long long t1=clock64(); float s=0;
#pragma unroll
  for(int i=0;i<N/2;i++) s+=d[i]; if(s==12345.f) out[100]=1; if(threadIdx.x==0){ out[0]=t1-t0; flag=1; } }
  else { long long t0=clock64(); while(clock64()-t0<20000); if(threadIdx.x==0){ out[0]=20000; flag=1; } }
 } else if(wgid<=alus){
  float x[32],y[8],z[8]; unsigned u[32],v[8];
#pragma unroll
  for(int i=0;i<32;i++){ x[i]=f*i; u[i]=threadIdx.x*i; }
#pragma unroll
  for(int i=0;i<8;i++){ y[i]=f+i; z[i]=f*i; v[i]=threadIdx.x+i; }
  long long t0=clock64(); long long n=0; while(!flag){ body<OP>(x,y,z,u,v); body<OP>(x,y,z,u,v); body<OP>(x,y,z,u,v); body<OP>(x,y,z,u,v); n++; }
  long long t1=clock64(); float s=0; unsigned w=0;
#pragma unroll
  for(int i=0;i<32;i++){ s+=x[i]; w+=u[i]; } if(s==1234.5f||w==1234567) out[101]=1;
  if(threadIdx.x%128==0){ out[2*wgid]=n*128; out[2*wgid+1]=t1-t0; }
 }
}
template<int N,int RS,int OP,int CH> void go(const char* op,long long* d){ cudaFuncSetAttribute((const void*)kern<N,RS,OP,CH>,cudaFuncAttributeMaxDynamicSharedMemorySize,67584); 
 for(int alus=1;alus<=2;alus++) for(int mma=0;mma<2;mma++){ if(OP==0&&(alus==2||!mma)) continue; long long h[8]; for(int r=0;r<3;r++){ cudaMemset(d,0,1024); kern<N,RS,OP,CH><<<1,384,67584>>>(d,200,OP?alus:0,mma,1.0001f); cudaError_t e=cudaDeviceSynchronize(); if(e){ printf("ERR %s\n",cudaGetErrorString(e)); return; } cudaMemcpy(h,d,64,cudaMemcpyDeviceToHost); }
  printf("%s,%d,%d,%d,%d,%d,%.3f,%.4f,%.4f\n",op,N,RS,CH,alus,mma,mma?h[0]/800.0:0.0,h[2]?(double)h[3]/h[2]:0,h[4]?(double)h[5]/h[4]:0); fflush(stdout);} }
int main(){ long long* d; cudaMalloc(&d,1024); printf("op,N,RS,chained_wait,alu_warpgroups,mma,cycles_per_wgmma,cycles_per_op_wg1,cycles_per_op_wg2\n");
go<64,0,0,0>("none",d);
go<128,0,0,0>("none",d);
go<128,1,0,0>("none",d);
go<256,0,0,0>("none",d);
go<64,0,1,0>("ffma",d);
go<128,0,1,0>("ffma",d);
go<128,1,1,0>("ffma",d);
go<256,0,1,0>("ffma",d);
go<128,0,2,0>("ffma_imm",d);
go<128,0,3,0>("fadd",d);
go<128,0,4,0>("fmul",d);
go<64,0,5,0>("ex2",d);
go<128,0,5,0>("ex2",d);
go<128,1,5,0>("ex2",d);
go<256,0,5,0>("ex2",d);
go<128,0,6,0>("fmnmx",d);
go<128,0,7,0>("f2fp",d);
go<128,0,8,0>("iadd3",d);
go<128,0,9,0>("lop3",d);
go<128,0,10,0>("imad",d);
go<64,0,11,0>("mix",d);
go<128,0,11,0>("mix",d);
go<128,1,11,0>("mix",d);
go<256,0,11,0>("mix",d);
}
