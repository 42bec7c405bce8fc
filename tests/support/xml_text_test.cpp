#include "support/xml_text.hpp"

#include <gtest/gtest.h>

namespace espalier::xml_text_test {
namespace {

TEST(XmlText, MarkupBecomesEntities) {
  EXPECT_EQ(xml_escaped("a <b> & \"c\""), "a &lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(xml_escaped("Zürich 'x'"), "Zürich 'x'");
  EXPECT_EQ(xml_escaped(""), "");
}

TEST(XmlText, ALeadingBlankIsKept) {
  EXPECT_EQ(xml_escaped("  a "), "&#32; a ");
  EXPECT_EQ(xml_escaped(" "), "&#32;");
}

}  // namespace
}  // namespace espalier::xml_text_test
