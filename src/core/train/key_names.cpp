#include "core/train/key_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "penstock/core/base/errors.h"
#include "penstock/core/train/config.h"

namespace penstock::detail {
namespace {

constexpr const char* kEnvs = "env.num_envs";
constexpr const char* kWorkers = "env.num_workers";
constexpr const char* kEach = "env.envs_per_worker";
constexpr std::int64_t kMostEnvs = 65536;

/// What others call it: Stable-Baselines3, CleanRL and RLlib. `ours` without a dot is a key of the
/// algorithm.
struct ForeignName {
  std::string_view theirs;
  std::string_view ours;
};
constexpr ForeignName kForeign[] = {
    {"n_steps", "rollout.steps"},
    {"num_steps", "rollout.steps"},
    {"rollout_fragment_length", "rollout.steps"},
    {"n_envs", "env.num_envs"},
    {"batch_size", "minibatch"},
    {"minibatch_size", "minibatch"},
    {"sgd_minibatch_size", "minibatch"},
    {"n_epochs", "policy_epochs (and value_epochs)"},
    {"update_epochs", "policy_epochs (and value_epochs)"},
    {"num_sgd_iter", "policy_epochs (and value_epochs)"},
    {"ent_coef", "entropy_weight"},
    {"entropy_coeff", "entropy_weight"},
    {"vf_coef", "value_weight"},
    {"vf_loss_coeff", "value_weight"},
    {"clip_range", "clip"},
    {"clip_coef", "clip"},
    {"clip_param", "clip"},
    {"clip_range_vf", "value_clip"},
    {"clip_vloss", "value_clip"},
    {"lambda_", "gae_lambda"},
    {"lr", "learning_rate"},
    {"anneal_lr", "learning_rate_schedule"},
    {"norm_adv", "normalise_advantage"},
    {"normalize_advantage", "normalise_advantage"},
    {"policy_kwargs", "net.hidden and net.activation"},
    {"net_arch", "net.hidden"},
    {"activation_fn", "net.activation"},
    {"tensorboard_log", "run.dir"},
    {"policy_update_interval", "update_interval"},
};

bool has(std::span<const Field> fields, std::string_view path) {
  return std::ranges::any_of(fields, [&](const Field& field) { return field.path == path; });
}

/// Our name of a key that others call `name`, or that is called so inside a section; "" where there
/// is none.
std::string our_name(std::string_view name, std::span<const Field> fields,
                     const std::string& algo) {
  const std::string inside = fmt::format(".{}", name);
  for (const Field& field : fields) {
    if (field.path.ends_with(inside)) { return field.path; }
  }
  const auto* known = std::ranges::find(kForeign, name, &ForeignName::theirs);
  if (known == std::end(kForeign)) { return ""; }
  const bool own = known->ours.find('.') == std::string_view::npos;
  const std::string ours = (own ? algo + "." : "") + std::string(known->ours);
  return has(fields, ours.substr(0, ours.find(' '))) ? ours : "";
}

/// Throws where a setting that is no key has a name that another library gives to one.
void refuse_foreign_name(const Setting& setting, std::span<const Field> fields,
                         const std::string& algo) {
  if (has(fields, setting.path)) { return; }
  if (setting.path.starts_with("async.")) {
    throw ConfigError(fmt::format(
        "unknown key '{}' ({}): it belongs to algorithms that learn while envs step, use "
        "--algo appo or --algo impala",
        setting.path, setting.origin));
  }
  const std::string_view name = std::string_view(setting.path).substr(setting.path.rfind('.') + 1);
  const std::string ours = our_name(name, fields, algo);
  if (ours.empty()) { return; }
  throw ConfigError(fmt::format("unknown key '{}' ({}): it is called {} here", setting.path,
                                setting.origin, ours));
}

/// The number that a setting says, or 0 for none and for "auto".
std::int64_t number_of(const Setting* setting) {
  std::int64_t number = 0;
  if (setting != nullptr) {
    const std::string& text = setting->text;
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return std::clamp<std::int64_t>(number, 0, kMostEnvs);
}

bool of_a_file(const Setting& setting) { return setting.origin.find(".toml") != std::string::npos; }

/// W workers of E envs each. A file's half of that gives way to what is said beside it.
struct Product {
  const Setting* workers = nullptr;
  const Setting* each = nullptr;
  bool each_counts = true;  // for the env, which is not told what has become a number of envs

  explicit Product(const Settings& settings)
      : workers(settings.find(kWorkersKey)), each(settings.find(kEach)) {
    if (workers == nullptr) { workers = settings.find(kWorkers); }
    if (number_of(workers) == 0) { workers = nullptr; }
    if (number_of(each) == 0) { each = nullptr; }
    if (workers == nullptr || each == nullptr) { return; }
    each_counts = !of_a_file(*each) && of_a_file(*workers);
    if (of_a_file(*workers) != of_a_file(*each)) { (each_counts ? workers : each) = nullptr; }
  }

  [[nodiscard]] bool whole() const { return workers != nullptr && each != nullptr; }
  [[nodiscard]] std::int64_t envs() const { return number_of(workers) * number_of(each); }

  /// A number of envs that stands in a file gives way too.
  void agree_with(const Setting* envs_said) const {
    if (envs_said == nullptr || number_of(envs_said) == envs()) { return; }
    if (of_a_file(*envs_said) && !of_a_file(*each)) { return; }
    throw ConfigError(fmt::format(
        "{} workers ({}) of {} envs each ({}) are {} envs, but env.num_envs is {} ({}): leave one "
        "of the three out",
        number_of(workers), workers->origin, number_of(each), each->origin, envs(), envs_said->text,
        envs_said->origin));
  }
};

}  // namespace

Settings with_keys_named(const Settings& settings, std::span<const Field> fields,
                         const std::string& algo) {
  const bool has_workers = has(fields, kWorkers);
  const Product product(settings);
  if (product.whole()) { product.agree_with(settings.find(kEnvs)); }
  if (!has_workers && product.each != nullptr && !product.whole()) {
    throw ConfigError(fmt::format(
        "env.envs_per_worker = {} ({}): a native env has no workers, its envs are stepped by "
        "threads of this process; say --num-envs, or --num-workers too: threads",
        product.each->text, product.each->origin));
  }
  Settings out;
  for (const Setting& setting : settings.all()) {
    if (setting.path == kWorkersKey) {
      out.add(has_workers ? kWorkers : "threads", setting.text, setting.origin);
    } else if (setting.path == kLearningRateKey || setting.path == kMinibatchKey) {
      out.add(algo + "." + setting.path, setting.text, setting.origin);
    } else if (setting.path != kEach || product.each_counts) {
      refuse_foreign_name(setting, fields, algo);
      out.append(setting);
    }
  }
  if (product.whole()) { out.add(kEnvs, std::to_string(product.envs()), product.each->origin); }
  return out;
}

}  // namespace penstock::detail
