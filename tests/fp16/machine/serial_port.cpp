#include "kvcheck/tests/fp16/machine/serial_port.h"

namespace kv::fp16 {
namespace {

void out(std::uint16_t port, std::uint8_t value) {
  asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

std::uint8_t in(std::uint16_t port) {
  std::uint8_t value = 0;
  asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

// The first serial port (16550).
constexpr std::uint16_t serial = 0x3F8;

void wait_for_serial_port(std::uint8_t status) {
  while ((in(serial + 5) & status) == 0) {
  }
}

}  // namespace

void open_serial_port() {
  out(serial + 1, 0);     // no interrupts
  out(serial + 3, 0x80);  // the next two bytes are the divisor of the speed
  out(serial + 0, 1);
  out(serial + 1, 0);
  out(serial + 3, 0x03);  // 8 bits, no parity, one stop bit
  out(serial + 2, 0xC7);  // queues on and empty
}

void print(char letter) {
  wait_for_serial_port(0x20);  // a place in the queue
  out(serial, static_cast<std::uint8_t>(letter));
}

void print(const char* text) {
  while (*text != 0) print(*text++);
}

void print_hex(std::uint64_t value, int digits) {
  while (digits-- > 0) print("0123456789abcdef"[value >> (4 * digits) & 15]);
}

// Bochs ends if this word is written to this port; another machine only halts.
[[noreturn]] void stop() {
  wait_for_serial_port(0x40);  // all sent
  for (const char* word = "Shutdown"; *word != 0; ++word) {
    out(0x8900, static_cast<std::uint8_t>(*word));
  }
  while (true) asm volatile("hlt");
}

[[noreturn]] void stop_with_status(std::uint64_t status) {
  print("the program ended with status ");
  print_hex(status, 2);
  print("\n");
  stop();
}

}  // namespace kv::fp16
