// The program. Loading libtorch takes half a second, and pricing offers and planning do not need
// it: those verbs are answered here, all others by a library beside the program that is linked with
// libtorch, libpenstock_full.so.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/light_verb.h"
#include "penstock/domains/booking/dispatch/command.h"
#include "penstock/domains/booking/offer/command.h"
#include "penstock/domains/booking/service/command.h"

namespace {

namespace fs = std::filesystem;

/// The library of a build tree, or of an install.
fs::path library() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path beside = here / "libpenstock_full.so";
  return fs::exists(beside, ignored) ? beside : here / PENSTOCK_LIBRARIES / beside.filename();
}

int everything_else(int argc, char** argv) {
  const std::string path = library().lexically_normal().string();
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, "penstock_main");
  if (found == nullptr) {
    fmt::print(stderr, "penstock: {}; install Penstock again, or put libtorch into {}\n", dlerror(),
               fs::path(path).parent_path().string());
    return static_cast<int>(penstock::Exit::failed);
  }
  return reinterpret_cast<int (*)(int, char**)>(found)(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  namespace booking = penstock::booking;
  if (booking::asks_for_offers(argc, argv)) { return booking::run_offer_command(argc, argv); }
  if (booking::service::asks_to_serve(argc, argv)) {
    return run_light_verb(booking::service::kServeVerb, "booking", argc, argv);
  }
  const penstock::LightVerb* const verb = booking::dispatch::verb_asked_for(argc, argv);
  if (verb != nullptr) { return run_light_verb(*verb, "booking", argc, argv); }
  return everything_else(argc, argv);
}
