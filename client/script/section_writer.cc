#include "client/script/section_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace gpuadvise::client {
namespace {

// A side of the square of as many pixels as "1024,768".
std::optional<int64_t> SideOfBoth(const std::string& text) {
  const size_t comma = text.find_first_of(",x");
  if (comma == std::string::npos) return {};
  const double pixels = std::atof(text.c_str()) * std::atof(text.c_str() + comma + 1);
  return pixels > 0 && pixels < 1e9 ? std::optional(std::llround(std::sqrt(pixels))) : std::nullopt;
}

}  // namespace

void SectionWriter::Key(const std::string& name, const std::string& value) {
  yaml += "  " + name + ": " + value + "\n";
}

void SectionWriter::Take(const std::string& name, const std::string& value) {
  Key(name, value);
  report.taken.push_back(name + " " + value);
}

void SectionWriter::WriteNumber(const std::string& key, const TrainingFlags& flags) {
  const FlagUse* use = flags.Find(key);
  if (use == nullptr) return;
  if (const auto number = flags.Number(key)) {
    Key(key, std::to_string(*number));
    report.taken.push_back(fmt::format("{} {} ({})", key, *number, use->spelling));
  } else if (const auto side = SideOfBoth(use->value.value_or("")); side && key == "resolution") {
    Key(key, fmt::format("{}  # {}", *side, *use->value));
    report.taken.push_back(fmt::format("{} {} ({} {})", key, *side, use->spelling, use->raw));
  } else if (use->value && !use->bare) {
    report.missing.push_back(
        fmt::format("{} {}: no whole number; write {}", use->spelling, use->raw, key));
  }
}

bool SectionWriter::IsWritten(const std::string& key) const {
  return yaml.find("  " + key + ": ") != std::string::npos;
}

}  // namespace gpuadvise::client
