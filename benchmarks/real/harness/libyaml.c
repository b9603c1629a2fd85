/* Parse all events of what the first argument (or standard input) holds. */
#include <stdio.h>

#include "yaml.h"

int main(int argc, char **argv) {
  static unsigned char text[4096];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  size_t size = file ? fread(text, 1, sizeof text, file) : 0;
  yaml_parser_t parser;
  yaml_event_t event = {0};
  int good = yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, text, size);
  for (int ended = 0; good && !ended; yaml_event_delete(&event)) {
    good = yaml_parser_parse(&parser, &event);
    ended = event.type == YAML_STREAM_END_EVENT;
  }
  yaml_parser_delete(&parser);
  return good ? 0 : 1;
}
