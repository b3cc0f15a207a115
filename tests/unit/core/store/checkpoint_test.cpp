#include "penstock/core/store/checkpoint.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support.h"

namespace checkpoint_test {

using namespace penstock;
using namespace penstock::test;

namespace {

const auto kNoWarning = [](const std::string& text) { FAIL_CHECK(text); };

struct Warnings {
  std::string text;
  auto sink() {
    return [this](const std::string& line) { text += line + "\n"; };
  }
};

void save(CheckpointStore& store, std::int64_t step, bool best = false) {
  store.save(step, Sample(step).data(), best);
}

const std::vector<std::string> kFiles{"model.safetensors", "optim.safetensors", "state.json",
                                      "MANIFEST.json"};

void flip_bit(std::string& text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
}

/// Changes a manifest's text and its checksum with it.
void forge(const std::string& path, const std::string& before, const std::string& after) {
  std::string text = slurp(path);
  const std::size_t place = text.find(before);
  REQUIRE(place != std::string::npos);
  text.replace(place, before.size(), after);
  const std::string body = text.substr(0, text.rfind("\"xxh3\""));
  spill(path, body + "\"xxh3\": \"" + xxh3_hex(to_bytes(body)) + "\"\n}\n");
}

}  // namespace

TEST_CASE("a checkpoint comes back as it was saved") {
  const TempDir dir;
  CheckpointStore store(dir / "run/ckpt", 3);
  CHECK(store.steps().empty());
  save(store, 4096);
  save(store, 8192, true);

  const Checkpoint loaded = store.load_latest(kNoWarning);
  CHECK(loaded.step == 8192);
  CHECK(is_of_one_step(loaded));
  CHECK(loaded.tensors.at("model").at("actor.0.weight").shape == std::vector<std::int64_t>{3, 1});
  CHECK(is_of_one_step(store.load(4096)));
  CHECK(store.steps() == std::vector<std::int64_t>{4096, 8192});
  CHECK(store.best() == 8192);
  CHECK(slurp(dir / "run/ckpt/LATEST") == "8192\n");
}

TEST_CASE("empty tensors and no tensors at all are fine") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 1);
  CheckpointData data;
  data.tensors["envs"] = {};
  data.tensors["model"] = {{"none", Dtype::i64, {0, 3}, {}}};
  store.save(0, data, false);
  const Checkpoint loaded = store.load_latest(kNoWarning);
  CHECK(loaded.tensors.at("envs").tensors().empty());
  CHECK(loaded.tensors.at("model").at("none").shape == std::vector<std::int64_t>{0, 3});
  CHECK(loaded.state == "");
}

TEST_CASE("fault 6: every flipped bit is noticed, and in a tensor's data the tensor is named") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  save(store, 8192);
  for (const std::string& name : kFiles) {
    const std::string path = dir / ("ckpt/8192/" + name);
    const std::string whole = slurp(path);
    const std::size_t data_size = name == "model.safetensors" ? 24 : 16;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      flip_bit(damaged, bit);
      spill(path, damaged);
      const std::string message = error_of([&] { store.load(8192); });
      INFO(name, " bit ", bit, ": ", message);
      REQUIRE(contains(message, "ckpt/8192/" + name + ": "));
      const bool in_data = name.ends_with(".safetensors") && bit / 8 >= whole.size() - data_size;
      if (in_data) { REQUIRE(contains(message, ": tensor 'actor.0.")); }
    }
    spill(path, whole);
  }
  CHECK(is_of_one_step(store.load(8192)));
}

TEST_CASE("the damaged tensor is the one named") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  save(store, 8192);
  const std::string path = dir / "ckpt/8192/model.safetensors";
  std::string bytes = slurp(path);
  bytes[bytes.size() - 24] ^= 1;  // weight and bias are 12 bytes each
  spill(path, bytes);
  CHECK(error_of([&] { store.load(8192); }) == path + ": tensor 'actor.0.weight' is damaged");
}

