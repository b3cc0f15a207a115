#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/verbs.h"
#include "penstock/core/base/json.h"
#include "penstock/core/train/trained_run.h"

namespace penstock::cli {
namespace {

struct ExportArgs {
  std::string path;
  std::string checkpoint = "latest";
  std::string out = "policy.safetensors";
  bool json = false;
};

Exit export_policy(const ExportArgs& args, const Catalog& catalog) {
  const TrainedRun run =
      open_run({.dir = args.path, .checkpoint = args.checkpoint, .changes = {}}, catalog,
               [](const std::string& text) { fmt::print(stderr, "penstock: {}\n", text); });
  const PolicyModel& model = *run.player.model;
  model.save(args.out);
  const bool ships = model.shape().mlp.has_value();
  if (args.json) {
    fmt::print("{}\n",
               to_text(nlohmann::json{
                   {"out", args.out}, {"version", model.version()}, {"needs_torch", !ships}}));
    return Exit::ok;
  }
  fmt::print(
      "{}: the policy after {} updates{}\n", args.out, model.version(),
      ships ? "; penstock::act plays it without libtorch" : "; its network needs libtorch to act");
  return Exit::ok;
}

}  // namespace

Verb export_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<ExportArgs>();
  Options& verb = app.add_command("export", "write a trained policy as one file");
  verb.add("run_dir", args->path, "the run directory").required();
  verb.add("--out", args->out, "the file to write (default policy.safetensors)");
  verb.add("--checkpoint", args->checkpoint, "latest, best or a step");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return export_policy(*args, catalog); }};
}

}  // namespace penstock::cli
