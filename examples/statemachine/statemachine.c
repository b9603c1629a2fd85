/* A server's session that takes messages of four bytes: kind, sequence number, value (16 bits,
 * big-endian). The bug needs five messages in this order, with the right numbers and values:
 *
 *   HELLO(version) -> LOGIN(answer to the version) -> OPEN(channel) -> WRITE(size) ->
 * CLOSE(channel)
 *
 * In version 2 a channel counts what it wrote when it closes, in a log that nobody has opened. */
#include <stdint.h>
#include <stdio.h>

enum kind { PING = 'P', HELLO = 'H', LOGIN = 'L', OPEN = 'O', WRITE = 'W', CLOSE = 'C' };
enum state { START, GREETED, KNOWN, OPENED, WRITTEN, CLOSED };

struct log {
  unsigned bytes;
};

struct log *opened_log;

struct session {
  enum state state;
  uint16_t version;
  uint16_t channel;
  uint16_t size;
};

/* Says whether the message is legal in this state. */
static int receive(struct session *session, uint8_t kind, uint16_t value) {
  switch (kind) {
  case PING:
    return 1;
  case HELLO:
    if (session->state != START || value < 1 || value > 2)
      return 0;
    session->version = value;
    session->state = GREETED;
    return 1;
  case LOGIN:
    if (session->state != GREETED || value != (0x5a5a ^ session->version * 0x0101))
      return 0;
    session->state = KNOWN;
    return 1;
  case OPEN:
    if (session->state != KNOWN || value >= 4)
      return 0;
    session->channel = value;
    session->state = OPENED;
    return 1;
  case WRITE:
    if (session->state != OPENED)
      return 0;
    session->size = value;
    session->state = WRITTEN;
    return 1;
  case CLOSE:
    if (session->state != WRITTEN || value != session->channel)
      return 0;
    if (session->version == 2)
      opened_log->bytes += session->size; /* the planted bug */
    session->state = CLOSED;
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  struct session session = {START, 0, 0, 0};
  uint8_t message[4];

  for (unsigned number = 0; file && number < 8; number++) {
    if (fread(message, 1, sizeof message, file) != sizeof message)
      break;
    if (message[1] != number ||
        !receive(&session, message[0], (uint16_t)(message[2] << 8 | message[3]))) {
      printf("statemachine: message %u refused in state %d\n", number, session.state);
      return 1;
    }
  }
  printf("statemachine: ended in state %d\n", session.state);
  return 0;
}
