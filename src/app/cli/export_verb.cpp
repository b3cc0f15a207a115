#include <fmt/format.h>

#include <memory>

#include "app/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/trained_run.h"

namespace penstock::cli {
namespace {

struct ExportArgs {
  std::string path;
  std::string checkpoint = "latest";
  std::string out = "policy.safetensors";
};

Exit export_policy(const ExportArgs& args, const Common& common, const Catalog& catalog) {
  const TrainedRun run = open_chosen(args.path, args.checkpoint, common, catalog);
  const PolicyModel& model = *run.player.model;
  model.save(args.out);
  const bool ships = model.shape().mlp.has_value();
  if (common.json) {
    fmt::print(
        "{}\n",
        to_text(Json{{"out", args.out}, {"version", model.version()}, {"needs_torch", !ships}}));
    return Exit::ok;
  }
  fmt::print(
      "{}: the policy after {} updates{}\n", args.out, model.version(),
      ships ? "; penstock::act plays it without libtorch" : "; its network needs libtorch to act");
  return Exit::ok;
}

}  // namespace

Verb export_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto args = std::make_shared<ExportArgs>();
  Options& verb = app.add_command("export", "write a trained policy as one file");
  verb.add("run_dir", args->path, "the run directory").required();
  verb.add("--out", args->out, "the file to write (default policy.safetensors)");
  verb.add("--checkpoint", args->checkpoint, "latest, best or a step");
  add_trust_options(verb, *common);
  verb.add_flag("--json", common->json, "one line of JSON on stdout");
  return {&verb, [args, common, &catalog] { return export_policy(*args, *common, catalog); }};
}

}  // namespace penstock::cli
