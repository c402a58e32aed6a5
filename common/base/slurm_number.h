// A Slurm number: absent (NO_VAL), infinite (INFINITE, UNLIMITED) or a value.
//
// The three differ: no limit given is not unlimited, and neither is zero. The member's name has the
// unit.
#pragma once

#include <cassert>
#include <compare>
#include <cstdint>
#include <optional>

namespace gpuadvise {

class SlurmNumber {
 public:
  constexpr SlurmNumber() = default;  // absent
  // NOLINTNEXTLINE(google-explicit-constructor): a plain value is the common case.
  constexpr SlurmNumber(int64_t value) : kind_(Kind::kValue), value_(value) {}

  static constexpr SlurmNumber Absent() { return {}; }
  static constexpr SlurmNumber Infinite() {
    SlurmNumber n;
    n.kind_ = Kind::kInfinite;
    return n;
  }
  // From Slurm's sentinel encodings: NO_VAL and INFINITE in 16, 32 and 64 bits.
  static constexpr SlurmNumber From16(uint16_t raw) { return FromRaw(raw, 0xffff); }
  static constexpr SlurmNumber From32(uint32_t raw) { return FromRaw(raw, 0xffffffff); }
  static constexpr SlurmNumber From64(uint64_t raw) { return FromRaw(raw, 0xffffffffffffffff); }

  constexpr bool absent() const { return kind_ == Kind::kAbsent; }
  constexpr bool infinite() const { return kind_ == Kind::kInfinite; }
  constexpr bool has_value() const { return kind_ == Kind::kValue; }

  // REQUIRES: has_value().
  constexpr int64_t value() const {
    assert(has_value());
    return value_;
  }
  constexpr int64_t value_or(int64_t other) const { return has_value() ? value_ : other; }

  friend constexpr bool operator==(const SlurmNumber&, const SlurmNumber&) = default;

 private:
  enum class Kind : uint8_t { kAbsent, kInfinite, kValue };

  static constexpr SlurmNumber FromRaw(uint64_t raw, uint64_t all_ones) {
    if (raw == all_ones) return Infinite();
    if (raw == all_ones - 1) return Absent();
    return SlurmNumber(static_cast<int64_t>(raw));
  }

  Kind kind_ = Kind::kAbsent;
  int64_t value_ = 0;
};

}  // namespace gpuadvise
