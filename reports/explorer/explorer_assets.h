// The files of the folder assets as text. CMake makes the source of this header.
#pragma once

namespace kv::reports {

// The page, in which {title}, {style}, {data} and {script} stand for what is inserted.
extern const char* const explorer_html;
extern const char* const explorer_style;
extern const char* const explorer_script;

}  // namespace kv::reports
