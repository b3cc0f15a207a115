#include "tools/http/request_reader.h"

#include <fmt/format.h>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "tools/http/local_site.h"

namespace penstock::http {
namespace {

namespace beast = boost::beast::http;

std::string_view text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool same(std::string_view a, std::string_view b) {
  return boost::beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

}  // namespace

RequestReader::RequestReader(const Limits& limits, int port) : limits_(limits), port_(port) {
  header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  body_limit(limits.body_bytes);
}

void RequestReader::refuse(int status, std::string why, Code& code) {
  if (!refusal_) { refusal_ = Refusal{status, std::move(why)}; }
  code = beast::error::bad_value;  // stops the parser
}

std::size_t RequestReader::read(std::string_view bytes) {
  // The shortest end of a chunked body is 0 CR LF CR LF, and with less than that the parser's own
  // assertion fails when it looks a second time.
  constexpr std::size_t kShortestEnd = 5;
  const bool in_head = !head_done();
  if (!in_head && chunked() && chunk_left_ == 0 && bytes.size() < kShortestEnd) { return 0; }
  Code code;
  const std::size_t taken = put(boost::asio::const_buffer(bytes.data(), bytes.size()), code);
  if (in_head) { head_bytes_ += taken; }
  if (code == beast::error::header_limit || head_bytes_ > limits_.header_bytes) {
    refuse(431, fmt::format("the head is longer than {} bytes", limits_.header_bytes), code);
  } else if (code == beast::error::body_limit) {
    refuse(413, fmt::format("the body is longer than {} bytes", limits_.body_bytes), code);
  } else if (code && code != beast::error::need_more) {
    refuse(400, "not an HTTP/1.1 request: " + code.message(), code);
  }
  return refusal_ ? 0 : taken;
}

void RequestReader::on_request_impl(beast::verb /*verb*/, Text method, Text target, int version,
                                    Code& code) {
  const std::string_view whole = text_of(target);
  if (whole.front() != '/') { return refuse(400, "the path should begin with /", code); }
  const std::size_t mark = whole.find('?');
  request_.method = text_of(method);
  request_.path = whole.substr(0, mark);
  if (mark != std::string_view::npos) { request_.query = whole.substr(mark + 1); }
  version_ = version;
}

void RequestReader::on_field_impl(Field field, Text /*name*/, Text value, Code& code) {
  if (++num_headers_ > limits_.num_headers) {
    return refuse(431, fmt::format("there are more than {} headers", limits_.num_headers), code);
  }
  if (!head_done()) { look_at(field, text_of(value), code); }  // else a trailer, which says nothing
}

void RequestReader::look_at(Field field, std::string_view value, Code& code) {
  if (field == Field::host) {
    if (std::exchange(has_host_, true)) { return refuse(400, "there are two Host headers", code); }
    if (!is_local_host(value, port_)) {
      refuse(421, fmt::format("Host should be 127.0.0.1:{0} or localhost:{0}", port_), code);
    }
  } else if (field == Field::origin && !is_local_origin(value, port_)) {
    refuse(403, "the Origin is another site: its pages may not ask this server", code);
  } else if (field == Field::content_encoding && !same(value, "identity")) {
    refuse(415, "Content-Encoding is not supported: send the body as it is", code);
  } else if (field == Field::transfer_encoding && !same(value, "chunked")) {
    refuse(501, "of Transfer-Encoding only chunked is supported", code);
  } else if (field == Field::expect) {
    if (!same(value, "100-continue")) {
      return refuse(417, "of Expect only 100-continue is supported", code);
    }
    expects_ = true;
  }
}

void RequestReader::on_header_impl(Code& code) {
  constexpr int kOld = 10;  // HTTP/1.0
  if (!has_host_) { return refuse(400, "the Host header is missing", code); }
  if (version_ == kOld && chunked()) {
    return refuse(400, "HTTP/1.0 has no chunked bodies: give Content-Length", code);
  }
  expects_ = expects_ && version_ != kOld;
}

std::size_t RequestReader::keep(Text part, Code& code) {
  if (part.size() > limits_.body_bytes - request_.body.size()) {
    refuse(413, fmt::format("the body is longer than {} bytes", limits_.body_bytes), code);
    return 0;
  }
  request_.body.append(part.data(), part.size());
  return part.size();
}

std::size_t RequestReader::on_body_impl(Text part, Code& code) { return keep(part, code); }

void RequestReader::on_chunk_header_impl(std::uint64_t size, Text /*extensions*/, Code& /*code*/) {
  chunk_left_ = size;
}

std::size_t RequestReader::on_chunk_body_impl(std::uint64_t /*left*/, Text part, Code& code) {
  const std::size_t kept = keep(part, code);
  chunk_left_ -= kept;
  return kept;
}

void RequestReader::on_response_impl(int /*status*/, Text /*reason*/, int /*version*/,
                                     Code& /*code*/) {}
void RequestReader::on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                                      Code& /*code*/) {}
void RequestReader::on_finish_impl(Code& /*code*/) {}

}  // namespace penstock::http
