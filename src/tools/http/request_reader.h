#pragma once
#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/tools/http/server.h"

namespace penstock::http {

/// Why a request is not taken.
struct Refusal {
  int status = 400;
  std::string why;
};

/// Reads one request in pieces of any size, and holds its limits while they come: of what a peer
/// sends, nothing is kept but the body and four headers. The parser underneath bounds the head only
/// within a piece, takes encodings that it does not decode, and knows no number of headers.
class RequestReader final : private boost::beast::http::basic_parser<true> {
 public:
  RequestReader(const Limits& limits, int port);

  /// Takes bytes from the front and returns how many: 0 when it needs more of them at once, or
  /// refuses. Stops at the end of the head and of the request. Not when done() or refused.
  std::size_t read(std::string_view bytes);

  [[nodiscard]] bool head_done() const { return is_header_done(); }
  [[nodiscard]] bool done() const { return is_done(); }
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }
  /// Once the head is done: the request so far, whether the connection may stay, whether there is a
  /// body, and whether the peer sends it only when told to go on.
  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] bool keeps_alive() const { return keep_alive(); }
  [[nodiscard]] bool has_body() const { return chunked() || content_length().value_or(0) > 0; }
  [[nodiscard]] bool waits_for_continue() const { return expects_ && !done(); }
  Request take() { return std::move(request_); }

 private:
  using Code = boost::beast::error_code;
  using Text = boost::beast::string_view;
  using Field = boost::beast::http::field;

  void refuse(int status, std::string why, Code& code);
  void look_at(Field field, std::string_view value, Code& code);
  std::size_t keep(Text part, Code& code);

  void on_request_impl(boost::beast::http::verb verb, Text method, Text target, int version,
                       Code& code) override;
  void on_response_impl(int status, Text reason, int version, Code& code) override;
  void on_field_impl(Field field, Text name, Text value, Code& code) override;
  void on_header_impl(Code& code) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code& code) override;
  std::size_t on_body_impl(Text part, Code& code) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, Code& code) override;
  std::size_t on_chunk_body_impl(std::uint64_t left, Text part, Code& code) override;
  void on_finish_impl(Code& code) override;

  Limits limits_;
  int port_;
  Request request_;
  std::optional<Refusal> refusal_;
  std::size_t head_bytes_ = 0;
  std::size_t num_headers_ = 0;
  std::uint64_t chunk_left_ = 0;
  int version_ = 0;
  bool has_host_ = false;
  bool expects_ = false;
};

}  // namespace penstock::http
