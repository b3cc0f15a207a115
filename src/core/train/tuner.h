#pragma once
#include <cstddef>
#include <vector>

namespace penstock {

/// Chooses among ways of running that give the same results, by timing them in turns while the work
/// goes on. Candidates stand in order of cost to others (threads, memory): the first one wins
/// unless a later one is clearly faster. A choice is looked at again after a while, as machines
/// fill up and empty.
class Tuner {
 public:
  /// `reserve` is tried when the last candidate wins and idles: work that waits, for a service or a
  /// disk, gains from more threads than cores.
  explicit Tuner(std::vector<std::size_t> candidates, std::vector<std::size_t> reserve = {});

  /// What the next iteration should use.
  [[nodiscard]] std::size_t current() const { return candidates_[current_]; }
  /// An iteration with current() took this long, of which it computed the share `busy`. True when a
  /// choice has just been made.
  bool record(double seconds, double busy = 1);

  [[nodiscard]] const std::vector<std::size_t>& candidates() const { return candidates_; }
  /// Median seconds of an iteration of each candidate, from when the last choice was made.
  [[nodiscard]] const std::vector<double>& medians() const { return medians_; }

 private:
  void start_trial();
  bool choose();
  bool in_spell(double seconds);

  std::vector<std::size_t> candidates_;
  std::vector<std::size_t> reserve_;
  double busy_of_last_ = 1;                  // candidate
  std::vector<std::vector<double>> trials_;  // [candidate][round]
  std::vector<double> medians_;
  std::size_t current_ = 0;
  bool chosen_ = false;
  bool warm_ = false;  // the first iteration pays for first uses
  double since_choice_s_ = 0;

  /// Iterations one after the other with the same candidate.
  struct Spell {
    bool begun = false;
    double seconds = 0;
    int count = 0;
  };
  Spell spell_;
};

}  // namespace penstock
