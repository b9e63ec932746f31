#ifndef PYSIM_FILTERS_TRADITIONAL_H
#define PYSIM_FILTERS_TRADITIONAL_H

#include "relations.h"

namespace pysim
{

/// The graph of SIENA and PADRES: each node has all its parents.
class Traditional : public Relations
{
  private:
    Placement Place(uint32_t node) override;
    void Lift(const Nodes& children, const Nodes& parents) override;

    enum class Where : uint8_t
    {
        COVERING, ///< only through what covers the node
        ANYWHERE
    };

    /// What a new node is to this one, and on which way down that was asked for last.
    struct Finding
    {
        uint64_t insertion : 48;
        Where where : 8;
        Relation relation : 8;
    };

    /// Go down, comparing with a node, until an equal one is met.
    void Explore(Nodes& passed, uint32_t node, Where where);
    void ConnectBetween(const Nodes& parents, uint32_t node, Placement& placement);
    /// Let the parents of some nodes go that lie above another.
    void Adopt(uint32_t node, Nodes& children);

    /// Mark all that lies above some nodes.
    void MarkAbove(Nodes nodes);
    void MarkBelow(Nodes nodes);

    Vector<Finding> m_findings; ///< of the latest insertion, and of earlier ones
    uint64_t m_insertion{0};
    Nodes m_covered;        ///< by the new node
    uint32_t m_equal{NONE}; ///< to the new node
    Marks m_seen;
    Marks m_above;
    Marks m_below;
};

} // namespace pysim

#endif
