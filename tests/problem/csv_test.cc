// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fixture.h"
#include "tessera/base/arithmetic.h"
#include "tessera/problem/files/problem_files.h"

namespace tessera::problem {
namespace {

using base::Diagnostic;

Problem ReadSound(std::string_view text) {
  base::Expected<Problem> problem = files::ReadCsv(text, "p.csv");
  EXPECT_TRUE(problem.has_value()) << base::Format(problem.error());
  return problem ? *problem : Problem{};
}

// "line:column message" of the fault in a text that must have one.
std::string FaultOf(std::string_view text) {
  const base::Expected<Problem> problem = files::ReadCsv(text, "p.csv");
  if (problem) return "sound";
  EXPECT_EQ(problem.error().file, "p.csv");
  return std::to_string(problem.error().line) + ":" + std::to_string(problem.error().column) + " " +
         problem.error().message;
}

// The fault in the second line below a header of the required columns.
std::string RowFault(std::string_view row) {
  return FaultOf("id,lower,upper,size\n" + std::string(row) + "\n");
}

TEST(ReadCsvTest, ReadsRequiredColumnsInAnyOrder) {
  const Problem problem = ReadSound("size,upper,id,lower\n8,5,a,2\n");
  ASSERT_EQ(problem.buffers.size(), 1U);
  EXPECT_EQ(problem.buffers[0].id, "a");
  EXPECT_EQ(problem.buffers[0].size, 8);
  EXPECT_EQ(problem.buffers[0].lifespans, (std::vector<Lifespan>{{2, 5}}));
  EXPECT_EQ(problem.memories[0].capacity, base::kMaxTotal);
}

TEST(ReadCsvTest, ReadsOptionalColumnsThatMayBeEmpty) {
  const Problem problem = ReadSound(
      "id,lower,upper,size,alignment,offset,hint,gaps\na,0,9,1,4,8,,3-5 8-9\nb,0,9,1,,,2,\n");
  ASSERT_EQ(problem.buffers.size(), 2U);
  EXPECT_EQ(problem.buffers[0].alignment, 4);
  EXPECT_EQ(problem.buffers[0].offset, 8);
  EXPECT_EQ(problem.buffers[0].hint, std::nullopt);
  EXPECT_EQ(problem.buffers[0].lifespans, (std::vector<Lifespan>{{0, 3}, {5, 8}}));
  EXPECT_EQ(problem.buffers[1].alignment, 1);
  EXPECT_EQ(problem.buffers[1].offset, std::nullopt);
  EXPECT_EQ(problem.buffers[1].hint, 2);
  EXPECT_EQ(problem.buffers[1].lifespans, (std::vector<Lifespan>{{0, 9}}));
}

TEST(ReadCsvTest, BlankLinesNeverEndTheInput) {
  EXPECT_EQ(ReadSound("\n\nid,lower,upper,size\n\na,0,1,1\n   \nb,0,1,1").buffers.size(), 2U);
}

TEST(ReadCsvTest, CrlfByteOrderMarkAndBlanksAreFine) {
  const Problem problem = ReadSound("\xEF\xBB\xBFid, lower ,upper,size\r\na , 0,1,\t1\r\n");
  ASSERT_EQ(problem.buffers.size(), 1U);
  EXPECT_EQ(problem.buffers[0].id, "a");
}

TEST(ReadCsvTest, NoRowsAreAnEmptyProblem) {
  EXPECT_TRUE(ReadSound("id,lower,upper,size\n").buffers.empty());
}

TEST(ReadCsvTest, TouchingGapsAreOne) {
  EXPECT_EQ(ReadSound("id,lower,upper,size,gaps\na,0,9,1,3-5 5-6\n").buffers[0].lifespans,
            (std::vector<Lifespan>{{0, 3}, {6, 9}}));
}

TEST(ReadCsvFaultTest, NoHeader) {
  EXPECT_EQ(FaultOf(""), "1:1 the file has no header");
  EXPECT_EQ(FaultOf("\r\n \n"), "1:1 the file has no header");
}

TEST(ReadCsvFaultTest, UnknownColumnWithTheNearest) {
  const auto problem = files::ReadCsv("id,lower,uper,size\n", "p.csv");
  ASSERT_FALSE(problem.has_value());
  EXPECT_EQ(problem.error().message, "unknown column 'uper'");
  EXPECT_EQ(problem.error().column, 10);
  EXPECT_EQ(problem.error().hint, "did you mean 'upper'?");
  EXPECT_EQ(problem.error().excerpt, "id,lower,uper,size");
}

TEST(ReadCsvTest, KnowsTheNamesOfOtherTools) {
  for (const char* header : {"buffer,start,upper,size\n", "buffer_id,begin,upper,size\n"}) {
    const Problem problem = ReadSound(std::string(header) + "a,2,5,8\n");
    EXPECT_EQ(problem.buffers.at(0).id, "a");
    EXPECT_EQ(problem.buffers[0].lifespans, (std::vector<Lifespan>{{2, 5}}));
  }
}

TEST(ReadCsvTest, ConvertsLifetimes) {
  const std::string text = "id,start,end,size,gaps\na,2,5,8,3-3\nb,4,4,1,\n";
  const auto inclusive = files::ReadCsv(text, "p.csv", files::Lifetimes::kInclusive);
  ASSERT_TRUE(inclusive.has_value());
  EXPECT_EQ(inclusive->buffers[0].lifespans, (std::vector<Lifespan>{{2, 3}, {4, 6}}));
  EXPECT_EQ(inclusive->buffers[1].lifespans, (std::vector<Lifespan>{{4, 5}}));
  EXPECT_EQ(files::WriteCsv(*inclusive, nullptr, files::Lifetimes::kInclusive).value(), text);
  const auto exclusive =
      files::ReadCsv("id,lower,end,size\na,2,5,8\n", "p.csv", files::Lifetimes::kExclusive);
  ASSERT_TRUE(exclusive.has_value());
  EXPECT_EQ(exclusive->buffers[0].lifespans, (std::vector<Lifespan>{{2, 5}}));
  const auto empty =
      files::ReadCsv("id,start,end,size\na,3,2,8\n", "p.csv", files::Lifetimes::kInclusive);
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().expected, "start <= end");
}

TEST(ReadCsvFaultTest, EndIsExplained) {
  const auto end = files::ReadCsv("id,lower,end,size\n", "p.csv");
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().column, 10);
  EXPECT_NE(end.error().hint.find("rename it to 'upper'"), std::string::npos);
}

