#include "kvcheck/python/bindings/definition.h"

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/python/bindings/failure.h"

namespace py = pybind11;

namespace kv::python {
namespace {

// What kvcheck.Policy says of one parameter.
void add_parameter(const py::handle& given, Definition& definition) {
  const auto text = [&](const char* name) -> std::string_view {
    definition.parameter_texts.push_back(py::str(given.attr(name)));
    return definition.parameter_texts.back();
  };
  Parameter parameter{.name = text("name"),
                      .default_value = text("default"),
                      .choices = {},
                      .meaning = text("meaning"),
                      .range = {}};
  const std::string kind = py::str(given.attr("kind"));
  if (kind == "word") {
    std::vector<std::string_view>& choices = definition.choices.emplace_back();
    for (const py::handle choice : given.attr("choices")) {
      definition.parameter_texts.push_back(py::str(choice));
      choices.push_back(definition.parameter_texts.back());
    }
    parameter.choices = choices;
  } else {
    parameter.range.of =
        kind == "count" ? Parameter::Range::Of::counts : Parameter::Range::Of::reals;
    parameter.range.least = given.attr("least").cast<double>();
    parameter.range.most = given.attr("most").cast<double>();
  }
  const std::string value = value_of(legal_value(parameter, std::string(parameter.default_value)));
  definition.parameter_texts.push_back(value);
  parameter.default_value = definition.parameter_texts.back();
  definition.parameters.push_back(parameter);
}

// The sentences of kvcheck.watch, which ends calls where this process has threads.
void name_calls(const py::object& described, Definition& definition) {
  const std::string owner = printable_line(std::string(py::str(definition.type.attr("__name__"))));
  const auto seconds = described.attr("seconds").cast<double>();
  for (std::size_t i = 0; i < method_names.size(); ++i) {
    const std::string call = std::string(method_names.at(i)) + " of " + owner;
    definition.calls.at(i) = {.hangs = call + " did not return",
                              .slow = call + " has run for more than " + shortest(seconds) +
                                      " s; its class may allow more in `seconds`",
                              .seconds = seconds};
  }
}

}  // namespace

std::unique_ptr<Definition> definition_of(const py::object& described) {
  auto made = std::make_unique<Definition>();
  Definition& definition = *made;
  definition.type = described.attr("type");
  definition.name = py::str(described.attr("name"));
  definition.summary = py::str(described.attr("summary"));
  definition.source = py::str(described.attr("source"));
  definition.differs = py::str(described.attr("differs"));
  definition.cost = py::str(described.attr("cost"));
  for (const py::handle claim : described.attr("claims")) {
    definition.claim_texts.push_back(py::str(claim));
  }
  definition.claims.assign(definition.claim_texts.begin(), definition.claim_texts.end());
  for (const py::handle need : described.attr("needs")) {
    const std::string word = py::str(need);
    definition.needs.attention |= word == "attention";
    definition.needs.keys |= word == "keys";
    definition.needs.values |= word == "values";
    definition.needs.queries |= word == "queries";
    definition.needs.token_classes |= word == "token_classes";
    definition.needs.output_norms |= word == "output_norms";
  }
  name_calls(described, definition);
  definition.forgets = described.attr("forgets").cast<bool>();
  constexpr std::size_t texts = 1000;
  definition.parameter_texts.reserve(texts);
  definition.choices.reserve(texts);
  for (const py::handle parameter : described.attr("parameters")) {
    add_parameter(parameter, definition);
  }
  if (definition.parameter_texts.size() >= texts) throw Failure("too many parameters");
  return made;
}

}  // namespace kv::python
