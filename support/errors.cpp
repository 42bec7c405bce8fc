#include "support/errors.hpp"

namespace espalier {

namespace {

// Length of the well-formed UTF-8 sequence at the front of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t length = 0;
  if (lead < 0x80)
    length = 1;
  else if (lead >= 0xC2 && lead < 0xE0)
    length = 2;
  else if (lead >= 0xE0 && lead < 0xF0)
    length = 3;
  else if (lead >= 0xF0 && lead < 0xF5)
    length = 4;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  // The second byte reveals overlong forms, surrogates and values above U+10FFFF.
  const auto second = length > 1 ? static_cast<unsigned char>(text[1]) : 0U;
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

void append_escaped(std::string& line, char character) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(character);
  line += "\\x";
  line += kDigits[byte >> 4U];
  line += kDigits[byte & 0xFU];
}

std::string joined(const std::string& file, const std::string& place, const std::string& reason) {
  std::string line;
  for (const std::string* part : {&file, &place, &reason}) {
    if (part->empty()) continue;
    if (!line.empty()) line += ": ";
    line += printable(*part);
  }
  return line;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    if (length == 0 || lead < 0x20 || lead == 0x7F) {
      append_escaped(line, text[0]);
      text.remove_prefix(1);
    } else {
      line += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return line;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxQuoted = 80;
  std::string line(1, '\'');
  line += printable(text.substr(0, kMaxQuoted));
  if (text.size() > kMaxQuoted) line += "...";
  line += '\'';
  return line;
}

InputError::InputError(const std::string& file, const std::string& place, const std::string& reason)
    : Error(ExitStatus::kBadInput, joined(file, place, reason)) {}

}  // namespace espalier
