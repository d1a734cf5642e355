// Finished parts of a long computation, kept as bytes so that a later run can use them.
//
// A computation that may be cut short asks for each of its parts first, and hands over those that
// it had to compute. A part must not depend on the number of threads, because a later run may have
// another one. reports/unfinished keeps parts in a file.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kv {

struct KeptPart {
  std::string key;  // names the part; the same in every run of the same command
  std::vector<std::byte> bytes;
};

class PartStore {
 public:
  PartStore() = default;
  PartStore(const PartStore&) = delete;
  PartStore& operator=(const PartStore&) = delete;
  virtual ~PartStore() = default;

  // The bytes that an earlier run kept under the key; nothing if there are none. They are valid
  // until the store is destroyed. Any thread may call it.
  [[nodiscard]] virtual std::optional<std::span<const std::byte>> find(
      const std::string& key) const = 0;

  // Keeps finished parts. If that fails the computation continues, so there is no error here; the
  // owner of the store asks for it. Any thread may call it.
  virtual void keep(std::vector<KeptPart> parts) = 0;
};

}  // namespace kv
