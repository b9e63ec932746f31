#ifndef PYSIM_FLOW_BOOK_H
#define PYSIM_FLOW_BOOK_H

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace pysim
{

/// How frames travel between two brokers.
enum class ChannelKind : uint8_t
{
    LINK, ///< over an overlay link (TCP)
    TCP,  ///< unicast off the overlay, TCP
    UDP   ///< unicast off the overlay, UDP
};

/// The application's books for one message type of one flow.
struct TypeCount
{
    uint8_t type{0};
    uint64_t sent{0};
    uint64_t sentBytes{0};
    uint64_t received{0}; ///< whole frames that reached the receiver's input
    uint64_t receivedBytes{0};
    uint64_t served{0}; ///< those of them that came to the agent
    uint64_t servedBytes{0};
    uint64_t lostLink{0};
    uint64_t lostPacket{0};

    /// Frames still in the network: neither received nor known to be lost.
    uint64_t UnderWay() const
    {
        return sent - received - lostLink - lostPacket;
    }
};

/// All frames from one broker to another over one kind of channel.
struct Flow
{
    uint32_t source;
    uint32_t target;
    ChannelKind kind;
    std::vector<TypeCount> types; ///< few types a flow: a linear search beats any map

    TypeCount& Count(uint8_t type);

    /// The link or a broker went down: what is under way will never arrive.
    void LoseUnderWay();
};

/// Every flow of a simulation, in a stable order.
class FlowBook
{
  public:
    Flow& Find(uint32_t source, uint32_t target, ChannelKind kind);

    /// Enter a frame into the running digest over times, ends and lengths.
    void Stamp(int64_t now, uint32_t source, uint32_t target, uint32_t size);

    uint64_t Digest() const
    {
        return m_digest;
    }

    template <typename Visitor> void ForEach(Visitor visit) const
    {
        for (const auto& [key, flow] : m_flows)
        {
            visit(*flow);
        }
    }

  private:
    using Key = std::tuple<uint32_t, uint32_t, ChannelKind>;
    std::map<Key, std::unique_ptr<Flow>> m_flows;
    uint64_t m_digest{0xcbf29ce484222325}; // FNV-1a offset basis
};

} // namespace pysim

#endif
