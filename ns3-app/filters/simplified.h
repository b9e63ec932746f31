#ifndef PYSIM_FILTERS_SIMPLIFIED_H
#define PYSIM_FILTERS_SIMPLIFIED_H

#include "relations.h"

namespace pysim
{

/// Algorithm 1 of the study of incremental covering: each node has the first parent found.
class Simplified : public Relations
{
  private:
    struct Pending
    {
        uint32_t parent;
        uint32_t node;
    };

    /// What the children of a parent are to a node.
    struct Found
    {
        uint32_t child{NONE}; ///< the first that covers or equals it
        Relation relation{OTHER};
        size_t examined{0};
        Nodes covered; ///< of those before it
    };

    Placement Place(uint32_t node) override;
    void Lift(const Nodes& children, const Nodes& parents) override;

    Found Scan(uint32_t parent, uint32_t node);
    void InsertFrom(uint32_t parent, uint32_t node);
    /// Connect a node with a parent of which it covers some children.
    void ConnectBetween(const Pending& at, const Nodes& covered);
    /// Let children go, and insert them from another node later; the first will be the next.
    void Postpone(uint32_t parent, const Nodes& children, uint32_t from);

    Vector<Pending> m_pending; ///< a stack
    Marks m_leaving;
};

} // namespace pysim

#endif
