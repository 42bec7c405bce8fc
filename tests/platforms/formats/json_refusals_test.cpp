// Every error of the JSON format, with place and reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/formats/formats.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::json_refusals_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

std::string read(std::string_view text) {
  return refusal([&] { return parse_platform(text, "f.json"); });
}

std::string read_body(const std::string& body) {
  return read(R"({"format": "espalier-platform", "version": 1, "name": "t", )" + body + "}");
}

std::string read_nodes(const std::string& nodes) {
  return read_body(R"("links": [], "nodes": [)" + nodes + "]");
}

constexpr const char* kNodes =
    R"("nodes": [{"name": "alpha"}, {"name": "beta"}, {"name": "sw", "relay": true}])";

std::string read_links(const std::string& links) {
  return read_body(std::string(kNodes) + R"(, "links": [)" + links + "]");
}

std::string read_link(const std::string& members) {
  return read_links(R"({"from": "alpha", "to": "beta", )" + members + "}");
}

std::string read_shared(const std::string& shared) {
  return read_body(std::string(kNodes) +
                   R"(, "links": [{"from": "alpha", "to": "beta", "bandwidth_Bps": 1},
                                  {"from": "alpha", "to": "sw", "bandwidth_Bps": 1},
                                  {"from": "alpha", "to": "sw", "bandwidth_Bps": 1}],
                       "shared": [)" +
                   shared + "]");
}

TEST(JsonRefusals, AnotherFormatOrVersion) {
  EXPECT_EQ(read(R"({"format": "espalier-plan", "trees": []})"),
            "f.json: /format: expected 'espalier-platform', got 'espalier-plan'");
  EXPECT_EQ(read(R"({"format": "espalier-platform", "version": 2, "novelty": 1})"),
            "f.json: /version: this Espalier reads only version 1");
  EXPECT_EQ(read(R"({"format": "espalier-platform", "version": "1"})"),
            "f.json: /version: expected a whole number, got a string");
  EXPECT_EQ(read("{}"), "f.json: the key 'format' is missing");
  EXPECT_EQ(read(R"({"format": 1})"), "f.json: /format: expected a string, got a number");
  EXPECT_EQ(read(R"({"format": "espalier-platform"})"), "f.json: the key 'version' is missing");
  EXPECT_EQ(read("[]"), "f.json: expected an object, got an array");
}

TEST(JsonRefusals, MissingAndUnknownKeys) {
  EXPECT_EQ(read_body(R"("links": [])"), "f.json: the key 'nodes' is missing");
  EXPECT_EQ(read_body(R"("nodes": [])"), "f.json: the key 'links' is missing");
  EXPECT_EQ(read_body(R"("nodes": [], "links": [], "sharde": [])"),
            "f.json: unknown key 'sharde'; did you mean 'shared'? one of: format, version, name, "
            "currency, nodes, links, shared");
  EXPECT_THAT(read_nodes(R"({"name": "a"}, {"name": "b", "sendBps": 1})"),
              StartsWith("f.json: /nodes/1: unknown key 'sendBps'; did you mean 'send_Bps'?"));
  EXPECT_THAT(read_link(R"("bandwith": "1 GB/s")"),
              StartsWith("f.json: /links/0: unknown key 'bandwith'; did you mean 'bandwidth'?"));
  EXPECT_THAT(read_shared(R"({"name": "x", "bandwidth_Bps": 1, "link": []})"),
              StartsWith("f.json: /shared/0: unknown key 'link'; did you mean 'links'?"));
  EXPECT_EQ(read_nodes("{}"), "f.json: /nodes/0: the key 'name' is missing");
  EXPECT_EQ(read_links(R"({"to": "beta", "bandwidth_Bps": 1})"),
            "f.json: /links/0: the key 'from' is missing");
  EXPECT_EQ(read_links(R"({"from": "alpha", "to": "beta"})"),
            "f.json: /links/0: the key 'bandwidth' or 'bandwidth_Bps' is missing");
}

TEST(JsonRefusals, WrongTypes) {
  EXPECT_EQ(read_body(R"("nodes": {}, "links": [])"),
            "f.json: /nodes: expected an array, got an object");
  EXPECT_EQ(read_body(R"("nodes": [], "links": 7)"),
            "f.json: /links: expected an array, got a number");
  EXPECT_EQ(read_nodes("\"a\""), "f.json: /nodes/0: expected an object, got a string");
  EXPECT_EQ(read_nodes(R"({"name": 1})"), "f.json: /nodes/0/name: expected a string, got a number");
  EXPECT_EQ(read_nodes(R"({"name": "a", "relay": 1})"),
            "f.json: /nodes/0/relay: expected true or false, got a number");
  EXPECT_EQ(read_nodes(R"({"name": "a", "group": null})"),
            "f.json: /nodes/0/group: expected a string, got null");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": "1 GB/s")"),
            "f.json: /links/0/bandwidth_Bps: expected a number, got a string");
  EXPECT_EQ(read_link(R"("bandwidth": 1e9)"),
            "f.json: /links/0/bandwidth: expected a string with a unit; a bare number belongs in "
            "'bandwidth_Bps'");
  EXPECT_EQ(read_link(R"("bandwidth": [])"),
            "f.json: /links/0/bandwidth: expected a string, got an array");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "both_ways": "yes")"),
            "f.json: /links/0/both_ways: expected true or false, got a string");
  EXPECT_EQ(read(R"({"format": "espalier-platform", "version": 1, "name": [], "nodes": [],
                     "links": []})"),
            "f.json: /name: expected a string, got an array");
}

