#include "traditional.h"

namespace pysim
{

Relations::Placement
Traditional::Place(uint32_t node)
{
    Placement placement;
    m_findings.resize(NodesEnd());
    m_insertion++;
    m_covered.clear();
    m_equal = NONE;
    const uint64_t before = Comparisons();
    Nodes covering{VIRTUAL};
    Explore(covering, node, Where::COVERING);
    placement.examined = std::min(Comparisons() - before, RootCount());
    MarkAbove(covering);
    Nodes parents;
    for (const uint32_t other : covering)
    {
        if (!m_above.Has(other))
        {
            parents.push_back(other);
        }
    }
    if (m_equal == NONE)
    {
        Nodes passed = parents;
        Explore(passed, node, Where::ANYWHERE);
    }
    placement.equal = m_equal;
    if (m_equal == NONE && !HasFailed())
    {
        ConnectBetween(parents, node, placement);
    }
    return placement;
}

void
Traditional::Lift(const Nodes& children, const Nodes& parents)
{
    Vector<Nodes> lifted(parents.size());
    MarkBelow(children);
    for (const uint32_t child : children)
    {
        if (m_below.Has(child))
        {
            continue;
        }
        MarkAbove({child});
        for (size_t place = 0; place < parents.size(); place++)
        {
            if (!m_above.Has(parents[place]))
            {
                lifted[place].push_back(child);
            }
        }
    }
    for (size_t place = 0; place < parents.size(); place++)
    {
        ConnectAll(parents[place], lifted[place]);
    }
}

void
Traditional::Explore(Nodes& passed, uint32_t node, Where where)
{
    for (size_t next = 0; next < passed.size(); next++)
    {
        const Family& family = ChildrenOf(passed[next]);
        for (size_t place = 0; place < family.Size(); place++)
        {
            const uint32_t child = family[place];
            Finding& finding = m_findings[child];
            const bool isNew = finding.insertion != m_insertion;
            if (!isNew && finding.where == where)
            {
                continue;
            }
            const Relation relation = isNew ? Compare(node, family, place) : finding.relation;
            finding = {m_insertion, where, relation};
            if (relation == EQUAL)
            {
                m_equal = child;
                return;
            }
            if (relation == SUPERSET && isNew)
            {
                m_covered.push_back(child);
            }
            if (relation == SUBSET || where == Where::ANYWHERE)
            {
                passed.push_back(child);
            }
        }
    }
}

void
Traditional::ConnectBetween(const Nodes& parents, uint32_t node, Placement& placement)
{
    Nodes covered;
    for (const uint32_t other : m_covered)
    {
        // Where covering is not transitive, edges from here might make a circle.
        if (!m_above.Has(other))
        {
            covered.push_back(other);
        }
    }
    for (const uint32_t parent : parents)
    {
        Connect(parent, node);
    }
    if (covered.empty())
    {
        return;
    }
    MarkBelow(covered);
    Nodes children;
    for (const uint32_t other : covered)
    {
        if (!m_below.Has(other))
        {
            children.push_back(other);
            if (At(other).IsRoot())
            {
                placement.displaced.push_back(other);
            }
        }
    }
    SortByNumber(placement.displaced);
    Adopt(node, children);
}

void
Traditional::Adopt(uint32_t node, Nodes& children)
{
    MarkAbove({node});
    Nodes losing;
    m_seen.Begin(NodesEnd());
    for (const uint32_t child : children)
    {
        const Nodes parents = At(child).parents;
        for (const uint32_t parent : parents)
        {
            if (m_above.Has(parent))
            {
                RemoveParent(child, parent);
                if (m_seen.Add(parent))
                {
                    losing.push_back(parent);
                }
            }
        }
    }
    m_seen.Begin(NodesEnd());
    for (const uint32_t child : children)
    {
        m_seen.Add(child);
    }
    for (const uint32_t parent : losing)
    {
        ChildrenOf(parent).EraseIf([this](uint32_t child) { return m_seen.Has(child); });
    }
    SortByNumber(children);
    ConnectAll(node, children);
}

void
Traditional::MarkAbove(Nodes nodes)
{
    m_above.Begin(NodesEnd());
    while (!nodes.empty())
    {
        const uint32_t node = nodes.back();
        nodes.pop_back();
        for (const uint32_t parent : At(node).parents)
        {
            if (m_above.Add(parent))
            {
                nodes.push_back(parent);
            }
        }
    }
}

void
Traditional::MarkBelow(Nodes nodes)
{
    m_below.Begin(NodesEnd());
    while (!nodes.empty())
    {
        const Family& family = ChildrenOf(nodes.back());
        nodes.pop_back();
        for (size_t place = 0; place < family.Size(); place++)
        {
            if (m_below.Add(family[place]))
            {
                nodes.push_back(family[place]);
            }
        }
    }
}

} // namespace pysim
