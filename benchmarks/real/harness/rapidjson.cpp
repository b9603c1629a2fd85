// Parse what the first argument (or standard input) holds, and look into it by the library's API.
#include <cstdio>
#include <cstring>

#include "rapidjson/document.h"

int main(int argc, char **argv) {
  static char text[4096];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  rapidjson::Document document;
  if (document.Parse(text, size).HasParseError())
    return 1;
  if (!document.IsObject())
    return 0;
  const auto number = document.FindMember("size");
  const auto mode = document.FindMember("mode");
  if (number == document.MemberEnd() || mode == document.MemberEnd())
    return 0;
  if (number->value.IsInt() && number->value.GetInt() == 4096 && mode->value.IsString() &&
      strcmp(mode->value.GetString(), "deep") == 0)
    puts("deep");
  return 0;
}
