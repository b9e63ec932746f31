#ifndef PYSIM_TCP_MENDING_H
#define PYSIM_TCP_MENDING_H

#include "ns3/ptr.h"
#include "ns3/socket.h"

namespace pysim
{

/// Mends what ns-3's TCP gets wrong, as long as the socket lives: echoes of timestamps, and
/// SYN-ACKs that come again.
void MendTcp(ns3::Ptr<ns3::Socket> socket);

/// Ends a connection at once: Socket::Close() would retry its FIN for ever.
void AbortTcp(ns3::Ptr<ns3::Socket> socket);

} // namespace pysim

#endif
