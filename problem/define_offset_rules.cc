// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "tessera/problem/explanation.h"
#include "tessera/problem/rule_definition.h"
#include "tessera/problem/structure.h"

// Rules about the offsets of single buffers.
namespace tessera::problem {

extern const RuleDefinition kOffsetRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("at {} modulo {}", rule.requirement.residue,
                             rule.requirement.multiple);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Requirement& wanted = subject.Wanted();
          return std::vector<Restriction>{
              Remainder{subject.item.first, wanted.multiple, wanted.residue, wanted.residue}};
        },
};

extern const RuleDefinition kWindowRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          const AddressRange& window = rule.requirement.window;
          return fmt::format("inside [{}, {})", window.begin, window.end);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{Inside{subject.item.first, subject.Wanted().window}};
        },
};

extern const RuleDefinition kNoCrossingRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("across no multiple of {}", rule.requirement.multiple);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Bytes boundary = subject.Wanted().multiple;
          return std::vector<Restriction>{
              Remainder{subject.item.first, boundary, 0, boundary - subject.size, true}};
        },
};

extern const RuleDefinition kNaturalAlignmentRule = {
    .words =
        [](const Problem&, const Rule&) {
          return std::string("at a multiple of their own sizes, rounded up to powers of two");
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{
              Remainder{subject.item.first, NaturalAlignmentOf(subject.size), 0, 0, true}};
        },
};

extern const RuleDefinition kGuardRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("with {} free before and {} after",
                             Count(rule.requirement.before, "byte"),
                             Count(rule.requirement.after, "byte"));
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Requirement& wanted = subject.Wanted();
          return std::vector<Restriction>{
              Margins{subject.item.first, {wanted.before, wanted.after}}};
        },
};

}  // namespace tessera::problem
