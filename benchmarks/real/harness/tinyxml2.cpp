// Parse what the first argument (or standard input) holds, and look into it by the library's API.
#include <cstdio>
#include <cstring>

#include "tinyxml2.h"

int main(int argc, char **argv) {
  static char text[4096];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  tinyxml2::XMLDocument document;
  if (document.Parse(text, size) != tinyxml2::XML_SUCCESS)
    return 1;
  const tinyxml2::XMLElement *root = document.RootElement();
  if (!root || strcmp(root->Name(), "config") != 0 || root->IntAttribute("size") != 4096)
    return 0;
  const tinyxml2::XMLElement *mode = root->FirstChildElement("mode");
  const char *value = mode ? mode->GetText() : nullptr;
  if (value && strcmp(value, "deep") == 0)
    puts("deep");
  return 0;
}