TEST_CASE("fault 6: every truncation is noticed and the file named") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  save(store, 8192);
  for (const std::string& name : kFiles) {
    const std::string path = dir / ("ckpt/8192/" + name);
    const std::string whole = slurp(path);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      spill(path, whole.substr(0, size));
      REQUIRE(contains(error_of([&] { store.load(8192); }), path + ": "));
    }
    fs::remove(path);
    CHECK(error_of([&] { store.load(8192); }) == path + ": is missing");
    spill(path, whole);
  }
}

TEST_CASE("fault 6: a damaged newest falls back to the one before, loudly") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  for (const std::int64_t step : {1, 2, 3}) { save(store, step); }
  std::string bytes = slurp(dir / "ckpt/3/optim.safetensors");
  bytes.back() ^= 4;
  spill(dir / "ckpt/3/optim.safetensors", bytes);

  Warnings warnings;
  const Checkpoint loaded = store.load_latest(warnings.sink());
  CHECK(loaded.step == 2);
  CHECK(is_of_one_step(loaded));
  CHECK(warnings.text ==
        dir / "ckpt/3/optim.safetensors: tensor 'actor.0.exp_avg' is damaged; using " + dir.path() +
            "/ckpt/2 instead\n");

  fs::remove(dir / "ckpt/2/state.json");
  CHECK(store.load_latest(warnings.sink()).step == 1);
  CHECK(contains(warnings.text, "ckpt/2/state.json: is missing; using"));
}

/// Something that opens but cannot be read as a file, for root too.
static void replace_by_fifo(const std::string& path) {
  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
}

static void replace_by_folder(const std::string& path) {
  fs::remove(path);
  fs::create_directory(path);
}

TEST_CASE("fault 6: what cannot be read falls back as what is damaged does") {
  for (const auto replace : {replace_by_fifo, replace_by_folder}) {
    for (const std::string& name : kFiles) {
      const TempDir dir;
      CheckpointStore store(dir / "ckpt", 3);
      for (const std::int64_t step : {1, 2}) { save(store, step); }
      replace(dir / ("ckpt/2/" + name));
      Warnings warnings;
      const Checkpoint loaded = store.load_latest(warnings.sink());
      CHECK(loaded.step == 1);
      CHECK(is_of_one_step(loaded));
      CHECK(warnings.text == dir / ("ckpt/2/" + name) + ": is not a regular file; using " +
                                 dir.path() + "/ckpt/1 instead\n");
    }
  }
}

TEST_CASE("fault 6: a LATEST that cannot be read is as one that is missing") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  for (const std::int64_t step : {1, 2}) { save(store, step); }
  replace_by_fifo(dir / "ckpt/LATEST");
  Warnings warnings;
  CHECK(store.load_latest(warnings.sink()).step == 2);
  CHECK(contains(warnings.text, "ckpt/LATEST: is not a regular file; using"));
}

TEST_CASE("no whole checkpoint, or none at all, is bad data and never a fresh start") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  CHECK(contains(error_of([&] { store.load_latest(kNoWarning); }), "no checkpoint yet"));
  save(store, 1);
  save(store, 2);
  spill(dir / "ckpt/1/state.json", "");
  spill(dir / "ckpt/2/MANIFEST.json", "{}");
  try {
    store.load_latest(kNoWarning);
    FAIL("loaded");
  } catch (const Error& error) {
    CHECK(error.exit() == Exit::bad_data);
    CHECK(contains(error.what(), "ckpt/1/state.json: has 0 bytes"));
    CHECK(contains(error.what(), "ckpt/2/MANIFEST.json: is damaged"));
  }
  CHECK(contains(error_of([&] { store.load(7); }), "no such checkpoint; found: 1, 2"));
}

