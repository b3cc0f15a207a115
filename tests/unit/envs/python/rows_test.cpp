#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>

#include "envs/python/futex.h"
#include "envs/python/ipc.h"
#include "envs/python/spin_wait.h"
#include "penstock/core/base/errors.h"
#include "penstock/envs/python/process.h"
#include "penstock/envs/python/worker_port.h"

using namespace penstock;

namespace {

EnvSpec masked_pairs() { return {Layout(3), MultiDiscrete{{2, 3}, true}, 0}; }
EnvSpec points() { return {Layout(5), Box{{-1, -1}, {1, 1}}, 0}; }

/// Fills every place of a block with bytes of its own number; says how many there are.
std::size_t mark_all(SharedRows& rows, bool check) {
  std::size_t number = 0;
  const auto visit = [&](auto span) {
    auto* bytes = reinterpret_cast<unsigned char*>(span.data());
    const auto mark = static_cast<unsigned char>(++number % 251 + 1);
    for (std::size_t i = 0; i < span.size_bytes(); ++i) {
      if (check) {
        REQUIRE(bytes[i] == mark);
      } else {
        bytes[i] = mark;
      }
    }
  };
  for (std::size_t env = 0; env < rows.num_envs(); ++env) {
    visit(rows.obs(env));
    visit(rows.final_obs(env));
    visit(rows.choices(env));
    visit(rows.points(env));
    visit(rows.message(env));
    visit(std::span(&rows.seed(env), 1));
    visit(std::span(&rows.reward(env), 1));
    visit(std::span(&rows.answer(env), 1));
    visit(std::span(reinterpret_cast<unsigned char*>(rows.legal(env).data()), rows.mask_width()));
    visit(std::span(reinterpret_cast<unsigned char*>(&rows.terminated(env)), 1));
    visit(std::span(reinterpret_cast<unsigned char*>(&rows.truncated(env)), 1));
    visit(std::span(reinterpret_cast<unsigned char*>(&rows.success(env)), 1));
    visit(std::span(reinterpret_cast<unsigned char*>(&rows.order(env)), sizeof(Order)));
  }
  for (std::size_t w = 0; w < rows.num_workers(); ++w) {
    visit(std::span(reinterpret_cast<unsigned char*>(&rows.mail(w)), sizeof(Mailbox)));
  }
  return number;
}

/// A child that does nothing but what it is told.
template <class Deed>
Process forked(const Deed& deed) {
  std::cout.flush();
  const pid_t pid = ::fork();
  if (pid == 0) {
    deed();
    ::_exit(0);
  }
  return {pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

std::string end_of(const Process& process) {
  int status = 0;
  ::waitpid(process.pid(), &status, 0);
  return status_text(status);
}

}  // namespace

TEST_CASE("no two places of a block overlap, and both ends see the same ones") {
  for (const EnvSpec& spec : {masked_pairs(), points(), EnvSpec{Layout(1), Discrete{4}, 0}}) {
    SharedRows ours(spec, 7, 3);
    SharedRows theirs(ours.fd());
    CHECK(theirs.num_envs() == 7);
    CHECK(theirs.num_workers() == 3);
    CHECK(theirs.num_features() == spec.obs.size());
    CHECK(theirs.mask_width() == (spec.action.masked() ? spec.action.num_actions() : 0));
    CHECK(theirs.continuous() == spec.action.continuous());
    CHECK(ours.choices(0).size() + ours.points(0).size() == spec.action.dims());
    mark_all(ours, false);
    mark_all(theirs, true);
    // Mailboxes are written by two processes at once: none shares a line with another.
    CHECK(reinterpret_cast<std::uintptr_t>(&theirs.mail(1)) % 128 == 0);
  }
}

TEST_CASE("a header that was changed, or a block that was cut, is refused") {
  for (std::size_t field = 0; field < 4; ++field) {
    CAPTURE(field);
    const SharedRows rows(masked_pairs(), 7, 3);
    std::uint64_t value = 0;
    const auto offset = static_cast<off_t>(field * sizeof(value));
    REQUIRE(::pread(rows.fd(), &value, sizeof(value), offset) == sizeof(value));
    for (const std::uint64_t wrong : {value + 100, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
      REQUIRE(::pwrite(rows.fd(), &wrong, sizeof(wrong), offset) == sizeof(wrong));
      CHECK_THROWS_AS(SharedRows(rows.fd()), DataError);
    }
    REQUIRE(::pwrite(rows.fd(), &value, sizeof(value), offset) == sizeof(value));
    CHECK_NOTHROW(SharedRows(rows.fd()));
    struct stat info {};
    REQUIRE(::fstat(rows.fd(), &info) == 0);
    REQUIRE(::ftruncate(rows.fd(), info.st_size - 1) == 0);
    CHECK_THROWS_AS(SharedRows(rows.fd()), DataError);
  }
  CHECK_THROWS_AS(SharedRows(-1), DataError);
}

TEST_CASE("a block of no envs or no workers is refused, also one of the right size") {
  const SharedRows rows(masked_pairs(), 7, 3);
  std::array<std::uint64_t, 7> header{};
  REQUIRE(::pread(rows.fd(), header.data(), sizeof(header), 0) == sizeof(header));
  for (const std::uint64_t workers : {0U, 3U}) {
    const detail::Descriptor block = detail::memory_with("");
    header[1] = 0;
    header[2] = workers;
    REQUIRE(::pwrite(block.get(), header.data(), sizeof(header), 0) == sizeof(header));
    REQUIRE(::ftruncate(block.get(), static_cast<off_t>(128 * (1 + workers))) == 0);
    CHECK_THROWS_WITH_AS(SharedRows(block.get()), doctest::Contains("not rows of envs"), DataError);
  }
}

TEST_CASE("a worker carries out its own orders in the order of its envs, each once") {
  SharedRows rows(points(), 6, 2);
  WorkerPort port(rows, 1);
  CHECK(port.range().begin == 3);
  rows.order(0) = Order::step;  // of the other worker
  rows.order(5) = Order::reset;
  rows.order(3) = Order::step;
  std::vector<std::pair<std::size_t, Order>> done;
  const auto work = [&](std::size_t env, Order order) {
    CHECK(rows.mail(1).current == static_cast<std::int32_t>(env));  // whom to blame
    CHECK(rows.order(env) == order);  // not answered before it is done
    done.emplace_back(env, order);
  };
  CHECK(port.wait());
  port.serve(work);
  CHECK(done == std::vector<std::pair<std::size_t, Order>>{{3, Order::step}, {5, Order::reset}});
  CHECK(rows.order(0) == Order::step);
  CHECK(rows.order(3) == Order::none);
  CHECK(rows.order(5) == Order::none);
  CHECK(rows.mail(1).current == -1);
  CHECK(rows.mail(1).progress == 2);
  CHECK(rows.mail(1).completed == 1);
  port.serve(work);
  CHECK(done.size() == 2);
}

TEST_CASE("a worker that sleeps is woken by the bell, and ends when it is told to") {
  SharedRows rows(points(), 1, 1);
  Mailbox& mail = rows.mail(0);
  int served = 0;
  std::thread worker([&] {
    WorkerPort port(rows, 0);
    while (port.wait()) {
      port.serve([&](std::size_t, Order) { ++served; });
    }
  });
  for (std::uint32_t round = 1; round <= 3; ++round) {
    while (mail.asleep == 0) { std::this_thread::yield(); }  // it has given up looking
    rows.order(0) = Order::step;
    mail.bell.fetch_add(1);
    detail::futex_wake(mail.bell);
    while (mail.completed < round) { std::this_thread::yield(); }
    CHECK(rows.order(0) == Order::none);
  }
  mail.quit = 1;
  mail.bell.fetch_add(1);
  detail::futex_wake(mail.bell);
  worker.join();
  CHECK(served == 3);
}

TEST_CASE("quitting comes before orders: a parent that ends wants no more answers") {
  SharedRows rows(points(), 1, 1);
  rows.order(0) = Order::step;
  rows.mail(0).quit = 1;
  CHECK(!WorkerPort(rows, 0).wait());
}

TEST_CASE("looking again and again comes to an end, and begins anew when asked") {
  detail::SpinWait patience;
  for (int round = 0; round < 3; ++round) {
    patience.renew();
    std::int64_t looks = 0;
    while (patience.left()) {
      ++looks;
      REQUIRE(looks < 1'000'000'000);
    }
  }
}

TEST_CASE("a futex does not sleep on a word that has changed already") {
  std::atomic<std::uint32_t> word{7};
  detail::futex_wait(word, 6, 3600);  // an hour, were it to sleep
  CHECK(word == 7);
}

TEST_CASE("a process is running until it ends, and its end is told in words") {
  const Process waits = forked([] { ::pause(); });
  CHECK(waits.running());
  CHECK(!waits.ended_within(0));
  waits.kill();
  CHECK(waits.ended_within(60));
  CHECK(!waits.running());
  CHECK(end_of(waits) == "killed by signal 9 (Killed)");
  const Process leaves = forked([] { ::_exit(3); });
  CHECK(leaves.ended_within(60));
  CHECK(end_of(leaves) == "ended with exit code 3");
  const Process told = forked([] {
    for (;;) { ::pause(); }
  });
  told.send(SIGUSR2);
  CHECK(told.ended_within(60));
  CHECK(end_of(told).find("signal 12") != std::string::npos);
}

/// Signals every few milliseconds, which no system call is taken up again after.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before_);
    every(10'000);
  }
  ~Interruptions() {
    every(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  static void every(suseconds_t microseconds) {
    const itimerval timer{{0, microseconds}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before_ {};
};

TEST_CASE("signals do not cut short the wait for a process or for an answer") {
  const detail::Pair socket = detail::make_socket();
  const Process slow = forked([&] {  // timers are not inherited
    ::usleep(200'000);
    detail::send_line(socket.theirs.get(), "here", -1);
    ::usleep(200'000);
  });
  const Interruptions interruptions;
  CHECK(!slow.ended_within(0.05));
  CHECK(detail::receive_line(socket.ours.get(), 60, nullptr) == "here");
  CHECK_THROWS_WITH_AS(detail::receive_line(socket.ours.get(), 0.05, nullptr),
                       doctest::Contains("silent"), IoError);
  CHECK(slow.ended_within(60));
  int status = 0;
  while (::waitpid(slow.pid(), &status, 0) < 0) {}
}

TEST_CASE("an answer of the server that names no process is refused with what it was") {
  const SharedRows rows(masked_pairs(), 2, 1);
  for (const char* answer : {"{}", "[7]", "nonsense", R"({"pid": "7"})", R"({"pid": 7})"}) {
    CAPTURE(answer);
    const auto launcher = make_server_launcher({}, [&](int channel, int, int) {
      return forked([&] {
        detail::receive_line(channel, 60, nullptr);
        detail::send_line(channel, answer, -1);
      });
    });
    CHECK_THROWS_WITH_AS(launcher->start(rows, 0), doctest::Contains(answer), IoError);
  }
}

TEST_CASE("a worker does not outlive its parent, not even inside an env's code") {
  int pipe[2] = {-1, -1};
  REQUIRE(::pipe(pipe) == 0);
  const Process worker = forked([&] {
    ::close(pipe[1]);
    end_with_parent(pipe[0]);
    for (;;) { ::pause(); }
  });
  ::close(pipe[0]);
  CHECK(worker.running());
  ::close(pipe[1]);  // what the kernel does for a parent that was killed
  CHECK(worker.ended_within(60));
  CHECK(end_of(worker) == "ended with exit code 0");
}

TEST_CASE("nor does what an env started there and nobody is the parent of") {
  int lifeline[2] = {-1, -1};
  int lives[2] = {-1, -1};
  REQUIRE(::pipe(lifeline) == 0);
  REQUIRE(::pipe(lives) == 0);
  const Process worker = forked([&] {
    ::setpgid(0, 0);
    ::close(lifeline[1]);
    const pid_t between = ::fork();
    if (between == 0) {
      if (::fork() != 0) { ::_exit(0); }
      for (;;) { ::pause(); }
    }
    ::waitpid(between, nullptr, 0);
    end_with_parent(lifeline[0]);
    for (;;) { ::pause(); }
  });
  ::close(lifeline[0]);
  ::close(lives[1]);
  ::close(lifeline[1]);
  pollfd end{.fd = lives[0], .events = POLLIN, .revents = 0};
  CHECK(::poll(&end, 1, 60'000) == 1);  // whoever could write has ended
  CHECK((end.revents & POLLHUP) != 0);
  ::close(lives[0]);
  ::kill(-worker.pid(), SIGKILL);  // whoever is left after all
  CHECK(worker.ended_within(60));
  CHECK(end_of(worker) == "killed by signal 9 (Killed)");
}

TEST_CASE("a process that was moved from is nobody's, and signals to it go nowhere") {
  Process first = forked([] { ::pause(); });
  const Process second = std::move(first);
  CHECK(!first.running());  // NOLINT(bugprone-use-after-move): what is tested
  CHECK(second.running());
  second.kill();
  CHECK(second.ended_within(60));
  end_of(second);
}
