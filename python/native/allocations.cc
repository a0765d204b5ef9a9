// SPDX-License-Identifier: Apache-2.0

#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <tessera/allocate.h>
#include <tessera/certificate.h>
#include <tessera/choose.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "module.h"

// Problems, allocations and certificates. Columns of buffers are read from the memory of NumPy, and
// offsets are shown in the memory of the library, without copies.
namespace tessera::python {

namespace {

using Array = py::array_t<std::int64_t>;

// One column, and the array that keeps its numbers: the caller's, or a copy if that holds other
// integers than 64 bits of this machine.
struct HeldColumn {
  Array array;
  Column column;
};

HeldColumn Hold(const char* name, const py::object& given, std::optional<py::ssize_t>& count) {
  constexpr py::ssize_t kSize = sizeof(std::int64_t);
  const py::array any = py::array::ensure(given);
  if (!any || any.ndim() != 1)
    throw py::value_error(std::string(name) + " has another shape than (n,)");
  if (!count) count = any.shape(0);
  if (any.shape(0) != *count)
    throw py::value_error(std::string(name) + " has " + std::to_string(any.shape(0)) +
                          " numbers; the columns before it have " + std::to_string(*count));
  if (any.dtype().kind() != 'i' && any.dtype().kind() != 'u' && *count > 0)
    throw py::type_error(std::string(name) + " does not hold integers");
  Array array = any;
  if (array.strides(0) % kSize != 0)
    array = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>(any);
  const Column column{array.data(), array.strides(0) / kSize};
  return {std::move(array), column};
}

// The arrays live until the last reader is done, which is a thread without the lock after Ctrl-C.
struct HeldColumns {
  HeldColumns() = default;
  HeldColumns(const HeldColumns&) = delete;
  HeldColumns& operator=(const HeldColumns&) = delete;
  ~HeldColumns() {  // NOLINT(bugprone-exception-escape)
    const py::gil_scoped_acquire locked;
    columns.clear();
  }

