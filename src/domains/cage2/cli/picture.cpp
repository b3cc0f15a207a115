#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <iterator>

#include "domains/cage2/cli/scene.h"
#include "penstock/tools/page/svg.h"

// Three panels, one per subnet, a box per host. The fill of a box is the truth, the words in it are
// what Blue sees; red's move is an arrow from User0, Blue's a ring around its host.
namespace penstock::cage2 {
namespace {

constexpr int kWidth = 1000;
constexpr int kHeight = 662;
constexpr int kPanelTop = 108;
constexpr int kPanelWidth = 300;
constexpr int kPanelHeight = 460;
constexpr int kPanelGap = 30;
constexpr int kBoxWidth = 236;
constexpr int kBoxHeight = 70;
constexpr int kRowHeight = 82;
constexpr int kBoxInset = 42;  // from the panel's left, where arrows within a subnet run

constexpr std::string_view kInk = "#1f2933";
constexpr std::string_view kFaint = "#66727f";
constexpr std::string_view kBlue = "#1659c7";
constexpr std::string_view kRed = "#c0281c";
constexpr std::string_view kUserFill = "#ffe2a8";
constexpr std::string_view kRootFill = "#f5aea6";
constexpr std::string_view kCleanFill = "#ffffff";

struct Point {
  int x = 0;
  int y = 0;
};

int panel_left(Subnet subnet) { return 20 + static_cast<int>(subnet) * (kPanelWidth + kPanelGap); }

/// The upper left corner of a host's box.
Point corner(std::uint8_t host) {
  const Subnet subnet = subnet_of(host);
  const auto first = std::countr_zero(kSubnetHosts[static_cast<std::size_t>(subnet)]);
  return {panel_left(subnet) + kBoxInset, kPanelTop + 40 + (host - first) * kRowHeight};
}
Point left_of(std::uint8_t host) { return {corner(host).x, corner(host).y + kBoxHeight / 2}; }
Point right_of(std::uint8_t host) { return {corner(host).x + kBoxWidth, left_of(host).y}; }

/// Collects the document. Only the title comes from outside, and is escaped.
class Svg {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void text(Point at, int size, std::string_view colour, std::string_view words,
            std::string_view style = "") {
    if (words.empty()) { return; }
    add(R"(<text x="{}" y="{}" font-size="{}" fill="{}"{}>{}</text>)", at.x, at.y, size, colour,
        style, words);
  }
  void curve(Point from, Point to, int bend, std::string_view style) {
    add(R"svg(<path d="M{} {} C{} {} {} {} {} {}" fill="none" stroke="{}" stroke-width="2.5"{} marker-end="url(#tip)"/>)svg",
        from.x, from.y, from.x + bend, from.y, to.x - std::abs(bend), to.y, to.x, to.y, kRed,
        style);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// How a line of red's is drawn: dashed when the action failed.
std::string_view dashes(const Scene& scene) {
  return scene.trace.red_flag == Flag::no ? R"( stroke-dasharray="7 5")" : "";
}

constexpr std::string_view kBold = R"( font-weight="bold")";
constexpr std::string_view kRightAligned = R"( text-anchor="end")";
constexpr std::string_view kBoldRight = R"( font-weight="bold" text-anchor="end")";

void draw_header(Svg& svg, const Scene& scene) {
  svg.add(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="DejaVu Sans, Verdana, sans-serif">)",
      kWidth, kHeight);
  svg.add(
      R"(<defs><marker id="tip" markerUnits="userSpaceOnUse" markerWidth="14" markerHeight="12" refX="12" refY="6" orient="auto"><path d="M0 0 L14 6 L0 12 z" fill="{}"/></marker></defs>)",
      kRed);
  svg.add(R"(<rect width="{}" height="{}" fill="#fafaf7"/>)", kWidth, kHeight);
  svg.text({20, 34}, 20, kInk, fmt::format("Step {} of {}", scene.step, scene.num_steps), kBold);
  svg.text({210, 34}, 14, kFaint, page::escaped(scene.title));
  svg.text({kWidth - 20, 34}, 20, kInk, "return " + reward_text(scene.total_tenths), kBoldRight);
  if (scene.step == 0) { return; }
  svg.text({20, 62}, 15, kBlue, "Blue", kBold);
  svg.text({72, 62}, 15, kBlue, blue_text(scene));
  svg.text({20, 88}, 15, kRed, "Red", kBold);
  svg.text({72, 88}, 15, kRed, red_text(scene));
  svg.text({kWidth - 20, 62}, 15, kInk, "reward " + reward_text(scene.trace.cost_tenths),
           kRightAligned);
}

/// Framed when red looks for the addresses of the subnet.
void draw_panel(Svg& svg, const Scene& scene, Subnet subnet) {
  const RedMove& move = scene.trace.red;
  std::string frame;
  if (move.action == RedAction::discover_systems && move.target == static_cast<int>(subnet)) {
    frame = fmt::format(R"( stroke="{}" stroke-width="3"{})", kRed, dashes(scene));
  }
  svg.add(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="12" fill="#e9edf2"{}/>)",
          panel_left(subnet), kPanelTop, kPanelWidth, kPanelHeight, frame);
  svg.text({panel_left(subnet) + 16, kPanelTop + 26}, 15, kFaint, subnet_name(subnet), kBold);
}

std::string_view fill_of(const World& world, std::uint8_t host) {
  if (has(world.with_privileged(), host)) { return kRootFill; }
  return has(world.with_sessions(), host) ? kUserFill : kCleanFill;
}

/// The names of a few decoys, or their number.
std::string decoy_line(const World& world, std::uint8_t host) {
  const std::vector<std::string> names = decoy_texts(world, host);
  if (names.empty()) { return ""; }
  const std::string line = fmt::format("{}", fmt::join(names, ", "));
  constexpr std::size_t kFits = 34;
  return line.size() <= kFits ? line : fmt::format("{} kinds of decoys", names.size());
}

/// What Blue sees of a host: this step's activity as a label, then the mark that stays.
void draw_view(Svg& svg, Point at, ObsBits obs, std::uint8_t host) {
  const Activity seen = activity(obs, host);
  if (seen != Activity::none) {
    const bool alarm = seen == Activity::exploit;
    svg.add(R"(<rect x="{}" y="{}" width="50" height="18" rx="9" fill="{}" stroke="{}"/>)", at.x,
            at.y - 13, alarm ? kBlue : kCleanFill, kBlue);
    svg.text({at.x + 25, at.y}, 12, alarm ? kCleanFill : kBlue, alarm ? "alarm" : "scan",
             R"( text-anchor="middle")");
    at.x += 58;
  }
  const std::string_view word = mark_word(mark(obs, host));
  if (!word.empty()) { svg.text(at, 13, kBlue, fmt::format("marked {}", word)); }
}

void draw_host(Svg& svg, const Scene& scene, std::uint8_t host) {
  const World& world = scene.simulator.world();
  const Point at = corner(host);
  const bool acted_on = scene.step > 0 && blue_move(scene.action).host == host;
  const std::string stroke = acted_on ? fmt::format(R"(stroke="{}" stroke-width="4")", kBlue)
                                      : std::string(R"(stroke="#97a3b0" stroke-width="1.2")");
  svg.add(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="8" fill="{}" {}/>)", at.x, at.y,
          kBoxWidth, kBoxHeight, fill_of(world, host), stroke);
  svg.text({at.x + 12, at.y + 22}, 15, kInk, host_name(host), kBold);
  svg.text({at.x + kBoxWidth - 12, at.y + 22}, 14, kRed, access_text(world, host), kBoldRight);
  draw_view(svg, {at.x + 12, at.y + 42}, scene.simulator.obs(), host);
  const std::string decoys = decoy_line(world, host);
  svg.text({at.x + 12, at.y + 60}, decoys.size() > 30 ? 11 : 12, kFaint, decoys);
}

/// Below the server that runs it.
void draw_service(Svg& svg, bool up) {
  const Point at = {corner(host::kOpServer0).x + 12, corner(host::kOpServer0).y + kBoxHeight + 26};
  svg.add(R"(<circle cx="{}" cy="{}" r="6" fill="{}"/>)", at.x + 6, at.y - 5,
          up ? "#3c9a5f" : kRed);
  svg.text({at.x + 20, at.y}, 14, up ? kFaint : kRed,
           up ? "the OT service runs" : "the OT service is down", up ? "" : kBold);
}

/// A server through which red reaches the operational subnet.
std::uint8_t way_through(const World& world) {
  const HostSet servers = world.with_sessions() & kEnterpriseServers;
  return servers == 0 ? host::kEnterprise0 : static_cast<std::uint8_t>(std::countr_zero(servers));
}

void draw_red(Svg& svg, const Scene& scene) {
  constexpr int kBend = 60;
  constexpr int kLoop = -45;  // out to the left, for targets in the same subnet
  const RedMove& move = scene.trace.red;
  if (move.action == RedAction::sleep || move.action == RedAction::discover_systems) { return; }
  const std::string_view style = dashes(scene);
  const Point to = left_of(move.target);
  Point from = right_of(host::kUser0);
  if (subnet_of(move.target) == Subnet::user) {
    from = left_of(host::kUser0);
    from.y -= 12;
    svg.curve(from, {to.x, to.y + (move.target == host::kUser0 ? 12 : 0)}, kLoop, style);
    return;
  }
  if (subnet_of(move.target) == Subnet::operational) {
    const std::uint8_t way = way_through(scene.simulator.world());
    svg.curve(from, left_of(way), kBend, style);
    from = right_of(way);
  }
  svg.curve(from, to, kBend, style);
}

void draw_legend(Svg& svg) {
  struct Key {
    std::string_view fill;
    std::string_view words;
  };
  constexpr std::array<Key, 3> kKeys = {{{kCleanFill, "no session of red's"},
                                         {kUserFill, "red holds a user's session"},
                                         {kRootFill, "red is root or SYSTEM"}}};
  constexpr int kTop = kPanelTop + kPanelHeight + 28;
  int x = 20;
  for (const Key& key : kKeys) {
    svg.add(R"(<rect x="{}" y="{}" width="22" height="15" rx="3" fill="{}" stroke="#97a3b0"/>)", x,
            kTop - 12, key.fill);
    svg.text({x + 30, kTop}, 13, kInk, key.words);
    x += 235;
  }
  svg.text({20, kTop + 26}, 13, kBlue,
           "Blue ring: the host of Blue's action. Labels and marks in blue: what Blue sees, true "
           "or not.");
  svg.text({20, kTop + 48}, 13, kRed,
           "Red arrow or frame: red's action, dashed when it failed. Grey words: decoys in place.");
}

}  // namespace

std::string picture(const Scene& scene) {
  Svg svg;
  draw_header(svg, scene);
  for (const Subnet subnet : {Subnet::user, Subnet::enterprise, Subnet::operational}) {
    draw_panel(svg, scene, subnet);
  }
  for (std::uint8_t h = 0; h < kNumHosts; ++h) { draw_host(svg, scene, h); }
  draw_service(svg, scene.simulator.world().service_up());
  if (scene.step > 0) { draw_red(svg, scene); }
  draw_legend(svg);
  svg.add("</svg>");
  return svg.take();
}

}  // namespace penstock::cage2
