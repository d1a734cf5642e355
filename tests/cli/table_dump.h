// Everything that a results file holds, as text.
#pragma once

#include <string>

namespace kv::test {

// Every row of every table, with every bit of its numbers, in the order of the table's key. Two
// files with the same text have the same bytes in every table.
std::string table_dump(const std::string& path);

}  // namespace kv::test
