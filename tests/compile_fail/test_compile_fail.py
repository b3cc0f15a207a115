"""What must not compile, and what the compiler then says. PENSTOCK_CXX names the compiler."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHIVE = """#include "penstock/core/base/archive.h"
#include <span>
#include <string_view>
struct Padded { char letter; double number; };
struct Listed { int x = 0; template <class A> void state(A& archive) { archive(x); } };
enum class Colour : int { red };
int main() {
  std::vector<std::byte> bytes;
  penstock::StateWriter writer(bytes);
  penstock::StateReader reader(bytes);
  MEMBER member{};
  writer(member);
  reader(member);
}
"""
REFUSED = ["const char*", "std::span<float>", "std::string_view", "Padded", "std::vector<int*>", "std::array<Padded, 2>"]
TAKEN = ["int", "Colour", "Listed", "std::string", "std::deque<double>", "std::array<Listed, 3>",
         "std::vector<std::string>", "std::pair<int, double>"]


def compile_text(tmp_path, text):
    source = tmp_path / "x.cpp"
    source.write_text(text)
    return subprocess.run([os.environ.get("PENSTOCK_CXX", "c++"), "-std=c++20", "-fsyntax-only", f"-I{ROOT}/include",
                           source], capture_output=True, text=True)


@pytest.mark.parametrize("member", REFUSED)
def test_what_a_file_cannot_bring_back_is_not_saved(tmp_path, member):
    done = compile_text(tmp_path, ARCHIVE.replace("MEMBER", member))
    assert done.returncode != 0
    assert "without a state(archive) function cannot be saved" in done.stderr


@pytest.mark.parametrize("member", TAKEN)
def test_what_simulators_hold_is_saved(tmp_path, member):
    done = compile_text(tmp_path, ARCHIVE.replace("MEMBER", member))
    assert done.returncode == 0, done.stderr
