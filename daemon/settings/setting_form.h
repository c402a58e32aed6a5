// What a setting may be, as config/gpuadvised.yaml says after its key.
#pragma once

namespace gpuadvise::daemon {

struct SettingForm {
  const char* words;      // "path"; of one of several words, a map, a list or a section: its form
  double low, high;       // of numbers; durations in milliseconds, sizes in bytes
  bool is_read_at_start;  // only: a new value takes effect at the next start
};

}  // namespace gpuadvise::daemon
