// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/self_description.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <nlohmann/detail/abi_macros.hpp>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/api/parts/engine_set.h"
#include "tessera/encoder/sat/cadical_engine.h"
#ifdef TESSERA_IPASIR
#include "tessera/encoder/sat/ipasir_engine.h"
#endif
#ifdef TESSERA_Z3
#include "tessera/encoder/smt/z3_engine.h"
#endif
#include "tessera/graph/import/formats.h"

namespace tessera::cli {
namespace {

using Options = std::vector<const CLI::Option*>;

Options OptionsOf(const CLI::App& app, bool positional) {
  return app.get_options([positional](const CLI::Option* option) {
    return option->get_positional() == positional && !option->get_group().empty();
  });
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns the words that a value may be: those between the braces of "TEXT:{text,json}".
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find(":{");
  const size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 2, end - begin - 2), ',');
}

// Returns "TEXT" for "TEXT:{text,json}" and for "TEXT:FILE".
std::string PlaceholderOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

// Returns text for troff: without requests at the start of lines, and with hyphens that can be
// copied.
std::string Troff(std::string_view text) {
  std::string escaped;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    begins_line = c == '\n';
  }
  return escaped;
}

std::string TroffOption(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : NamesOf(option))
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Troff(name));
  if (option.get_positional()) names = "\\fI" + Troff(option.get_name()) + "\\fR";
  std::string item = ".TP\n" + names;
  if (TakesValue(option) && !option.get_positional())
    item += " \\fI" + Troff(PlaceholderOf(option)) + "\\fR";
  item += "\n" + Troff(option.get_description());
  const std::vector<std::string> choices = ChoicesOf(option);
  if (!choices.empty()) item += "\n.br\nOne of: " + Troff(CLI::detail::join(choices, ", ")) + ".";
  if (!option.get_default_str().empty())
    item += "\n.br\nDefault: " + Troff(option.get_default_str()) + ".";
  return item + "\n";
}

std::string TroffVerbatim(std::string_view section, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n.nf\n{}\n.fi\n", section, Troff(text));
}

std::string TroffItems(std::string_view section, const Options& options) {
  std::string items;
  for (const CLI::Option* option : options) items += TroffOption(*option);
  return items.empty() ? "" : fmt::format(".SH {}\n{}", section, items);
}

// Returns text within single quotes of a shell.
std::string Quoted(std::string_view text, std::string_view quote) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += quote;
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string WithoutLastBreak(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string FirstSentence(const std::string& text) {
  return text.substr(0, text.find_first_of(";\n"));
}

// A command, or a part of one, such as `explore show`.
struct Entry {
  const CLI::App* app = nullptr;
  const CLI::App* within = nullptr;  // the command of a part

  std::string Name() const {
    return within == nullptr ? app->get_name() : within->get_name() + " " + app->get_name();
  }
};

std::vector<Entry> EntriesOf(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const CLI::App* command : app.get_subcommands({})) {
    entries.push_back({command});
    for (const CLI::App* part : command->get_subcommands({})) entries.push_back({part, command});
  }
  return entries;
}

// Returns the names of the parts of a command, with blanks between them.
std::string PartsOf(const CLI::App& command) {
  std::string names;
  for (const CLI::App* part : command.get_subcommands({})) names += part->get_name() + " ";
  if (!names.empty()) names.pop_back();
  return names;
}

std::string ForBash(const CLI::App& app, const std::vector<Entry>& entries) {
  std::ostringstream script;
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) names += command->get_name() + " ";
  script << "# Completion of " << app.get_name() << " for bash: source this file.\n"
         << "_" << app.get_name() << "() {\n"
         << "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         << "  local command=${COMP_WORDS[1]}\n"
         << "  COMPREPLY=()\n"
         << "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         << "    words='" << names;
  for (const CLI::Option* option : OptionsOf(app, false))
    for (const std::string& name : NamesOf(*option)) script << name << " ";
  script << "'\n  else\n";
  for (const Entry& entry : entries) {
    if (entry.within == nullptr) continue;
    script << "    [ \"$COMP_CWORD\" != 2 ] && [ \"$command,${COMP_WORDS[2]}\" = "
           << entry.within->get_name() << "," << entry.app->get_name() << " ] && command='"
           << entry.Name() << "'\n";
  }
  script << "    case $command,$before in\n";
  for (const Entry& entry : entries) {
    for (const CLI::Option* option : OptionsOf(*entry.app, false)) {
      const std::vector<std::string> choices = ChoicesOf(*option);
      if (!TakesValue(*option)) continue;
      for (const std::string& name : NamesOf(*option)) {
        script << "      '" << entry.Name() << "'," << name << ") words='"
               << CLI::detail::join(choices, " ") << "'";
        script << (choices.empty() ? "; return ;;\n" : " ;;\n");
      }
    }
    const std::string parts = PartsOf(*entry.app);
    script << "      '" << entry.Name() << "',*) ";
    if (!parts.empty()) script << "[ \"$COMP_CWORD\" = 2 ] && words='" << parts << "'; ";
    script << "[[ $word == -* ]] && words='";
    for (const CLI::Option* option : OptionsOf(*entry.app, false))
      for (const std::string& name : NamesOf(*option)) script << name << " ";
    script << "' ;;\n";
  }
  script << "    esac\n  fi\n"
         << "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         << "}\ncomplete -o default -F _" << app.get_name() << " " << app.get_name() << "\n";
  return script.str();
}

