#include "simplified.h"

namespace pysim
{

Relations::Placement
Simplified::Place(uint32_t node)
{
    Placement placement;
    uint32_t parent = VIRTUAL;
    while (true)
    {
        const Found found = Scan(parent, node);
        if (parent == VIRTUAL)
        {
            placement.examined = found.examined;
        }
        if (HasFailed())
        {
            return placement;
        }
        if (found.child == NONE)
        {
            ConnectBetween({parent, node}, found.covered);
            if (parent == VIRTUAL)
            {
                placement.displaced = found.covered;
            }
            return placement;
        }
        if (found.relation == EQUAL)
        {
            placement.equal = found.child;
            return placement;
        }
        parent = found.child;
    }
}

void
Simplified::Lift(const Nodes& children, const Nodes& parents)
{
    const uint32_t parent = parents[0];
    Nodes kept;
    for (const uint32_t child : children)
    {
        const Found found = Scan(parent, child);
        if (found.child == NONE)
        {
            kept.push_back(child);
        }
        else
        {
            InsertFrom(found.child, child);
        }
    }
    ConnectAll(parent, kept);
}

Simplified::Found
Simplified::Scan(uint32_t parent, uint32_t node)
{
    Found found;
    const Family& family = ChildrenOf(parent);
    while (found.examined < family.Size())
    {
        const size_t place = found.examined++;
        const Relation relation = Compare(node, family, place);
        if (relation & SUBSET)
        {
            found.child = family[place];
            found.relation = relation;
            break;
        }
        if (relation == SUPERSET)
        {
            found.covered.push_back(family[place]);
        }
    }
    return found;
}

void
Simplified::InsertFrom(uint32_t parent, uint32_t node)
{
    m_pending.push_back({parent, node});
    while (!m_pending.empty())
    {
        const Pending at = m_pending.back();
        m_pending.pop_back();
        const Found found = Scan(at.parent, at.node);
        if (found.child == NONE)
        {
            ConnectBetween(at, found.covered);
        }
        else if (found.relation == SUBSET)
        {
            m_pending.push_back({found.child, at.node});
        }
        else
        {
            Postpone(at.node, ChildrenOf(at.node).Nodes(), found.child);
            Combine(at.node, found.child);
        }
    }
}

void
Simplified::ConnectBetween(const Pending& at, const Nodes& covered)
{
    if (ChildrenOf(at.node).Size())
    {
        Postpone(at.parent, covered, at.node);
    }
    else if (!covered.empty())
    {
        m_leaving.Begin(NodesEnd());
        for (const uint32_t child : covered)
        {
            m_leaving.Add(child);
            RemoveParent(child, at.parent);
        }
        ChildrenOf(at.parent).EraseIf([this](uint32_t child) { return m_leaving.Has(child); });
        ConnectAll(at.node, covered);
    }
    Connect(at.parent, at.node);
}

void
Simplified::Postpone(uint32_t parent, const Nodes& children, uint32_t from)
{
    for (size_t place = children.size(); place-- > 0;)
    {
        Disconnect(parent, children[place]);
        m_pending.push_back({from, children[place]});
    }
}

} // namespace pysim
