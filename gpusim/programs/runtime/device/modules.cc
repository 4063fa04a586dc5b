// Modules are sent to the simulator when something of them is first used, as CUDA loads them lazily.
#include "modules.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace gpusim {
namespace {

constexpr uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50, elf_magic = 0x464c457f;

struct Wrapper {  // what nvcc's code registers
  uint32_t magic, version;
  const void *image;
  void *more;
};

struct FatHead {
  uint32_t magic;
  uint16_t version, head_bytes;
  uint64_t bytes;
};

struct ElfHead {  // of 64 bits
  unsigned char ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, programs, sections;
  uint32_t flags;
  uint16_t head_bytes, program_bytes, program_count, section_bytes, section_count, names;
};

struct Tables {
  std::vector<std::unique_ptr<Module>> modules;
  std::unordered_map<const void *, Kernel *> kernels;
  std::unordered_map<const void *, Variable *> variables;
  std::unordered_map<const Kernel *, const void *> hosts;
  std::unordered_set<const void *> live_modules, live_kernels;
  std::vector<Variable *> managed;
};

Tables &tables() {
  static auto &made = *new Tables;  // never destroyed: the program unregisters while it exits
  return made;
}

template <typename Head>
Head head_of(const void *image) {
  Head head;
  std::memcpy(&head, image, sizeof head);
  return head;
}

uint64_t bytes_of_elf(const void *image) {
  auto head = head_of<ElfHead>(image);
  uint64_t behind_sections = head.sections + uint64_t(head.section_bytes) * head.section_count;
  uint64_t behind_programs = head.programs + uint64_t(head.program_bytes) * head.program_count;
  return behind_sections > behind_programs ? behind_sections : behind_programs;
}

template <typename Table>
auto added(Table &table, const std::string &name, Module *module) {
  auto &one = table[name];
  if (!one) {
    one.reset(new typename Table::mapped_type::element_type());
    one->module = module;
    one->name = name;
  }
  return one.get();
}

void take_facts(Kernel *kernel, const Reply &reply) {
  uint64_t *facts[] = {
      &kernel->id,      &kernel->registers, &kernel->shared, &kernel->constant,       &kernel->local,
      &kernel->threads, &kernel->ptx,       &kernel->binary, &kernel->dynamic_shared, &kernel->carveout};
  size_t next = 0;
  for (auto fact : facts) *fact = reply.number(next++);
  uint64_t count = reply.number(next++);
  kernel->block_bytes = reply.number(next++);
  for (uint64_t i = 0; i < count; i++, next += 2)
    kernel->parameters.push_back({reply.number(next), reply.number(next + 1)});
}

}  // namespace

// Images are fat binaries, cubins, or text of PTX; what nvcc registers is a wrapper with the address of one.
uint64_t bytes_of_image(const void *image) {
  uint32_t magic = head_of<uint32_t>(image);
  if (magic == elf_magic) return bytes_of_elf(image);
  if (magic != fat_magic) return std::strlen(static_cast<const char *>(image)) + 1;
  auto head = head_of<FatHead>(image);
  return head.head_bytes + head.bytes;
}

Module *add_module(const void *image, bool copied) {
  if (head_of<uint32_t>(image) == wrapper_magic) image = head_of<Wrapper>(image).image;
  std::unique_ptr<Module> module(new Module);
  module->at = image;
  module->bytes = bytes_of_image(image);
  if (copied) {
    module->image.assign(static_cast<const char *>(image), module->bytes);
    module->at = module->image.data();
  }
  tables().live_modules.insert(module.get());
  tables().modules.push_back(std::move(module));
  return tables().modules.back().get();
}

Error loaded(Module *module) {
  if (module->loaded) return module->error;
  Reply reply = ask("module", {}, module->at, module->bytes);
  module->loaded = true;
  module->error = reply.error;
  module->id = reply.number(0);
  return reply.error;
}

bool is_module(const void *module) { return tables().live_modules.count(module); }

// The records stay, as handles of kernels may still be held; the simulator forgets the code.
void remove_module(Module *module) {
  tables().live_modules.erase(module);
  for (auto &kernel : module->kernels) tables().live_kernels.erase(kernel.second.get());
  if (module->loaded && !module->error) ask("unload", {module->id});
}

Kernel *kernel_of(Module *module, const std::string &name) {
  Kernel *kernel = added(module->kernels, name, module);
  tables().live_kernels.insert(kernel);
  return kernel;
}

Variable *variable_of(Module *module, const std::string &name) { return added(module->variables, name, module); }

Error known(Kernel *kernel) {
  if (kernel->asked) return kernel->error;
  kernel->asked = true;
  kernel->error = loaded(kernel->module);
  if (kernel->error) return kernel->error;
  Reply reply = ask("function", {kernel->module->id}, kernel->name);
  kernel->error = reply.error;
  if (!reply.error) take_facts(kernel, reply);
  return reply.error;
}

Error known(Variable *variable) {
  if (variable->asked) return variable->error;
  variable->asked = true;
  variable->error = loaded(variable->module);
  if (variable->error) return variable->error;
  Reply reply = ask("variable", {variable->module->id}, variable->name);
  variable->error = reply.error;
  variable->address = reply.number(0);
  variable->bytes = reply.number(1);
  variable->constant = reply.number(2);
  if (!reply.error && variable->host) {
    open_to_host(variable->address, variable->bytes, true);
    *variable->host = reinterpret_cast<void *>(variable->address);
  }
  return reply.error;
}

void register_kernel(const void *host, Kernel *kernel) {
  tables().kernels[host] = kernel;
  tables().hosts[kernel] = host;
}

void register_variable(const void *host, Variable *variable) {
  tables().variables[host] = variable;
  if (variable->host) tables().managed.push_back(variable);
}

// A kernel is named by the host function that launches it or by its handle.
Kernel *kernel_at(const void *host_or_kernel) {
  auto found = tables().kernels.find(host_or_kernel);
  if (found != tables().kernels.end()) return found->second;
  if (!tables().live_kernels.count(host_or_kernel)) return nullptr;
  return static_cast<Kernel *>(const_cast<void *>(host_or_kernel));
}

const void *host_of(const Kernel *kernel) {
  auto found = tables().hosts.find(kernel);
  return found == tables().hosts.end() ? nullptr : found->second;
}

Variable *variable_at(const void *host) {
  auto found = tables().variables.find(host);
  return found == tables().variables.end() ? nullptr : found->second;
}

// The program reads addresses of managed variables by itself, so they must be there before it does.
Error ready_managed() {
  Error error = success;
  for (auto variable : tables().managed)
    if (Error one = known(variable)) error = one;
  return error;
}

// After a reset of the device everything is loaded anew.
void forget_loaded() {
  for (auto &module : tables().modules) {
    module->loaded = false;
    for (auto &kernel : module->kernels) kernel.second->asked = false, kernel.second->parameters.clear();
    for (auto &variable : module->variables) variable.second->asked = false;
  }
}

Error set_attribute(Kernel *kernel, int attribute, int64_t value) {
  if (Error error = known(kernel)) return error;
  Reply reply = ask("attribute", {kernel->id, uint64_t(attribute), uint64_t(value)});
  if (!reply.error) kernel->attributes[attribute] = value;
  return reply.error;
}

}  // namespace gpusim