TEST(JsonRefusals, Units) {
  EXPECT_THAT(read_link(R"("bandwidth": "10")"),
              StartsWith("f.json: /links/0/bandwidth: rate '10': the unit is missing"));
  EXPECT_THAT(read_link(R"("bandwidth": "10 Gfoo")"),
              StartsWith("f.json: /links/0/bandwidth: rate '10 Gfoo': unknown unit 'Gfoo'"));
  EXPECT_THAT(read_link(R"("bandwidth_Bps": 1, "latency": "5")"),
              StartsWith("f.json: /links/0/latency: duration '5': the unit is missing"));
  EXPECT_THAT(read_nodes(R"({"name": "a", "send": "10 Gb"})"),
              StartsWith("f.json: /nodes/0/send: rate '10 Gb': unknown unit 'Gb'"));
  EXPECT_EQ(read_link(R"("bandwidth": "1 GB/s", "bandwidth_Bps": 1e9)"),
            "f.json: /links/0: both 'bandwidth' and 'bandwidth_Bps' are given");
  EXPECT_EQ(read_nodes(R"({"name": "a", "receive": "1 GB/s", "receive_Bps": 1e9})"),
            "f.json: /nodes/0: both 'receive' and 'receive_Bps' are given");
}

TEST(JsonRefusals, Names) {
  EXPECT_EQ(read_nodes(R"({"name": "a"}, {"name": "a"})"),
            "f.json: /nodes/1/name: two nodes are named 'a'");
  EXPECT_EQ(read_nodes(R"({"name": ""})"),
            "f.json: /nodes/0/name: a node's name must not be empty");
  EXPECT_EQ(read_nodes(R"({"name": "a\u0000"})"),
            "f.json: /nodes/0/name: a node's name must be UTF-8 without control characters: "
            "'a\\x00'");
  EXPECT_EQ(read_nodes(R"({"name": "a", "group": "x\ny"})"),
            "f.json: /nodes/0/group: a group's name must be UTF-8 without control characters: "
            "'x\\x0ay'");
  EXPECT_EQ(
      read_links(R"({"from": "alpha", "to": "bta", "bandwidth_Bps": 1})"),
      "f.json: /links/0/to: unknown node 'bta'; did you mean 'beta'? one of: alpha, beta, sw");
  EXPECT_EQ(read(R"({"format": "espalier-platform", "version": 1, "name": "a\tb", "nodes": [],
                     "links": []})"),
            "f.json: /name: a platform's name must be UTF-8 without control characters: 'a\\x09b'");
}

TEST(JsonRefusals, Figures) {
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 0)"),
            "f.json: /links/0/bandwidth_Bps: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": -1)"),
            "f.json: /links/0/bandwidth_Bps: a bandwidth must be finite and positive, not -1 B/s");
  EXPECT_EQ(read_link(R"("bandwidth": "-1 kB/s")"),
            "f.json: /links/0/bandwidth: a bandwidth must be finite and positive, not -1000 B/s");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "latency_s": -1e-6)"),
            "f.json: /links/0/latency_s: a latency must be finite and not negative, not -1e-06 s");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "overhead": "-1 s")"),
            "f.json: /links/0/overhead: an overhead must be finite and not negative, not -1 s");
  EXPECT_EQ(read_nodes(R"({"name": "a", "send_Bps": 0})"),
            "f.json: /nodes/0/send_Bps: a send cap must be finite and positive, not 0 B/s");
  EXPECT_EQ(read_links(R"({"from": "beta", "to": "beta", "bandwidth_Bps": 1})"),
            "f.json: /links/0: a link from 'beta' to itself");
  EXPECT_EQ(read_links(R"({"from": "alpha", "to": "beta", "bandwidth_Bps": 1.7e308},
                          {"from": "alpha", "to": "beta", "bandwidth_Bps": 1.7e308})"),
            "f.json: /links: the bandwidth of merged parallel links must be finite and positive, "
            "not inf B/s");
}

TEST(JsonRefusals, RatesOfALinksEnds) {
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "send_Bps": 0)"),
            "f.json: /links/0/send_Bps: a send rate must be finite and positive, not 0 B/s");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "receive": "1 GB/s", "receive_Bps": 1)"),
            "f.json: /links/0: both 'receive' and 'receive_Bps' are given");
}