TEST_CASE("LATEST missing, garbled or wrong is tolerated and reported") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  for (const std::int64_t step : {1, 2, 3}) { save(store, step); }
  for (const std::string text :
       {"", "\n", "3", "03\n", "-3\n", "3\n\n", "x\n", "4\n", "99999999999999999999\n"}) {
    spill(dir / "ckpt/LATEST", text);
    Warnings warnings;
    CHECK(store.load_latest(warnings.sink()).step == 3);
    CHECK(contains(warnings.text, "using " + dir.path() + "/ckpt/3 instead"));
  }
  fs::remove(dir / "ckpt/LATEST");
  Warnings warnings;
  CHECK(store.load_latest(warnings.sink()).step == 3);
  CHECK(contains(warnings.text, "LATEST: is missing"));

  spill(dir / "ckpt/LATEST", "1\n");  // one flipped bit away from 3
  warnings.text.clear();
  CHECK(store.load_latest(warnings.sink()).step == 1);
  CHECK(contains(warnings.text, "LATEST: names 1 although 3 is there"));
}

TEST_CASE("fault 24: a checkpoint of a newer schema is refused with both versions, not skipped") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  save(store, 1);
  save(store, 2);
  const std::string path = dir / "ckpt/2/MANIFEST.json";
  forge(path, "\"schema\": 1", "\"schema\": 9");
  const std::string message = error_of([&] { store.load_latest(kNoWarning); });
  CHECK(contains(message, path + ": schema 9 is newer than the 1 that this version reads"));
}

TEST_CASE("a checkpoint of a machine of the other byte order is refused with both orders") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  save(store, 1);
  const std::uint16_t one = 1;
  unsigned char first = 0;
  std::memcpy(&first, &one, 1);
  const std::string own = first == 1 ? "little" : "big";
  const std::string other = first == 1 ? "big" : "little";
  forge(dir / "ckpt/1/MANIFEST.json", "\"endianness\": \"" + own, "\"endianness\": \"" + other);
  CHECK(contains(error_of([&] { store.load(1); }),
                 "written on a " + other + "-endian machine, this one is " + own + "-endian"));
}

TEST_CASE("a manifest cannot reach outside its directory, or be of another step") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 3);
  save(store, 1);
  fs::copy(dir / "ckpt/1", dir / "ckpt/5");
  CHECK(contains(error_of([&] { store.load(5); }), "is of step 1, not 5"));

  forge(dir / "ckpt/1/MANIFEST.json", "state.json", "../../x");
  CHECK(contains(error_of([&] { store.load(1); }), "'../../x' is not a file of a checkpoint"));
}

TEST_CASE("prune keeps the newest and the best, and what a killed save left goes") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 2);
  for (const std::int64_t step : {1, 2, 3, 4}) { save(store, step, step == 2); }
  CHECK(store.steps() == std::vector<std::int64_t>{2, 3, 4});
  CHECK(store.best() == 2);
  fs::create_directory(dir / "ckpt/.tmp-77");
  spill(dir / "ckpt/.tmp-77/model.safetensors", "half");
  save(store, 5, true);
  CHECK(store.steps() == std::vector<std::int64_t>{4, 5});
  CHECK(!fs::exists(dir / "ckpt/.tmp-77"));
}

TEST_CASE("a save forgets the future that a resume left, but not the best of it") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 2);
  for (const std::int64_t step : {10, 20, 30, 40}) { save(store, step, step == 30); }
  save(store, 25);
  CHECK(store.steps() == std::vector<std::int64_t>{25, 30});
  Warnings warnings;
  CHECK(store.load_latest(warnings.sink()).step == 25);
}

TEST_CASE("the same step may be saved again") {
  const TempDir dir;
  CheckpointStore store(dir / "ckpt", 2);
  save(store, 7);
  const Sample sample(7);
  CheckpointData other = sample.data();
  other.state = "second";
  store.save(7, other, false);
  CHECK(store.load_latest(kNoWarning).state == "second");
  CHECK(store.steps() == std::vector<std::int64_t>{7});
  CHECK(!fs::exists(dir / "ckpt/.tmp-7"));
}

}  // namespace checkpoint_test
