// The SQL that declares the tables of a results file, by schema version.
#pragma once

namespace kv::reports {

// All tables of version 4, and what versions 5 to 13 add to them.
extern const char* const tables_of_4;
extern const char* const tables_of_5;
extern const char* const tables_of_6;
extern const char* const tables_of_7;
extern const char* const tables_of_8;
extern const char* const tables_of_9;
extern const char* const tables_of_10;
extern const char* const tables_of_11;
extern const char* const tables_of_12;
extern const char* const tables_of_13;

}  // namespace kv::reports
