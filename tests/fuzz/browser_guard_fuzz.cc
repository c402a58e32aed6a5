// Header fields as a page of anybody's may send them: no name passes that is neither an address nor
// this machine's, with whatever around it.
#include "daemon/dashboard/browser_guard.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::daemon;
  const std::string text(AsText(data, size));
  const size_t cut = text.find('\n');
  ApiRequest request{"GET", "/", ""};
  request.browser.host = text.substr(0, cut);
  if (cut != std::string::npos) request.browser.origin = text.substr(cut + 1);
  const std::string host = HostWithoutPort(request.browser.host);
  Require(host.size() <= request.browser.host.size(), "a host does not grow");
  const auto allowed = CheckBrowser(request, {"gpu.example.org"});
  if (!allowed) {
    Require(allowed.error().message.size() < 600, "the refusal is a sentence");
    return 0;
  }
  const bool letters = host.find_first_of("ghijklmnopqrstuvwxyz") != std::string::npos;
  const bool own = host == "localhost" || host.ends_with(".localhost") ||
                   host == "gpu.example.org" || host.find('%') != std::string::npos;
  Require(!letters || own, "a name passed that is nobody's here");
  return 0;
}