TEST(ReadCsvFaultTest, HeaderColumns) {
  EXPECT_EQ(FaultOf("id,lower,upper,size,id\n"), "1:21 the column 'id' is given twice");
  EXPECT_EQ(FaultOf("id,lower,upper\n"), "1:1 the column 'size' is missing");
  EXPECT_EQ(FaultOf("id,lower,upper,size,\n"), "1:21 unknown column ''");
}

TEST(ReadCsvFaultTest, Ids) {
  EXPECT_EQ(RowFault("a,0,1,1\nb,0,1,1\na,0,1,1"), "4:1 the id 'a' is already that of line 2");
  EXPECT_EQ(RowFault(",0,1,1"), "2:1 the field 'id' is empty");
  EXPECT_EQ(RowFault("\"a,0,1,1"), "2:1 the quote is not closed in its line");
  EXPECT_EQ(RowFault("\"a\"b,0,1,1"), "2:4 text behind the closing quote");
  EXPECT_EQ(RowFault("\"\",0,1,1"), "2:2 the field 'id' is empty");
  EXPECT_EQ(RowFault("a,0,1,\"x\""), "2:8 size is not a whole number");
}

TEST(ReadCsvFaultTest, Numbers) {
  EXPECT_EQ(RowFault("a,-1,1,1"), "2:3 lower has a sign");
  EXPECT_EQ(RowFault("a,0,+1,1"), "2:5 upper has a sign");
  EXPECT_EQ(RowFault("a,0,1,12kB"), "2:7 size is not a whole number");
  EXPECT_EQ(RowFault("a,0,1.5,1"), "2:5 upper is not a whole number");
  EXPECT_EQ(RowFault("a,0,1,99999999999999999999"), "2:7 size is too large");
  EXPECT_EQ(RowFault("a,0,1,4611686018427387905"), "2:7 size is too large");
  EXPECT_EQ(RowFault("a,,1,1"), "2:3 the field 'lower' is empty");
  EXPECT_EQ(RowFault("a,0,1,0"), "2:7 size is too small");
}