TEST(JsonRefusals, Prices) {
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "price_per_GB": -0.1)"),
            "f.json: /links/0/price_per_GB: a price must be finite and not negative, not -0.1");
  EXPECT_EQ(read_link(R"("bandwidth_Bps": 1, "price_per_GB": "0.1")"),
            "f.json: /links/0/price_per_GB: expected a number, got a string");
  EXPECT_EQ(read_nodes(R"({"name": "a", "price_per_hour": -1})"),
            "f.json: /nodes/0/price_per_hour: a price must be finite and not negative, not -1");
  EXPECT_EQ(read_body(R"("currency": "", "nodes": [], "links": [])"),
            "f.json: /currency: a currency must not be empty");
}

TEST(JsonRefusals, Coordinates) {
  EXPECT_EQ(read_nodes(R"({"name": "a"}, {"name": "b", "x": 1})"),
            "f.json: /nodes/1: 'x' without 'y'");
  EXPECT_EQ(read_nodes(R"({"name": "a", "y": 1})"), "f.json: /nodes/0: 'y' without 'x'");
  EXPECT_EQ(read_nodes(R"({"name": "a", "x": "1", "y": 1})"),
            "f.json: /nodes/0/x: expected a number, got a string");
  EXPECT_THAT(read_nodes(R"({"name": "a", "x": 1, "y": 1e999})"), StartsWith("f.json: "));
  EXPECT_THAT(read_nodes(R"({"name": "a", "x": NaN, "y": 1})"), StartsWith("f.json: "));
}

TEST(JsonRefusals, SharedLinks) {
  EXPECT_EQ(read_shared(R"({"name": "x", "bandwidth_Bps": 1, "links": [["alpha", "beta"],
                                                                       ["beta", "alpha"]]})"),
            "f.json: /shared/0/links/1: shared link 'x': there is no link 'beta' -> 'alpha'");
  EXPECT_EQ(
      read_shared(R"({"name": "x", "bandwidth_Bps": 1, "links": [["alpha", "sw"]]})"),
      "f.json: /shared/0/links/0: shared link 'x': ambiguous, because there are parallel links "
      "'alpha' -> 'sw'");
  EXPECT_EQ(read_shared(R"({"name": "x", "bandwidth_Bps": 1, "links": [["alpha", "bets"]]})"),
            "f.json: /shared/0/links/0/1: unknown node 'bets'; did you mean 'beta'? one of: alpha, "
            "beta, sw");
  EXPECT_EQ(read_shared(R"({"name": "x", "bandwidth_Bps": 1, "links": [["alpha"]]})"),
            "f.json: /shared/0/links/0: expected a pair [from, to]");
  EXPECT_EQ(read_shared(R"({"name": "x", "bandwidth_Bps": 1, "links": []})"),
            "f.json: /shared/0: shared link 'x' has no links");
  EXPECT_EQ(read_shared(R"({"name": "x", "links": [["alpha", "beta"]]})"),
            "f.json: /shared/0: the key 'bandwidth' or 'bandwidth_Bps' is missing");
  EXPECT_EQ(read_shared(R"({"name": "x", "bandwidth_Bps": 1, "links": [["alpha", "beta"]]},
                           {"name": "x", "bandwidth_Bps": 1, "links": [["alpha", "beta"]]})"),
            "f.json: /shared/1: two shared links are named 'x'");
}

TEST(JsonRefusals, HostileText) {
  EXPECT_EQ(read(R"({"format": "espalier-platform", "version": 1, "nodes": [
                     {"name": "a", "name": "b"}]})"),
            "f.json: /nodes/0/name: duplicate key");
  EXPECT_THAT(read(std::string(100000, '[')), HasSubstr("nested over 64 levels"));
  for (const std::string number : {"NaN", "Infinity", "-Infinity", "1e-", "0x10", "nan"}) {
    EXPECT_THAT(read_link("\"bandwidth_Bps\": " + number), HasSubstr("line 1, column")) << number;
  }
  EXPECT_THAT(read_link(R"("bandwidth_Bps": 1e999)"), HasSubstr("number overflow"));
  EXPECT_EQ(read(""), "f.json: the file is empty");
  EXPECT_EQ(read(" \n"), "f.json: the file is empty");
  EXPECT_THAT(read("\x8f\xff\x01{["),
              StartsWith("f.json: cannot tell the format from the content"));
}

TEST(JsonRefusals, EveryTruncation) {
  const std::string whole =
      R"({"format": "espalier-platform", "version": 1, "name": "é",
          "nodes": [{"name": "a", "send_Bps": 1e9}, {"name": "b", "relay": true}],
          "links": [{"from": "a", "to": "b", "bandwidth": "1 GB/s", "both_ways": true}],
          "shared": [{"name": "x", "bandwidth_Bps": 1, "links": [["a", "b"]]}]})";
  EXPECT_EQ(read(whole), "(not refused)");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(read(whole.substr(0, length)), StartsWith("f.json: ")) << length << " bytes";
  }
}

TEST(JsonRefusals, KeysHaveALimit) {
  std::string keys = "{";
  for (int i = 0; i < 1'000'001; ++i) keys += "\"a\":0,";
  EXPECT_EQ(read(keys + "\"a\":0}"), "f.json: more than 1000000 keys in one object");
}

}  // namespace
}  // namespace espalier::platforms::json_refusals_test
