#include "penstock/core/store/journal.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>

#include "core/store/atomic_file.h"
#include "support.h"

namespace journal_test {

using namespace penstock;
using namespace penstock::test;

TEST_CASE("a journal keeps its lines and its first header") {
  const TempDir dir;
  const std::string path = dir / "deep/journal.jsonl";
  {
    Journal journal(path, "head");
    CHECK(journal.header() == "head");
    CHECK(journal.lines().empty());
    journal.append("one");
    journal.append("");
  }
  Journal journal(path, "another");
  CHECK(journal.header() == "head");
  CHECK(journal.lines() == std::vector<std::string>{"one", ""});
  journal.append("three");
  CHECK(slurp(path) == "head\none\n\nthree\n");
}

TEST_CASE("cut anywhere, a journal holds the whole lines before and goes on") {
  const std::string text = "head\none\ntwo\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const TempDir dir;
    spill(dir / "j", text.substr(0, size));
    Journal(dir / "j", "head").append("next");
    const std::size_t lines = size < 9 ? 0 : size < 13 ? 1 : 2;
    CHECK(Journal(dir / "j", "head").lines().size() == lines + 1);
    CHECK(slurp(dir / "j") == (std::string("head\n") + (lines > 0 ? "one\n" : "") +
                               (lines > 1 ? "two\n" : "") + "next\n"));
  }
}

TEST_CASE("a journal is open once, and a full disk leaves no half line") {
  const TempDir dir;
  Journal journal(dir / "j", "head");
  CHECK_THROWS_WITH_AS(Journal(dir / "j", "head"), doctest::Contains("another process"), IoError);
  detail::fault_hook() = [](std::string_view call, const std::string&) {
    return call == "fsync" ? EIO : 0;
  };
  CHECK_THROWS_AS(journal.append("one"), IoError);
  detail::fault_hook() = [](std::string_view call, const std::string&) {
    return call == "write" ? ENOSPC : 0;
  };
  CHECK_THROWS_AS(journal.append("two"), IoError);
  detail::fault_hook() = {};
  CHECK(slurp(dir / "j") == "head\none\n");
}

TEST_CASE("of a line that the disk took in part nothing stays") {
  const TempDir dir;
  Journal journal(dir / "j", "head");
  auto* const before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &usual) == 0);
  const rlimit tight{.rlim_cur = 8, .rlim_max = usual.rlim_max};  // three bytes after "head\n"
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const std::string error = error_of([&] { journal.append("a line"); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &usual) == 0);
  std::signal(SIGXFSZ, before);
  CHECK(contains(error, "File too large"));
  CHECK(slurp(dir / "j") == "head\n");
  journal.append("next");
  CHECK(slurp(dir / "j") == "head\nnext\n");
}

TEST_CASE("a text is replaced whole") {
  const TempDir dir;
  replace_text(dir / "a/b.txt", "old");
  replace_text(dir / "a/b.txt", "new");
  CHECK(slurp(dir / "a/b.txt") == "new");
}

}  // namespace journal_test
