// What a caller sends: bodies, and what stands behind the "?" of a target.
#include <nlohmann/json.hpp>

#include "daemon/api/requests.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::daemon;
  const std::string_view text = AsText(data, size);
  if (auto body = ParseRequestJson(text)) {
    Require(body->is_object(), "a body is an object");
    const auto explain = TakeSpecText(*body, 1'790'000'000);
    Require(!explain || !body->contains("spec_yaml"), "the text's place is taken by the spec");
  } else {
    Require(!body.error().message.empty() && body.error().message.size() < 500, "in a sentence");
  }
  constexpr const char* kAllowed = "user,partition,gpu,search,state,offset,limit";
  const auto checked = CheckQuery(text, kAllowed);
  if (!checked) {
    Require(checked.error().message.size() < 500, "in a sentence");
    return 0;
  }
  const std::string canonical = CanonicalTarget(text);
  Require(canonical.size() <= size + 16 * 260, "a target does not grow");
  for (const auto& [name, value] : ParseQuery(text)) {
    Require(value.size() <= kMaxQueryValueBytes, "values are short");
  }
  const auto queue = ParseQueueFilter(text);
  Require(queue || !queue.error().message.empty(), "an error has a sentence");
  const auto nodes = ParseNodesFilter(text);
  Require(nodes || !nodes.error().message.empty(), "an error has a sentence");
  return 0;
}