  std::vector<HeldColumn> columns;
};

Problem FromColumns(const py::object& lower, const py::object& upper, const py::object& size,
                    const py::object& alignment, const py::object& offset, const py::object& hint,
                    std::optional<std::int64_t> capacity) {
  BufferColumns columns;
  std::optional<py::ssize_t> count;
  const auto held = std::make_shared<HeldColumns>();
  const auto take = [&](const char* name, const py::object& given, Column& column) {
    if (given.is_none()) return;
    column = held->columns.emplace_back(Hold(name, given, count)).column;
  };
  take("lower", lower, columns.lower);
  take("upper", upper, columns.upper);
  take("size", size, columns.size);
  take("alignment", alignment, columns.alignment);
  take("offset", offset, columns.offset);
  take("hint", hint, columns.hint);
  columns.count = static_cast<std::size_t>(count.value_or(0));
  const auto read = [held, columns, capacity] { return Problem::FromColumns(columns, capacity); };
  return RunOnInput(columns.count * held->columns.size() * sizeof(std::int64_t), read);
}

// Returns a view of the offsets. It keeps the immutable allocation alive.
py::array OffsetsOf(const Allocation& allocation) {
  const std::vector<std::int64_t>& offsets = allocation.Offsets();
  py::array view(py::dtype::of<std::int64_t>(), {offsets.size()}, {sizeof(std::int64_t)},
                 offsets.data(), py::cast(allocation));
  py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

// A function of Python that judges ranges, called from threads of the library.
class Judge {
 public:
  Judge(py::function function, std::string name)
      : name_(std::move(name)), gate_(RunningCalls::Get().TheGate()) {
    // The last copy may end in a thread without the lock.
    function_ =
        std::shared_ptr<py::function>(std::make_unique<py::function>(std::move(function)).release(),
                                      [gate = gate_](py::function* last) {
                                        if (!gate->TryEnter()) return;
                                        const py::gil_scoped_acquire locked;
                                        gate->Leave();
                                        const std::unique_ptr<py::function> owner(last);
                                      });
  }

  // Throws std::runtime_error if the function raises or returns something else.
  Judgement operator()(const std::vector<OffsetRange>& ranges) const {
    if (!gate_->TryEnter()) throw std::runtime_error("the interpreter ends");
    const py::gil_scoped_acquire locked;
    gate_->Leave();
    try {
      py::list given;
      for (const OffsetRange& range : ranges)
        given.append(py::make_tuple(range.least, range.greatest));
      const py::object judged = (*function_)(given);
      if (judged.is_none()) return Judgement::kOpen;
      if (py::isinstance<py::bool_>(judged))
        return judged.cast<bool>() ? Judgement::kKept : Judgement::kBroken;
      throw std::runtime_error("the constraint '" + name_ +
                               "' must return True, False or None, not " +
                               py::repr(judged).cast<std::string>());
    } catch (const py::error_already_set& raised) {
      throw std::runtime_error("the constraint '" + name_ + "' raised " + raised.what());
    }
  }

 private:
  std::string name_;
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<py::function> function_;
};

Problem WithConstraint(const Problem& problem, const std::string& name, const std::string& version,
                       const std::vector<std::string>& buffers, std::int64_t unit,
                       const py::function& judge) {
  OffsetConstraint constraint;
  constraint.name = name;
  constraint.version = version;
  constraint.buffers = buffers;
  constraint.unit = unit;
  constraint.judge = Judge(judge, name);
  return ValueOf(problem.With(constraint));
}

void DefineProblem(py::module_& module) {
  py::class_<Problem>(module, "Problem")
      .def_static(
          "load",
          [](const std::string& path, const std::string& format, const std::string& lifetimes) {
            return RunWhole([=] { return Problem::Load(path, {format, lifetimes}); });
          })
      .def_static(
          "parse",
          [](const std::string& text, const std::string& name, const std::string& format,
             const std::string& lifetimes) {
            return RunWhole([=] { return Problem::Parse(text, name, {format, lifetimes}); });
          })
      .def_static("from_columns", &FromColumns)
      .def("in_memory_of",
           [](const Problem& problem, const Profile& profile) {
             return RunWhole([=] { return problem.InMemoryOf(profile); });
           })
      .def("with_capacities",
           [](const Problem& problem,
              const std::vector<std::pair<std::string, std::int64_t>>& capacities) {
             return RunWhole([=] { return problem.WithCapacities(capacities); });
           })
      .def_property_readonly("candidates", &Problem::Candidates)
      .def_property_readonly("notes", &Problem::Notes)
      .def("at_candidate",
           [](const Problem& problem, const std::string& candidate) {
             return RunWhole([=] { return problem.AtCandidate(candidate); });
           })
      .def("with_constraint", &WithConstraint)
      .def_property_readonly("buffer_count", &Problem::BufferCount)
      .def("render", [](const Problem& problem, const std::string& format) {
        return RunWhole([=] { return problem.Render(format); });
      });
  module.def("explain", [](const Problem& problem, const AllocateOptions& options) {
    return Fields(Run(options, [=](const auto& given) { return Explain(problem, given); }));
  });
}

// The answer has an entry for each buffer: 0 placed, 1 its fallback, 2 left out.
py::dict ChoiceOf(const Problem& problem, const ChooseOptions& options) {
  const ChooseAnswer answer =
      Run(options, [=](const ChooseOptions& given) { return Choose(problem, given); });
  std::vector<int> chosen;
  for (const Chosen each : answer.chosen) chosen.push_back(static_cast<int>(each));
  py::dict fields;
  fields["outcome"] = NameOf(answer.outcome);
  fields["chosen"] = chosen;
  fields["value"] = answer.value;
  fields["bound"] = answer.bound;
  fields["engine"] = answer.engine;
  fields["reason"] = answer.reason;
  fields["text"] = answer.text;
  fields["json"] = answer.json;
  fields["stopped"] = answer.stopped;
  return fields;
}

void DefineAllocation(py::module_& module) {
  py::class_<Allocation>(module, "Allocation")
      .def_static("parse",
                  [](const Problem& problem, const std::string& json) {
                    return RunWhole([=] { return Allocation::Parse(problem, json); });
                  })
      .def_property_readonly("offsets", &OffsetsOf)
      .def_property_readonly("peak", &Allocation::Peak)
      .def("render",
           [](const Allocation& allocation, const std::string& format) {
             return RunWhole([=] { return allocation.Render(format); });
           })
      .def("save", [](const Allocation& allocation,
                      const std::string& path) { RunWhole([=] { return allocation.Save(path); }); })
      .def("check", [](const Allocation& allocation, std::optional<std::int64_t> capacity) {
        return Fields(RunWhole([=] { return Check(allocation, capacity); }));
      });
}

void DefineCertificate(py::module_& module) {
  py::class_<Certificate>(module, "Certificate")
      .def_static("load",
                  [](const std::string& folder) {
                    return RunWhole([=] { return Certificate::Load(folder); });
                  })
      .def_static("from_files",
                  [](const std::vector<std::pair<std::string, std::string>>& files) {
                    return ValueOf(Certificate::FromFiles(files));
                  })
      .def("save",
           [](const Certificate& certificate, const std::string& folder) {
             RunWhole([=] { return certificate.Save(folder); });
           })
      .def_property_readonly("files",
                             [](const Certificate& certificate) {
                               py::list files;
                               for (const auto& [name, content] : certificate.Files())
                                 files.append(py::make_tuple(name, py::bytes(content)));
                               return files;
                             })
      .def("check", [](const Certificate& certificate, const CallOptions& options) {
        return Fields(Run(options, [=](const auto& given) { return Check(certificate, given); }));
      });
}

}  // namespace

void DefineAllocations(py::module_& module) {
  DefineProblem(module);
  DefineAllocation(module);
  DefineCertificate(module);
  module.def("choose", &ChoiceOf);
}

}  // namespace tessera::python
