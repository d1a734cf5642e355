#include "kvcheck/cli/shell/completion_scripts.h"

#include <array>
#include <utility>

#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

// bash divides words at COMP_WORDBREAKS, which contains ':' and '=', and replaces only the part
// after the last of them. The line is therefore divided at spaces here, and what bash keeps is cut
// off the answers. Within quotes bash divides nothing.
constexpr std::string_view bash = R"sh(# bash completion: eval "$(kvcheck completion bash)"
_kvcheck() {
  local line=${COMP_LINE:0:COMP_POINT} words typed kept word
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]}-1]}
  typed=${word#[\'\"]}
  words[${#words[@]}-1]=$typed
  local IFS=$'\n'
  COMPREPLY=($("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null))
  if [[ $word == "$typed" ]]; then
    kept=${typed%"${typed##*[:=]}"}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
  fi
  [[ ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _kvcheck kvcheck
)sh";

constexpr std::string_view zsh = R"sh(#compdef kvcheck
# zsh completion: eval "$(kvcheck completion zsh)", or this file as _kvcheck in $fpath
_kvcheck() {
  local -a found
  found=(${(f)"$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#found} )); then
    compadd -S '' -- "${found[@]}"
  else
    _files
  fi
}
if [[ ${funcstack[1]} == _kvcheck ]]; then
  _kvcheck "$@"
else
  compdef _kvcheck kvcheck
fi
)sh";

constexpr std::string_view fish =
    R"sh(# fish completion: kvcheck completion fish | source
function __kvcheck_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l program $words[1]
  set -e words[1]
  $program complete -- $words 2>/dev/null
end
complete -c kvcheck -a '(__kvcheck_complete)'
)sh";

}  // namespace

Result<std::string> completion_script(std::string_view shell) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> scripts = {
      {{"bash", bash}, {"zsh", zsh}, {"fish", fish}}};
  for (const auto& [name, script] : scripts) {
    if (name == shell) return std::string(script);
  }
  constexpr std::array<std::string_view, 3> names = {"bash", "zsh", "fish"};
  return usage_error(unknown_word("shell", shell, names));
}

}  // namespace kv::cli
