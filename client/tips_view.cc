#include "client/tips_view.h"

#include <nlohmann/json.hpp>

#include "client/answer_reader.h"
#include "client/display.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int kIndent = 4;

/// "  · text", further lines under the text.
std::string Entry(const std::string& text, const Look& look) {
  return "  · " + Indented(text, kIndent, look.width).substr(kIndent);
}

std::string EffectText(const json& tip, const Look& look) {
  const std::string effect = TextOf(tip, "effect");
  if (effect.empty()) return {};
  const std::string source = TextOf(tip, "effect_source");
  const std::string behind = source.empty() ? "" : " (" + source + ")";
  return Indented("Effect: " + effect + behind, kIndent, look.width);
}

}  // namespace

std::string TipsView(const json& stage, const Look& look) {
  std::string here;
  std::string not_here;
  for (const json& tip : ListOf(stage, "tips")) {
    if (tip.value("applies", false)) {
      here += Entry(TextOf(tip, "text"), look) + EffectText(tip, look);
    } else {
      not_here += Entry(TextOf(tip, "name") + ": " + TextOf(tip, "why_not"), look);
    }
  }
  const json& rows = ListOf(stage, "gpus");
  const std::string gpu = rows.empty() ? "" : " for " + TextOf(rows[0], "gpu_name");
  std::string text;
  if (!here.empty()) text += "\nTips" + gpu + ":\n" + here;
  if (!not_here.empty()) text += "\nDoes not apply here:\n" + not_here;
  return text;
}

}  // namespace gpuadvise
