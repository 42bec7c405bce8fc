#include "runtime/memory/mpi_plugins.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>

namespace espalier::runtime {
namespace {

int note_plugin(dl_phdr_info* object, std::size_t /*size*/, void* found) {
  const std::string_view file = object->dlpi_name;
  if (file.find("/mca_pmix_") == std::string_view::npos) return 0;
  *static_cast<std::string*>(found) = file;
  return 1;
}

}  // namespace

void keep_plugins_loaded() noexcept {
  std::string file;
  if (::dl_iterate_phdr(note_plugin, &file) == 0) return;
  // Never closed.
  static_cast<void>(::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace espalier::runtime
