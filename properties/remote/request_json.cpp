#include "kvcheck/properties/remote/request_json.h"

#include <array>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/facts_json.h"

namespace kv::properties {
namespace {

// [payer][query][position up to the query's own]
std::string logits_json(const RunRequest& request, const Asked& asked) {
  std::vector<Token> keys = asked.branch;
  keys.insert(keys.end(), asked.fed.begin(), asked.fed.end());
  std::string text = "[";
  const Heads heads{request.setup, Unit::head};
  for (std::size_t head = 0; head < heads.count(); ++head) {
    text += head == 0 ? "[" : ",[";
    for (std::size_t query = asked.branch.size(); query < keys.size(); ++query) {
      text += query == asked.branch.size() ? "[" : ",[";
      for (std::size_t key = 0; key <= query; ++key) {
        if (key > 0) text += ',';
        append_float(text, request.stream.logit(heads.payer_of(head), keys[query], keys[key]));
      }
      text += ']';
    }
    text += ']';
  }
  return text + "]";
}

}  // namespace

std::string call_json(const RunRequest& request, const Asked& asked, bool logits) {
  constexpr std::array<std::string_view, 7> verbs = {"feed",    "fork",  "truncate", "reset",
                                                     "reorder", "shift", "snapshot"};
  const Call& call = asked.call;
  JsonObject object;
  object.add("do", verbs[static_cast<std::size_t>(call.kind)])
      .add("branch", std::uint64_t{call.branch});
  if (call.kind == Call::Kind::feed) {
    object.add("position", std::uint64_t{asked.branch.size()})
        .add_raw("tokens", json_list(asked.fed, [](Token t) { return std::to_string(id_of(t)); }));
    if (logits) object.add_raw("logits", logits_json(request, asked));
  } else if (call.kind == Call::Kind::truncate) {
    object.add("length", call.amount);
  } else if (call.kind == Call::Kind::reorder) {
    object.add_raw("from", json_list(call.from, [](std::uint32_t i) { return std::to_string(i); }));
  } else if (call.kind == Call::Kind::shift) {
    object.add("begin", std::uint64_t{request.setup.sinks}).add("delta", -call.amount);
  }
  return object.text();
}

std::string look_json(std::uint32_t branch) {
  return JsonObject().add("do", "look").add("branch", std::uint64_t{branch}).text();
}

std::string numbered(std::string_view object, std::int64_t number) {
  return "{\"number\":" + std::to_string(number) + "," + std::string(object.substr(1));
}

std::string hello_request() {
  return JsonObject().add("ask", "hello").add("protocol", std::uint64_t{protocol_version}).text();
}

std::string contract_request(const Setup& setup) {
  return JsonObject().add("ask", "contract").add_raw("setup", setup_json(setup)).text();
}

std::string stream_json(const Stream& stream) {
  return JsonObject()
      .add("kind", name_of(stream.kind))
      .add("seed", std::uint64_t{stream.seed})
      .add("planted", std::uint64_t{stream.planted})
      .add("until", std::int64_t{stream.until})
      .add("first_sequence", std::uint64_t{stream.first_sequence})
      .add("disturbed_sequence", std::int64_t{stream.disturbed_sequence})
      .add("disturbed_layer", std::int64_t{stream.disturbed_layer})
      .add("disturbed_query_head", std::int64_t{stream.disturbed_query_head})
      .add("mirrored_group", std::uint64_t{stream.mirrored_group})
      .add("offset", static_cast<double>(stream.offset))
      .text();
}

std::string run_request(const RunRequest& request, std::string_view calls) {
  JsonObject object;
  if (request.first) {
    object.add("ask", "run")
        .add_raw("setup", setup_json(request.setup))
        .add("draws", request.own_seed ? "seed" : "ask");
  } else {
    object.add("ask", "more");
  }
  return object.add_raw("stream", stream_json(request.stream))
      .add_raw("calls", "[" + std::string(calls) + "]")
      .text();
}

}  // namespace kv::properties
