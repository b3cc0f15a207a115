#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace penstock::booking {

/// How many calls of `answer` serve_offers() makes at a time: a long search leaves a thread for
/// others.
inline constexpr std::size_t kOfferWorkers = 2;

/// Answers POST /offer with what `answer` makes of the body, on the loopback interface alone: 200,
/// or 400 with {"error": ...} when it throws a penstock::Error. GET /health says "ok", GET /metrics
/// what the server does; both answer while offers are priced. A request that has waited for
/// `deadline_s` is told 503, and its search ends. http::Limits has the bounds of what it takes.
///
/// Port 0 is any free one; `ready` is called with it. `answer` is called by several threads at a
/// time. Returns after SIGINT or SIGTERM, once the requests that had begun are answered, within 5
/// s; a call of `answer` that takes longer is not waited for: its client is told 503, and the
/// process ends here. Throws IoError when the port is taken.
void serve_offers(int port, double deadline_s,
                  const std::function<std::string(const std::string& body)>& answer,
                  const std::function<void(int port)>& ready);

}  // namespace penstock::booking
