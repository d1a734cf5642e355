#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kvcheck/base/file.h"
#include "kvcheck/base/folder.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/plot/figure.h"

// POSIX leaves this declaration to the program; glibc makes it too.
extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace kv::reports {
namespace {

constexpr double mm_per_inch = 25.4;
constexpr double pixels_per_inch = 96;       // of CSS
constexpr double letters_in_page_pt = 10.5;  // 14 pixels, as figures are built for
// What gnuplot takes for one unit in a PDF, whose own unit is a point: letters are laid out for 96
// dots to the inch, and a line's width is half a point.
constexpr double letters_in_pdf = 72 / pixels_per_inch;
constexpr double lines_in_pdf = 2 * 72 / pixels_per_inch;
constexpr const char* script_name = ".figure.gp";
constexpr const char* remarks_name = ".figure.log";

std::string size_of(const Figure& figure, std::size_t scale) {
  return std::to_string(figure.width * scale) + "," + std::to_string(figure.height * scale);
}

std::string script_of(const Figure& figure) {
  const std::string common = "set encoding utf8\n" + figure.data;
  const std::string svg = "set terminal svg size " + size_of(figure, 1) +
                          " font 'Helvetica,Arial,sans-serif,14' background '#ffffff'\n"
                          "title_font = ',12'\n"
                          "set output '" +
                          figure.name + ".svg'\n";
  // The PNG has twice the pixels with everything scaled by the same factor, so that both files look
  // the same.
  const std::string png = "set terminal pngcairo size " + size_of(figure, 2) +
                          " font 'Sans,10.5' fontscale 2 linewidth 2 pointscale 2\n"
                          "title_font = ',9.2'\n"
                          "set output '" +
                          figure.name + ".png'\n";
  const std::string close = "unset multiplot\nunset output\nreset\n";
  return common + svg + figure.body + close + png + figure.body + close;
}

Error not_drawn(std::string message) {
  return {Error::Kind::unsupported, std::move(message)};
}

// Runs gnuplot on the script, without a shell and without the user's settings.
Result<int> run_gnuplot(const std::string& folder) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Each of these needs memory. Without the first, gnuplot would read and write where the user is.
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  int failure = posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  if (failure == 0) {
    failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  }
  if (failure == 0) {
    failure = posix_spawn_file_actions_addopen(&actions, 1, remarks_name, flags, 0600);
  }
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::string program = "gnuplot";
  std::string defaults = "-d";
  std::string script = script_name;
  const std::array<char*, 4> words = {program.data(), defaults.data(), script.data(), nullptr};
  pid_t child = 0;
  if (failure == 0) {
    failure = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) {
    return Error{Error::Kind::not_found, "gnuplot is not installed; there are no figures"};
  }
  if (failure != 0) {
    return Error{Error::Kind::io, std::string("cannot run 'gnuplot': ") + std::strerror(failure)};
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return not_drawn("cannot wait for gnuplot");
  }
  return status;
}

// gnuplot prints the offending line before it says what is wrong with it.
std::string last_remark(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return "";
  std::string text(file.value().bytes().size(), '\0');
  if (!text.empty()) std::memcpy(text.data(), file.value().bytes().data(), text.size());
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

bool written(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

// Why gnuplot did not draw the figure.
Error reason_of(const Figure& figure, const std::string& folder) {
  const std::string said = last_remark(folder + "/" + remarks_name);
  return not_drawn("gnuplot could not draw '" + figure.name +
                   "': " + (said.empty() ? "it printed no reason" : said));
}

// A folder for temporary files, removed with its content when this is destroyed.
class ScratchFolder {
 public:
  ScratchFolder() {
    const char* const temporary = std::getenv("TMPDIR");
    path_ = std::string(temporary == nullptr ? "/tmp" : temporary) + "/kvcheck-plot-XXXXXX";
    made_ = ::mkdtemp(path_.data()) != nullptr;
  }

  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  ~ScratchFolder() {
    if (made_) remove_folder(path_.c_str());
  }

  [[nodiscard]] bool is_made() const { return made_; }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

}  // namespace

Page Sheet::page() const {
  const double by = pixels_per_inch / mm_per_inch * (letters_in_page_pt / letters_pt);
  return {.width = width_mm * by, .height = height_mm * by};
}

std::string sheet_script(const Figure& figure, const Sheet& sheet, const std::string& file) {
  // The figure is built for its letters at their size on the screen; everything is scaled alike.
  const double width_in = sheet.width_mm / mm_per_inch;
  const double scale = width_in * pixels_per_inch / static_cast<double>(figure.width);
  const double height_in =
      width_in * static_cast<double>(figure.height) / static_cast<double>(figure.width);
  const auto scaled = [](double letters, double lines, double points) {
    return " font 'Sans," + shortest(letters_in_page_pt) + "' fontscale " + shortest(letters) +
           " linewidth " + shortest(lines) + " pointscale " + shortest(points);
  };
  std::string terminal;
  switch (sheet.format) {
    case Sheet::Format::pdf:
      terminal = "pdfcairo size " + shortest(width_in) + "in," + shortest(height_in) + "in" +
                 scaled(scale * letters_in_pdf, scale * lines_in_pdf, scale) +
                 "\ntitle_font = ',9.2'";
      break;
    case Sheet::Format::png: {
      const double dots = sheet.dots_per_inch;
      const double by = scale * dots / pixels_per_inch;
      terminal = "pngcairo size " + std::to_string(std::lround(width_in * dots)) + "," +
                 std::to_string(std::lround(height_in * dots)) + scaled(by, by, by) +
                 "\ntitle_font = ',9.2'";
      break;
    }
    case Sheet::Format::svg:
      terminal = "svg size " + size_of(figure, 1) +
                 " font 'Helvetica,Arial,sans-serif,14' background '#ffffff'\n"
                 "title_font = ',12'";
      break;
  }
  return "# " + figure.title + "\nset encoding utf8\n" + figure.data + "set terminal " + terminal +
         "\nset output " + gnuplot_quoted(file) + "\n" + figure.body +
         "unset multiplot\nunset output\n";
}

Result<std::string> draw_sheet(const Figure& figure, const Sheet& sheet) {
  const ScratchFolder folder;
  if (!folder.is_made()) return system_error("create", folder.path());
  const std::string file = folder.path() + "/sheet";
  const std::string script = sheet_script(figure, sheet, "sheet");
  if (auto done = write_file(folder.path() + "/" + script_name, script); !done) return done.error();
  const auto status = run_gnuplot(folder.path());
  if (!status) return status.error();
  if (*status != 0 || !written(file)) return reason_of(figure, folder.path());
  const auto drawn = MappedFile::open(file);
  if (!drawn) return drawn.error();
  const auto bytes = drawn->bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (sheet.format != Sheet::Format::svg) return text;
  // gnuplot's SVG has a size in pixels; the viewBox beside it keeps the coordinates.
  const std::string pixels = "width=\"" + std::to_string(figure.width) + "\" height=\"" +
                             std::to_string(figure.height) + "\"";
  const double height_mm =
      sheet.width_mm * static_cast<double>(figure.height) / static_cast<double>(figure.width);
  if (const std::size_t at = text.find(pixels); at != std::string::npos) {
    text.replace(
        at, pixels.size(),
        "width=\"" + shortest(sheet.width_mm) + "mm\" height=\"" + shortest(height_mm) + "mm\"");
  }
  return text;
}

Result<void> draw(const Figure& figure, const std::string& folder) {
  const std::string script = folder + "/" + script_name;
  const std::string remarks = folder + "/" + remarks_name;
  if (const auto done = write_file(script, script_of(figure)); !done) return done.error();
  const auto status = run_gnuplot(folder);
  const std::string base = folder + "/" + figure.name;
  Result<void> done;
  if (!status) {
    done = status.error();
  } else if (*status != 0 || !written(base + ".svg") || !written(base + ".png")) {
    ::unlink((base + ".svg").c_str());
    ::unlink((base + ".png").c_str());
    done = reason_of(figure, folder);
  }
  ::unlink(script.c_str());
  ::unlink(remarks.c_str());
  return done;
}

}  // namespace kv::reports
