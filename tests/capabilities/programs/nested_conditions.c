// Exercises: eight nested conditions
// Input: stdin; seed: 41*8
// Solution: 636f6e646974696f
#include "capability.h"

int main(void) {
  uint8_t d[8] = {0};
  take(d, sizeof d);
  if (d[0] == 'c')
    if (d[1] == d[0] + 12)
      if (d[2] == d[1] - 1)
        if (d[3] == 'd')
          if (d[4] == d[3] + 5)
            if (d[5] == 't')
              if (d[6] == d[4])
                if (d[7] == d[1])
                  hit();
  return tell(d[0]);
}
