// Sockets to accept on: the Unix socket with its permissions, and the optional TCP one.
//
// Blocking, quick; called at start. Descriptors returned are listening and non-blocking.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/process/descriptor.h"

namespace gpuadvise::daemon {

// A Unix socket that is listened on. Removes its file when it goes, unless another daemon has put
// its own there meanwhile.
class UnixListener {
 public:
  // Binds `path`. Makes the parent folder if there is none; replaces the file of a daemon that is
  // gone. Errors: kUnavailable when a live daemon answers there, when the file is no socket, when
  // permissions or `group` do not allow it; each with the remedy.
  static Result<UnixListener> Bind(const std::string& path, uint32_t mode,
                                   const std::string& group);

  UnixListener(UnixListener&& other) noexcept;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  // Whether the file is gone: then nobody reaches the socket any more. One that another daemon has
  // put in its place is there.
  bool IsGone() const;

  // Gives the descriptor away; the file stays this object's.
  Descriptor TakeDescriptor() { return std::move(descriptor_); }

 private:
  UnixListener(std::string path, Descriptor descriptor);

  std::string path_;
  Descriptor descriptor_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct TcpListener {
  Descriptor descriptor;
  std::string address;  // where it is really bound: "127.0.0.1:43211"
};

// Binds "HOST:PORT" (HOST may be empty: loopback; a name or an address; PORT 0: any free one).
Result<TcpListener> BindTcp(const std::string& listen);

}  // namespace gpuadvise::daemon
