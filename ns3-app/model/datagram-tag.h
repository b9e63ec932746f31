#ifndef PYSIM_DATAGRAM_TAG_H
#define PYSIM_DATAGRAM_TAG_H

#include "ns3/tag.h"

#include <cstdint>

namespace pysim
{

/// Marks a datagram, so that a drop anywhere in the network is booked to its flow.
class DatagramTag : public ns3::Tag
{
  public:
    static ns3::TypeId GetTypeId();
    ns3::TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(ns3::TagBuffer buffer) const override;
    void Deserialize(ns3::TagBuffer buffer) override;
    void Print(std::ostream& os) const override;

    uint32_t source{0};
    uint32_t target{0};
    uint8_t type{0};
    uint64_t serial{0};
};

} // namespace pysim

#endif
