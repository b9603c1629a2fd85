/* examples/exhaustible, as slow as PAUSE_US says (microseconds), so that a campaign of our own engine
 * can be killed many times before it has taken all paths. */
#include <stdlib.h>
#include <unistd.h>

#define main explored
#include "../../examples/exhaustible/exhaustible.c"
#undef main

int main(int argc, char **argv) {
  const char *pause = getenv("PAUSE_US");

  if (pause)
    usleep((useconds_t)atoi(pause));
  return explored(argc, argv);
}
