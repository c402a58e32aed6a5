#include "daemon/settings/site_gpu_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/settings/settings_values.h"

namespace gpuadvise::daemon::site_gpu_settings {
namespace {

using nlohmann::json;
namespace values = settings_values;

constexpr double kBitsPerByte = 8;

// One list of rules in the settings, in the words of its errors.
struct RuleList {
  std::string name;
  std::string remedy;             // the form of one rule
  std::vector<std::string> keys;  // beside the three conditions
};

const RuleList& Untyped() {
  static const RuleList kList = {
      "untyped_gpus", "write {partition|feature|node: NAME, gpu: CATALOGUE NAME}", {"gpu"}};
  return kList;
}

const RuleList& Interconnects() {
  static const RuleList kList = {"interconnects",
                                 "write {partition|feature|node: NAME, network_gbit_per_s: 200}",
                                 {"network_gbit_per_s", "link_gb_per_s"}};
  return kList;
}

Result<void> CheckKeys(const RuleList& list, const json& value, const std::string& pointer) {
  if (!value.is_object()) {
    return BadInput(fmt::format("a rule of {} is not a mapping; {}", list.name, list.remedy),
                    pointer);
  }
  std::vector<std::string> known = {"partition", "feature", "node"};
  known.insert(known.end(), list.keys.begin(), list.keys.end());
  for (const auto& [key, text] : value.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return tl::unexpected<Error>(values::UnknownKey(key, pointer, known));
    }
  }
  return {};
}

Result<NodeCondition> ConditionOf(const RuleList& list, const json& value,
                                  const std::string& pointer) {
  NodeCondition where;
  const std::pair<const char*, std::string*> places[] = {
      {"partition", &where.partition}, {"feature", &where.feature}, {"node", &where.node}};
  int conditions = 0;
  for (const auto& [key, place] : places) {
    const auto given = value.find(key);
    if (given == value.end()) continue;
    Result<std::string> text = values::Text(*given, pointer + "/" + key);
    if (!text) return tl::unexpected<Error>(std::move(text.error()));
    *place = std::move(*text);
    if (!place->empty()) ++conditions;
  }
  if (conditions != 1) {
    return BadInput(
        fmt::format("a rule of {} needs exactly one condition; {}", list.name, list.remedy),
        pointer);
  }
  return where;
}

// Reads each element of a list of rules with `read`; null is an empty list.
template <typename Rule, typename Read>
Result<std::vector<Rule>> RulesFrom(const RuleList& list, const json& value,
                                    const std::string& pointer, Read read) {
  std::vector<Rule> rules;
  if (value.is_null()) return rules;
  if (!value.is_array()) {
    const std::string form = list.remedy.substr(std::string_view("write ").size());
    return BadInput(fmt::format("{} is not a list; write \"- {}\" a line", list.name, form),
                    pointer);
  }
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string at = fmt::format("{}/{}", pointer, i);
    Result<void> keys = CheckKeys(list, value[i], at);
    if (!keys) return tl::unexpected<Error>(std::move(keys.error()));
    Result<NodeCondition> where = ConditionOf(list, value[i], at);
    if (!where) return tl::unexpected<Error>(std::move(where.error()));
    Result<Rule> rule = read(*std::move(where), value[i], at);
    if (!rule) return tl::unexpected<Error>(std::move(rule.error()));
    rules.push_back(*std::move(rule));
  }
  return rules;
}

Result<SiteGpus::UntypedRule> UntypedFrom(NodeCondition where, const json& value,
                                          const std::string& pointer) {
  const auto given = value.find("gpu");
  if (given == value.end()) {
    return BadInput("a rule of untyped_gpus needs a gpu; " + Untyped().remedy, pointer);
  }
  Result<std::string> gpu = values::Text(*given, pointer + "/gpu");
  if (!gpu) return tl::unexpected<Error>(std::move(gpu.error()));
  return SiteGpus::UntypedRule{std::move(where), std::move(*gpu)};
}