// Returns an item of _arguments or _values: "name[description]".
std::string Described(const std::string& name, const std::string& text) {
  std::string escaped;
  for (const char c : FirstSentence(text)) {
    if (c == ':' || c == '[' || c == ']') escaped += '\\';
    escaped += c;
  }
  return name + "[" + escaped + "]";
}

std::string ForZsh(const CLI::App& app, const std::vector<Entry>& entries) {
  std::ostringstream script;
  script << "#compdef " << app.get_name() << "\n"
         << "# Completion of " << app.get_name() << " for zsh: a file _" << app.get_name()
         << " in a folder of $fpath.\n_" << app.get_name() << "() {\n"
         << "  if (( CURRENT == 2 )); then\n    _values command";
  for (const CLI::App* command : app.get_subcommands({}))
    script << " \\\n      "
           << Quoted(Described(command->get_name(), command->get_description()), "'\\''");
  script << "\n    return\n  fi\n  local command=$words[2]\n  shift words; (( CURRENT-- ))\n";
  for (const Entry& entry : entries) {
    if (entry.within == nullptr) continue;
    script << "  if (( CURRENT > 2 )) && [[ $command,$words[2] == " << entry.within->get_name()
           << "," << entry.app->get_name() << " ]]; then command='" << entry.Name()
           << "'; shift words; (( CURRENT-- )); fi\n";
  }
  script << "  case $command in\n";
  for (const Entry& entry : entries) {
    script << "    '" << entry.Name() << "')\n      _arguments";
    for (const CLI::Option* option : OptionsOf(*entry.app, false)) {
      const std::vector<std::string> choices = ChoicesOf(*option);
      for (const std::string& name : NamesOf(*option)) {
        std::string item = Described(name, option->get_description());
        if (option->get_items_expected_max() > 1) item.insert(0, "*");
        if (TakesValue(*option))
          item += ":value:" +
                  (choices.empty() ? "_files" : "(" + CLI::detail::join(choices, " ") + ")");
        script << " \\\n        " << Quoted(item, "'\\''");
      }
    }
    const std::string parts = PartsOf(*entry.app);
    if (!parts.empty()) script << " \\\n        '1:part or file:{compadd " << parts << "; _files}'";
    script << " \\\n        '*:file:_files' ;;\n";
  }
  script << "  esac\n}\n_" << app.get_name() << " \"$@\"\n";
  return script.str();
}

// Returns the condition under which fish offers the options of the entry: other commands may have
// parts of the same name, and a command may have other options than its parts.
std::string FishCondition(const Entry& entry, const std::vector<Entry>& entries) {
  const auto seen = [](const std::string& names) { return "__fish_seen_subcommand_from " + names; };
  if (entry.within != nullptr)
    return seen(entry.within->get_name()) + "; and " + seen(entry.app->get_name());
  std::string condition = seen(entry.app->get_name());
  const std::string parts = PartsOf(*entry.app);
  if (!parts.empty()) condition += "; and not " + seen(parts);
  for (const Entry& other : entries) {
    if (other.within != nullptr && other.app->get_name() == entry.app->get_name())
      condition += "; and not " + seen(other.within->get_name());
  }
  return condition;
}

std::string ForFish(const CLI::App& app, const std::vector<Entry>& entries) {
  std::ostringstream script;
  script << "# Completion of " << app.get_name() << " for fish: a file " << app.get_name()
         << ".fish in a folder of $fish_complete_path.\n";
  for (const CLI::App* command : app.get_subcommands({}))
    script << "complete -c " << app.get_name() << " -n __fish_use_subcommand -f -a "
           << command->get_name() << " -d " << Quoted(command->get_description(), "\\'") << "\n";
  for (const Entry& entry : entries) {
    if (entry.within != nullptr)
      script << "complete -c " << app.get_name() << " -n '"
             << FishCondition({entry.within}, entries) << "' -a " << entry.app->get_name() << " -d "
             << Quoted(entry.app->get_description(), "\\'") << "\n";
    for (const CLI::Option* option : OptionsOf(*entry.app, false)) {
      script << "complete -c " << app.get_name() << " -n '" << FishCondition(entry, entries) << "'";
      for (const std::string& name : option->get_snames()) script << " -s " << name;
      for (const std::string& name : option->get_lnames()) script << " -l " << name;
      const std::vector<std::string> choices = ChoicesOf(*option);
      if (!choices.empty())
        script << " -x -a " << Quoted(CLI::detail::join(choices, " "), "\\'");
      else if (TakesValue(*option))
        script << " -r";
      script << " -d " << Quoted(FirstSentence(option->get_description()), "\\'") << "\n";
    }
  }
  return script.str();
}

