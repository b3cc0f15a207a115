#pragma once
#include <functional>
#include <string>

namespace penstock::booking {

/// Answers POST /offer with what `answer` makes of the body, on the loopback interface alone:
/// 200, or 400 with {"error": ...} when it throws a penstock::Error. GET /health says "ok".
/// Port 0 is any free one; `ready` is called with it. Returns after SIGINT or SIGTERM, which the
/// calling thread must not have handlers for; calls of `answer` come one at a time. Throws IoError
/// when the port is taken, UsageError when it was built without an HTTP library.
void serve_offers(int port, const std::function<std::string(const std::string& body)>& answer,
                  const std::function<void(int port)>& ready);

}  // namespace penstock::booking
