#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::booking {

/// Reads a text line by line and word by word, and knows where it is when something is wrong.
class Scanner {
 public:
  Scanner(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  /// To the next line that is not blank; false at the end.
  bool next_line();
  /// The rest of this line counts as read.
  void end_line() { line_ = {}; }
  /// What is left of the line, without blanks around it.
  [[nodiscard]] std::string_view rest_of_line() const { return line_; }
  [[nodiscard]] bool line_has_more() const { return !line_.empty(); }
  [[nodiscard]] std::size_t line_number() const { return number_; }
  /// How much text is left, this line included.
  [[nodiscard]] std::size_t bytes_left() const { return line_.size() + rest_.size(); }

  /// The next words of this line; `what` is for the complaint when there is none or a wrong one.
  std::string_view word(std::string_view what);
  double number(std::string_view what);
  std::int32_t integer(std::string_view what, std::int32_t low, std::int32_t high);

  [[noreturn]] void fail(std::string_view message) const;
  /// One that complains of an earlier line.
  [[nodiscard]] Scanner at_line(std::size_t number) const;

 private:
  std::string_view rest_;
  std::string_view line_;
  std::string name_;
  std::size_t number_ = 0;
};

/// A finite number of at most 1e9 that is the whole text; otherwise false.
bool read_number(std::string_view text, double& value);

}  // namespace penstock::booking
