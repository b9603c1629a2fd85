#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace sf {

namespace {

struct Peer {
  int ours, theirs;
  const uint8_t *left;
  uint64_t size;
};
Peer P = {-1, -1, nullptr, 0};

constexpr int SendBufferBytes = 4 << 20; // the kernel gives what it allows

void closeEnd(int &Fd) {
  if (Fd >= 0)
    close(Fd);
  Fd = -1;
}

// Sends what the kernel takes now, and the end behind the last byte.
void feed() {
  if (!P.left)
    return;
  while (P.size) {
    ssize_t Sent = send(P.ours, P.left, P.size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (Sent < 0 && errno == EINTR)
      continue;
    if (Sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (Sent <= 0)
      break; // nobody reads any more
    P.left += Sent;
    P.size -= (uint64_t)Sent;
  }
  shutdown(P.ours, SHUT_WR);
  P.left = nullptr;
}

// Drops what the program answers. False at the end.
bool drain() {
  char Answer[4096];
  for (;;) {
    ssize_t Got = recv(P.ours, Answer, sizeof(Answer), MSG_DONTWAIT);
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return Got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

bool connectPair() {
  int Ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends) != 0)
    return false;
  P.ours = Ends[0];
  P.theirs = Ends[1];
  return true;
}

bool connectToListener() {
  sockaddr_un Name{};
  Name.sun_family = AF_UNIX;
  socklen_t Size = sizeof(sa_family_t); // the kernel chooses a free abstract name
  P.theirs = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  P.ours = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (P.theirs < 0 || P.ours < 0 || bind(P.theirs, (const sockaddr *)&Name, Size) != 0 ||
      listen(P.theirs, 1) != 0)
    return false;
  Size = sizeof(Name);
  return getsockname(P.theirs, (sockaddr *)&Name, &Size) == 0 &&
         connect(P.ours, (const sockaddr *)&Name, Size) == 0;
}

} // namespace

void openPeer(bool Listening, const uint8_t *Bytes, uint64_t Size) {
  closeEnd(P.ours);
  closeEnd(P.theirs);
  static const uint8_t Nothing = 0;
  P.left = nullptr;
  if (!(Listening ? connectToListener() : connectPair()))
    return; // the run finds standard input closed
  P.left = Size ? Bytes : &Nothing;
  P.size = Size;
  setsockopt(P.ours, SOL_SOCKET, SO_SNDBUF, &SendBufferBytes, sizeof(SendBufferBytes));
  feed();
}

void servePeer(pid_t Run) {
  closeEnd(P.theirs);
  int Ended = (int)syscall(SYS_pidfd_open, Run, 0);
  bool Open = P.ours >= 0;
  while (Ended >= 0) {
    short Wanted = (short)(POLLIN | (P.left ? POLLOUT : 0));
    pollfd Ready[] = {{Ended, POLLIN, 0}, {Open ? P.ours : -1, Wanted, 0}};
    if (poll(Ready, 2, -1) < 0 && errno != EINTR)
      break;
    if (Ready[0].revents)
      break;
    if (Ready[1].revents & POLLOUT)
      feed();
    if (Ready[1].revents & (POLLIN | POLLHUP | POLLERR))
      Open = drain();
  }
  closeEnd(Ended);
  closeEnd(P.ours);
}

bool hasPeerSentAll() { return !P.left; }

void takePeerAsInput() {
  if (P.theirs >= 0)
    dup2(P.theirs, 0);
  else
    close(0);
  closeEnd(P.theirs);
  closeEnd(P.ours);
}

} // namespace sf
