// Modules of device code, their kernels and variables: those that nvcc's code registers, and those that are loaded.
#pragma once
#include <map>
#include <memory>

#include "../core/core.h"

namespace gpusim {

struct Part {  // a parameter's place in the block of parameters
  uint64_t offset, size;
};

struct Module;

struct Kernel {
  Module *module;
  std::string name;
  bool asked = false;
  Error error = success;
  uint64_t id = 0, registers = 0, shared = 0, constant = 0, local = 0, threads = 0, ptx = 0, binary = 0;
  uint64_t dynamic_shared = 0, carveout = 0, block_bytes = 0;
  std::vector<Part> parameters;
  std::map<int, int64_t> attributes;  // as they were set
};

struct Variable {
  Module *module;
  std::string name;
  bool asked = false;
  Error error = success;
  uint64_t address = 0, bytes = 0;
  bool constant = false;
  void **host = nullptr;  // of a managed one: where the program keeps its address
};

struct Module {
  std::string image;         // a copy, or empty
  const void *at = nullptr;  // of the image otherwise
  uint64_t bytes = 0, id = 0;
  bool loaded = false;
  Error error = success;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  std::map<std::string, std::unique_ptr<Variable>> variables;
};

Module *add_module(const void *image, bool copied);
uint64_t bytes_of_image(const void *image);
Error loaded(Module *module);
void remove_module(Module *module);
bool is_module(const void *module);
Kernel *kernel_of(Module *module, const std::string &name);
Variable *variable_of(Module *module, const std::string &name);
Error known(Kernel *kernel);
Error known(Variable *variable);
void register_kernel(const void *host, Kernel *kernel);
void register_variable(const void *host, Variable *variable);
Kernel *kernel_at(const void *host_or_kernel);
const void *host_of(const Kernel *kernel);
Variable *variable_at(const void *host);
Error ready_managed();
void forget_loaded();
Error set_attribute(Kernel *kernel, int attribute, int64_t value);

}  // namespace gpusim
