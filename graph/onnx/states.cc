#include "tessera/graph/onnx/states.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tessera/base/suggest.h"

namespace tessera::graph::onnx {
namespace {

bool Has(const std::vector<Declaration>& declarations, const std::string& name) {
  return std::any_of(declarations.begin(), declarations.end(),
                     [&name](const Declaration& each) { return each.name == name; });
}

base::Unexpected Unknown(const std::string& file, const std::string& what, const std::string& name,
                         const std::vector<Declaration>& declarations) {
  std::vector<std::string_view> names;
  names.reserve(declarations.size());
  for (const Declaration& each : declarations) names.emplace_back(each.name);
  base::Diagnostic fault;
  fault.file = file;
  fault.message = "--state: there is no network " + what + " '" + name + "'";
  fault.expected = "one of " + base::Join(names);
  fault.hint = base::DidYouMean(name, names);
  return base::Unexpected(std::move(fault));
}

// "past_key_values.0.key" becomes "present.0.key" or "present_key_values.0.key", "past_0" becomes "present_0".
std::string OutputOf(const std::string& input, const Model& model) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNames = {
      {{"past_key_values", "present"}, {"past", "present"}}};
  for (const auto& [past, present] : kNames) {
    const size_t place = input.find(past);
    if (place == std::string::npos) continue;
    std::string output = input;
    output.replace(place, past.size(), present);
    if (Has(model.outputs, output)) return output;
  }
  return "";
}

// Where an operator makes the output, and it is the next value of no other state.
void LinkNext(const std::string& input, const std::string& output, Draft& draft) {
  if (draft.IsConstant(output)) return;
  Tensor& next = draft.TensorAt(draft.TensorOf(output));
  if (next.network_output && next.next_of < 0) next.next_of = draft.TensorOf(input);
}

}  // namespace

base::Expected<void> MarkStates(const Model& model,
                                const std::vector<std::pair<std::string, std::string>>& pairs,
                                const std::string& file, Draft& draft) {
  for (const auto& [input, output] : pairs) {
    if (!Has(model.inputs, input)) return Unknown(file, "input", input, model.inputs);
    if (!Has(model.outputs, output)) return Unknown(file, "output", output, model.outputs);
  }
  for (const Declaration& input : model.inputs) {
    const auto stated =
        std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == input.name; });
    const std::string output = stated != pairs.end() ? stated->second : OutputOf(input.name, model);
    if (output.empty()) continue;
    Tensor& tensor = draft.TensorAt(draft.TensorOf(input.name));
    tensor.state = true;
    tensor.network_input = false;
    draft.report.Add(Report::Event::kState, input.name, "handed on as '" + output + "'");
    LinkNext(input.name, output, draft);
  }
  return {};
}

}  // namespace tessera::graph::onnx
