#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "penstock/app/fleet/fleet.h"

namespace penstock::fleet {
namespace {

/// For YAML, which takes JSON's strings.
std::string yaml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') { out += '\\'; }
    out += c;
  }
  return out + "\"";
}

/// A name that Kubernetes takes: small letters, digits and dashes.
std::string name_of(const std::string& path) {
  std::string name = "fleet-" + std::filesystem::path(path).filename().string();
  for (char& c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (c >= 'A' && c <= 'Z') { c = static_cast<char>(c - 'A' + 'a'); }
    if (!digit && !(c >= 'a' && c <= 'z')) { c = '-'; }
  }
  name = name.substr(0, 52);  // its pods' names are longer and have 63
  name.erase(name.find_last_not_of('-') + 1);
  return name;
}

}  // namespace

std::string kubernetes_job(const Fleet& fleet, const Folder& folder) {
  const Config& config = fleet.config();
  if (config.image.empty() || config.claim.empty()) {
    throw ConfigError("executor = kubernetes needs image = and claim =");
  }
  if (!config.rungs.empty()) {
    throw ConfigError("rungs: a Kubernetes Job cannot wait for the others; use local or slurm");
  }
  const std::size_t trials = fleet.num_trials();
  const std::size_t jobs = config.jobs == 0 ? trials : std::min<std::size_t>(trials, config.jobs);
  // The folder lies on the volume, at the same path as here, so that --status reads what pods
  // write.
  return fmt::format(
      R"(apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  completionMode: Indexed
  completions: {trials}
  parallelism: {jobs}
  backoffLimitPerIndex: {deaths}
  podFailurePolicy:
    rules:
      - action: Ignore  # 75: asked to end, it has saved; again
        onExitCodes: {{containerName: trial, operator: In, values: [75]}}
      - action: Ignore  # the node is taken away
        onPodConditions: [{{type: DisruptionTarget, status: "True"}}]
      - action: FailIndex  # it would fail again
        onExitCodes: {{containerName: trial, operator: In, values: [1, 2, 65, 78]}}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      containers:
        - name: trial
          image: {image}
          command: [sh, -c, 'exec penstock fleet "$0" --out "$1" --trial "$JOB_COMPLETION_INDEX"']
          args: [{file}, {out}]
          resources: {{requests: {{cpu: "1"}}, limits: {{cpu: "1"}}}}
          volumeMounts: [{{name: fleet, mountPath: {mount}}}]
      volumes:
        - name: fleet
          persistentVolumeClaim: {{claimName: {claim}}}
)",
      fmt::arg("name", name_of(folder.path())), fmt::arg("trials", trials), fmt::arg("jobs", jobs),
      fmt::arg("deaths", config.max_deaths), fmt::arg("image", yaml_quoted(config.image)),
      fmt::arg("file", yaml_quoted(folder.path() + "/fleet.toml")),
      fmt::arg("out", yaml_quoted(folder.path())), fmt::arg("mount", yaml_quoted(folder.path())),
      fmt::arg("claim", yaml_quoted(config.claim)));
}

}  // namespace penstock::fleet
