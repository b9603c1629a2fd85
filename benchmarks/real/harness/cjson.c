/* Parse, print and parse again what the first argument (or standard input) holds. */
#include <stdio.h>
#include <stdlib.h>

#include "cJSON.h"

int main(int argc, char **argv) {
  static char text[4096];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  cJSON *value = cJSON_ParseWithLength(text, size);
  char *printed = value ? cJSON_Print(value) : NULL;
  free(printed);
  cJSON_Delete(value);
  return value ? 0 : 1;
}
