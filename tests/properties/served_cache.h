// Programs in Python that serve a cache, for tests of what `check` makes of them.
#pragma once

#include <string>

#include "kvcheck/tests/paths.h"

namespace kv::properties {

inline std::string python(const std::string& words) {
  return "PYTHONPATH='" KVCHECK_SOURCE_DIR "/python' python3 " + words;
}

// A program that serves a cache of the given methods beside append and kept.
inline std::string cache_of(const std::string& methods, const std::string& words = "") {
  return python(
      "-c 'import kvcheck, os, sys, time\n"
      "class Cache:\n"
      "  def __init__(self, budget):\n"
      "    self.ids = []\n"
      "  def append(self, tokens):\n"
      "    return [self.take(token) for token in tokens]\n"
      "  def take(self, token):\n"
      "    self.ids.append(token)\n"
      "    return list(self.ids)\n"
      "  def kept(self):\n"
      "    return self.ids\n" +
      methods + "\nkvcheck.serve(Cache" + words + ")'");
}

}  // namespace kv::properties