Result<SiteGpus::InterconnectRule> InterconnectFrom(NodeCondition where, const json& value,
                                                    const std::string& pointer) {
  SiteGpus::InterconnectRule rule{std::move(where), {}};
  const auto read = [&](const char* key, double& into) -> Result<void> {
    const auto given = value.find(key);
    if (given == value.end()) return {};
    Result<double> number = values::Number(*given, pointer + "/" + key, 0.001, 100'000);
    if (!number) return tl::unexpected<Error>(std::move(number.error()));
    into = *number;
    return {};
  };
  Result<void> link = read("link_gb_per_s", rule.interconnect.link_gb_per_s);
  if (!link) return tl::unexpected<Error>(std::move(link.error()));
  double network_gbit = 0;
  Result<void> network = read("network_gbit_per_s", network_gbit);
  if (!network) return tl::unexpected<Error>(std::move(network.error()));
  if (network_gbit <= 0 && rule.interconnect.link_gb_per_s <= 0) {
    return BadInput("a rule of interconnects needs a rate; " + Interconnects().remedy, pointer);
  }
  rule.interconnect.network_gb_per_s = network_gbit / kBitsPerByte;
  return rule;
}

json ShownCondition(const NodeCondition& where) {
  json shown = json::object();
  if (!where.partition.empty()) shown["partition"] = where.partition;
  if (!where.feature.empty()) shown["feature"] = where.feature;
  if (!where.node.empty()) shown["node"] = where.node;
  return shown;
}

}  // namespace

Result<void> ReadAliases(const json& value, const std::string& pointer, SiteGpus& into) {
  into.aliases.clear();
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return BadInput("gpu_aliases is not a mapping; write GRES type: catalogue name, one a line",
                    pointer);
  }
  for (const auto& [type, gpu] : value.items()) {
    const std::string place = (json::json_pointer(pointer) / type).to_string();
    Result<std::string> name = values::Text(gpu, place);
    if (!name) return tl::unexpected<Error>(std::move(name.error()));
    into.aliases.emplace_back(type, std::move(*name));
  }
  return {};
}

json ShowAliases(const SiteGpus& gpus) {
  json shown = json::object();
  for (const auto& [type, gpu] : gpus.aliases) shown[type] = gpu;
  return shown;
}

Result<void> ReadUntyped(const json& value, const std::string& pointer, SiteGpus& into) {
  auto rules = RulesFrom<SiteGpus::UntypedRule>(Untyped(), value, pointer, UntypedFrom);
  if (!rules) return tl::unexpected<Error>(std::move(rules.error()));
  into.untyped = *std::move(rules);
  return {};
}

json ShowUntyped(const SiteGpus& gpus) {
  json shown = json::array();
  for (const auto& rule : gpus.untyped) {
    json one = ShownCondition(rule.where);
    one["gpu"] = rule.gpu;
    shown.push_back(std::move(one));
  }
  return shown;
}

Result<void> ReadInterconnects(const json& value, const std::string& pointer, SiteGpus& into) {
  auto rules =
      RulesFrom<SiteGpus::InterconnectRule>(Interconnects(), value, pointer, InterconnectFrom);
  if (!rules) return tl::unexpected<Error>(std::move(rules.error()));
  into.interconnects = *std::move(rules);
  return {};
}

json ShowInterconnects(const SiteGpus& gpus) {
  json shown = json::array();
  for (const auto& rule : gpus.interconnects) {
    json one = ShownCondition(rule.where);
    const Interconnect& given = rule.interconnect;
    if (given.network_gb_per_s > 0) {
      one["network_gbit_per_s"] = given.network_gb_per_s * kBitsPerByte;
    }
    if (given.link_gb_per_s > 0) one["link_gb_per_s"] = given.link_gb_per_s;
    shown.push_back(std::move(one));
  }
  return shown;
}

}  // namespace gpuadvise::daemon::site_gpu_settings
