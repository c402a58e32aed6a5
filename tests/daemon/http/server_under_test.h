// A real HttpServer on a real Unix socket in a private folder, on a thread of its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "daemon/http/http_server.h"
#include "daemon/http/listening.h"
#include "tests/daemon/http/http_peer.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {

class ServerUnderTest {
 public:
  explicit ServerUnderTest(HttpAnswer answer, HttpLimits limits = {})
      : server_(io_, {workers_, workers_}, limits, std::move(answer)),
        listener_(*UnixListener::Bind(folder_.Path("s"), 0600, "")),
        work_(boost::asio::make_work_guard(io_)) {
    server_.Listen(listener_.TakeDescriptor(), HttpServer::Callers::kFromKernel);
    thread_ = std::thread([this] { io_.run(); });
  }

  ~ServerUnderTest() {
    workers_.join();
    io_.stop();
    thread_.join();
  }

  std::string Path() const { return folder_.Path("s"); }
  HttpPeer Connect() const { return HttpPeer(folder_.Path("s")); }

  // Runs `what` on the server's thread and gives its result.
  template <typename What>
  auto OnServer(What what) {
    std::packaged_task<decltype(what())()> task(std::move(what));
    auto result = task.get_future();
    boost::asio::post(io_, std::move(task));
    return result.get();
  }

  size_t connections() {
    return OnServer([this] { return server_.connections(); });
  }

  // Begins to drain; the future is ready once that is done.
  std::future<void> Drain(std::chrono::milliseconds deadline) {
    auto done = std::make_shared<std::promise<void>>();
    OnServer([&] {
      server_.Drain(deadline, [done] { done->set_value(); });
      return 0;
    });
    return done->get_future();
  }

 private:
  TempFolder folder_;
  boost::asio::io_context io_{1};
  boost::asio::thread_pool workers_{2};
  HttpServer server_;
  UnixListener listener_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace gpuadvise::daemon