TEST(ReadCsvFaultTest, Rows) {
  EXPECT_EQ(RowFault("a,3,3,1"), "2:5 the life [3, 3) is empty");
  EXPECT_EQ(RowFault("a,0,1"), "2:6 the field 'size' is missing");
  EXPECT_EQ(RowFault("a,0,1,1,9"), "2:9 a field beyond the last column");
}

TEST(ReadCsvFaultTest, PositionsCountBlankLinesAndCrlf) {
  EXPECT_EQ(FaultOf("\r\nid,lower,upper,size\r\n\r\na,0, x,1\r\n"),
            "4:6 upper is not a whole number");
}

TEST(ReadCsvFaultTest, Gaps) {
  const auto fault = [](std::string_view gaps) {
    return FaultOf("gaps,id,lower,upper,size\n" + std::string(gaps) + ",a,2,9,1\n");
  };
  EXPECT_EQ(fault("3-5 x"), "2:5 a gap is not of the form a-b or a-b@from:to");
  EXPECT_EQ(fault("3-5 6-z"), "2:7 gap is not a whole number");
  EXPECT_EQ(fault("5-5"), "2:1 the gap is empty");
  EXPECT_EQ(fault("3-5 4-6"), "2:5 the gap leaves the life or overlaps the gap before");
  EXPECT_EQ(fault("1-3"), "2:1 the gap leaves the life or overlaps the gap before");
  EXPECT_EQ(fault("2-9"), "2:1 the gaps leave bytes that live at no step");
  EXPECT_EQ(fault("3-5@0-4"), "2:5 a window is not of the form from:to");
  EXPECT_EQ(fault("3-5@0:2"), "2:5 the window is empty or leaves the buffer");
  EXPECT_EQ(fault("3-5@0:0"), "2:5 the window is empty or leaves the buffer");
  EXPECT_EQ(fault("3-5@0:1@0:1"), "2:1 a gap is not of the form a-b or a-b@from:to");
}

TEST(ReadCsvFaultTest, TotalsBeyondTheLimit) {
  EXPECT_EQ(RowFault("a,0,1,4611686018427387904\nb,0,1,1"),
            "0:0 sizes, rounded up to their alignments, add up to more than 2^62 bytes");
}

TEST(WriteCsvTest, WritesOnlyTheColumnsNeeded) {
  EXPECT_EQ(*files::WriteCsv(PlainProblem({MakeBuffer("a", 0, 2, 4)})),
            "id,lower,upper,size\na,0,2,4\n");
}

TEST(WriteCsvTest, AnAllocationFillsTheOffsetColumn) {
  const Allocation allocation = {{12}, {}};
  EXPECT_EQ(*files::WriteCsv(PlainProblem({MakeBuffer("a", 0, 2, 4)}), &allocation),
            "id,lower,upper,size,offset\na,0,2,4,12\n");
}

// RFC 4180: quotes around a field that contains separators, two quotes for one.
TEST(WriteCsvTest, QuotesAnIdThatHoldsSeparators) {
  const std::vector<std::string> ids = {"a,b", "say \"hi\"", " outer ", "plain", "=1+1", "\""};
  std::vector<Buffer> buffers;
  for (const std::string& id : ids) buffers.push_back(MakeBuffer(id, 0, 2, 4));
  const auto text = files::WriteCsv(PlainProblem(buffers));
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text,
            "id,lower,upper,size\n\"a,b\",0,2,4\n\"say \"\"hi\"\"\",0,2,4\n\" outer "
            "\",0,2,4\nplain,0,2,4\n"
            "=1+1,0,2,4\n\"\"\"\",0,2,4\n");
  const auto read = files::ReadCsv(*text, "quoted.csv");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(read->buffers[i].id, ids[i]);
}

