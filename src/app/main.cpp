// The program. Loading libtorch takes half a second, and pricing offers and planning do not need
// it: those verbs are answered here, all others by a library beside the program that is linked with
// libtorch, libpenstock_full.so.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/light_verb.h"
#include "penstock/domains/booking/demand/command.h"
#include "penstock/domains/booking/dispatch/command.h"
#include "penstock/domains/booking/offer/command.h"
#include "penstock/domains/booking/service/command.h"
#include "penstock/domains/booking/slots/command.h"

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

/// The verb of those that need no libtorch, by the domain's former name too; nullptr for others.
const penstock::LightVerb* light_verb_of(int argc, char** argv) {
  namespace booking = penstock::booking;
  if (argc < 3) { return nullptr; }
  const std::string_view domain = argv[1];
  const std::string_view name = argv[2];
  if (domain != "booking" && domain != "dvrptw") { return nullptr; }
  for (const auto* verb : {&booking::kOfferVerb, &booking::service::kServeVerb,
                           &booking::demand::kBacktestVerb, &booking::kSlotsVerb}) {
    if (name == verb->name) { return verb; }
  }
  const auto others = booking::dispatch::light_verbs();
  const auto found = std::ranges::find(others, name, &penstock::LightVerb::name);
  return found == others.end() ? nullptr : &*found;
}

}  // namespace

int main(int argc, char** argv) {
  const penstock::LightVerb* const verb = light_verb_of(argc, argv);
  return verb != nullptr ? run_light_verb(*verb, "booking", argc, argv)
                         : everything_else(argc, argv);
}
