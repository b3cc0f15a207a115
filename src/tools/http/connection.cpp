#include "tools/http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <string_view>
#include <utility>

#include "penstock/core/base/deadline.h"

namespace penstock::http {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using asio::ip::tcp;

constexpr double kForever = 1e8;  // seconds

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

Connection::Connection(tcp::socket socket, Hub& hub) : socket_(std::move(socket)), hub_(hub) {
  Code ignored;
  // Else the second half of an answer waits for the peer to acknowledge the first: 40 ms.
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
}

void Connection::start(Connections::iterator listed) {
  listed_ = listed;
  rest();
}

void Connection::become(Phase phase, double seconds) {
  phase_ = phase;
  deadline_ = in_seconds(seconds);
}

void Connection::hold(std::size_t bytes) { hub_.hold(bytes, std::exchange(held_bytes_, bytes)); }

void Connection::close() {
  if (phase_ == Phase::closed) { return; }
  phase_ = Phase::closed;
  hold(0);
  Code ignored;
  socket_.close(ignored);
  hub_.closed(listed_);
}

// ---- receiving

/// Waiting needs no buffer: bytes are read to the hub's once they are there.
void Connection::wait() {
  if (std::exchange(waiting_, true)) { return; }
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const Code& code) {
    self->waiting_ = false;
    if (!code) { self->on_readable(); }
  });
}

void Connection::on_readable() {
  if (waits_for_answer() || phase_ == Phase::closed) { return; }
  Code code;
  const std::size_t count = socket_.read_some(asio::buffer(hub_.scratch()), code);
  if (code == asio::error::would_block || code == asio::error::interrupted) { return wait(); }
  if (code) { return close(); }
  hub_.metrics().received_bytes += count;
  if (phase_ == Phase::lingering) { return wait(); }
  receive(count);
}

void Connection::receive(std::size_t count) {
  pending_.append(hub_.scratch().data(), count);
  if (phase_ == Phase::idle) { begin(); }
  parse();
}

void Connection::begin() {
  reader_ = std::make_unique<RequestReader>(hub_.limits(), hub_.port());
  route_ = nullptr;
  head_seen_ = false;
  become(Phase::receiving, hub_.limits().request_s);
  hub_.moved_on(listed_);
}

void Connection::parse() {
  if (!read_pending()) { return; }
  hold(reader_->request().body.size());
  if (phase_ != Phase::receiving) { return; }  // it was this one that had to make room
  if (reader_->done()) { return dispatch(); }
  if (pending_.size() > hub_.limits().header_bytes) {  // of a chunk, or behind the last
    return refuse(error_response(431, "a chunk's head or the trailer is too long"));
  }
  wait();
}

/// Hands the reader what has come; false when the request was refused.
bool Connection::read_pending() {
  std::size_t taken = 0;
  while (!reader_->done() && taken < pending_.size()) {
    const std::size_t count = reader_->read(std::string_view(pending_).substr(taken));
    if (const auto& refusal = reader_->refusal()) {
      refuse(error_response(refusal->status, refusal->why));
      return false;
    }
    if (count == 0) { break; }
    taken += count;
    if (reader_->head_done() && !std::exchange(head_seen_, true) && !accept_head()) {
      return false;
    }
  }
  pending_.erase(0, taken);
  return true;
}

