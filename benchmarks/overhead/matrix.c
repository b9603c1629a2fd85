/* Multiplication of integer matrices: nested loops over memory. */
#include <stdint.h>
#include <stdio.h>

enum { N = 192, ROUNDS = 12 };
static int32_t a[N][N], b[N][N], c[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = i * 7 + j;
      b[i][j] = i - j * 3;
    }
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int32_t sum = 0;
        for (int k = 0; k < N; k++)
          sum += a[i][k] * b[k][j];
        c[i][j] += sum;
      }
  uint32_t h = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      h = h * 33 + (uint32_t)c[i][j];
  printf("%08x\n", h);
  return 0;
}
