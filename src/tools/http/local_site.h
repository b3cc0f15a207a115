#pragma once
#include <string_view>

namespace penstock::http {

// A page of another site that somebody has open can send requests to any port of his machine, and
// by a name of its own that it lets point to 127.0.0.1 it could read the answers too. Both show in
// what the browser adds: the name that it called, and the page's origin.

/// Whether a Host header names this server: 127.0.0.1, localhost or [::1], with the port.
bool is_local_host(std::string_view host, int port);

/// Whether an Origin header is a page of this server.
bool is_local_origin(std::string_view origin, int port);

}  // namespace penstock::http
