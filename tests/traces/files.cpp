#include "kvcheck/tests/traces/files.h"

#include <unistd.h>
#include <zip.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/file.h"
#include "kvcheck/base/half.h"

namespace kv::test {

namespace {

// A folder for this process, because tests of one binary run side by side; gone when it ends.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "kvcheck-tests-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(path_);
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string temporary_path(const std::string& name) {
  static const Folder folder;
  // Numbers, because messages shorten long paths.
  static std::map<const testing::TestInfo*, std::size_t> numbers;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::size_t number = numbers.emplace(test, numbers.size()).first->second;
  const std::string own = folder.path() + "/" + std::to_string(number);
  std::filesystem::create_directories(own);
  return own + "/" + name;
}

std::string temporary_file(const std::string& name, std::string_view bytes) {
  std::string path = temporary_path(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string bytes_of_file(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::string container(std::string_view header, std::string_view data) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> 8 * i & 0xff);
  return bytes.append(header).append(data);
}

std::string bytes_of(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string halves(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const std::uint16_t bits = f32_to_f16(value);
    bytes += static_cast<char>(bits & 0xff);
    bytes += static_cast<char>(bits >> 8);
  }
  return bytes;
}

SmallQkv& SmallQkv::swap(std::string& part, std::string_view from, std::string_view to) {
  const std::size_t at = part.find(from);
  KV_CHECK(at != std::string::npos);
  part.replace(at, from.size(), to);
  return *this;
}

std::string SmallQkv::bytes() const {
  return container("{\"__metadata__\":{" + metadata + "}," + tensors + "}",
                   std::string(data_bytes, '\0'));
}

Trace attention_trace(std::size_t heads, std::size_t n, std::vector<float> rows) {
  TraceInfo info;
  info.name = "made";
  info.tokens = n;
  info.query_heads = info.kv_heads = heads;
  info.layers = {3};
  const auto owner = std::make_shared<const std::vector<float>>(std::move(rows));
  Trace::Layer layer;
  layer.attention = {Number::f32, {heads, n, n}, reinterpret_cast<const std::byte*>(owner->data())};
  return Trace(std::move(info), {layer}, {}, owner);
}

std::string error_of(std::string_view bytes) {
  const std::string path = temporary_file("case", bytes);
  const Result<Trace> trace = open_trace(path);
  ::unlink(path.c_str());
  if (trace) return "opened";
  const std::string& message = trace.error().message;
  const std::string prefix = "'" + path + "': ";
  EXPECT_EQ(message.substr(0, prefix.size()), prefix);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message.substr(std::min(prefix.size(), message.size()));
}

std::string npy(std::string_view dictionary, std::string_view data, char major) {
  std::string bytes = std::string("\x93NUMPY") + major + '\0';
  bytes += static_cast<char>(dictionary.size() & 0xff);
  bytes += static_cast<char>(dictionary.size() >> 8 & 0xff);
  if (major > 1) bytes += std::string(2, '\0');
  return bytes.append(dictionary).append(data);
}

std::string zip(const std::vector<Member>& members) {
  const std::string path = temporary_path("archive.zip");
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  KV_CHECK(archive != nullptr);
  for (const Member& member : members) {
    zip_source_t* const source =
        zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.name.c_str(), source, 0);
    KV_CHECK(index >= 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                             member.deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  KV_CHECK(zip_close(archive) == 0);
  std::string bytes = bytes_of_file(path);
  ::unlink(path.c_str());
  return bytes;
}

}  // namespace kv::test
