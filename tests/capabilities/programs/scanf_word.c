// Exercises: scanf of a word and a character
// Input: stdin; seed: 41*10
// Solution: 6c6f67696e 203a 41*3
#include "capability.h"

int main(void) {
  char word[16] = "", c = 0;
  if (scanf("%15s %c", word, &c) == 2 && strcmp(word, "login") == 0 && c == ':')
    hit();
  return tell(strlen(word));
}
