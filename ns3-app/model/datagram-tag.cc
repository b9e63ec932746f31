#include "datagram-tag.h"

using namespace ns3;

namespace pysim
{

NS_OBJECT_ENSURE_REGISTERED(DatagramTag);

TypeId
DatagramTag::GetTypeId()
{
    static TypeId tid = TypeId("pysim::DatagramTag")
                            .SetParent<Tag>()
                            .SetGroupName("pysim")
                            .AddConstructor<DatagramTag>();
    return tid;
}

TypeId
DatagramTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
DatagramTag::GetSerializedSize() const
{
    return 17;
}

void
DatagramTag::Serialize(TagBuffer buffer) const
{
    buffer.WriteU32(source);
    buffer.WriteU32(target);
    buffer.WriteU8(type);
    buffer.WriteU64(serial);
}

void
DatagramTag::Deserialize(TagBuffer buffer)
{
    source = buffer.ReadU32();
    target = buffer.ReadU32();
    type = buffer.ReadU8();
    serial = buffer.ReadU64();
}

void
DatagramTag::Print(std::ostream& os) const
{
    os << source << " to " << target << " type " << uint32_t(type) << " serial " << serial;
}

} // namespace pysim
