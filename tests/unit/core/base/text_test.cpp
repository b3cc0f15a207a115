#include "penstock/core/base/text.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace penstock;

TEST_CASE("what would control a terminal is written out") {
  CHECK(printable("\x1b[31mred\x1b]0;title\x07") == "\\x1b[31mred\\x1b]0;title\\x07");
  CHECK(printable("bell\b\r\x7f") == "bell\\x08\\x0d\\x7f");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");            // CSI as one character
  CHECK(printable("a\xe2\x80\xaez") == "a\\u202ez");  // turns the direction
  CHECK(printable("\x9b"
                  "31m") == "\\x9b31m");  // CSI as one byte
}

TEST_CASE("what people write stays") {
  for (const char* text :
       {"", "plain", "two\nlines\tand a tab", "naïve Größe 字 🙂", "C:\\x1b\\n"}) {
    CHECK(printable(text) == text);
  }
}

TEST_CASE("bytes that are not UTF-8 are written out, one by one") {
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\xc3") == "\\xc3");           // cut off
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");  // likewise
  CHECK(printable("\xc3(") == "\\xc3(");
  CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");                    // longer than need be
  CHECK(printable("\xe0\x82\x9b") == "\\xe0\\x82\\x9b");           // likewise
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last one
}

TEST_CASE("what is printable already stays as it is") {
  const std::string once = printable("\x1b[2J\xff\n\xc2\x85");
  CHECK(printable(once) == once);
}

TEST_CASE("errors of the system name the remedy where there is one") {
  CHECK(system_text(EMFILE) == "Too many open files; raise the limit: `ulimit -n 4096`");
  CHECK(system_text(ENFILE).find("fs.file-max") != std::string::npos);
  CHECK(system_text(ENOENT) == "No such file or directory");
}
