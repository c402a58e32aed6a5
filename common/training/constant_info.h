// A constant of a model that is not counted from shapes, told to people and to bench/accuracy: its
// table is the one place where it stands with its reason, and it is chosen anew with one source of
// measurements left out at a time.
#pragma once

namespace gpuadvise {

template <typename Constants>
struct ConstantInfo {
  const char* name;
  double Constants::*member;
  double low;   // plausible range: nothing outside it is tried
  double high;  //
  const char* unit;
  bool chosen;           // by measurements; else it follows from `why` alone
  const char* why;       // a source, or what it is made of
  const char* rests_on;  // the sources whose rows decide it; "" where it is not chosen
};

}  // namespace gpuadvise
