// Exercises: std::ifstream: seekg to the end, tellg, std::string of that size
// Input: file; seed: 41*3
// Solution: 73697a65640a7365656b
#include "capability.h"

#include <fstream>
#include <string>

int main(int argc, char **argv) {
  std::ifstream in(path_of(argc, argv));
  in.seekg(0, std::ios::end);
  std::string text;
  text.resize(static_cast<size_t>(in.tellg()));
  in.seekg(0, std::ios::beg);
  if (!in.read(&text[0], static_cast<std::streamsize>(text.size())))
    return 1;
  if (text.size() >= 10 && text.compare(0, 6, "sized\n") == 0 && text.compare(6, 4, "seek") == 0)
    hit();
  return tell(static_cast<unsigned char>(text[0]));
}
