#include "daemon/api/words_api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/base/json_fields.h"
#include "common/base/json_text.h"
#include "common/base/words.h"
#include "common/language/catalogue.h"
#include "daemon/api/requests.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

Result<const Catalogue*> WantedCatalogue(const json& body) {
  const auto found = body.find("language");
  if (found == body.end() || !found->is_string()) {
    return BadInput("language is missing; write its tag, such as ko", "/language");
  }
  const Catalogue* catalogue = CatalogueOf(found->get_ref<const std::string&>());
  if (catalogue == nullptr) {
    return BadInput(fmt::format("there are no translations into {}; there are some into ko",
                                Quoted(found->get_ref<const std::string&>())),
                    "/language");
  }
  return catalogue;
}

Result<void> CheckTexts(const json& texts) {
  if (!texts.is_array()) return BadInput("texts is missing or no list of texts", "/texts");
  if (texts.size() > kMostTexts) {
    return BadInput(fmt::format("{} texts; {} are taken", texts.size(), kMostTexts), "/texts");
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].is_string()) continue;
    return BadInput("this is no text", fmt::format("/texts/{}", i));
  }
  return {};
}

Result<json> Translated(const RequestContext& call) {
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return tl::unexpected<Error>(std::move(body.error()));
  const Result<const Catalogue*> catalogue = WantedCatalogue(*body);
  if (!catalogue) return tl::unexpected<Error>(catalogue.error());
  json texts = body->value("texts", json());
  if (const Result<void> checked = CheckTexts(texts); !checked)
    return tl::unexpected<Error>(checked.error());
  for (json& text : texts) {
    if (call.budget.Spent()) break;
    const std::string& english = text.get_ref<const std::string&>();
    if (english.size() <= kMostTextBytes) text = (*catalogue)->Of(english);
  }
  return json{{"texts", std::move(texts)}};
}

}  // namespace

ApiResponse PostWords(RequestContext& call) {
  Result<json> answer = Translated(call);
  return answer ? Reply(call, std::move(*answer)) : Refuse(call, answer.error());
}

}  // namespace gpuadvise::daemon
