#pragma once
#include <string>
#include <utility>
#include <vector>

namespace penstock::page {

/// For text and attributes of HTML and SVG.
std::string escaped(const std::string& text);

/// A number's text with a real minus instead of a hyphen, and without one where all digits are 0.
std::string with_minus(std::string text);

/// A scale from values to pixels, with round ticks inside.
/// `low` lies at pixel `from`, `high` at `to`; `from` may be the larger, as y grows downwards.
class Axis {
 public:
  Axis(double low, double high, double from, double to, int about_ticks = 5);
  /// Where a value lies.
  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] double from() const { return from_; }
  [[nodiscard]] double to() const { return to_; }
  /// A tick's label: no more digits than the ticks differ in.
  [[nodiscard]] std::string label(double tick) const;

 private:
  double low_;
  double high_;
  double from_;  // pixels
  double to_;    // pixels
  double step_;
  std::vector<double> ticks_;
};

/// Pixels, x and y.
using Points = std::vector<std::pair<double, double>>;

/// A picture that grows. Colours and strokes are classes of the page's style sheet, so that one
/// picture serves light and dark.
/// Sizes and places are pixels from the upper left corner. Texts, titles and tooltips are escaped.
class Svg {
 public:
  Svg(double width, double height, const std::string& title);

  void line(double x1, double y1, double x2, double y2, const std::string& cls);
  /// `more`: further attributes, as they are.
  void rect(double x, double y, double width, double height, const std::string& cls,
            const std::string& more = "", const std::string& tooltip = "");
  void circle(double x, double y, double radius, const std::string& cls,
              const std::string& tooltip = "");
  void text(double x, double y, const std::string& text, const std::string& cls);
  void path(const Points& points, const std::string& cls, const std::string& tooltip = "");
  /// Between two lines over the same places.
  void band(const Points& low, const Points& high, const std::string& cls);
  /// What follows, until the end, is moved.
  void begin_group(double dx, double dy);
  void end_group() { body_ += "</g>\n"; }
  /// Grid, tick labels and names of both axes.
  void frame(const Axis& x, const Axis& y, const std::string& x_name, const std::string& y_name);

  /// The picture so far, as an element for a page.
  [[nodiscard]] std::string str() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace penstock::page
