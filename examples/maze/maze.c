/* A maze of 16 rooms. Every byte of the input is a step: n, s, w or e. Walking into a wall ends the
 * walk; walking out of the exit is the planted bug.
 *
 *      +---+---+---+---+
 *  in -> A   B | C   D |
 *      +---+   +   +   +
 *      | E   F   G | H |
 *      +   +---+---+   +
 *      | I | J   K   L |
 *      +   +   +---+---+
 *      | M   N | O   P -> out
 *      +---+   +   +---+       (N and O meet in the passage below them)
 *          +-------+
 *
 * Every room is a function, so that a room that nobody has been in is code that nobody has run. */
#include <stdio.h>
#include <stdlib.h>

typedef int room(const char *steps);

static room a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, passage, wall, out;

#define ROOM(name, north, south, west, east)                                                       \
  static int name(const char *steps) {                                                             \
    switch (steps[0]) {                                                                            \
    case 'n':                                                                                      \
      return north(steps + 1);                                                                     \
    case 's':                                                                                      \
      return south(steps + 1);                                                                     \
    case 'w':                                                                                      \
      return west(steps + 1);                                                                      \
    case 'e':                                                                                      \
      return east(steps + 1);                                                                      \
    }                                                                                              \
    return wall(steps);                                                                            \
  }

/*   room north south    west east */
ROOM(a, wall, wall, wall, b)
ROOM(b, wall, f, a, wall)
ROOM(c, wall, g, wall, d)
ROOM(d, wall, h, c, wall)
ROOM(e, wall, i, wall, f)
ROOM(f, b, wall, e, g)
ROOM(g, c, wall, f, wall)
ROOM(h, d, l, wall, wall)
ROOM(i, e, m, wall, wall)
ROOM(j, wall, n, wall, k)
ROOM(k, wall, wall, j, l)
ROOM(l, h, wall, k, wall)
ROOM(m, i, wall, wall, n)
ROOM(n, j, passage, m, wall)
ROOM(o, wall, passage, wall, p)
ROOM(p, wall, wall, o, out)
ROOM(passage, wall, wall, n, o)

static int wall(const char *steps) {
  printf("maze: the walk ended with \"%s\" to go\n", steps);
  return 0;
}

static int out(const char *steps) {
  printf("maze: out, with \"%s\" to go\n", steps);
  abort(); /* the planted bug */
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  char steps[33] = {0};

  if (!file || fread(steps, 1, sizeof steps - 1, file) == 0) {
    puts("maze: expected up to 32 steps");
    return 1;
  }
  return a(steps);
}
