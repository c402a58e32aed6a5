// Any text is read as records, tables and settings, whose keys and values are pieces of it; a
// record begins only where a line does.
#include "daemon/collect/sdiag.h"
#include "daemon/collect/slurm_text.h"
#include "tests/fuzz/fuzz_input.h"

namespace gpuadvise::collect {
namespace {

void Check(const std::vector<TextRecord>& records, std::string_view text) {
  for (const TextRecord& record : records) {
    for (const auto& [key, value] : record.fields()) {
      Require(value.find('\n') == std::string_view::npos, "a value is of one line");
      Require(value.empty() || (value.data() >= text.data() &&
                                value.data() + value.size() <= text.data() + text.size()),
              "a value is a piece of the text");
      record.Get(key);
      record.Integer(key);
      record.List(key);
      DurationOf(record, key);
      Require(ToMib(value) >= 0, "memory is not negative");
      ToCount(value);
      ToDouble(value);
    }
  }
}

size_t LinesThatBeginWith(std::string_view text, std::string_view word) {
  size_t lines = text.starts_with(word) ? 1 : 0;
  const std::string broken = "\n" + std::string(word);
  for (size_t at = text.find(broken); at != std::string_view::npos;
       at = text.find(broken, at + 1)) {
    ++lines;
  }
  return lines;
}

}  // namespace
}  // namespace gpuadvise::collect

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::collect;
  const std::string_view text = AsText(data, size);
  for (const RecordStart start : {RecordStart::kAfterBlankLine, RecordStart::kAnyLine}) {
    const auto records = ParseRecords(text, "NodeName", start);
    Require(records.size() <= LinesThatBeginWith(text, "NodeName="), "no record out of nothing");
    Check(records, text);
  }
  Check(ParsePipeTable(text), text);
  Check({ParseConfigLines(text)}, text);
  const SchedulerHealth health = ParseSdiag(text);
  Require(health.rpcs.value_or(0) >= 0 && health.rpc_us.value_or(0) >= 0, "a counter only grows");
  return 0;
}
