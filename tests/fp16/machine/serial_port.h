// What the emulated machine says to the outside: letters through its first serial port.
#pragma once

#include <cstdint>

namespace kv::fp16 {

void open_serial_port();

void print(char letter);
void print(const char* text);
void print_hex(std::uint64_t value, int digits);

// Ends the emulation.
[[noreturn]] void stop();

[[noreturn]] void stop_with_status(std::uint64_t status);

}  // namespace kv::fp16
