#include "penstock/envs/python/worker_port.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "envs/python/futex.h"
#include "envs/python/process_tree.h"
#include "envs/python/spin_wait.h"

namespace penstock {
namespace {

constexpr double kLongSleepS = 1.0;  // whatever is missed is seen after this

}  // namespace

WorkerPort::WorkerPort(SharedRows& rows, std::size_t worker)
    : rows_(rows), mail_(rows.mail(worker)), range_(rows.range_of(worker)) {}

bool WorkerPort::has_orders() const {
  for (std::size_t i = range_.begin; i < range_.end; ++i) {
    if (rows_.order(i).load(std::memory_order_acquire) != Order::none) { return true; }
  }
  return false;
}

bool WorkerPort::wait() {
  thread_local detail::SpinWait spin;
  spin.renew();
  for (;;) {
    const std::uint32_t seen = mail_.bell;
    if (mail_.quit != 0) { return false; }
    if (has_orders()) { return true; }
    // While the bell is silent there is no need to look through the rows again.
    bool rang = false;
    while (!rang && spin.left()) { rang = mail_.bell != seen; }
    if (rang) { continue; }
    mail_.asleep = 1;
    if (mail_.bell == seen) { detail::futex_wait(mail_.bell, seen, kLongSleepS); }
    mail_.asleep = 0;
  }
}

// An order is cleared by a release store after the row is written, env by env: a parent that waits
// for a part of the worker's envs need not wait for the others. The wake-up comes once, at the end.
void WorkerPort::serve(const std::function<void(std::size_t, Order)>& work) {
  for (std::size_t i = range_.begin; i < range_.end; ++i) {
    const Order order = rows_.order(i).load(std::memory_order_acquire);
    if (order == Order::none) { continue; }
    mail_.current = i;
    work(i, order);
    mail_.current.store(-1, std::memory_order_relaxed);
    mail_.progress.fetch_add(1, std::memory_order_relaxed);
    rows_.order(i).store(Order::none, std::memory_order_release);
  }
  announce();
}

void WorkerPort::announce() {
  mail_.completed.fetch_add(1);
  if (mail_.waiting != 0) { detail::futex_wake(mail_.completed); }
}

void end_with_parent(int pipe) {
  std::thread([pipe] {
    char byte = 0;
    while (::read(pipe, &byte, 1) != 0) {
      if (errno != EINTR) { break; }
    }
    detail::end_below_this_process();
    if (::getpgrp() == ::getpid()) { ::kill(0, SIGKILL); }  // who is left of its group, and itself
    ::_exit(0);
  }).detach();
}

}  // namespace penstock
