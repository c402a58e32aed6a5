// Random numbers per job: the same seed, sample and job give the same number, independent of other
// queries. SplitMix64 (Steele, Lea, Flood 2014) as a hash; pure.
#pragma once

#include <cstdint>

namespace gpuadvise {

inline uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Uniform in (0, 1).
inline double DrawUniform(uint64_t seed, uint64_t sample, uint64_t job) {
  const uint64_t bits = MixBits(MixBits(MixBits(seed) ^ sample) ^ job);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53;
}

}  // namespace gpuadvise
