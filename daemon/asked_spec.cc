#include "daemon/asked_spec.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/json_fields.h"
#include "yaml/train_file.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr const char* kName = "train.yaml";

Result<std::string> ReadNothing(const std::string& path) {
  return BadInput(
      fmt::format("{} is a file, which is not sent along: write its JSON here in its place, or use "
                  "gpuadvise advise on the command line",
                  path));
}

Error AsIs(Error error) { return error; }

Result<std::string> TextMember(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return std::string();
  if (!found->is_string())
    return BadInput(fmt::format("{} is no text; send it as a JSON string", name),
                    PointerTo("", name));
  return found->get<std::string>();
}

}  // namespace

Result<Explain> TakeSpecText(json& body, UnixSeconds now) {
  if (!body.contains("spec_yaml")) return AsIs;
  const Result<std::string> text = TextMember(body, "spec_yaml");
  if (!text) return tl::unexpected<Error>(text.error());
  const Result<std::string> section = TextMember(body, "section");
  if (!section) return tl::unexpected<Error>(section.error());
  Result<TrainFile> file = TrainFile::FromText(*text, kName, *section, now, ReadNothing);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  body.erase("spec_yaml");
  body["spec"] = file->spec();
  const auto held = std::make_shared<const TrainFile>(std::move(*file));
  return Explain([held](Error error) {
    if (error.pointer.starts_with("/spec")) error.message = held->Explain(error);
    return error;
  });
}

}  // namespace gpuadvise
