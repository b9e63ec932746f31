#include "flow-book.h"

namespace pysim
{

TypeCount&
Flow::Count(uint8_t type)
{
    for (auto& count : types)
    {
        if (count.type == type)
        {
            return count;
        }
    }
    types.emplace_back();
    types.back().type = type;
    return types.back();
}

void
Flow::LoseUnderWay()
{
    for (auto& count : types)
    {
        count.lostLink += count.UnderWay();
    }
}

Flow&
FlowBook::Find(uint32_t source, uint32_t target, ChannelKind kind)
{
    auto& flow = m_flows[Key{source, target, kind}];
    if (!flow)
    {
        flow = std::make_unique<Flow>(Flow{source, target, kind, {}});
    }
    return *flow;
}

void
FlowBook::Stamp(int64_t now, uint32_t source, uint32_t target, uint32_t size)
{
    for (uint64_t word : {uint64_t(now), (uint64_t(source) << 32) | target, uint64_t(size)})
    {
        m_digest = (m_digest ^ word) * 0x100000001b3; // FNV-1a over words
        m_digest ^= m_digest >> 29;
    }
}

} // namespace pysim
