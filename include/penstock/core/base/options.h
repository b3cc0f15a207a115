#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls itself so
class App;
class Option;
}  // namespace CLI

namespace penstock {

/// One option of a command, to be refined where it is added: options.add(...).within(1, 8). A
/// handle that lives as long as its Options.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// The command line must give it.
  Option& required();
  /// Numbers from `low` to `high`, both allowed. The whole-number check refuses 1.5.
  Option& within(int low, int high);
  Option& within(double low, double high);
  /// Numbers above 0.
  Option& positive();
  /// Refuses other words, and names these.
  Option& one_of(std::vector<std::string> choices);
  /// Not together with the other option.
  Option& excludes(const Option& other);
  /// The help shows the variable's present value as the default.
  Option& show_default();
  /// The help does not list it.
  Option& hide();

 private:
  CLI::Option* option_;
};

/// The options of one command, and its commands below. A thin front of CLI11, whose header costs
/// 10 s a file: only options.cpp includes it.
///
/// An option's `names` are its spellings with commas between ("--num-envs,--n-envs"); one without
/// dashes takes its place by position. The variables and functions given are kept by reference or
/// copy and must outlive parse(), which sets and calls them in the order in which options were
/// added. Not thread-safe.
class Options {
 public:
  /// The program itself, which answers --help and --version.
  Options(const std::string& doc, const std::string& version);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// A command below this one. It belongs to this one.
  Options& add_command(const std::string& name, const std::string& doc);
  /// One of the commands below must be given.
  void require_command();

  /// An option that sets a variable, with the number's type checked.
  Option add(const std::string& names, std::string& target, const std::string& doc);
  Option add(const std::string& names, int& target, const std::string& doc);
  Option add(const std::string& names, std::int64_t& target, const std::string& doc);
  Option add(const std::string& names, std::uint64_t& target, const std::string& doc);
  Option add(const std::string& names, double& target, const std::string& doc);
  /// Numbers with commas between.
  Option add_list(const std::string& names, std::vector<std::int32_t>& target,
                  const std::string& doc);
  Option add_list(const std::string& names, std::vector<std::int64_t>& target,
                  const std::string& doc);
  /// One value each time the option is given.
  Option add_repeated(const std::string& names, std::vector<std::string>& target,
                      const std::string& doc);
  /// An option whose text is given to a function; exceptions leave parse().
  Option add_call(const std::string& names, std::function<void(const std::string&)> call,
                  const std::string& doc);
  /// The function is called once for each time the option is given, after all are known.
  Option add_repeated_call(const std::string& names, std::function<void(const std::string&)> call,
                           const std::string& doc);
  /// A flag that sets true. A spelling that begins with ! sets false: "--bare,!--no-bare".
  Option add_flag(const std::string& names, bool& target, const std::string& doc);

  /// What the help ends with.
  void set_footer(const std::string& text);
  /// Unknown words are kept, see extras(), instead of refused.
  void allow_extras();
  /// All words after the command's name are kept, --help too, as for another program.
  void pass_all_on();

  /// Of the program: reads the command line. Nothing when it is right; Exit::ok when it asked for
  /// help or the version, which are printed; Exit::usage when it is wrong, which is reported on
  /// stderr.
  std::optional<Exit> parse(int argc, const char* const* argv);

  /// Whether the command line named this command.
  [[nodiscard]] bool chosen() const;
  /// The words that allow_extras() or pass_all_on() kept, in their order.
  [[nodiscard]] std::vector<std::string> extras() const;

  [[nodiscard]] const std::string& name() const;
  /// The long spellings of all options: "--config", "--help".
  [[nodiscard]] std::vector<std::string> spellings() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Options>>& commands() const { return commands_; }

 private:
  explicit Options(CLI::App& app);

  std::unique_ptr<CLI::App> program_;  // none of a command below
  CLI::App* app_;
  std::vector<std::unique_ptr<Options>> commands_;
};

}  // namespace penstock
