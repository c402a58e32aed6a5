// A file descriptor with one owner, closed on destruction; movable.
#pragma once

#include <unistd.h>

#include <utility>

namespace gpuadvise {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes ownership; a negative number, as from a failed open(), means none.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    if (this != &other) other.Close();
    return *this;
  }
  ~Descriptor() { Close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

  // Releases ownership: the caller closes it.
  int Release() { return std::exchange(number_, -1); }

  // False, with errno, if written data may be lost. Harmless if none is open.
  bool Close() {
    const int number = Release();
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_ = -1;
};

}  // namespace gpuadvise
