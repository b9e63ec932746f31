#include "tcp-mending.h"

#include "ns3/boolean.h"
#include "ns3/tcp-socket-base.h"

using namespace ns3;

namespace pysim
{

namespace
{

/// Reaches what TcpSocketBase protects and we need; none is ever made.
class BareSocket : public TcpSocketBase
{
  public:
    static void Reset(TcpSocketBase& socket)
    {
        (socket.*(&BareSocket::SendRST))();
    }

    /// A SYN-ACK that comes again says that its ACK was lost (RFC 9293, 3.10.7.4). Without another
    /// one the peer waits until there is data, and of a link that is up at one end only there may
    /// be none.
    static void AnswerAgain(Ptr<const Packet>,
                            const TcpHeader& header,
                            Ptr<const TcpSocketBase> socket)
    {
        auto& tcp = Writable(socket);
        if (header.GetFlags() == (TcpHeader::SYN | TcpHeader::ACK) &&
            tcp.*(&BareSocket::m_state) == TcpSocket::ESTABLISHED)
        {
            (tcp.*(&BareSocket::SendEmptyPacket))(TcpHeader::ACK);
        }
    }

    /// Timestamps of what was last acknowledged are echoed (RFC 7323, 4.3), and ns-3 notes what it
    /// acknowledges only if a segment has no data. Towards a peer that is sent much and sends
    /// little the echo then stays seconds old; the peer takes them for its round-trip time and
    /// repeats what is lost only after many of them.
    static void NoteAcknowledged(Ptr<const Packet>,
                                 const TcpHeader& header,
                                 Ptr<const TcpSocketBase> socket)
    {
        auto& highest = Writable(socket).*(&BareSocket::m_highTxAck);
        if ((header.GetFlags() & TcpHeader::ACK) && highest < header.GetAckNumber())
        {
            highest = header.GetAckNumber();
        }
    }

  private:
    /// Trace sinks are shown the socket as one not to be changed.
    static TcpSocketBase& Writable(Ptr<const TcpSocketBase> socket)
    {
        return const_cast<TcpSocketBase&>(*socket);
    }
};

} // namespace

void
MendTcp(Ptr<Socket> socket)
{
    socket->TraceConnectWithoutContext("Rx", MakeCallback(&BareSocket::AnswerAgain));
    BooleanValue echoed;
    socket->GetAttribute("Timestamp", echoed);
    if (echoed.Get())
    {
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&BareSocket::NoteAcknowledged));
    }
}

void
AbortTcp(Ptr<Socket> socket)
{
    BareSocket::Reset(*DynamicCast<TcpSocketBase>(socket));
}

} // namespace pysim