TEST(WriteCsvTest, EscapesControlCharactersInIds) {
  const auto text = files::WriteCsv(PlainProblem({MakeBuffer("a\nb\x1b[31m,", 0, 2, 4)}));
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "id,lower,upper,size\n\"a\\nb\\u001b[31m,\",0,2,4\n");
}

TEST(ReadCsvTest, BytesThatAreNoUtf8AreEscapedWhereTheyComeIn) {
  const auto read =
      files::ReadCsv("id,lower,upper,size\n\xff\xc3\xa4,0,1,1\n\xfe,0,1,1\n", "latin.csv");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->buffers[0].id, "\\xff\xc3\xa4");
  EXPECT_EQ(read->buffers[1].id, "\\xfe");
}

TEST(WriteCsvTest, RefusesWhatCsvCannotSay) {
  const auto refusal = [](const Problem& problem) {
    const auto text = files::WriteCsv(problem);
    return text ? "" : text.error().message;
  };
  const Problem plain = PlainProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 4)});
  EXPECT_EQ(refusal(plain), "");
  EXPECT_EQ(refusal(BankedProblem({})), "CSV cannot state banks");
  Problem problem = plain;
  problem.memories.resize(2);
  EXPECT_EQ(refusal(problem), "CSV cannot state 2 memories");
  problem = plain;
  problem.relations = {{RelationKind::kSeparate, 0, 1, 0}};
  EXPECT_EQ(refusal(problem), "CSV cannot state relations");
  problem = plain;
  problem.loops = {{0, 1, {1}}};
  EXPECT_EQ(refusal(problem), "CSV cannot state loops");
  problem = plain;
  problem.memories[0].reserved = {{{0, 1}, ""}};
  EXPECT_EQ(refusal(problem), "CSV cannot state reserved ranges");
  problem = plain;
  problem.buffers[0].id = "b\x1b";
  problem.buffers[1].id = "b\\u001b";
  EXPECT_EQ(refusal(problem),
            "CSV cannot state ids that differ in control characters alone ('b\\u001b')");
  problem = plain;
  problem.buffers[1].lifespans[0].lower = -1;
  EXPECT_EQ(refusal(problem), "CSV cannot state negative steps (of buffer 'b')");
}

RC_GTEST_PROP(CsvTest, WhatIsWrittenReadsBack, ()) {
  Problem problem = PlainProblem({});
  const auto count = *rc::gen::inRange<size_t>(0, 6);
  for (size_t i = 0; i < count; ++i) {
    const Step lower = *rc::gen::inRange<Step>(0, 9);
    Buffer buffer =
        MakeBuffer("b" + std::to_string(i), lower, lower + 2, *rc::gen::inRange<Bytes>(1, 99));
    if (*rc::gen::arbitrary<bool>()) buffer.lifespans.push_back({lower + 5, lower + 6});
    if (*rc::gen::arbitrary<bool>()) buffer.alignment = *rc::gen::inRange<Bytes>(1, 65);
    if (*rc::gen::arbitrary<bool>()) buffer.offset = *rc::gen::inRange<Bytes>(0, 99);
    if (*rc::gen::arbitrary<bool>()) buffer.hint = *rc::gen::inRange<Bytes>(0, 99);
    problem.buffers.push_back(buffer);
  }
  const std::string text = files::WriteCsv(problem).value();
  const Problem read = files::ReadCsv(text, "").value();
  RC_ASSERT(read.buffers.size() == problem.buffers.size());
  for (size_t i = 0; i < count; ++i) {
    const Buffer& a = read.buffers[i];
    const Buffer& b = problem.buffers[i];
    RC_ASSERT(a.id == b.id && a.size == b.size && a.lifespans == b.lifespans &&
              a.alignment == b.alignment);
    RC_ASSERT(a.offset == b.offset && a.hint == b.hint);
  }
  RC_ASSERT(files::WriteCsv(read).value() == text);
}

}  // namespace
}  // namespace tessera::problem
