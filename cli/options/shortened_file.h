// A mapped file that another process shortens while it is read.
#pragma once

namespace kv::cli {

// Installs a handler of SIGBUS that names the shortened file on standard error and ends the process
// with status 2. Other causes of SIGBUS end it as usual. What was committed to a results file
// before is kept.
void name_shortened_files();

}  // namespace kv::cli