// Returns the parts of a command, each with its arguments and options.
std::string TroffParts(const CLI::App& command) {
  std::string text;
  for (const CLI::App* part : command.get_subcommands({})) {
    std::string words = command.get_name() + " " + part->get_name();
    std::string items;
    for (const CLI::Option* option : OptionsOf(*part, true)) {
      words += " " + option->get_name();
      items += TroffOption(*option);
    }
    for (const CLI::Option* option : OptionsOf(*part, false)) items += TroffOption(*option);
    text += fmt::format(".SS {}\n{}\n{}", Troff(words), Troff(part->get_description()), items);
  }
  return text.empty() ? text : ".SH PARTS\n" + text;
}

}  // namespace

std::string ManualPage(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const std::string name =
      parent == nullptr ? app.get_name() : parent->get_name() + "-" + app.get_name();
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string about = app.get_description();
  const std::string summary = parent == nullptr ? "plan the memory of neural accelerators" : about;
  std::string page = fmt::format(
      ".TH {} 1 \"\" \"tessera {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      Troff(title), TESSERA_VERSION, Troff(name), Troff(summary));
  if (parent == nullptr) {
    page += fmt::format(".B {}\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
                        Troff(name), Troff(about));
    std::string others;
    for (const CLI::App* command : app.get_subcommands({})) {
      page += fmt::format(".TP\n.B {}\n{}\n", Troff(command->get_name()),
                          Troff(command->get_description()));
      others += fmt::format("{}.BR {}\\-{} (1)", others.empty() ? "" : ",\n", Troff(name),
                            Troff(command->get_name()));
    }
    page += TroffItems("OPTIONS", OptionsOf(app, false));
    page += fmt::format(".SH EXIT STATUS\n{}\n.SH SEE ALSO\n{}", Troff(app.get_footer()), others);
    return page;
  }
  page +=
      fmt::format(".B {} {}\n[\\fIOPTIONS\\fR]", Troff(parent->get_name()), Troff(app.get_name()));
  for (const CLI::Option* option : OptionsOf(app, true))
    page += " \\fI" + Troff(option->get_name()) + "\\fR";
  page += "\n" + TroffItems("ARGUMENTS", OptionsOf(app, true));
  page += TroffItems("OPTIONS", OptionsOf(app, false));
  page += TroffParts(app);
  page += TroffVerbatim("NOTES", app.get_footer());
  return page + fmt::format(".SH SEE ALSO\n.BR {} (1)", Troff(parent->get_name()));
}

std::string VersionReport() {
  std::string report = std::string("tessera ") + TESSERA_VERSION + "\n";
  const auto add = [&report](std::string_view what, std::string_view value) {
    report += fmt::format("{:<16}{}\n", what, value);
  };
#ifdef __clang__
  add("compiler", __VERSION__);
#else
  add("compiler", "GCC " __VERSION__);
#endif
  add("network formats", graph::import::NamesOfFormats());
  add("engines", fmt::format("{}", fmt::join(api::parts::EngineSet::Names(), " ")));
  add("CaDiCaL", encoder::sat::CadicalVersion());
#ifdef TESSERA_Z3
  add("Z3", encoder::smt::Z3Version());
#endif
#ifdef TESSERA_IPASIR
  add("IPASIR", encoder::sat::IpasirEngine::Signature());
#endif
  add("CLI11", CLI11_VERSION);
  add("fmt",
      fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100));
  add("JSON for C++", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                  NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH));
  add("yaml-cpp", TESSERA_YAML_CPP_VERSION);
  add("SQLite", TESSERA_SQLITE_VERSION);
#ifdef TESSERA_PROTOBUF_VERSION
  add("protobuf", TESSERA_PROTOBUF_VERSION);
#endif
#ifdef TESSERA_MIMALLOC_VERSION
  add("mimalloc", TESSERA_MIMALLOC_VERSION);
#endif
  return WithoutLastBreak(std::move(report));
}

std::string CompletionScript(const CLI::App& app, Shell shell) {
  const std::vector<Entry> entries = EntriesOf(app);
  switch (shell) {
    case Shell::kZsh:
      return WithoutLastBreak(ForZsh(app, entries));
    case Shell::kFish:
      return WithoutLastBreak(ForFish(app, entries));
    default:
      return WithoutLastBreak(ForBash(app, entries));
  }
}

}  // namespace tessera::cli
