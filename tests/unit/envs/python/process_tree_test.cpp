#include "envs/python/process_tree.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <thread>

using namespace penstock;
using detail::living_below;
using detail::ProcessEntry;

namespace {

/// A fork of the test that leads a group.
Process fork_child(const std::function<void()>& life) {
  std::cout.flush();  // or the child would print it again
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    life();
    ::_exit(0);
  }
  return {pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

void sleep_on() { ::pause(); }

/// A child and a grandchild that has left for a session of its own.
void start_another() {
  if (::fork() == 0) {
    ::setsid();
    sleep_on();
  }
  sleep_on();
}

std::vector<ProcessEntry> wait_for_number(pid_t root, std::size_t number) {
  std::vector<ProcessEntry> found = living_below(root);
  while (found.size() != number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    found = living_below(root);
  }
  return found;
}

int status_of(const Process& process) {
  int status = 0;
  ::waitpid(process.pid(), &status, 0);
  return status;
}

}  // namespace

TEST_CASE("processes below one are found, parents first, and without those that have ended") {
  const Process child = fork_child(start_another);
  const auto found = wait_for_number(child.pid(), 1);
  CHECK(found[0].parent == child.pid());
  const auto all = living_below(::getpid());
  const auto place = [&](pid_t pid) { return std::ranges::find(all, pid, &ProcessEntry::pid); };
  CHECK(place(child.pid()) < place(found[0].pid));
  detail::end_tree(child);
  CHECK(WTERMSIG(status_of(child)) == SIGKILL);
  wait_for_number(::getpid(), 0);
}

TEST_CASE("a number that another process has by now is not killed") {
  const Process child = fork_child(sleep_on);
  ProcessEntry entry = wait_for_number(::getpid(), 1)[0];
  REQUIRE(entry.pid == child.pid());
  ++entry.started;
  detail::kill_process(entry);
  CHECK_FALSE(child.ended_within(0.05));
  --entry.started;
  detail::kill_process(entry);
  CHECK(WTERMSIG(status_of(child)) == SIGKILL);
}

TEST_CASE("ending all below this process leaves its siblings alone") {
  const Process sibling = fork_child(sleep_on);
  const Process root = fork_child([] {
    fork_child(start_another);
    fork_child(sleep_on);
    wait_for_number(::getpid(), 3);
    detail::end_below_this_process();
    ::_exit(living_below(::getpid()).empty() ? 0 : 1);
  });
  CHECK(WEXITSTATUS(status_of(root)) == 0);
  CHECK(sibling.running());
  detail::end_tree(sibling);
  status_of(sibling);
}

TEST_CASE("a tree that is gone is no trouble") {
  const Process child = fork_child([] {});
  status_of(child);
  detail::end_tree(child);
  detail::end_tree(Process());
}
