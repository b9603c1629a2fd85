// Exercises: recvmsg into two buffers
// Input: socket; seed: 41*8
// Solution: 6d736731 21212121
#include "capability.h"

#include <sys/socket.h>
#include <sys/uio.h>

int main(void) {
  uint32_t head = 0, body = 0;
  struct iovec parts[2] = {{&head, sizeof head}, {&body, sizeof body}};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (recvmsg(0, &message, 0) < 0)
    return 1;
  if (head == 0x3167736d && body == 0x21212121)
    hit();
  return tell(head);
}
