// The other end of a target's socket.
//
// Theory of operation. Where the input comes by a socket, the fork server is
// the peer of each execution: it makes the connection before the fork, sends
// the input as far as the kernel takes it, and sends the rest and drops what the
// program answers while the execution runs. The program sees its own end only,
// no further process and no further descriptor. Sockets are of the Unix domain:
// no network is touched.
#ifndef SYMFLEET_RUNTIME_PEER_H
#define SYMFLEET_RUNTIME_PEER_H

#include <stdint.h>
#include <sys/types.h>

namespace sf {

// In the fork server, before a fork. `Listening`: the program gets a listening
// socket with one connection in its queue.
void openPeer(bool Listening, const uint8_t *Bytes, uint64_t Size);

// In the fork server, after it: returns when the run has ended.
void servePeer(pid_t Run);

// In the execution: the program's end becomes standard input.
void takePeerAsInput();

// In the execution: the whole input was sent before it began.
bool hasPeerSentAll();

} // namespace sf

#endif
