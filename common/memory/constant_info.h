// Documentation of one model constant that shapes do not give, for readers and for bench/accuracy.
// Its table is the only place that states the reason. Constants are refitted with one source of
// measurements left out at a time.
#pragma once

namespace gpuadvise {

template <typename Constants>
struct ConstantInfo {
  const char* name;
  double Constants::*member;
  double low;   // plausible range; nothing outside it is tried
  double high;  //
  const char* unit;
  bool chosen;           // fitted to measurements; otherwise it follows from `why` alone
  const char* why;       // a source, or a derivation
  const char* rests_on;  // sources whose rows decide it; "" if not fitted
};

}  // namespace gpuadvise
