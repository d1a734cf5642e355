// The consumer's own header; kvcheck has one of the same path.
#pragma once

namespace consumer {

inline constexpr int error = 1;

}  // namespace consumer
