#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Runs a program to its end, found as a shell finds it, and gives each line of its standard output
/// to `tell`, without the line's end. Its standard error is ours; it reads nothing. No shell is
/// involved. Gives its exit code, 128 and more for a signal. Throws UsageError, naming `option`,
/// when it cannot be started. When `tell` throws, the program is ended first.
int run_program(const std::vector<std::string>& words, const std::string& option,
                const std::function<void(const std::string&)>& tell);

/// The words that started this process, before the one that names the verb: the executable, or
/// Python with its script.
std::vector<std::string> own_program(std::string_view verb);

}  // namespace penstock
