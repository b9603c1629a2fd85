/* A parser of type-length-value records.
 *
 *   "TLV", version (1 byte), then records: type (1 byte), length (2 bytes, little-endian), value
 *
 * Records of version 1: 'S' sets the name, 'C' is a comment. Version 2 adds 'A': append to the
 * name. 'A' checks the length of its own value and forgets what the name holds already. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 24, FILE_BYTES_MAX = 512 };

struct document {
  char *name;
  size_t name_length;
  char *comment;
  size_t comment_length;
};

static int apply(struct document *document, int version, uint8_t type, const uint8_t *value,
                 size_t length) {
  switch (type) {
  case 'S':
    if (length > NAME_BYTES_MAX)
      return -1;
    memcpy(document->name, value, length);
    document->name_length = length;
    return 0;
  case 'A':
    if (version < 2 || length > NAME_BYTES_MAX)
      return -1;
    memcpy(document->name + document->name_length, value, length); /* the planted bug */
    document->name_length += length;
    return 0;
  case 'C':
    if (length > NAME_BYTES_MAX)
      return -1;
    memcpy(document->comment, value, length);
    document->comment_length = length;
    return 0;
  }
  return -1;
}

static int parse(struct document *document, const uint8_t *bytes, size_t size) {
  if (size < 4 || memcmp(bytes, "TLV", 3) != 0 || bytes[3] < 1 || bytes[3] > 2)
    return -1;
  for (size_t at = 4; at < size;) {
    if (size - at < 3)
      return -1;
    size_t length = bytes[at + 1] | (size_t)bytes[at + 2] << 8;
    if (length > size - at - 3)
      return -1;
    if (apply(document, bytes[3], bytes[at], bytes + at + 3, length) != 0)
      return -1;
    at += 3 + length;
  }
  return 0;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  static uint8_t bytes[FILE_BYTES_MAX];
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;

  struct document document = {malloc(NAME_BYTES_MAX), 0, malloc(NAME_BYTES_MAX), 0};
  if (!document.name || !document.comment)
    return 1;
  int status = parse(&document, bytes, size);
  printf("tlv: %s\n", status == 0 ? "valid" : "invalid");
  printf("name \"%.*s\"\n", (int)document.name_length, document.name);
  printf("comment \"%.*s\"\n", (int)document.comment_length, document.comment);
  free(document.comment); /* finds the damage when there is any */
  free(document.name);
  return status == 0 ? 0 : 1;
}
