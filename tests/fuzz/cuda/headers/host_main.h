// Reads the input of all kernels from a file, runs them, and writes what they leave to another file.
#pragma once
static const u32 *in_; static u32 *out_, *gat_, *priv_; static u64 *gat64_; static S s_;
struct Case { void (*kernel)(); u32 grid, x, y; };
#define CASE(N) static void run_##N() { N(in_, out_, gat_, gat64_, priv_, s_); }
static int run_all(const Case *cases, int number, char **files) {
  FILE *from = fopen(files[1], "rb"), *to = fopen(files[2], "wb");
  if (!from || !to) return 1;
  for (int i = 0; i < number; i++) {
    u32 n = cases[i].grid * cases[i].x * cases[i].y;
    std::vector<u32> in(1024), out(40 * n), gat(112), priv(24 * n); std::vector<u64> gat64(16);
    if (fread(in.data(), 4, 1024, from) != 1024 || fread(gat.data(), 4, 112, from) != 112 || fread(gat64.data(), 8, 16, from) != 16 || fread(priv.data(), 4, 24 * n, from) != 24 * n || fread(&s_, sizeof s_, 1, from) != 1) return 2;
    in_ = in.data(), out_ = out.data(), gat_ = gat.data(), gat64_ = gat64.data(), priv_ = priv.data(); gridDim = {cases[i].grid, 1, 1};
    for (u32 b = 0; b < cases[i].grid; b++) { blockIdx = {b, 0, 0}; run_block(cases[i].kernel, cases[i].x, cases[i].y); }
    fwrite(out.data(), 4, 40 * n, to); fwrite(gat.data(), 4, 112, to); fwrite(gat64.data(), 8, 16, to); fwrite(priv.data(), 4, 24 * n, to);
  }
  return fclose(to);
}
