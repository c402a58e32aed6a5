// One key of a train.yaml: its place, values and meaning.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise {

enum class ValueKind {
  kWhole,      // a whole number
  kNumber,     // any number
  kBool,       // true or false
  kText,       // any text
  kWord,       // one of `words`
  kSwitch,     // true, false or one of `words`
  kTexts,      // one text or a list of them
  kSize,       // "5 GB"
  kTimeLimit,  // as Slurm writes it
  kMap,        // has keys of its own
  kList,       // a list of maps, which have keys of their own
  kOther,      // as `form` says
};

struct TrainKey {
  std::string_view path;  // "training.lora.r"; for list items "training.measured.gpu"
  ValueKind kind = ValueKind::kText;
  double low = 0, high = 0;             // of numbers
  std::vector<std::string> words = {};  // of kWord and kSwitch
  std::string_view form = {};   // of kOther and kText, for people: "a ZeRO stage, or a file"
  std::string_view unit = {};   // "": none, or part of the value
  std::string_view usual = {};  // default; "": none
  size_t most = 0;  // entries of kTexts and kList, bytes of kText; 0: kMaxListItems, kMaxTextBytes
  std::string_view meaning = {};  // sentences: what it is, its effect on estimates
  std::string_view option = {};   // of `fit` and `scale`: "--seq,--max-seq-length"; "": none

  // "r"
  std::string_view name() const { return path.substr(path.rfind('.') + 1); }
  // "training.lora"; "" for a key of the file itself
  std::string_view section() const {
    const size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  }
};

}  // namespace gpuadvise
