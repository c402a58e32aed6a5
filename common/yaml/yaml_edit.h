// Changes one value in the text of a user's YAML file and keeps every other byte, including
// comments and order.
//
// Writes one line of flow style, `{base: 5 GB, per_sample: 1.2 GB}`. The result is parsed again and
// compared with the intended document; if it differs (an alias, text that looks like keys), the
// change is refused. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

// Keys from the root: {"model", "memory"}.
using YamlPath = std::vector<std::string>;

// Sets `value` at `path`, creating missing keys. Errors: kBadInput, without the file name: not a
// YAML map, or not changeable in place.
Result<std::string> WithYamlValue(std::string_view text, const YamlPath& path,
                                  const std::string& value);

// Inserts `item` first in the list at `path`, or in place of item `replaced`. Errors: as above.
Result<std::string> WithYamlItem(std::string_view text, const YamlPath& path,
                                 const std::string& item, std::optional<size_t> replaced = {});

}  // namespace gpuadvise
