#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <bit>

#include "core/train/crew.h"
#include "core/train/packing.h"
#include "penstock/core/base/version_info.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/train/run.h"

// How the processes of a run begin and end it together.

namespace penstock {

using detail::packed;
using detail::unpacked;

namespace {

/// What a process shows when it joins.
struct Card {
  std::string build;
  std::vector<std::string> isas;  // the best first
  std::string config;             // TOML; empty: it takes rank 0's
  std::string values;             // of the config: key = value, line by line
  template <class Archive>
  void state(Archive& archive) {
    archive(build, isas, config, values);
  }
};

/// What rank 0 decides.
struct Agreement {
  std::string refusal;  // empty: none
  std::string config;
  std::string isa;
  template <class Archive>
  void state(Archive& archive) {
    archive(refusal, config, isa);
  }
};

Card card_of(const Settings* mine, const Catalog& catalog) {
  Card card;
  card.build = fmt::format("penstock {} ({}) with torch {}", version(), git_hash(), TORCH_VERSION);
  card.isas = fused::supported_isas();
  if (mine != nullptr) {
    const RunPlan plan(*mine, catalog);
    card.config = to_toml(plan.fields());
    for (const Field& field : plan.fields()) {
      card.values += field.path + " = " + value_text(field) + "\n";
    }
  }
  return card;
}

std::string hash_of(const std::string& text) { return xxh3_hex(std::as_bytes(std::span(text))); }

/// The first line in which two lists of the same keys differ.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  const auto line_at = [](const std::string& text, auto place) {
    const std::size_t at = place - text.begin();
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  return {line_at(a, x), line_at(b, y)};
}

/// Why these processes cannot train together; empty: they can.
std::string refusal_of(const std::vector<Card>& cards) {
  for (std::size_t rank = 1; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    if (card.build != cards[0].build) {
      return fmt::format("rank {} is {}, rank 0 is {}; give all the same build", rank, card.build,
                         cards[0].build);
    }
    if (!card.values.empty() && card.values != cards[0].values) {
      const auto [theirs, ours] = first_difference(card.values, cards[0].values);
      return fmt::format(
          "rank {} has another config than rank 0 (hashes {} and {}): '{}' there, '{}' here; start "
          "all with the same command",
          rank, hash_of(card.values), hash_of(cards[0].values), theirs, ours);
    }
  }
  return "";
}

/// The best that all have.
std::string common_isa(const std::vector<Card>& cards) {
  for (const std::string& isa : cards[0].isas) {
    const auto has = [&](const Card& card) {
      return std::ranges::find(card.isas, isa) != card.isas.end();
    };
    if (std::ranges::all_of(cards, has)) { return isa; }
  }
  return "generic";
}

/// Each process has a whole subtree of the shards, or the bits would depend on their number.
void require_fit(const RunPlan& plan, std::size_t ranks) {
  const RunConfig& config = plan.config();
  const auto envs = static_cast<std::size_t>(config.env.num_envs);
  const auto shards = std::min(static_cast<std::size_t>(config.rollout.shards), envs);
  if (config.device != "cpu") {
    throw ConfigError("several processes learn on device = cpu only; use --device cpu");
  }
  if (shards % ranks == 0 && std::has_single_bit(shards / ranks)) { return; }
  std::size_t next = ranks;
  while (next < shards) { next *= 2; }
  throw ConfigError(fmt::format(
      "{} processes cannot share {} shards evenly: rollout.shards must be {} times a power of two, "
      "as {}{}; results depend on it",
      ranks, shards, ranks, next,
      next > envs ? fmt::format(", and env.num_envs at least that") : ""));
}

}  // namespace

Settings agree_on_settings(Peers& peers, const Settings* mine, const Catalog& catalog) {
  if (peers.alone()) { return *mine; }
  Card card;
  std::exception_ptr failure;
  try {
    card = card_of(mine, catalog);
  } catch (...) { failure = std::current_exception(); }
  detail::fail_together(peers, failure);

  std::vector<Card> cards;
  for (const auto& bytes : peers.gather(packed(card))) { cards.push_back(unpacked<Card>(bytes)); }
  std::vector<std::byte> told;
  if (!cards.empty()) {
    told = packed(Agreement{refusal_of(cards), cards[0].config, common_isa(cards)});
  }
  peers.broadcast(told);
  const auto agreement = unpacked<Agreement>(told);
  if (!agreement.refusal.empty()) { throw ConfigError(agreement.refusal); }
  Settings settings;
  settings.add_toml(agreement.config, "rank 0's config");
  const RunPlan plan(settings, catalog);
  require_fit(plan, peers.size());
  if (plan.config().isa == "auto") {
    settings.add("isa", agreement.isa, "what all processes have");
  }
  return settings;
}

Exit follow_run(const RunPlan& plan, Peers& peers, const std::atomic<bool>& stop) {
  Engine engine(plan, peers);
  return detail::Crew(plan, engine, peers).follow(stop);
}

void dismiss_followers(Peers& peers, Exit how) noexcept { detail::Crew::dismiss(peers, how); }

}  // namespace penstock
