// The consumer's own header; kvcheck has a folder of that name.
#pragma once

namespace consumer {

inline constexpr int sim = 3;

}  // namespace consumer
