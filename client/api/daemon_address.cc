#include "client/api/daemon_address.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/net/http_call.h"

namespace gpuadvise::client {

Result<std::vector<std::string>> ReadDaemonList(std::string_view text) {
  std::vector<std::string> places;
  if (Trim(text).empty()) return BadInput("no daemon is named; write https://HOST:PORT");
  for (const std::string_view word : SplitAt(text, ',')) {
    const std::string place(Trim(word));
    const bool is_known = place.starts_with('/') || place.starts_with("https://");
    if (!is_known || !ReadHttpPlace(place)) {
      return BadInput(
          fmt::format("{} is no daemon; write https://HOST:PORT or /PATH/OF/SOCKET, several with "
                      "commas",
                      Quoted(Shortened(place, kMaxQuotedBytes))));
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace gpuadvise::client
