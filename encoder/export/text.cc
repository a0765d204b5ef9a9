#include "tessera/encoder/export/text.h"

#include <fmt/format.h>

#include <vector>

namespace tessera::encoder {
namespace {

std::vector<std::string> LinesAbout(Topic topic, const TermRecord& record, const Sentences& sentences) {
  std::vector<std::string> lines;
  if (topic == Topic::kOffsets) {
    for (const TermRecord::Number& number : record.Numbers()) lines.push_back(sentences.Of(number));
  }
  for (size_t clause = 0; clause < record.ClauseCount(); ++clause)
    if (record.TopicAt(clause) == topic) lines.push_back(sentences.Of(record.ClauseAt(clause)));
  for (const TermRecord::Condition& condition : record.Conditions())
    if (condition.topic == topic) lines.push_back(sentences.Of(record, condition));
  return lines;
}

}  // namespace

std::string WriteText(const TermRecord& record, const Sentences& sentences) {
  std::string text;
  for (size_t index = 0; index < kTopicCount; ++index) {
    const auto topic = static_cast<Topic>(index);
    const std::vector<std::string> lines = LinesAbout(topic, record, sentences);
    if (lines.empty()) continue;
    text += fmt::format("{}: {}\n", NameOf(topic), SentenceOf(topic));
    for (size_t i = 0; i < lines.size(); ++i) text += fmt::format("  {:>4}  {}\n", i + 1, lines[i]);
    text += '\n';
  }
  return text;
}

}  // namespace tessera::encoder
