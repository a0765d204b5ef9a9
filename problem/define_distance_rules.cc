// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "tessera/problem/explanation.h"
#include "tessera/problem/rule_definition.h"

// Rules about the distance from one buffer to another.
namespace tessera::problem {

extern const RuleDefinition kDifferenceRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("apart by {} modulo {}", rule.requirement.residue,
                             rule.requirement.multiple);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Requirement& wanted = subject.Wanted();
          return std::vector<Restriction>{ModularDistance{subject.item.first, subject.item.second,
                                                          wanted.multiple, wanted.residue}};
        },
};

extern const RuleDefinition kDistanceRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("apart by {}", Count(rule.requirement.distance, "byte"));
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{
              FixedDistance{subject.item.first, subject.item.second, subject.Wanted().distance}};
        },
};

extern const RuleDefinition kXorDistanceRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("at offsets that differ in the bits of {}", rule.requirement.distance);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{
              FlippedBits{subject.item.first, subject.item.second, subject.Wanted().distance}};
        },
};

extern const RuleDefinition kCommonDeltaRule = {
    .words = [](const Problem&,
                const Rule&) { return std::string("all apart by the same distance"); },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{CommonDistance{subject.item.first, subject.item.second}};
        },
};

}  // namespace tessera::problem
