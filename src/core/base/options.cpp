#include "penstock/core/base/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace penstock {
namespace {

/// CLI11 reads by strtoull, which wraps what is negative and stops at the greatest of what is
/// larger.
std::string unsigned_fault(const std::string& text) {
  errno = 0;
  std::strtoull(text.c_str(), nullptr, 0);
  if (errno != ERANGE && text.find('-') == std::string::npos) { return ""; }
  return text + " is not a whole number from 0 to 18446744073709551615";
}

/// Where a line ended before it named a command, which there are; otherwise nothing.
std::string missing_command(const CLI::App& program) {
  const CLI::App* last = &program;
  while (!last->get_subcommands().empty()) { last = last->get_subcommands().back(); }
  std::string names;
  for (const CLI::App* command : last->get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return last->get_require_subcommand_min() == 0 ? "" : "A subcommand is required: " + names;
}

/// CLI11's own checks let it pass, as no comparison with it holds.
std::string refuse_nan(const std::string& text) {
  double number = 0;
  const bool is_nan = CLI::detail::lexical_cast(text, number) && std::isnan(number);
  return is_nan ? "Value " + text + " is not a number" : "";
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::within(int low, int high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option& Option::within(double low, double high) {
  option_->check(CLI::Range(low, high))->check(refuse_nan);
  return *this;
}

Option& Option::positive() {
  option_->check(CLI::PositiveNumber)->check(refuse_nan);
  return *this;
}

Option& Option::one_of(std::vector<std::string> choices) {
  option_->check(CLI::IsMember(std::move(choices)));
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::hide() {
  option_->group("");
  return *this;
}

Options::Options(const std::string& doc, const std::string& version)
    : program_(std::make_unique<CLI::App>(doc)), app_(program_.get()) {
  app_->set_version_flag("--version", version);
}

Options::Options(CLI::App& app) : app_(&app) {}

Options::~Options() = default;

Options& Options::add_command(const std::string& name, const std::string& doc) {
  commands_.push_back(std::unique_ptr<Options>(new Options(*app_->add_subcommand(name, doc))));
  return *commands_.back();
}

void Options::require_command() { app_->require_subcommand(1); }

Option Options::add(const std::string& names, std::string& target, const std::string& doc) {
  return Option(app_->add_option(names, target, doc));
}

Option Options::add(const std::string& names, int& target, const std::string& doc) {
  return Option(app_->add_option(names, target, doc));
}

Option Options::add(const std::string& names, std::int64_t& target, const std::string& doc) {
  return Option(app_->add_option(names, target, doc));
}

Option Options::add(const std::string& names, std::uint64_t& target, const std::string& doc) {
  return Option(app_->add_option(names, target, doc)->check(unsigned_fault));
}

Option Options::add(const std::string& names, double& target, const std::string& doc) {
  return Option(app_->add_option(names, target, doc));
}

Option Options::add_list(const std::string& names, std::vector<std::int32_t>& target,
                         const std::string& doc) {
  return Option(app_->add_option(names, target, doc)->delimiter(','));
}

Option Options::add_list(const std::string& names, std::vector<std::int64_t>& target,
                         const std::string& doc) {
  return Option(app_->add_option(names, target, doc)->delimiter(','));
}

Option Options::add_repeated(const std::string& names, std::vector<std::string>& target,
                             const std::string& doc) {
  // A word after --flag VALUE is the next argument; words in a row by position are all its own.
  return Option(app_->add_option(names, target, doc)->allow_extra_args(!names.starts_with('-')));
}

Option Options::add_call(const std::string& names, std::function<void(const std::string&)> call,
                         const std::string& doc) {
  const std::function<void(const std::string&)> kept = std::move(call);
  return Option(app_->add_option_function<std::string>(names, kept, doc));
}

Option Options::add_repeated_call(const std::string& names,
                                  std::function<void(const std::string&)> call,
                                  const std::string& doc) {
  const auto call_all = [call = std::move(call)](const std::vector<std::string>& values) {
    for (const std::string& value : values) { call(value); }
  };
  return Option(app_->add_option_function<std::vector<std::string>>(names, call_all, doc)
                    ->allow_extra_args(false));
}

Option Options::add_flag(const std::string& names, bool& target, const std::string& doc) {
  return Option(app_->add_flag(names, target, doc));
}

void Options::set_footer(const std::string& text) { app_->footer(text); }

void Options::allow_extras() { app_->allow_extras(); }

void Options::pass_all_on() {
  app_->prefix_command();
  app_->set_help_flag();
}

std::optional<Exit> Options::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const std::string missing = missing_command(*app_);
    app_->exit(missing.empty() ? error
                               : CLI::RequiredError(missing, CLI::ExitCodes::RequiredError));
    return Exit::usage;
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? Exit::ok : Exit::usage;
  } catch (
      const std::out_of_range&) {  // CLI11 counts a flag's value: --no-bar=99999999999999999999
    app_->exit(CLI::ValidationError("a flag", "its value is out of range: flags take none"));
    return Exit::usage;
  }
  return std::nullopt;
}

bool Options::chosen() const { return app_->parsed(); }

std::vector<std::string> Options::extras() const { return app_->remaining(); }

const std::string& Options::name() const { return app_->get_name(); }

std::vector<std::string> Options::spellings() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    for (const std::string& name : option->get_lnames()) { names.push_back("--" + name); }
  }
  return names;
}

}  // namespace penstock
