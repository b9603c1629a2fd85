// Exercises: values in a list on the heap
// Input: stdin; seed: 41*6
// Solution: 090807060521
#include "capability.h"

struct node {
  struct node *next;
  uint8_t value;
};

int main(void) {
  uint8_t d[6] = {0};
  take(d, sizeof d);
  struct node *head = NULL;
  for (unsigned i = 0; i < sizeof d; i++) {
    struct node *n = malloc(sizeof *n);
    if (!n)
      return 1;
    n->next = head;
    n->value = d[i];
    head = n;
  }
  unsigned x = 0;
  for (struct node *n = head; n; n = n->next)
    x = x * 3 + n->value;
  while (head) {
    struct node *next = head->next;
    free(head);
    head = next;
  }
  if (x == ((((33 * 3 + 5) * 3 + 6) * 3 + 7) * 3 + 8) * 3 + 9)
    hit();
  return tell(x);
}
