// Commands and options of earlier versions, and what does their work now.
#pragma once

#include <string>
#include <vector>

namespace gpuadvise::client {

// The sentence to refuse `arguments` with where they ask for one of them; "" where they do not.
std::string WhyRemoved(const std::vector<std::string>& arguments);

}  // namespace gpuadvise::client