/// Whether the body of a request with this head is wanted.
bool Connection::accept_head() {
  route_ = hub_.routes().find(reader_->request());
  if (route_ == nullptr && reader_->has_body()) {
    refuse(hub_.routes().explain_missing(reader_->request()));
    return false;
  }
  if (reader_->waits_for_continue()) {
    Code ignored;  // the buffer of the system is empty, and a peer without it sends on anyway
    socket_.write_some(asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")), ignored);
  }
  return true;
}

// ---- answering

void Connection::dispatch() {
  received_ = Clock::now();
  headless_ = reader_->request().method == "HEAD";
  keep_ = reader_->keeps_alive();
  become(Phase::working, hub_.limits().work_s);
  if (route_ == nullptr) { return write(hub_.routes().explain_missing(reader_->request())); }
  if (route_->at_once) { return write(answer(*route_, reader_->take())); }
  send_to_worker(*route_);
}

void Connection::send_to_worker(const Route& route) {
  auto request = std::make_shared<Request>(reader_->take());
  const Deadline deadline = Deadline::in(hub_.limits().work_s);
  const bool added = hub_.workers().try_add([=, self = shared_from_this(), &route]() mutable {
    if (deadline.passed()) { return; }  // expire() tells the peer
    const DeadlineScope scope(deadline);
    Response response = answer(route, std::move(*request));
    request.reset();
    asio::io_context& io = self->hub_.io();
    asio::post(io, [self = std::move(self), response = std::move(response)]() mutable {
      if (self->phase_ == Phase::working) { self->write(std::move(response)); }
    });
  });
  if (!added) { write(busy_response("too many requests wait already")); }
}

void Connection::refuse(Response response) {
  refused_ = true;
  headless_ = false;
  write(std::move(response));
}

void Connection::write(Response response) {
  keep_ = keep_ && !refused_ && !(hub_.draining() && pending_.empty());
  status_ = response.status;
  head_ = head_of(response, keep_);
  body_ = headless_ ? std::string() : std::move(response.body);
  reader_.reset();
  become(Phase::writing, hub_.limits().answer_s);
  hub_.moved_on(listed_);
  hold(head_.size() + body_.size());
  if (phase_ == Phase::closed) { return; }
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(head_), asio::buffer(body_)};
  asio::async_write(socket_, parts,
                    [self = shared_from_this()](const Code& code, std::size_t sent) {
                      self->on_written(code.failed(), sent);
                    });
}

void Connection::on_written(bool failed, std::size_t sent) {
  hub_.metrics().sent_bytes += sent;
  if (phase_ == Phase::closed) { return; }
  if (failed) { return close(); }
  const std::string path = route_ != nullptr ? route_->path : "other";
  if (refused_) {
    hub_.metrics().count(path, status_);
  } else {
    hub_.metrics().count(path, status_, seconds_since(received_));
  }
  next();
}

void Connection::next() {
  if (refused_) { return linger(); }
  if (!keep_) { return close(); }
  if (pending_.empty()) { return rest(); }
  begin();
  parse();
}

/// Idle, with nothing but the socket.
void Connection::rest() {
  for (std::string* text : {&pending_, &head_, &body_}) { *text = std::string(); }
  hold(0);
  become(Phase::idle, hub_.limits().idle_s);
  if (hub_.draining()) { return drain(); }
  wait();
}

/// A socket that is closed while the peer sends takes the answer with it: read on for a while.
void Connection::linger() {
  Code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  const Limits& limits = hub_.limits();
  become(Phase::lingering,
         std::min(limits.linger_s, hub_.draining() ? limits.drain_s / 8 : kForever));
  hold(0);
  wait();
}

// ---- what the clock and others ask for

bool Connection::can_let_go() const {
  return (phase_ == Phase::receiving || phase_ == Phase::writing) && held_bytes_ > 0;
}

void Connection::let_go() {
  if (phase_ == Phase::writing) { return close(); }
  refuse(busy_response("too many long requests at a time"));
}

void Connection::expire(Clock::time_point now) {
  if (phase_ == Phase::closed || now < deadline_) { return; }
  if (phase_ == Phase::working) {
    keep_ = false;  // or what the worker answers in the end would be taken for that of the next
    return write(busy_response(fmt::format("no answer within {} s", hub_.limits().work_s)));
  }
  if (phase_ != Phase::receiving) { return close(); }
  refuse(error_response(
      408, fmt::format("the request did not arrive within {} s", hub_.limits().request_s)));
}

void Connection::drain() {
  Code ignored;
  if (phase_ == Phase::idle && socket_.available(ignored) == 0) { return close(); }
  if (waits_for_answer()) { return; }
  deadline_ = std::min(deadline_, in_seconds(hub_.limits().drain_s / 2));
  wait();
}

void Connection::give_up() {
  if (phase_ != Phase::working) { return close(); }
  keep_ = false;
  write(error_response(503, "the server ends"));
}

}  // namespace penstock::http
