#include "penstock/core/base/light_verb.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "penstock/core/base/note.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/version_info.h"

namespace penstock {
namespace {

int complain(const char* what, Exit exit) {
  print_note(what);
  return static_cast<int>(exit);
}

}  // namespace

int run_light_verb(const LightVerb& verb, const char* domain, int argc, const char* const* argv) {
  try {
    Options app("Penstock", std::string("penstock ") + version());
    Options& command = app.add_command(domain, domain).add_command(verb.name, verb.doc);
    const std::function<Exit()> run = verb.add_options(command);
    std::vector<const char*> words(argv, argv + argc);
    words[1] = domain;
    if (const auto told = app.parse(argc, words.data())) { return static_cast<int>(*told); }
    return static_cast<int>(run());
  } catch (const Error& error) {
    return complain(error.what(), error.exit());
  } catch (const std::bad_alloc&) {
    return complain("out of memory", Exit::failed);
  } catch (const std::exception& error) { return complain(error.what(), Exit::failed); }
}

}  // namespace penstock
