#include "runtime/measure/arrivals.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace espalier::runtime::probe {
namespace {

constexpr double kWarmUp = 0.25;  // of the time
constexpr std::ptrdiff_t kFewestArrivals = 4;
constexpr double kLongEdge = 0.5;  // of the hull

struct Point {
  double at_s;
  double bytes;  // by then
};

double slope(const Point& a, const Point& b) {
  return b.at_s > a.at_s ? (b.bytes - a.bytes) / (b.at_s - a.at_s) : 0;
}

// Andrew's monotone chain.
std::vector<Point> upper_hull(const std::vector<Point>& points) {
  std::vector<Point> hull;
  const auto is_below = [&](const Point& next) {
    const Point& a = hull[hull.size() - 2];
    const Point& b = hull.back();
    return (b.bytes - a.bytes) * (next.at_s - a.at_s) <= (next.bytes - a.bytes) * (b.at_s - a.at_s);
  };
  for (const Point& point : points) {
    while (hull.size() >= 2 && is_below(point)) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

}  // namespace

double rate_of(const std::vector<Arrival>& arrivals, double seconds) {
  const auto is_early = [&](const Arrival& one) { return one.at_s < kWarmUp * seconds; };
  const auto is_in_time = [&](const Arrival& one) { return one.at_s <= seconds; };
  auto first = std::find_if_not(arrivals.begin(), arrivals.end(), is_early);
  auto end = std::find_if_not(first, arrivals.end(), is_in_time);
  std::vector<Point> points;
  double bytes = 0;
  if (end - first < kFewestArrivals) {  // use all arrivals, from the beginning
    first = arrivals.begin();
    end = arrivals.end();
    points.push_back({0, 0});
  }
  for (auto one = first; one != end; ++one) {
    bytes += static_cast<double>(one->bytes);
    points.push_back({one->at_s, bytes});
  }
  if (points.size() < 2) return 0;
  const std::vector<Point> hull = upper_hull(points);
  std::size_t longest = 0;
  for (std::size_t i = 1; i + 1 < hull.size(); ++i) {
    if (hull[i + 1].at_s - hull[i].at_s > hull[longest + 1].at_s - hull[longest].at_s) longest = i;
  }
  const Point& from = hull[longest];
  const Point& to = hull[longest + 1];
  const double whole = hull.back().at_s - hull.front().at_s;
  if (whole <= 0) return slope({0, 0}, hull.back());  // all arrived at the same moment
  return to.at_s - from.at_s >= kLongEdge * whole ? slope(from, to)
                                                  : slope(hull.front(), hull.back());
}

}  // namespace espalier::runtime::probe
