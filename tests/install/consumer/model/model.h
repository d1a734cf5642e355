// The consumer's own header; kvcheck has a folder of that name.
#pragma once

namespace consumer {

inline constexpr int model = 2;

}  // namespace consumer
