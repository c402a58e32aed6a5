// What the settings say about a site's GPUs: gpu_aliases, untyped_gpus, interconnects.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/json_fields.h"
#include "daemon/settings/settings_values.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr double kBitsPerByte = 8;
constexpr SettingForm kText = {"text", 0, 0, false};
constexpr SettingForm kRate = {"number", 0.001, 100'000, false};

// The rules as they stand in the file.
struct UntypedRule : NodeCondition {
  std::string gpu = {};

  UntypedRule() = default;
  explicit UntypedRule(const SiteGpus::UntypedRule& rule)
      : NodeCondition(rule.where), gpu(rule.gpu) {}
  SiteGpus::UntypedRule Value() const { return {*this, gpu}; }
  const char* Missing() const { return gpu.empty() ? "needs a gpu" : nullptr; }
  template <typename F>
  static void Keys(F&& f) {
    f("partition", &UntypedRule::partition, kText);
    f("feature", &UntypedRule::feature, kText);
    f("node", &UntypedRule::node, kText);
    f("gpu", &UntypedRule::gpu, kText);
  }
};

struct InterconnectRule : NodeCondition {
  double network_gbit_per_s = 0;
  double link_gb_per_s = 0;

  InterconnectRule() = default;
  explicit InterconnectRule(const SiteGpus::InterconnectRule& rule)
      : NodeCondition(rule.where),
        network_gbit_per_s(rule.interconnect.network_gb_per_s * kBitsPerByte),
        link_gb_per_s(rule.interconnect.link_gb_per_s) {}
  SiteGpus::InterconnectRule Value() const {
    return {*this, {link_gb_per_s, network_gbit_per_s / kBitsPerByte}};
  }
  const char* Missing() const {
    return network_gbit_per_s + link_gb_per_s > 0 ? nullptr : "needs a rate";
  }
  template <typename F>
  static void Keys(F&& f) {
    f("partition", &InterconnectRule::partition, kText);
    f("feature", &InterconnectRule::feature, kText);
    f("node", &InterconnectRule::node, kText);
    f("network_gbit_per_s", &InterconnectRule::network_gbit_per_s, kRate);
    f("link_gb_per_s", &InterconnectRule::link_gb_per_s, kRate);
  }
};

int ConditionsOf(const NodeCondition& where) {
  return (where.partition.empty() ? 0 : 1) + (where.feature.empty() ? 0 : 1) +
         (where.node.empty() ? 0 : 1);
}

// Reads a list of rules; null is an empty list.
template <typename Rule, typename Value>
Result<void> ReadRules(const GivenSetting& given, std::vector<Value>& into) {
  const char* form = given.form.words;
  into.clear();
  if (given.value.is_null()) return {};
  if (!given.value.is_array()) {
    return given.Refused(fmt::format("is not a list; write \"- {}\" a line", form));
  }
  for (const json& item : given.value) {
    const std::string at = fmt::format("{}/{}", given.at, into.size());
    const auto refused = [&](std::string_view what) {
      return BadInput(fmt::format("a rule of {} {}; write {}", given.Name(), what, form), at);
    };
    if (!item.is_object()) return refused("is not a mapping");
    Rule rule;
    if (Result<void> read = ReadSetting({item, at, given.form}, rule); !read) return read;
    if (ConditionsOf(rule) != 1) return refused("needs exactly one condition");
    if (rule.Missing() != nullptr) return refused(rule.Missing());
    into.push_back(rule.Value());
  }
  return {};
}

bool IsUnset(const json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value == 0;
}

// The keys that a rule has.
template <typename Rule, typename Value>
json ShowRules(const std::vector<Value>& rules) {
  json shown = json::array();
  for (const Value& rule : rules) {
    json& one = shown.emplace_back(json::object());
    const json all = ShowSetting(Rule(rule));
    for (const auto& [key, value] : all.items()) {
      if (!IsUnset(value)) one[key] = value;
    }
  }
  return shown;
}

}  // namespace

Result<void> ReadSetting(const GivenSetting& given, GpuAliases& into) {
  into.clear();
  if (given.value.is_null()) return {};
  if (!given.value.is_object()) {
    return given.Refused(fmt::format("is not a mapping; write {}, one a line", given.form.words));
  }
  for (const auto& [type, gpu] : given.value.items()) {
    into.emplace_back(type, "");
    Result<void> read = ReadSetting({gpu, PointerTo(given.at, type), kText}, into.back().second);
    if (!read) return read;
  }
  return {};
}

Result<void> ReadSetting(const GivenSetting& given, UntypedRules& into) {
  return ReadRules<UntypedRule>(given, into);
}

Result<void> ReadSetting(const GivenSetting& given, InterconnectRules& into) {
  return ReadRules<InterconnectRule>(given, into);
}

json ShowSetting(const GpuAliases& aliases) {
  json shown = json::object();
  for (const auto& [type, gpu] : aliases) shown[type] = gpu;
  return shown;
}

json ShowSetting(const UntypedRules& rules) { return ShowRules<UntypedRule>(rules); }

json ShowSetting(const InterconnectRules& rules) { return ShowRules<InterconnectRule>(rules); }

}  // namespace gpuadvise::daemon
