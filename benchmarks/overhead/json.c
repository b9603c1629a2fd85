/* A tokenizer of JSON text: switches, state, many small branches. */
#include <stdio.h>
#include <string.h>

static char text[1 << 16];

struct counts {
  unsigned objects, arrays, strings, numbers, words, depth_max, errors;
};

static void scan(const char *s, size_t n, struct counts *c) {
  unsigned depth = 0;
  for (size_t i = 0; i < n;) {
    char ch = s[i];
    switch (ch) {
    case ' ':
    case '\n':
    case '\t':
    case ',':
    case ':':
      i++;
      break;
    case '{':
    case '[':
      if (ch == '{')
        c->objects++;
      else
        c->arrays++;
      if (++depth > c->depth_max)
        c->depth_max = depth;
      i++;
      break;
    case '}':
    case ']':
      if (depth == 0)
        c->errors++;
      else
        depth--;
      i++;
      break;
    case '"':
      for (i++; i < n && s[i] != '"'; i++)
        if (s[i] == '\\')
          i++;
      i++;
      c->strings++;
      break;
    default:
      if (ch == '-' || (ch >= '0' && ch <= '9')) {
        while (i < n && (s[i] == '-' || s[i] == '.' || (s[i] >= '0' && s[i] <= '9')))
          i++;
        c->numbers++;
      } else if (ch >= 'a' && ch <= 'z') {
        while (i < n && s[i] >= 'a' && s[i] <= 'z')
          i++;
        c->words++;
      } else {
        c->errors++;
        i++;
      }
    }
  }
}

int main(void) {
  static const char piece[] = "{\"name\": \"a\\\"b\", \"list\": [1, -2.5, true, null, {\"x\": 10}]}\n";
  size_t n = 0;
  while (n + sizeof piece < sizeof text) {
    memcpy(text + n, piece, sizeof piece - 1);
    n += sizeof piece - 1;
  }
  struct counts c = {0};
  for (int round = 0; round < 900; round++)
    scan(text, n, &c);
  printf("%u %u %u %u %u %u %u\n", c.objects, c.arrays, c.strings, c.numbers, c.words, c.depth_max,
         c.errors);
  return 0;
}
